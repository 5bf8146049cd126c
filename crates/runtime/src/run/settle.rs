//! What becomes of calls that were out when an attempt ended, or when the run was cancelled.

use refrain_catalog::{CallError, ErrorCode, Replay, Tool};
use refrain_journal::{Cancelling, Json, Outcome, Record};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{Approval, Made, Plan, Progress, Reply, Run, Target};
use crate::{
    config::OnInterrupted,
    waiting::{APPROVE, Decided, Decision},
};

impl Run {
    /// Decides, once, what becomes of the calls that were out when the attempt before this one ended.
    pub(super) fn settle_history(&mut self, now_ms: i64) {
        if std::mem::replace(&mut self.settled_history, true) {
            return;
        }
        self.cancel_waiting();
        let cleared = |run: &Self, call: &u32| {
            (*call as usize) <= run.asked && run.made(*call).is_some_and(|it| matches!(it.progress, Progress::Cleared))
        };
        let left: Vec<u32> = self.open.iter().copied().filter(|call| cleared(self, call)).collect();
        for call in left {
            if !self.made(call).is_none_or(|made| made.is_judged) {
                self.judge(call as usize - 1, now_ms);
            }
            let Some(made) = self.made(call) else { continue };
            match &made.plan {
                Plan::Send { .. } if made.approval == Approval::Wanted => {
                    self.set(call, |made| made.progress = Progress::Outside);
                }
                Plan::Send { target, replay, .. } if self.may_repeat(target, *replay) => self.to_send.push(call),
                Plan::Send { target, .. } => match self.probe_of(made, target) {
                    Ok(Some(probe)) => {
                        self.set(call, |made| made.probe = Some(probe));
                        self.to_send.push(call);
                    }
                    Ok(None) => self.is_unknown(call, Vec::new()),
                    Err(note) => self.is_unknown(call, vec![note]),
                },
                // It was asked for and never left; its answer is the same again.
                Plan::Here(answer) => {
                    let reply = Reply::here(answer);
                    self.set(call, |made| made.progress = Progress::Out);
                    self.arrived.push_back((call, reply));
                }
                Plan::Ask => self.set(call, |made| made.progress = Progress::Outside),
                Plan::Past(_) => {}
            }
        }
        for decision in std::mem::take(&mut self.decisions) {
            self.decide(decision, now_ms);
        }
    }

    /// Whether a call that was out may be made once more: by the rule when it was asked for, and by today's.
    fn may_repeat(&self, target: &Target, replay: Replay) -> bool {
        let now = match target {
            Target::Tool { source, tool, .. } => self.today(source, tool).map(|tool| tool.replay),
            Target::Timer(_) => Some(Replay::Safe),
        };
        replay != Replay::Unsafe && now == Some(replay)
    }

    fn today(&self, source: &str, tool: &str) -> Option<&Tool> {
        self.present.as_ref().and_then(|present| present.resolve(source, tool).ok())
    }

    /// What asks what became of a call, where today's settings name such a tool. The error says why it is not asked.
    fn probe_of(&self, made: &Made, target: &Target) -> Result<Option<Target>, String> {
        let Target::Tool { source, tool, args, key } = target else { return Ok(None) };
        let Some(present) = &self.present else { return Ok(None) };
        let Some(probe) = present.resolve(source, tool).ok().and_then(|tool| present.reconciler_of(tool)) else {
            return Ok(None);
        };
        let probe = probe?;
        let key = key.clone().unwrap_or_else(|| format!("{}/{}", self.id, made.call));
        let args = json!({ "key": key, "tool": made.path, "args": args });
        Ok(Some(Target::Tool { source: probe.source.clone(), tool: probe.name.clone(), args, key: None }))
    }

    /// Takes in what a probe says of the call that it was sent for. Anything but a plain word leaves it unknown.
    pub(super) fn probed(&mut self, call: u32, reply: Reply) {
        #[derive(Deserialize)]
        struct Said {
            status: String,
            #[serde(default)]
            result: Option<Box<RawValue>>,
        }
        let said = match &reply.outcome {
            Outcome::Value(json) => json.parse::<Said>().map_err(|error| format!("its answer cannot be read: {error}")),
            Outcome::Failure(failure) => Err(failure.message.clone()),
            Outcome::Blob { .. } => Err("its answer is too large".to_owned()),
        };
        let why = match said {
            Ok(Said { status, result }) if status == "done" => {
                let json = result.map_or(Ok(Json::from_value(&Value::Null)), |result| Json::new(result.get()));
                match json {
                    Ok(json) => {
                        let notes =
                            vec!["its process ended while it was out; the tool for that says it was done".into()];
                        return self.arrived.push_back((call, Reply { notes, ..Reply::new(Outcome::Value(json)) }));
                    }
                    Err(error) => error.to_string(),
                }
            }
            Ok(Said { status, .. }) if status == "not_done" => {
                self.set(call, |made| made.progress = Progress::Cleared);
                return self.to_send.push(call);
            }
            Ok(Said { status, .. }) if status == "unknown" => "it does not know".to_owned(),
            Ok(Said { status, .. }) => format!("its `status` is `{status}`, and not `done`, `not_done` or `unknown`"),
            Err(why) => why,
        };
        self.is_unknown(call, vec![format!("what became of it cannot be told by the tool for that: {why}")]);
    }

