//! What the policy says of calls: which may leave, which wait for a person, and which do not leave at all.

use super::{Approval, Plan, Progress, Reply, Run, Target};
use refrain_catalog::{CallError, ErrorCode, Permission};

impl Run {
    /// Judges every call that the journal does not have. What it has was judged when it was asked for.
    pub(super) fn judge_new(&mut self, now_ms: i64) {
        for index in self.asked..self.calls.len() {
            if !std::mem::replace(&mut self.calls[index].is_judged, true) {
                self.judge(index, now_ms);
            }
        }
    }

    /// Judges a call, and sets its plan by the verdict.
    pub(super) fn judge(&mut self, index: usize, now_ms: i64) {
        let Plan::Send { target: Target::Tool { source, tool, args, .. }, .. } = &self.calls[index].plan else {
            return;
        };
        let Ok(tool) = self.catalog.resolve(source, tool) else { return };
        let verdict = self.gate.judge(self.id, tool, args, index as u64);
        let is_cancelled = self.cancelling.is_some();
        let is_write = tool.effect != refrain_catalog::Effect::Read;
        let expires_ms = self
            .gate
            .policy
            .ask_timeout
            .map(|time| now_ms.saturating_add_unsigned(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)));
        let made = &mut self.calls[index];
        match verdict.permission {
            Permission::Allow => {
                (made.approval, made.due_ms) = (Approval::Needless, None);
                made.rule = (is_write && !verdict.is_default).then_some(verdict.who);
            }
            // Nobody holds the clean-up up, and there is nobody to park for.
            Permission::Ask if is_cancelled => {
                let told = format!(
                    "`{}` was not called: the run is being cancelled, and nobody is asked meanwhile",
                    made.path
                );
                made.plan = Plan::Here(CallError::new(ErrorCode::Cancelled, told).into());
                made.rule = Some(verdict.who);
            }
            Permission::Ask => {
                (made.approval, made.due_ms) = (Approval::Wanted, expires_ms);
                made.rule = Some(verdict.who);
            }
            Permission::Deny | Permission::Direct => {
                let error = CallError::new(ErrorCode::Denied, verdict.refusal(&made.path));
                (made.plan, made.rule) = (Plan::Here(error.into()), Some(verdict.who));
            }
        }
    }

    /// Sets a call by the verdict that the journal has of it.
    pub(super) fn judged_before(&mut self, index: usize, permission: Option<&str>, rule: Option<String>) {
        let made = &mut self.calls[index];
        // What was denied has not left, so today's settings decide what becomes of it if it has no answer.
        made.is_judged = permission != Some("deny");
        made.approval = if permission == Some("ask") { Approval::Wanted } else { Approval::Needless };
        made.rule = rule;
    }

    /// Answers the calls whose approval comes too late. Returns whether there are some.
    pub(super) fn expire(&mut self, now_ms: i64) -> bool {
        let late: Vec<u32> = self
            .open
            .iter()
            .copied()
            .filter(|call| {
                self.made(*call)
                    .is_some_and(|made| made.waits_for_approval() && made.due_ms.is_some_and(|due_ms| due_ms <= now_ms))
            })
            .collect();
        for call in &late {
            let Some(made) = self.made_mut(*call) else { continue };
            made.progress = Progress::Out;
            let told = format!("`{}` was not called: the approval timed out", made.path);
            self.arrived.push_back((*call, Reply::failure(&CallError::new(ErrorCode::Denied, told))));
        }
        !late.is_empty()
    }
}

impl super::Made {
    /// Whether nothing but a person's word keeps it.
    pub(crate) fn waits_for_approval(&self) -> bool {
        self.approval == Approval::Wanted && matches!(self.progress, Progress::Outside)
    }

    /// When a timer is up, or an approval is too late.
    pub(crate) fn due_ms(&self) -> Option<i64> {
        self.due_ms
    }

    /// How the journal calls what the policy said.
    pub(super) fn permission(&self) -> Option<Permission> {
        match (&self.plan, self.approval) {
            (Plan::Here(here), _) if self.rule.is_some() && here.taken.is_none() => Some(Permission::Deny),
            (_, Approval::Wanted | Approval::Given) => Some(Permission::Ask),
            _ => None,
        }
    }
}
