//! What a run that corrects another takes over from it.
//!
//! A script that failed is corrected and run again, and nothing that worked is repeated: a call with the same tool and the same
//! arguments as a finished one is answered from the old journal. Calls are matched by what they are and how often they were
//! made, not by their place, so a corrected script may make them in another order or side by side. A correction that failed as
//! well is corrected in its turn, and what any of the runs before finished is still not repeated.
//!
//! # Invariants
//!
//! * Every finished call answers once.
//! * What was read before is not given out once a later run, or this one, has written something: it may be another by now.
//! * A call of which nobody knows whether it happened is not made by accident. One that is not safe rejects with `interrupted`,
//!   once; one with a key goes out with the key it had.
//! * Calls are asked in the order in which the script makes them, so the answers are the same on every attempt.

use std::collections::{HashMap, HashSet, VecDeque};

use refrain_catalog::{CallError, Effect, ErrorCode, Replay};
use refrain_journal::{Answered, AskedCall, Json, Outcome, Record, Reused, RunId};

use crate::{
    canonical::canonical,
    run::{Here, Plan, Taken, Target},
    waiting::APPROVE,
};

/// The calls of the runs that another one corrects.
pub(crate) struct Earlier {
    /// The run that is corrected.
    run: RunId,
    calls: HashMap<Content, Past>,
    /// Whether the new run has made a call that may have written.
    wrote: bool,
    made_again: Vec<u32>,
}

/// A tool's path and arguments in canonical form.
type Content = (String, String);

/// What became of the calls with one content, the first made first.
#[derive(Default)]
struct Past {
    finished: VecDeque<Finished>,
    /// Keys of calls that were sent and gave no value.
    keys: VecDeque<String>,
    /// Calls that nobody saw the end of and that are not safe to repeat.
    unknown: usize,
}

struct Finished {
    of: Reused,
    args: Json,
    answered: Answered,
    /// Its place among all answers, the oldest first.
    at: usize,
}

/// A finished call that the new script did not make.
pub(crate) struct Unmatched<'a> {
    pub(crate) of: Reused,
    pub(crate) tool: &'a str,
    pub(crate) args: &'a Json,
}

/// What later runs say of calls of the runs before them.
#[derive(Default)]
struct Later {
    taken: HashSet<Reused>,
    keys: HashSet<String>,
    /// How many answers other than values each content got.
    told: HashMap<Content, usize>,
    wrote: bool,
}

impl Earlier {
    /// Reads the run that is corrected, and those that it corrected in its turn, the newest first.
    pub(crate) fn new(chain: Vec<(RunId, Vec<Record>)>) -> Option<Self> {
        let run = chain.first()?.0;
        let mut earlier = Self { run, calls: HashMap::new(), wrote: false, made_again: Vec::new() };
        let mut later = Later::default();
        let mut left: usize = chain.iter().map(|(_, records)| records.len()).sum();
        for (run, records) in chain {
            left -= records.len();
            earlier.add(run, records, left, &mut later);
        }
        for past in earlier.calls.values_mut() {
            past.finished.make_contiguous().sort_by_key(|it| it.at);
        }
        Some(earlier)
    }

