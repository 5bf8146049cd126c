//! A run as a pure step: records, turns and results go in, the next thing to do comes out. No I/O, no clock.
//!
//! The loop in `drive` asks [`Run::next`] what to do, does it, and tells the run what came of it: [`Run::turned`] after the sandbox
//! ran, [`Run::written`] after records became durable, [`Run::answered`] when a call came back. A resumed run is the same run,
//! with a history to replay first.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use refrain_catalog::{CallError, Catalog, Dialect, Effect, ErrorCode, Replay, Tool};
use refrain_engine::{Call, Delivery, Output, Status, Stop, Thrown, Turn};
use refrain_journal::{
    Answered, Asked, AskedCall, BlobHash, Cancelling, Failure, Flush, Guard, JournalError, Json, Outcome, Record,
    Reused, RunId, Seq, Stored,
};
use serde_json::{Value, json};

use crate::{amend::Earlier, canonical::canonical, config::Durability, functions, preflight::near::nearest};

/// Levels of arguments that readers of JSON take; this is serde_json's own bound.
const MOST_LEVELS: usize = 127;

/// What to do next.
#[derive(Debug)]
pub(crate) enum Step {
    /// Give this to the sandbox and tell [`Run::turned`].
    Feed(Delivery),
    /// Load this from the journal and tell [`Run::loaded`].
    Load(BlobHash),
    /// Make these durable as one commit, from this number on, and tell [`Run::written`].
    Write { at: Seq, records: Vec<Record>, flush: Flush },
    /// Send these calls; each tells [`Run::answered`] when it is back.
    Send(Vec<Outgoing>),
    /// Wait for a call that is out.
    Wait,
    /// The script is over. Wait for what is out and is not safe, for a bounded time, then tell [`Run::drained`].
    Drain,
    /// Nothing is left to do but to record the end.
    End,
    /// The script does not do what the journal says. Nothing may be sent or written.
    Diverged(Divergence),
}

/// A call on its way out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outgoing {
    pub(crate) call: u32,
    pub(crate) target: Target,
}

/// Where a call goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    Tool {
        source: String,
        tool: String,
        args: Value,
        key: Option<String>,
    },
    /// `sleep()`, and what timers are made of.
    Timer(Duration),
}

/// What came back from a source.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) outcome: Outcome,
    pub(crate) took_ms: u64,
    pub(crate) notes: Vec<String>,
    /// Set where it did not come from a source.
    pub(crate) taken: Option<Taken>,
}

/// Where a script and its journal part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Divergence {
    pub(crate) call: u32,
    pub(crate) expected: String,
    pub(crate) actual: String,
}

/// How the script ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Returned(Option<String>),
    Threw(Thrown),
    Stalled,
    Stopped(Stop, Vec<refrain_engine::Frame>),
}

/// A call that the script made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) call: u32,
    pub(crate) path: String,
    pub(crate) args: Json,
    pub(crate) plan: Plan,
    pub(crate) progress: Progress,
    pub(crate) took_ms: u64,
    /// The turn in which it was made; the start is turn 0.
    turn: u64,
}

/// What is to happen with a call.
#[derive(Debug)]
pub(crate) enum Plan {
    Send {
        target: Target,
        effect: Effect,
        replay: Replay,
    },
    /// It never leaves: what it asks for is known here, or it is refused.
    Here(Here),
}

/// An answer that is known here.
#[derive(Debug)]
pub(crate) struct Here {
    pub(crate) outcome: Outcome,
    /// Said beside it, in the notes of the run.
    pub(crate) notes: Vec<String>,
    /// Where it comes from, if the run that this one corrects had it.
    pub(crate) taken: Option<Taken>,
}

/// Whose answer was taken over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) of: Reused,
    /// Its place among the answers of its run. What came first there comes first here.
    pub(crate) at: usize,
    pub(crate) clock_ms: i64,
    /// What the call did when it was made.
    pub(crate) effect: Effect,
}

impl From<CallError> for Here {
    fn from(error: CallError) -> Self {
        Self { outcome: failure(&error), notes: Vec::new(), taken: None }
    }
}

#[derive(Debug)]
pub(crate) enum Progress {
    /// Made by the script, and no more.
    Made,
    /// May leave, or is refused and being answered.
    Cleared,
    /// At the source.
    Out,
    /// Back.
    Answered(Answer),
}

