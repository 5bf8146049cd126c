//! Whether a call may happen: yes, no, or after a person has agreed.
//!
//! # Invariants
//!
//! * A call is judged once, before it is asked for, and the verdict is in the journal with it: what a person was asked is not decided
//!   anew by settings that changed meanwhile.
//! * The first rule that fits decides. A tool's own `approval` goes before all rules, and a run that may only read goes before both.
//! * What cannot be judged is denied: a condition that fails is no permission.

use std::{sync::Arc, time::Duration};

use refrain_catalog::{Effect, Glob, Permission, Tool};
use refrain_journal::RunId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod condition;

pub use condition::Condition;
use condition::Variables;

use crate::runtime::Origin;

/// The rules for calls.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The first that fits decides.
    pub rules: Vec<Rule>,
    /// Whether somebody can be asked.
    pub person: Person,
    /// How long a call waits for its approval. None for ever.
    pub ask_timeout: Option<Duration>,
}

/// Whether there is somebody who can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Person {
    /// Where the client says that it can ask.
    #[default]
    Auto,
    /// Yes, whatever the client says.
    Yes,
    /// No.
    No,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The paths of the tools that it is for.
    pub tools: Glob,
    /// Only for calls of this effect.
    pub effect: Option<Effect>,
    /// Only where this holds.
    pub when: Option<Condition>,
    /// What it says.
    pub outcome: Permission,
    /// Where it stands: file and line.
    pub place: String,
}

/// A call that is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// Its arguments.
    pub args: &'a Value,
    /// Who calls.
    pub origin: &'a Origin,
    /// The session.
    pub session: Option<&'a str>,
    /// The run, where there is one.
    pub run: Option<RunId>,
    /// How many calls the run has made before.
    pub calls: u64,
}

/// What is to become of a call, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may be made.
    pub permission: Permission,
    /// Who says so: `rule 2 (refrain.toml:7)`; or the reason, as a sentence, where no rule does.
    pub who: String,
    /// Whether no rule said it.
    pub is_default: bool,
    /// What a person could do about it.
    pub fix: Option<String>,
}

impl Policy {
    /// Judges a call.
    #[must_use]
    pub fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let of = |permission, who: String| Verdict { permission, who, is_default: false, fix: None };
        let path = subject.tool.path();
        if let Some(permission) = subject.tool.approval {
            return of(permission, format!("`approval` of `{path}`"));
        }
        let variables = Variables::new(subject);
        for (n, rule) in self.rules.iter().enumerate() {
            if !rule.tools.matches(&path) || rule.effect.is_some_and(|effect| effect != subject.tool.effect) {
                continue;
            }
            let who = format!("rule {} ({})", n + 1, rule.place);
            match rule.when.as_ref().map_or(Ok(true), |when| when.holds(&variables)) {
                Ok(false) => {}
                Ok(true) => return of(rule.outcome, who),
                Err(why) => {
                    let fix = Some(format!("correct the condition: {why}"));
                    return Verdict { fix, ..of(Permission::Deny, format!("{who} cannot be judged")) };
                }
            }
        }
        self.default_of(subject)
    }

    /// What holds where no rule says anything.
    fn default_of(&self, subject: &Subject<'_>) -> Verdict {
        let path = subject.tool.path();
        let of = |permission, who: &str| Verdict { permission, who: who.to_owned(), is_default: true, fix: None };
        let is_far = subject.origin.way == "http";
        match subject.tool.effect {
            Effect::Read => of(Permission::Allow, "it only reads"),
            _ if !subject.origin.is_agent() => of(Permission::Allow, "whoever typed the command agreed"),
            Effect::Write if is_far => of(Permission::Ask, "no rule allows it"),
            Effect::Write => of(Permission::Allow, "no rule is against it"),
            Effect::Destructive if self.has_person(subject.origin) => of(Permission::Ask, "it is destructive"),
            Effect::Destructive => {
                let fix = format!(
                    "allow it with a rule (`[[policy.rules]]` with `tools = \"{path}\"` and `outcome = \"allow\"`), or say \
                     `[policy] person = \"yes\"` where somebody sees to `refrain approvals`"
                );
                let who = "it is destructive, and nobody here can be asked";
                Verdict { fix: Some(fix), ..of(Permission::Deny, who) }
            }
        }
    }

    fn has_person(&self, origin: &Origin) -> bool {
        match self.person {
            Person::Auto => origin.asks,
            Person::Yes => true,
            Person::No => false,
        }
    }

    /// Returns the rules that can never decide, each with the one before it that always does: their places in `rules`.
    #[must_use]
    pub fn unreachable(&self) -> Vec<(usize, usize)> {
        let hides = |earlier: &Rule, rule: &Rule| {
            earlier.when.is_none()
                && (earlier.effect.is_none() || earlier.effect == rule.effect)
                && earlier.tools.covers(&rule.tools)
        };
        let hidden = |at: usize| self.rules[..at].iter().position(|earlier| hides(earlier, &self.rules[at]));
        (0..self.rules.len()).filter_map(|at| Some((at, hidden(at)?))).collect()
    }
}

