//! A run put away: everything beside the sandbox's memory that its next step depends on, and what its report will say.
//!
//! What is over is kept only as far as a report tells it. A run that corrects another is not put away, since what it may still take
//! over depends on all that it has made; the journal brings it back.

use refrain_catalog::{Effect, Replay};
use refrain_engine::Output;
use refrain_journal::Json;
use serde::{Deserialize, Serialize};

use super::{Answer, Approval, Made, Past, Plan, Progress, Run, Target};
use crate::report::cut;

/// A run put away.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    next_seq: u64,
    turn: u64,
    clock_ms: i64,
    active_ms: u64,
    tool_bytes: u64,
    asked: usize,
    parked: Option<Json>,
    output: Vec<Output>,
    tool_notes: Vec<(String, String)>,
    calls: Vec<SavedCall>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedCall {
    path: String,
    args: Json,
    turn: u64,
    #[serde(default, skip_serializing_if = "is_none")]
    took_ms: u64,
    #[serde(default, skip_serializing_if = "is_none")]
    attempts: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_ms: Option<i64>,
    #[serde(default)]
    approval: Approval,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    state: State,
}

fn is_none(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Serialize, Deserialize)]
enum State {
    Over(Answer, Past),
    /// The plan; and whether the journal does not have the call.
    Open(Open, bool),
}

#[derive(Debug, Serialize, Deserialize)]
enum Open {
    Send { target: Target, effect: Effect, replay: Replay },
    Ask,
}

impl Run {
    /// Puts the run away as it stands between two turns, with all that was written delivered. None where it cannot be.
    pub(crate) fn save(&self) -> Option<Saved> {
        let is_quiet = self.history.is_empty()
            && self.due.is_empty()
            && self.unloaded.is_none()
            && self.first.is_empty()
            && self.end.is_none();
        if !is_quiet || self.earlier.is_some() || self.cancelling.is_some() {
            return None;
        }
        let calls: Option<Vec<SavedCall>> =
            self.calls.iter().map(|made| SavedCall::of(made, made.call as usize > self.asked)).collect();
        Some(Saved {
            next_seq: self.next_seq,
            turn: self.turn,
            clock_ms: self.clock_ms,
            active_ms: self.active_ms,
            tool_bytes: self.tool_bytes,
            asked: self.asked,
            parked: self.parked.clone(),
            output: self.output.clone(),
            tool_notes: self.tool_notes.clone(),
            calls: calls?,
        })
    }

    /// Stands where a run was put away. Only for a run that has not had its first turn.
    pub(crate) fn restored(self, saved: Saved) -> Self {
        let calls: Vec<Made> = (1..).zip(saved.calls).map(|(call, saved)| saved.made(call)).collect();
        let is_open = |made: &&Made| !matches!(made.progress, Progress::Answered(_));
        Self {
            next_seq: saved.next_seq,
            turn: saved.turn,
            clock_ms: saved.clock_ms,
            active_ms: saved.active_ms,
            tool_bytes: saved.tool_bytes,
            asked: saved.asked.min(calls.len()),
            parked: saved.parked,
            output: saved.output,
            tool_notes: saved.tool_notes,
            open: calls.iter().filter(is_open).map(|made| made.call).collect(),
            calls,
            ..self
        }
    }
}

impl SavedCall {
    fn of(made: &Made, is_new: bool) -> Option<Self> {
        let (args, state) = match (&made.progress, &made.plan) {
            (Progress::Answered(answer), _) => {
                let (effect, replay) = (made.effect(), if made.is_safe() { Replay::Safe } else { Replay::Unsafe });
                let past = Past { effect, replay, had_left: made.has_left(), is_timer: made.is_timer() };
                (cut(&made.args), State::Over(answer.clone(), past))
            }
            (_, Plan::Send { target, effect, replay }) => {
                let open = Open::Send { target: target.clone(), effect: *effect, replay: *replay };
                (made.args.clone(), State::Open(open, is_new))
            }
            (_, Plan::Ask) => (made.args.clone(), State::Open(Open::Ask, is_new)),
            // About to be answered.
            (_, Plan::Here(_) | Plan::Past(_)) => return None,
        };
        let (path, turn, took_ms, due_ms) = (made.path.clone(), made.turn, made.took_ms, made.due_ms);
        let (approval, rule, attempts) = (made.approval, made.rule.clone(), made.attempts.into());
        Some(Self { path, args, turn, took_ms, attempts, due_ms, approval, rule, state })
    }

    fn made(self, call: u32) -> Made {
        let is_new = matches!(self.state, State::Open(_, true));
        let (plan, progress) = match self.state {
            State::Over(answer, past) => (Plan::Past(past), Progress::Answered(answer)),
            State::Open(open, is_new) => {
                let plan = match open {
                    Open::Send { target, effect, replay } => Plan::Send { target, effect, replay },
                    Open::Ask => Plan::Ask,
                };
                (plan, if is_new { Progress::Made } else { Progress::Cleared })
            }
        };
        Made {
            call,
            path: self.path,
            args: self.args,
            plan,
            progress,
            took_ms: self.took_ms,
            attempts: u32::try_from(self.attempts).unwrap_or(u32::MAX),
            turn: self.turn,
            due_ms: self.due_ms,
            probe: None,
            // One that the journal does not have is judged when it is asked for.
            is_judged: !is_new,
            approval: self.approval,
            rule: self.rule,
        }
    }
}