/// What came of a call, as far as the report tells.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: u64,
    /// `ToolError.code` of a failure.
    pub(crate) code: Option<String>,
}

/// A run and everything that decides its next step.
pub(crate) struct Run {
    id: RunId,
    catalog: Arc<Catalog>,
    /// The catalog of this attempt, for what a tool's replay policy is now. None on the first attempt.
    present: Option<Arc<Catalog>>,
    durability: Durability,
    dialect: Option<&'static Dialect>,
    /// The run that this one corrects.
    earlier: Option<Earlier>,
    history: VecDeque<Record>,
    settled_history: bool,
    next_seq: u64,
    turn: u64,
    calls: Vec<Made>,
    /// How many of `calls` are in the journal.
    asked: usize,
    /// Results that are not in the journal yet.
    arrived: VecDeque<(u32, Reply)>,
    /// Results in the journal that the script has not seen.
    due: VecDeque<Answered>,
    /// The answer that is being loaded.
    unloaded: Option<Answered>,
    to_send: Vec<u32>,
    end: Option<End>,
    /// The journal has the mark that the run is to be cancelled.
    cancelling: Option<Cancelling>,
    /// How many calls the script had made by then. The later ones are its clean-up.
    made_before: usize,
    /// The first call that was out when the script was stopped from outside.
    stopped_in: Option<u32>,
    drained: bool,
    diverged: Option<Divergence>,
    clock_ms: i64,
    active_ms: u64,
    pub(crate) output: Vec<Output>,
    pub(crate) tool_notes: Vec<(String, String)>,
    pub(crate) tool_bytes: u64,
}

impl Run {
    /// A run with its start record written and `history` after it.
    pub(crate) fn new(
        id: RunId,
        catalog: Arc<Catalog>,
        present: Option<Arc<Catalog>>,
        durability: Durability,
        dialect: Option<&'static Dialect>,
        started_ms: i64,
        history: Vec<Record>,
    ) -> Self {
        let next_seq = 1 + history.len() as u64;
        let active_ms = history.iter().rev().find_map(|record| match record {
            Record::Answered(answered) => Some(answered.active_ms),
            Record::Parked(parked) => Some(parked.active_ms),
            Record::Attempted(attempted) => Some(attempted.active_ms),
            _ => None,
        });
        Self {
            id,
            catalog,
            present,
            durability,
            dialect,
            earlier: None,
            history: history.into(),
            settled_history: false,
            next_seq,
            turn: 0,
            calls: Vec::new(),
            asked: 0,
            arrived: VecDeque::new(),
            due: VecDeque::new(),
            unloaded: None,
            to_send: Vec::new(),
            end: None,
            cancelling: None,
            made_before: 0,
            stopped_in: None,
            drained: false,
            diverged: None,
            clock_ms: started_ms,
            active_ms: active_ms.unwrap_or(0),
            output: Vec::new(),
            tool_notes: Vec::new(),
            tool_bytes: 0,
        }
    }