impl Verdict {
    /// Says to a script why a call was not made, and what would help. For a verdict that is no `allow`.
    pub(crate) fn refusal(&self, path: &str) -> String {
        let Self { who, fix, .. } = self;
        match (self.permission, fix) {
            (Permission::Direct, _) => format!(
                "`{path}` was not called: {who} wants it to be a step of its own; call it directly with `run_tool`, so that the \
                 person sees it"
            ),
            (_, Some(fix)) => format!("`{path}` was not called, since {who}; {fix}"),
            (_, None) => format!("`{path}` was not called: {who} denies it; change that, or do without the call"),
        }
    }
}

/// What judges the calls of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    pub(crate) policy: Arc<Policy>,
    pub(crate) origin: Origin,
    pub(crate) session: Option<String>,
    pub(crate) effects: Effects,
}

/// What the calls of a run may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effects {
    /// Whatever the policy allows.
    #[default]
    All,
    /// Nothing but reads leave.
    Read,
    /// Reads leave; writes are held back and become a plan, which a person agrees to.
    Plan,
}

impl Effects {
    /// The word of the journal; none for all.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Read => Some("read"),
            Self::Plan => Some("plan"),
        }
    }

    /// Reads the word of the journal. One that is not known lets nothing through but reads.
    pub(crate) fn of(word: Option<&str>) -> Self {
        match word {
            None => Self::All,
            Some("plan") => Self::Plan,
            Some(_) => Self::Read,
        }
    }
}

impl Gate {
    /// Judges a call of `run`, which has made `calls` before it.
    pub(crate) fn judge(&self, run: RunId, tool: &Tool, args: &Value, calls: u64) -> Verdict {
        if self.effects == Effects::Read && tool.effect != Effect::Read {
            let effect = tool.effect.as_str();
            return Verdict {
                permission: Permission::Deny,
                who: format!("this run may only read, and the tool is of effect `{effect}`"),
                is_default: false,
                fix: Some("run the script with `effects: \"all\"`, or take a tool that only reads".to_owned()),
            };
        }
        let (origin, session) = (&self.origin, self.session.as_deref());
        let verdict = self.policy.judge(&Subject { tool, args, origin, session, run: Some(run), calls });
        match verdict.permission {
            // It is one.
            Permission::Direct if origin.direct => Verdict { permission: Permission::Allow, ..verdict },
            Permission::Allow if self.effects == Effects::Plan && tool.effect != Effect::Read => Verdict {
                permission: Permission::Ask,
                who: "the run makes a plan".to_owned(),
                is_default: false,
                fix: None,
            },
            _ => verdict,
        }
    }
}

#[cfg(test)]
mod tests;
