//! When a run parks, and what it then waits for.
//!
//! A run parks only when everything it waits for is outside: a moment that is far, or a person. Until then its other calls go on.

use refrain_journal::{Json, Parked, Record};

use super::{Made, Plan, Progress, Run, Step};
use crate::{policy::Effects, waiting::Waiting};

impl Run {
    /// Puts the run down, if nothing that it waits for is near.
    pub(super) fn park(&mut self, now_ms: i64, active_ms: u64) -> Option<Step> {
        if self.open.is_empty() || self.cancelling.is_some() || !self.open.iter().all(|call| self.is_far(*call, now_ms))
        {
            return None;
        }
        let open = || self.open.iter().filter_map(|call| self.made(*call));
        let waiting: Vec<Waiting> = open().map(|made| self.waiting(made)).collect();
        let has_time = |made: &&Made| matches!(made.progress, Progress::Out) || made.waits_for_approval();
        let wake_ms = open().filter(has_time).filter_map(|made| made.due_ms);
        // At its deadline there is something to do, whatever it waits for.
        let wake_ms = wake_ms.chain(self.rules.deadline_ms).min();
        let told = Json::from_value(&serde_json::to_value(&waiting).unwrap_or_default());
        let mut records = Vec::new();
        if self.parked.as_ref() != Some(&told) {
            self.active_ms = self.active_ms.max(active_ms);
            records = self.asked_records();
            let active_ms = self.active_ms;
            records.push(Record::Parked(Parked { at_ms: now_ms, active_ms, wake_ms, waiting: told }));
        }
        Some(Step::Park { at: self.next_seq(), records, waiting, wake_ms })
    }

    /// What a call is waited for, where that may take long.
    fn waiting(&self, made: &Made) -> Waiting {
        match (&made.plan, made.due_ms) {
            (Plan::Ask, _) => Waiting::question(self.id, made),
            _ if made.waits_for_approval() => {
                let is_plan = self.gate.effects == Effects::Plan;
                Waiting::approval(self.id, made, is_plan)
            }
            (_, Some(due_ms)) if matches!(made.progress, Progress::Out) => Waiting::timer(self.id, made, due_ms),
            _ => Waiting::interrupted(self.id, made),
        }
    }

    /// Whether nothing in this process brings the call on for some time.
    fn is_far(&self, call: u32, now_ms: i64) -> bool {
        self.made(call).is_some_and(|made| match made.progress {
            Progress::Outside => true,
            Progress::Out if made.probe.is_none() => made.due_ms.is_some_and(|due_ms| {
                u64::try_from(due_ms.saturating_sub(now_ms)).is_ok_and(|ms| ms >= self.rules.park_after_ms)
            }),
            Progress::Out | Progress::Made | Progress::Cleared | Progress::Answered(_) => false,
        })
    }
}