    /// Answers calls from the runs that this one corrects. Before the first turn.
    pub(crate) fn correcting(self, earlier: Option<Earlier>) -> Self {
        Self { earlier, ..self }
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(crate) fn calls(&self) -> &[Made] {
        &self.calls
    }

    pub(crate) fn earlier(&self) -> Option<&Earlier> {
        self.earlier.as_ref()
    }

    /// The call that the script waited for when it was stopped from outside; what came of it since is another matter.
    pub(crate) fn stopped_in(&self) -> Option<&Made> {
        self.made(self.stopped_in?)
    }

    /// Why the run is to be cancelled, if it is. Known once the history is read.
    pub(crate) fn cancelling(&self) -> Option<&Cancelling> {
        self.cancelling.as_ref().or_else(|| {
            self.history.iter().find_map(|record| match record {
                Record::Cancelling(cancelling) => Some(cancelling),
                _ => None,
            })
        })
    }

    pub(crate) fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    pub(crate) fn next_seq(&self) -> Seq {
        Seq(self.next_seq)
    }

    /// Active milliseconds of the attempts before this one, as far as the journal knows.
    pub(crate) fn active_before_ms(&self) -> u64 {
        self.active_ms
    }

    /// Whether what the script did so far was done before.
    pub(crate) fn is_replaying(&self) -> bool {
        !self.history.is_empty()
    }

    /// The flush that a commit of this kind needs.
    pub(crate) fn flush(&self, decisive: bool) -> Flush {
        match self.durability {
            Durability::Power => Flush::Disk,
            Durability::Process => Flush::Process,
            Durability::Effects if decisive => Flush::Disk,
            Durability::Effects => Flush::Process,
        }
    }

    /// Takes in a turn of the sandbox. The first one is the start.
    pub(crate) fn turned(&mut self, turn: Turn) {
        for call in turn.calls {
            let (path, plan) = match &call.target {
                refrain_engine::Target::Function(name) => {
                    (name.clone(), functions::plan(&self.catalog, self.dialect, name, &call.args))
                }
                refrain_engine::Target::Tool { source, tool } => self.plan(&call, source, tool),
            };
            let plan = match &mut self.earlier {
                Some(earlier) => earlier.plan(call.call, &path, &call.args, plan),
                None => plan,
            };
            let plan = if self.cancelling.is_some() { self.while_cancelling(&path, plan) } else { plan };
            self.calls.push(Made {
                call: call.call,
                path,
                args: Json::new(call.args).unwrap_or_else(|_| Json::from_value(&Value::Null)),
                plan,
                progress: Progress::Made,
                took_ms: 0,
                turn: self.turn,
            });
        }
        self.output.extend(turn.output);
        self.turn += 1;
        self.end = match turn.status {
            Status::Waiting => None,
            Status::Stalled => Some(End::Stalled),
            Status::Returned(value) => Some(End::Returned(value)),
            Status::Threw(thrown) => Some(End::Threw(thrown)),
            Status::Stopped(stop, frames) => Some(End::Stopped(stop, frames)),
        };
    }

    /// What is to happen with a call of a tool, and the tool's path.
    fn plan(&self, call: &Call, source: &str, tool: &str) -> (String, Plan) {
        let resolved = self.resolve(source, tool);
        let path = match &resolved {
            Ok(tool) => tool.path(),
            Err(_) => format!("{source}.{tool}"),
        };
        let plan = resolved.and_then(|tool| {
            let args = serde_json::from_str::<Value>(&call.args).map_err(|error| {
                // The guest writes valid JSON; what most readers of it refuse is depth.
                let told = if error.to_string().starts_with("recursion limit") {
                    format!("the arguments of `{path}` are nested deeper than {MOST_LEVELS} levels, which cannot be sent; flatten them")
                } else {
                    format!("the arguments of `{path}` are not plain JSON: {error}")
                };
                CallError::new(ErrorCode::InvalidArguments, told)
            })?;
            tool.check_args(&args)?;
            let key = (tool.replay == Replay::Keyed).then(|| format!("{}/{}", self.id, call.call));
            let target = Target::Tool { source: tool.source.clone(), tool: tool.name.clone(), args, key };
            Ok(Plan::Send { target, effect: tool.effect, replay: tool.replay })
        });
        (path, plan.unwrap_or_else(|error| Plan::Here(error.into())))
    }

    /// The tool that a call names: by source and name, or by a flat name of the global that holds all tools.
    fn resolve(&self, source: &str, name: &str) -> Result<&Tool, CallError> {
        let root = self.dialect.map_or("tools", |dialect| dialect.root);
        let is_source = self.catalog.sources().iter().any(|status| status.name == source);
        if source != root || is_source {
            return Ok(self.catalog.resolve(source, name)?);
        }
        if let Some(tool) = self.catalog.flat(name) {
            return self.catalog.resolve(&tool.source, &tool.name).map_err(CallError::from);
        }
        let named: Vec<&Tool> =
            self.catalog.tools().iter().filter(|tool| tool.name == name || tool.ident == name).collect();
        let hint = match named[..] {
            [] => nearest(name, self.catalog.flat_names().map(|(name, _)| name))
                .map(|near| format!("; did you mean `{root}.{near}`?"))
                .unwrap_or_default(),
            _ => {
                let calls: Vec<String> =
                    named.iter().map(|tool| format!("`{}`", self.catalog.call_in(tool, self.dialect))).collect();
                format!("; several sources have it: {}", calls.join(", "))
            }
        };
        Err(CallError::new(ErrorCode::UnknownTool, format!("unknown tool `{root}.{name}`{hint}")))
    }

    /// Ends the waiting script from outside.
    pub(crate) fn stop(&mut self, stop: Stop) {
        if self.end.is_none() {
            self.stopped_in =
                self.calls.iter().find(|made| matches!(made.progress, Progress::Out)).map(|made| made.call);
            self.end = Some(End::Stopped(stop, Vec::new()));
        }
    }

    /// Takes in what came back from a call that was out.
    pub(crate) fn answered(&mut self, call: u32, reply: Reply) {
        if let Some(made) = self.made(call)
            && matches!(made.progress, Progress::Out)
        {
            self.arrived.push_back((call, reply));
        }
    }

    /// The records of the last [`Step::Write`] are durable.
    pub(crate) fn written(&mut self, records: Vec<Record>) {
        self.next_seq += records.len() as u64;
        for record in records {
            match record {
                Record::Asked(asked) => self.asked += asked.calls.len(),
                Record::Answered(answered) => self.due.push_back(answered),
                Record::Cancelling(cancelling) => self.cancel(cancelling),
                Record::Parked(_) | Record::Decided(_) | Record::Attempted(_) => {}
                Record::Started(_) | Record::Ended(_) => {}
            }
        }
    }

    /// What was out and not safe had its time.
    pub(crate) fn drained(&mut self) {
        self.drained = true;
    }

    /// Decides the next step. `now_ms` is the clock and `active_ms` the active time so far, for records written now.
    pub(crate) fn next(&mut self, now_ms: i64, active_ms: u64) -> Step {
        if let Some(divergence) = &self.diverged {
            return Step::Diverged(divergence.clone());
        }
        if let Some(answered) = self.unloaded.take() {
            return self.feed(answered);
        }
        if let Some(step) = self.replay() {
            return step;
        }
        self.settle_history();
        if self.end.is_some() {
            return self.wind_up();
        }
        if let Some(answered) = self.due.pop_front() {
            return self.feed(answered);
        }
        if let Some(step) = self.ask(false) {
            return step;
        }
        if !self.to_send.is_empty() {
            return Step::Send(self.take_outgoing());
        }
        if !self.arrived.is_empty() {
            return self.write_arrived(now_ms, active_ms);
        }
        Step::Wait
    }

    /// Takes the next answer from the history, checking on the way that the script makes the calls that are recorded.
    fn replay(&mut self) -> Option<Step> {
        while let Some(record) = self.history.pop_front() {
            let checked = match record {
                Record::Asked(asked) => self.check_asked(&asked),
                Record::Answered(answered) => match self.check_answered(&answered) {
                    Ok(()) if self.end.is_none() => return Some(self.feed(answered)),
                    // Written together with the answer that ended the script, which never saw it.
                    Ok(()) => {
                        self.due.push_back(answered);
                        Ok(())
                    }
                    Err(divergence) => Err(divergence),
                },
                Record::Cancelling(cancelling) => {
                    self.cancel(cancelling);
                    Ok(())
                }
                Record::Parked(_) | Record::Decided(_) | Record::Attempted(_) => Ok(()),
                Record::Started(_) | Record::Ended(_) => Ok(()), // neither is part of a history
            };
            if let Err(divergence) = checked {
                self.diverged = Some(divergence.clone());
                return Some(Step::Diverged(divergence));
            }
        }
        None
    }

    fn check_asked(&mut self, asked: &Asked) -> Result<(), Divergence> {
        for expected in &asked.calls {
            let actual = self.calls.get(self.asked);
            let same = actual.is_some_and(|made| {
                u64::from(made.call) == expected.call
                    && made.turn == asked.turn
                    && made.path == expected.tool
                    && canonical(made.args.as_str()) == canonical(expected.args.as_str())
            });
            if !same {
                return Err(Divergence {
                    call: u32::try_from(expected.call).unwrap_or(u32::MAX),
                    expected: described(&expected.tool, &expected.args),
                    actual: actual.map_or_else(|| self.standing(), |made| described(&made.path, &made.args)),
                });
            }
            self.calls[self.asked].progress = Progress::Cleared;
            // The policy that was stored when the call was asked for decides, unless today's is stricter.
            if let Plan::Send { replay, .. } = &mut self.calls[self.asked].plan
                && expected.replay != replay.as_str()
            {
                *replay = Replay::Unsafe;
            }
            self.asked += 1;
        }
        self.no_more_than(asked.turn, asked.calls_made)
    }

    fn check_answered(&mut self, answered: &Answered) -> Result<(), Divergence> {
        self.no_more_than(answered.turn, answered.calls_made)?;
        let known = u32::try_from(answered.call).ok().and_then(|call| self.made(call));
        let waiting = known.is_some_and(|made| matches!(made.progress, Progress::Cleared));
        // After its end the script sees nothing; but an answer may have been written before the turn that ended it ran.
        let too_late = self.end.is_some() && answered.turn + 1 >= self.turn;
        if !waiting || too_late {
            return Err(Divergence {
                call: u32::try_from(answered.call).unwrap_or(u32::MAX),
                expected: format!("to wait for call {}", answered.call),
                actual: self.standing(),
            });
        }
        Ok(())
    }

    /// Fails when a turn up to `turn` made a call that was not recorded, or fewer calls are known than `calls_made`.
    fn no_more_than(&self, turn: u64, calls_made: u64) -> Result<(), Divergence> {
        let extra = self.calls.get(self.asked).filter(|made| made.turn <= turn);
        if extra.is_none() && self.asked as u64 == calls_made {
            return Ok(());
        }
        Err(Divergence {
            call: u32::try_from(self.asked + 1).unwrap_or(u32::MAX),
            expected: format!("{calls_made} calls by turn {turn}"),
            actual: extra.map_or_else(|| self.standing(), |made| described(&made.path, &made.args)),
        })
    }

    fn standing(&self) -> String {
        match &self.end {
            None => "no such call".into(),
            Some(End::Returned(_)) => "the script returned".into(),
            Some(End::Threw(thrown)) => format!("the script threw: {}", thrown.message),
            Some(End::Stalled) => "the script waits for nothing".into(),
            Some(End::Stopped(..)) => "the script was stopped".into(),
        }
    }

    /// Decides, once, what becomes of the calls that were out when the attempt before this one ended.
    fn settle_history(&mut self) {
        if std::mem::replace(&mut self.settled_history, true) {
            return;
        }
        self.cancel_waiting();
        for made in &mut self.calls[..self.asked] {
            if !matches!(made.progress, Progress::Cleared) {
                continue;
            }
            let Plan::Send { target, replay, .. } = &made.plan else {
                continue; // answered again below, as before
            };
            let now = match target {
                Target::Tool { source, tool, .. } => {
                    self.present.as_ref().and_then(|present| present.resolve(source, tool).ok()).map(|tool| tool.replay)
                }
                Target::Timer(_) => Some(Replay::Safe),
            };
            let may_repeat = match (replay, now) {
                (Replay::Safe, Some(Replay::Safe)) | (Replay::Keyed, Some(Replay::Keyed)) => true,
                (Replay::Safe | Replay::Keyed | Replay::Unsafe, _) => false,
            };
            if may_repeat {
                self.to_send.push(made.call);
            } else {
                let told = format!(
                    "the process ended while `{}` was out: it may or may not have happened, and it is not declared safe to repeat",
                    made.path
                );
                made.progress = Progress::Out;
                self.arrived.push_back((made.call, Reply::failure(&CallError::new(ErrorCode::Interrupted, told))));
            }
        }
        // What is answered here was asked for and never left; its answer is the same again.
        for made in &mut self.calls[..self.asked] {
            if matches!(made.progress, Progress::Cleared)
                && let Plan::Here(answer) = &made.plan
            {
                self.arrived.push_back((made.call, Reply::here(answer)));
                made.progress = Progress::Out;
            }
        }
    }

    /// Whether a call may be made while the run is being cancelled.
    fn cleans_up(&self, plan: &Plan) -> bool {
        match plan {
            Plan::Send { target: Target::Tool { source, tool, .. }, .. } => {
                self.catalog.resolve(source, tool).is_ok_and(|tool| tool.cleanup)
            }
            Plan::Send { target: Target::Timer(_), .. } => false,
            Plan::Here(_) => true,
        }
    }

    /// Decides what a call comes to that a script makes after the mark.
    fn while_cancelling(&self, path: &str, plan: Plan) -> Plan {
        if self.cleans_up(&plan) {
            return plan;
        }
        let told = format!("`{path}` was not called: the run is being cancelled, and this is not set to clean up");
        Plan::Here(CallError::new(ErrorCode::Cancelled, told).into())
    }

    /// From here on the run is cancelled.
    fn cancel(&mut self, cancelling: Cancelling) {
        self.cancelling = Some(cancelling);
        self.made_before = self.calls.len();
    }

    /// Every call that waited when the run was cancelled rejects, so that `finally` runs. What was out may have happened.
    fn cancel_waiting(&mut self) {
        let stays: Vec<bool> = self.calls[..self.made_before].iter().map(|made| self.cleans_up(&made.plan)).collect();
        for (made, stays) in self.calls.iter_mut().zip(stays) {
            let told = match made.progress {
                _ if stays => continue,
                Progress::Made => format!("`{}` was not called: the run was cancelled", made.path),
                Progress::Cleared | Progress::Out => {
                    format!("the run was cancelled while `{}` was out: it may or may not have happened", made.path)
                }
                Progress::Answered(_) => continue,
            };
            made.progress = Progress::Out;
            self.arrived.push_back((made.call, Reply::failure(&CallError::new(ErrorCode::Cancelled, told))));
        }
    }

    /// Clears the calls that were made since: safe ones at once, others after the record that asks for them.
    fn ask(&mut self, over: bool) -> Option<Step> {
        let fresh =
            self.calls.iter().skip(self.asked).any(|made| matches!(made.progress, Progress::Made) && !made.is_safe());
        if fresh {
            let records = self.take_asked();
            // `written` counts them as asked; from there on they are cleared.
            for made in &mut self.calls[self.asked..] {
                if matches!(made.progress, Progress::Made) {
                    made.progress = Progress::Cleared;
                    match &made.plan {
                        Plan::Send { .. } if over && made.is_safe() => {}
                        Plan::Send { .. } => self.to_send.push(made.call),
                        Plan::Here(answer) => {
                            made.progress = Progress::Out;
                            self.arrived.push_back((made.call, Reply::here(answer)));
                        }
                    }
                }
            }
            return Some(Step::Write { at: self.next_seq(), records, flush: self.flush(true) });
        }
        for made in self.calls.iter_mut().skip(self.asked) {
            if matches!(made.progress, Progress::Made) && !over {
                match &made.plan {
                    Plan::Send { .. } => {
                        made.progress = Progress::Cleared;
                        self.to_send.push(made.call);
                    }
                    Plan::Here(answer) => {
                        made.progress = Progress::Out;
                        self.arrived.push_back((made.call, Reply::here(answer)));
                    }
                }
            }
        }
        None
    }

    /// The records that ask for every call that is not in the journal, one for each turn that made some.
    fn take_asked(&self) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        for (index, made) in self.calls.iter().enumerate().skip(self.asked) {
            let (effect, replay, key) = match &made.plan {
                Plan::Send { target: Target::Tool { key, .. }, effect, replay } => (*effect, *replay, key.clone()),
                Plan::Send { target: Target::Timer(_), effect, replay } => (*effect, *replay, None),
                // It never leaves, so nothing is lost by deciding it anew. What is taken over was done, and a later correction
                // has to know a write from a read.
                Plan::Here(here) => (here.taken.map_or(Effect::Read, |taken| taken.effect), Replay::Safe, None),
            };
            let call = AskedCall {
                call: made.call.into(),
                tool: made.path.clone(),
                args: made.args.clone(),
                effect: effect.as_str().into(),
                replay: replay.as_str().into(),
                key,
                due_ms: None,
            };
            let calls_made = index as u64 + 1;
            match records.last_mut() {
                Some(Record::Asked(asked)) if asked.turn == made.turn => {
                    asked.calls.push(call);
                    asked.calls_made = calls_made;
                }
                _ => records.push(Record::Asked(Asked { turn: made.turn, calls: vec![call], calls_made })),
            }
        }
        records
    }

