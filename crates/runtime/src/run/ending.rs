//! What is left to do when the script is over.

use refrain_engine::Output;
use refrain_journal::{Guard, JournalError, Json, Record, Stored};

use super::{End, Made, Progress, Reply, Run, Step, answer};

impl Run {
    /// The script is over: what may still leave, leaves; what is out and not safe is waited for.
    pub(super) fn wind_up(&mut self, now_ms: i64) -> Step {
        // What a script made in the turn in which it was stopped has not left and never will. After a regular end it was
        // meant, so calls that are not safe are still sent; safe ones would only be thrown away.
        let regular = matches!(self.end, Some(End::Returned(_) | End::Threw(_) | End::Stalled));
        if regular && !self.drained {
            if let Some(step) = self.ask(now_ms, true) {
                return step;
            }
            let safe: Vec<u32> =
                self.to_send.iter().copied().filter(|call| self.made(*call).is_some_and(Made::is_safe)).collect();
            self.to_send.retain(|call| !safe.contains(call));
            if !self.to_send.is_empty() {
                return Step::Send(self.take_outgoing(now_ms));
            }
        }
        // Results that the script did not live to see still count in the report.
        let unseen = std::mem::take(&mut self.due).into_iter().map(|answered| {
            let call = u32::try_from(answered.call).unwrap_or(u32::MAX);
            (call, Reply { took_ms: answered.took_ms, notes: answered.notes, ..Reply::new(answered.outcome) })
        });
        for (call, reply) in unseen.chain(std::mem::take(&mut self.arrived)).collect::<Vec<_>>() {
            let answer = answer(&reply.outcome);
            self.tool_bytes += answer.bytes;
            self.open.remove(&call);
            if let Some(made) = self.made_mut(call) {
                made.progress = Progress::Answered(answer);
                made.took_ms = reply.took_ms;
            }
        }
        let mut open = self.open.iter().filter_map(|call| self.made(*call));
        let out = open.any(|made| matches!(made.progress, Progress::Out) && !made.is_safe());
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
        self.asked_records()
    }
}
