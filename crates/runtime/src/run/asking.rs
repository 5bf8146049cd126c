//! How calls get into the journal and out to their sources, and what comes back into the journal.

use std::{hash::Hasher as _, time::Duration};

use refrain_catalog::{Replay, Retry};
use refrain_journal::{Answered, Asked, AskedCall, Attempted, Outcome, Record};

use super::{Approval, Outgoing, Plan, Progress, Reply, Run, Step, Target};

/// The longest pause before a call is made again, in milliseconds, unless the tool asks for a longer one.
const LONGEST_BACKOFF_MS: u64 = 5 * 60 * 1000;

impl Run {
    /// Clears the calls that were made since: safe ones at once, others after the record that asks for them. What may hold the
    /// run up for long is recorded first as well: when it is due is decided once.
    pub(super) fn ask(&mut self, now_ms: i64, over: bool) -> Option<Step> {
        self.judge_new(now_ms);
        let mut has_to_be_asked = false;
        for index in self.asked..self.calls.len() {
            let park_after_ms = self.rules.park_after_ms;
            let made = &mut self.calls[index];
            if !matches!(made.progress, Progress::Made) {
                continue;
            }
            let is_long = match &made.plan {
                Plan::Send { target: Target::Timer(pause), .. } => {
                    let ms = u64::try_from(pause.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
                    made.due_ms = Some(now_ms.saturating_add_unsigned(ms));
                    !over && ms >= park_after_ms
                }
                Plan::Ask => !over,
                Plan::Send { .. } | Plan::Here(_) | Plan::Past(_) => false,
            };
            has_to_be_asked |= is_long || !made.is_safe() || made.approval == Approval::Wanted;
        }
        let records = has_to_be_asked.then(|| self.asked_records());
        if records.is_some() || !over {
            for index in self.asked..self.calls.len() {
                if matches!(self.calls[index].progress, Progress::Made) {
                    self.clear(index, over);
                }
            }
        }
        records.map(|records| Step::Write { at: self.next_seq(), records, flush: self.flush(true) })
    }

    fn clear(&mut self, index: usize, over: bool) {
        let made = &mut self.calls[index];
        made.progress = Progress::Cleared;
        match &made.plan {
            Plan::Send { .. } if over && (made.is_safe() || made.approval == Approval::Wanted) => {}
            Plan::Send { .. } if made.approval == Approval::Wanted => made.progress = Progress::Outside,
            Plan::Send { .. } => self.to_send.push(made.call),
            Plan::Here(answer) => {
                made.progress = Progress::Out;
                self.arrived.push_back((made.call, Reply::here(answer)));
            }
            Plan::Ask if over => {}
            Plan::Ask => made.progress = Progress::Outside,
            Plan::Past(_) => {}
        }
    }

    /// The records that ask for every call that is not in the journal, one for each turn that made some.
    pub(super) fn asked_records(&self) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        for (index, made) in self.calls.iter().enumerate().skip(self.asked) {
            let (replay, key) = match &made.plan {
                Plan::Send { target: Target::Tool { key, .. }, replay, .. } => (*replay, key.clone()),
                Plan::Send { target: Target::Timer(_), replay, .. } => (*replay, None),
                // It never leaves, so nothing is lost by deciding it anew.
                Plan::Here(_) | Plan::Ask | Plan::Past(_) => (Replay::Safe, None),
            };
            let call = AskedCall {
                call: made.call.into(),
                tool: made.path.clone(),
                args: made.args.clone(),
                effect: made.effect().as_str().into(),
                replay: replay.as_str().into(),
                key,
                due_ms: made.due_ms,
                permission: made.permission().map(|permission| permission.as_str().to_owned()),
                rule: made.rule.clone(),
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

    pub(super) fn take_outgoing(&mut self, now_ms: i64) -> Vec<Outgoing> {
        let mut all = Vec::new();
        for call in std::mem::take(&mut self.to_send) {
            let Some(made) = self.made_mut(call) else { continue };
            let after = match &made.probe {
                Some(_) => 0,
                None => made.due_ms.map_or(0, |due_ms| u64::try_from(due_ms.saturating_sub(now_ms)).unwrap_or(0)),
            };
            let target = match (&made.probe, &made.plan) {
                (Some(probe), _) => probe.clone(),
                (None, Plan::Send { target, .. }) => target.clone(),
                (None, _) => continue,
            };
            made.progress = Progress::Out;
            all.push(Outgoing { call, after: Duration::from_millis(after), target });
        }
        all
    }

    pub(super) fn write_arrived(&mut self, now_ms: i64, active_ms: u64) -> Step {
        self.judge_new(now_ms);
        let mut records = self.asked_records();
        let calls_made = self.calls.len() as u64;
        let turn = self.turn.saturating_sub(1);
        self.parked = None;
        self.active_ms = self.active_ms.max(active_ms);
        let mut decisive = false;
        let mut arrived = std::mem::take(&mut self.arrived);
        // The winner of a race among calls that are taken over is who won it before.
        arrived.make_contiguous().sort_by_key(|(_, reply)| reply.taken.map_or(0, |taken| taken.at + 1));
        for (call, reply) in arrived {
            decisive |= reply.by.is_some() || self.made(call).is_some_and(|made| !made.is_safe());
            if let Some(attempted) = self.again(call, &reply, now_ms) {
                records.push(Record::Attempted(attempted));
                continue;
            }
            self.clock_ms = self.clock_ms.max(reply.taken.map_or(now_ms, |taken| taken.clock_ms));
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
                by: reply.by,
            }));
        }
        Step::Write { at: self.next_seq(), records, flush: self.flush(decisive) }
    }