    fn take_outgoing(&mut self) -> Vec<Outgoing> {
        let mut all = Vec::new();
        for call in std::mem::take(&mut self.to_send) {
            let Some(made) = self.made_mut(call) else { continue };
            if let Plan::Send { target, .. } = &made.plan {
                all.push(Outgoing { call, target: target.clone() });
                made.progress = Progress::Out;
            }
        }
        all
    }

    fn write_arrived(&mut self, now_ms: i64, active_ms: u64) -> Step {
        let mut records = self.take_asked();
        let calls_made = self.calls.len() as u64;
        let turn = self.turn.saturating_sub(1);
        self.active_ms = self.active_ms.max(active_ms);
        let mut decisive = false;
        let mut arrived = std::mem::take(&mut self.arrived);
        // The winner of a race among calls that are taken over is who won it before.
        arrived.make_contiguous().sort_by_key(|(_, reply)| reply.taken.map_or(0, |taken| taken.at + 1));
        for (call, reply) in arrived {
            self.clock_ms = self.clock_ms.max(reply.taken.map_or(now_ms, |taken| taken.clock_ms));
            decisive |= self.made(call).is_some_and(|made| !made.is_safe());
            records.push(Record::Answered(Answered {
                call: call.into(),
                turn,
                calls_made,
                clock_ms: self.clock_ms,
                active_ms: self.active_ms,
                took_ms: reply.took_ms,
                outcome: reply.outcome,
                notes: reply.notes,
                reused: reply.taken.map(|taken| taken.of),
                by: None,
            }));
        }
        Step::Write { at: self.next_seq(), records, flush: self.flush(decisive) }
    }