    /// Adds the calls of one run. `first` is more than any answer of an older run has as its place.
    fn add(&mut self, run: RunId, records: Vec<Record>, first: usize, later: &mut Later) {
        let mut asked: Vec<AskedCall> = Vec::new();
        let mut answers: HashMap<u64, (usize, Answered)> = HashMap::new();
        let mut approved = HashSet::new();
        for (at, record) in records.into_iter().enumerate() {
            match record {
                Record::Asked(turn) => asked.extend(turn.calls),
                Record::Answered(answered) => drop(answers.insert(answered.call, (first + at, answered))),
                Record::Decided(decided) if decided.decision == APPROVE => drop(approved.insert(decided.call)),
                _ => {}
            }
        }
        let mut now = Later::default();
        for call in asked {
            let of = Reused { run, call: call.call };
            let content = (call.tool, canonical(call.args.as_str()));
            let past = self.calls.entry(content.clone()).or_default();
            now.keys.extend(call.key.clone());
            match answers.remove(&call.call) {
                Some((at, answered)) => {
                    now.wrote |= answered.reused.is_none() && call.effect != Effect::Read.as_str();
                    if let Some(before) = answered.reused {
                        now.taken.insert(before);
                    }
                    let is_read = call.effect == Effect::Read.as_str() && answered.by.is_none();
                    let is_stale = later.wrote && is_read;
                    match answered.outcome {
                        Outcome::Value(_) | Outcome::Blob { .. } if later.taken.contains(&of) || is_stale => {}
                        Outcome::Value(_) | Outcome::Blob { .. } => {
                            past.finished.push_back(Finished { of, args: call.args, answered, at })
                        }
                        Outcome::Failure(_) => {
                            *now.told.entry(content).or_default() += 1;
                            past.keys.extend(call.key.filter(|key| !later.keys.contains(key)));
                        }
                    }
                }
                // It was held back, so nothing came of it.
                None if call.permission.is_some() && !approved.contains(&call.call) => {}
                None => {
                    now.wrote |= call.effect != Effect::Read.as_str();
                    past.keys.extend(call.key.filter(|key| !later.keys.contains(key)));
                    match later.told.get_mut(&content).filter(|told| **told > 0) {
                        Some(told) => *told -= 1,
                        None => past.unknown += usize::from(call.replay == Replay::Unsafe.as_str()),
                    }
                }
            }
        }
        later.wrote |= now.wrote;
        later.taken.extend(now.taken);
        later.keys.extend(now.keys);
        for (content, count) in now.told {
            *later.told.entry(content).or_default() += count;
        }
    }

    pub(crate) fn run(&self) -> RunId {
        self.run
    }

    /// Decides what becomes of a call that would have `plan` in a run of its own.
    pub(crate) fn plan(&mut self, call: u32, path: &str, args: &str, plan: Plan) -> Plan {
        let (mut target, effect, replay) = match plan {
            Plan::Send { target, effect, replay } => (target, effect, replay),
            // What a person said stays said.
            Plan::Ask => {
                let past = self.calls.get_mut(&(path.to_owned(), canonical(args)));
                let finished = past.and_then(|past| past.finished.pop_front());
                return finished.map_or(Plan::Ask, |finished| Plan::Here(taken(finished, Effect::Read)));
            }
            Plan::Here(_) | Plan::Past(_) => return plan,
        };
        let is_late = self.wrote && effect == Effect::Read && matches!(target, Target::Tool { .. });
        if let Some(past) = self.calls.get_mut(&(path.to_owned(), canonical(args))) {
            if !past.finished.is_empty() && is_late {
                self.made_again.push(call);
            } else if let Some(finished) = past.finished.pop_front() {
                return Plan::Here(taken(finished, effect));
            } else if past.unknown > 0 && replay == Replay::Unsafe {
                past.unknown -= 1;
                let told = format!(
                    "`{path}` was out when the run before this one ended: it may or may not have happened; look, and make the call again if it did not"
                );
                return Plan::Here(CallError::new(ErrorCode::Interrupted, told).into());
            } else if let Target::Tool { key: key @ Some(_), .. } = &mut target
                && let Some(old) = past.keys.pop_front()
            {
                // The service may know it.
                *key = Some(old);
            }
        }
        self.wrote |= effect != Effect::Read;
        Plan::Send { target, effect, replay }
    }

    /// The calls that were made again, since the new run had written before.
    pub(crate) fn made_again(&self) -> &[u32] {
        &self.made_again
    }

    /// The finished calls that answered nothing, in the order in which they were answered.
    pub(crate) fn unmatched(&self) -> Vec<Unmatched<'_>> {
        let mut unmatched: Vec<(usize, Unmatched<'_>)> = Vec::new();
        for ((tool, _), past) in &self.calls {
            unmatched.extend(past.finished.iter().map(|it| (it.at, Unmatched { of: it.of, tool, args: &it.args })));
        }
        unmatched.sort_unstable_by_key(|(at, _)| *at);
        unmatched.into_iter().map(|(_, it)| it).collect()
    }
}

fn taken(finished: Finished, effect: Effect) -> Here {
    let Finished { of, answered, at, .. } = finished;
    let taken = Taken { of, at, clock_ms: answered.clock_ms, effect };
    Here { outcome: answered.outcome, notes: answered.notes, taken: Some(taken) }
}