    /// Decides whether a call that failed is made once more, and when.
    fn again(&mut self, call: u32, reply: &Reply, now_ms: i64) -> Option<Attempted> {
        let Outcome::Failure(failure) = &reply.outcome else { return None };
        let (active_ms, run) = (self.active_ms, self.id);
        let catalog = std::sync::Arc::clone(&self.catalog);
        if !failure.retryable || reply.by.is_some() || self.cancelling.is_some() {
            return None;
        }
        let made = self.made_mut(call)?;
        let Plan::Send { target: Target::Tool { source, tool, .. }, replay: Replay::Safe | Replay::Keyed, .. } =
            &made.plan
        else {
            return None;
        };
        let retry = catalog.resolve(source, tool).ok()?.retry?;
        let attempt = made.attempts.saturating_add(1);
        if attempt >= retry.attempts {
            return None;
        }
        let mut dice = std::hash::DefaultHasher::new();
        dice.write(run.to_string().as_bytes());
        dice.write_u32(call);
        dice.write_u32(attempt);
        let pause = pause_ms(retry, attempt, dice.finish()).max(failure.retry_after_ms.unwrap_or(0));
        let again_ms = now_ms.saturating_add_unsigned(pause);
        (made.attempts, made.due_ms, made.progress) = (attempt, Some(again_ms), Progress::Cleared);
        let failure = failure.clone();
        let took_ms = reply.took_ms;
        Some(Attempted { call: call.into(), attempt: attempt.into(), failure, took_ms, active_ms, again_ms })
    }
}

/// The pause after a failed attempt: twice as long each time, and somewhere between half of that and all of it, so that calls
/// that failed together are not made together again.
fn pause_ms(retry: Retry, attempt: u32, dice: u64) -> u64 {
    let doubled = 1u64.checked_shl(attempt - 1).map_or(u64::MAX, |times| retry.backoff_ms.saturating_mul(times));
    let most = doubled.min(LONGEST_BACKOFF_MS);
    most / 2 + dice % (most - most / 2 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_doubles_with_some_chance_and_has_an_end() {
        let retry = Retry { attempts: 99, backoff_ms: 100 };
        for (attempt, least, most) in [(1, 50, 100), (2, 100, 200), (5, 800, 1600), (90, 150_000, 300_000)] {
            let pauses: Vec<u64> = (0..1000u64).map(|dice| pause_ms(retry, attempt, dice.wrapping_mul(7919))).collect();
            assert!(pauses.iter().all(|pause| (least..=most).contains(pause)), "{attempt}");
            assert!(pauses.iter().any(|pause| pause != &pauses[0]), "{attempt}");
        }
        assert_eq!(pause_ms(Retry { attempts: 2, backoff_ms: 0 }, 1, 7), 0);
    }
}