    /// Gives a durable answer to the sandbox. One that the journal keeps apart is loaded first.
    fn feed(&mut self, answered: Answered) -> Step {
        let call = u32::try_from(answered.call).unwrap_or(u32::MAX);
        let path = self.made(call).map_or("", |made| &made.path);
        let outcome = match &answered.outcome {
            Outcome::Blob { hash, .. } => {
                let hash = *hash;
                self.unloaded = Some(answered);
                return Step::Load(hash);
            }
            Outcome::Value(json) => refrain_engine::Outcome::Value(json.as_str().to_owned()),
            Outcome::Failure(failure) => refrain_engine::Outcome::Failure(tool_error(call, path, failure)),
        };
        self.clock_ms = self.clock_ms.max(answered.clock_ms);
        let answer = answer(&answered.outcome);
        self.tool_bytes += answer.bytes;
        let path = self.made_mut(call).map(|made| {
            made.progress = Progress::Answered(answer);
            made.took_ms = answered.took_ms;
            made.path.clone()
        });
        if let Some(path) = path {
            self.tool_notes.extend(answered.notes.into_iter().map(|note| (path.clone(), note)));
        }
        Step::Feed(Delivery { call, clock_ms: self.clock_ms, outcome })
    }

    /// Takes in what the last [`Step::Load`] asked for.
    pub(crate) fn loaded(&mut self, value: Json) {
        if let Some(answered) = &mut self.unloaded {
            answered.outcome = Outcome::Value(value);
        }
    }

