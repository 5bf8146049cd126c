//! Going through what is recorded, and checking on the way that the script does it again.

use refrain_catalog::Replay;
use refrain_journal::{Answered, Asked, Attempted, Decided, Record};

use super::{Approval, Divergence, End, Plan, Progress, Run, Step, described};
use crate::{canonical::canonical, waiting::APPROVE};

impl Run {
    /// Takes the next answer from the history, checking on the way that the script makes the calls that are recorded.
    pub(super) fn replay(&mut self) -> Option<Step> {
        while let Some(record) = self.history.pop_front() {
            self.parked = None;
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
                Record::Parked(parked) => {
                    self.parked = Some(parked.waiting);
                    Ok(())
                }
                Record::Attempted(attempted) => {
                    self.attempted(&attempted);
                    Ok(())
                }
                Record::Decided(decided) => {
                    self.decided_before(&decided);
                    Ok(())
                }
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
                    after: self.agreed(),
                });
            }
            self.agreed = Some((self.calls[self.asked].call, "made"));
            self.calls[self.asked].progress = Progress::Cleared;
            self.calls[self.asked].due_ms = expected.due_ms;
            self.judged_before(self.asked, expected.permission.as_deref(), expected.rule.clone());
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
                after: self.agreed(),
            });
        }
        self.agreed = known.map(|made| (made.call, "answered"));
        Ok(())
    }

    /// Of everything else that people decide, what came of it follows.
    fn decided_before(&mut self, decided: &Decided) {
        let made = u32::try_from(decided.call).ok().and_then(|call| self.made_mut(call));
        if let Some(made) = made.filter(|made| decided.decision == APPROVE && made.approval == Approval::Wanted) {
            (made.approval, made.due_ms) = (Approval::Given, None);
        }
    }

    fn attempted(&mut self, attempted: &Attempted) {
        let made = u32::try_from(attempted.call).ok().and_then(|call| self.made_mut(call));
        if let Some(made) = made {
            made.attempts = u32::try_from(attempted.attempt).unwrap_or(u32::MAX);
            made.due_ms = Some(attempted.again_ms);
        }
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
            after: self.agreed(),
        })
    }

    /// The last step that the script made again as it is recorded.
    fn agreed(&self) -> Option<String> {
        let (call, what) = self.agreed?;
        let made = self.made(call)?;
        Some(format!("call {call} was {what}: {}", described(&made.path, &made.args)))
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
}