    /// Nobody here knows whether a call happened.
    fn is_unknown(&mut self, call: u32, notes: Vec<String>) {
        let asks = self.rules.on_interrupted == OnInterrupted::Ask && self.cancelling.is_none() && self.end.is_none();
        if asks {
            return self.set(call, |made| made.progress = Progress::Outside);
        }
        let Some(made) = self.made_mut(call) else { return };
        made.progress = Progress::Out;
        let reply = Reply { notes, ..interrupted(&made.path) };
        self.arrived.push_back((call, reply));
    }

    /// Does what a person decided. Whether the run waits for it was looked at before.
    fn decide(&mut self, decision: Decision, now_ms: i64) {
        let Decision { call, what, by } = decision;
        let Some(made) = self.made_mut(call).filter(|made| matches!(made.progress, Progress::Outside)) else { return };
        made.progress = Progress::Out;
        let reply = match what {
            Decided::Value(json) => Reply::new(Outcome::Value(json)),
            Decided::Unknown if matches!(made.plan, Plan::Ask) => {
                Reply::failure(&CallError::new(ErrorCode::Denied, "nobody answers this question"))
            }
            Decided::Unknown => interrupted(&made.path),
            Decided::Approve => {
                (made.progress, made.approval, made.due_ms) = (Progress::Cleared, Approval::Given, None);
                self.to_send.push(call);
                let decided =
                    refrain_journal::Decided { call: call.into(), at_ms: now_ms, decision: APPROVE.into(), by };
                return self.first.push(Record::Decided(decided));
            }
            Decided::Reject(message) => {
                let said = message.unwrap_or_else(|| "declined by the user".to_owned());
                Reply::failure(&CallError::new(ErrorCode::Denied, format!("`{}` was not called: {said}", made.path)))
            }
            Decided::Again => {
                made.progress = Progress::Cleared;
                self.to_send.push(call);
                let decided =
                    refrain_journal::Decided { call: call.into(), at_ms: now_ms, decision: "again".into(), by };
                return self.first.push(Record::Decided(decided));
            }
        };
        let by = Some(by.unwrap_or_else(|| "somebody".to_owned()));
        self.arrived.push_back((call, Reply { by, ..reply }));
    }

    fn set(&mut self, call: u32, change: impl FnOnce(&mut Made)) {
        if let Some(made) = self.made_mut(call) {
            change(made);
        }
    }

    /// Whether a call may be made while the run is being cancelled.
    fn cleans_up(&self, plan: &Plan) -> bool {
        match plan {
            Plan::Send { target: Target::Tool { source, tool, .. }, .. } => {
                self.catalog.resolve(source, tool).is_ok_and(|tool| tool.cleanup)
            }
            Plan::Send { target: Target::Timer(_), .. } | Plan::Ask => false,
            Plan::Here(_) | Plan::Past(_) => true,
        }
    }

    /// Decides what a call comes to that a script makes after the mark.
    pub(super) fn while_cancelling(&self, path: &str, plan: Plan) -> Plan {
        if self.cleans_up(&plan) {
            return plan;
        }
        let told = format!("`{path}` was not called: the run is being cancelled, and this is not set to clean up");
        Plan::Here(CallError::new(ErrorCode::Cancelled, told).into())
    }

    /// From here on the run is cancelled.
    pub(super) fn cancel(&mut self, cancelling: Cancelling) {
        self.cancelling = Some(cancelling);
        self.made_before = self.calls.len();
    }

    /// Every call that waited when the run was cancelled rejects, so that `finally` runs. What was out may have happened.
    fn cancel_waiting(&mut self) {
        let stays = |made: &Made| made.approval != Approval::Wanted && self.cleans_up(&made.plan);
        let stays: Vec<bool> = self.calls[..self.made_before].iter().map(stays).collect();
        for (made, stays) in self.calls.iter_mut().zip(stays) {
            let told = match made.progress {
                _ if stays => continue,
                Progress::Made => format!("`{}` was not called: the run was cancelled", made.path),
                Progress::Cleared | Progress::Outside if made.approval == Approval::Wanted => {
                    format!("`{}` was not called: the run was cancelled before anybody agreed to it", made.path)
                }
                Progress::Cleared | Progress::Out | Progress::Outside if matches!(made.plan, Plan::Ask) => {
                    format!("`{}` was not answered: the run was cancelled", made.path)
                }
                Progress::Cleared | Progress::Out | Progress::Outside => {
                    format!("the run was cancelled while `{}` was out: it may or may not have happened", made.path)
                }
                Progress::Answered(_) => continue,
            };
            made.progress = Progress::Out;
            self.arrived.push_back((made.call, Reply::failure(&CallError::new(ErrorCode::Cancelled, told))));
        }
    }
}

fn interrupted(path: &str) -> Reply {
    let told = format!(
        "the process ended while `{path}` was out: it may or may not have happened, and it is not declared safe to repeat"
    );
    Reply::failure(&CallError::new(ErrorCode::Interrupted, told))
}