    /// The script is over: what may still leave, leaves; what is out and not safe is waited for.
    fn wind_up(&mut self) -> Step {
        // What a script made in the turn in which it was stopped has not left and never will. After a regular end it was
        // meant, so calls that are not safe are still sent; safe ones would only be thrown away.
        let regular = matches!(self.end, Some(End::Returned(_) | End::Threw(_) | End::Stalled));
        if regular && !self.drained {
            if let Some(step) = self.ask(true) {
                return step;
            }
            let safe: Vec<u32> =
                self.to_send.iter().copied().filter(|call| self.made(*call).is_some_and(Made::is_safe)).collect();
            self.to_send.retain(|call| !safe.contains(call));
            if !self.to_send.is_empty() {
                return Step::Send(self.take_outgoing());
            }
        }
        // Results that the script did not live to see still count in the report.
        let unseen = std::mem::take(&mut self.due).into_iter().map(|answered| {
            let call = u32::try_from(answered.call).unwrap_or(u32::MAX);
            (call, Reply { outcome: answered.outcome, took_ms: answered.took_ms, notes: answered.notes, taken: None })
        });
        for (call, reply) in unseen.chain(std::mem::take(&mut self.arrived)).collect::<Vec<_>>() {
            let answer = answer(&reply.outcome);
            self.tool_bytes += answer.bytes;
            if let Some(made) = self.made_mut(call) {
                made.progress = Progress::Answered(answer);
                made.took_ms = reply.took_ms;
            }
        }
        let out = self.calls.iter().any(|made| matches!(made.progress, Progress::Out) && !made.is_safe());
        if out && !self.drained { Step::Drain } else { Step::End }
    }

    /// What the script leaves in the store of its session.
    ///
    /// # Errors
    ///
    /// A value that the guest says is JSON and is none.
    pub(crate) fn left_in_store(&self) -> Result<Vec<Stored>, JournalError> {
        let written = self.output.iter().filter_map(|output| match output {
            Output::Store { key, json, guard } => Some((key, json, guard)),
            _ => None,
        });
        let json = |text: &Option<String>| text.as_deref().map(Json::new).transpose();
        written
            .map(|(key, value, guard)| {
                let guard = guard.as_ref().map(|was| Ok::<_, JournalError>(Guard { was: json(was)? })).transpose()?;
                Ok(Stored { key: key.clone(), value: json(value)?, guard })
            })
            .collect()
    }

    /// The records that go before the end record, so that the journal names every call that may have left.
    pub(crate) fn asked_at_end(&self) -> Vec<Record> {
        self.take_asked()
    }

    fn made(&self, call: u32) -> Option<&Made> {
        self.calls.get((call as usize).checked_sub(1)?)
    }

    fn made_mut(&mut self, call: u32) -> Option<&mut Made> {
        self.calls.get_mut((call as usize).checked_sub(1)?)
    }
}

impl Made {
    /// Whether it was sent anywhere.
    pub(crate) fn has_left(&self) -> bool {
        matches!(self.plan, Plan::Send { .. }) && matches!(self.progress, Progress::Out | Progress::Answered(_))
    }

    /// Whether making it again does no harm. What is answered here never leaves.
    pub(crate) fn is_safe(&self) -> bool {
        match &self.plan {
            Plan::Send { replay, .. } => *replay == Replay::Safe,
            Plan::Here(_) => true,
        }
    }
}

impl Reply {
    fn here(answer: &Here) -> Self {
        Self { outcome: answer.outcome.clone(), took_ms: 0, notes: answer.notes.clone(), taken: answer.taken }
    }

    pub(crate) fn failure(error: &CallError) -> Self {
        Self { outcome: failure(error), took_ms: 0, notes: Vec::new(), taken: None }
    }
}

fn failure(error: &CallError) -> Outcome {
    Outcome::Failure(Failure {
        code: error.code.as_str().into(),
        message: error.message.clone(),
        retryable: error.retryable,
        retry_after_ms: error.retry_after_ms,
        data: error.data.as_ref().map(Json::from_value),
    })
}

/// What the report is told of an outcome.
fn answer(outcome: &Outcome) -> Answer {
    match outcome {
        Outcome::Value(json) => Answer { bytes: json.as_str().len() as u64, code: None },
        Outcome::Blob { bytes, .. } => Answer { bytes: *bytes, code: None },
        Outcome::Failure(failure) => {
            // What else is said of a failure is ours, and came from no tool.
            let from_tool = failure.code == ErrorCode::ToolError.as_str();
            let bytes = if from_tool { failure.message.len() as u64 } else { 0 };
            Answer { bytes, code: Some(failure.code.clone()) }
        }
    }
}

/// The fields of the `ToolError` that a failure is to the script.
fn tool_error(call: u32, path: &str, failure: &Failure) -> String {
    let mut fields = json!({
        "message": failure.message,
        "code": failure.code,
        "tool": path,
        "call": call,
        "retryable": failure.retryable,
    });
    if let Some(after) = failure.retry_after_ms {
        fields["retryAfterMs"] = after.into();
    }
    let mut text = fields.to_string();
    if let Some(data) = &failure.data {
        // Spliced in as text: the data is kept byte for byte.
        text.pop();
        text.push_str(&format!(",\"data\":{data}}}"));
    }
    text
}

fn described(tool: &str, args: &Json) -> String {
    let mut text = format!("{tool}({args})");
    if text.len() > 300 {
        text.truncate(text.floor_char_boundary(300));
        text.push('…');
    }
    text
}
