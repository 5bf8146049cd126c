//! What a run waits for, and how a person ends the wait.

use refrain_journal::{Json, RunId};
use serde::{Deserialize, Serialize};

use crate::{
    date::utc,
    run::{Divergence, Made},
};

/// What a parked run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its name within the run.
    pub id: String,
    /// What kind of thing it is.
    pub kind: WaitingKind,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    /// The path of the tool, or the function's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the call was made with; of a question, the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// When it goes on by itself, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// What in the policy wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the journal says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What the script does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The last step at which both agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What to do, as a command.
    pub next: String,
}

/// What a run can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitingKind {
    /// A person's agreement to a call.
    Approval,
    /// A person's agreement to the writes of a plan.
    Plan,
    /// A moment.
    Timer,
    /// A person's answer.
    Question,
    /// A person who knows what became of a call that was out when its process ended.
    Interrupted,
    /// A person who says what to do with a script that does not do what its journal says.
    Diverged,
    /// A person who has seen why its processes died.
    Restarts,
}

impl WaitingKind {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Plan => "plan",
            Self::Timer => "timer",
            Self::Question => "question",
            Self::Interrupted => "interrupted",
            Self::Diverged => "diverged",
            Self::Restarts => "restarts",
        }
    }
}

impl WaitingKind {
    /// Whether it is a call to which somebody has to agree.
    #[must_use]
    pub fn is_approval(self) -> bool {
        matches!(self, Self::Approval | Self::Plan)
    }
}

impl Waiting {
    fn new(id: String, kind: WaitingKind, next: String) -> Self {
        Self {
            id,
            kind,
            call: None,
            tool: None,
            args: None,
            due: None,
            why: None,
            expected: None,
            actual: None,
            after: None,
            next,
        }
    }

    fn of(made: &Made, kind: WaitingKind, next: String) -> Self {
        Self {
            call: Some(made.call),
            tool: Some(made.path.clone()),
            args: Some(made.args.clone()),
            ..Self::new(format!("call-{}", made.call), kind, next)
        }
    }

    pub(crate) fn timer(run: RunId, made: &Made, due_ms: i64) -> Self {
        let next = format!("refrain runs resume {run}");
        Self { due: Some(utc(due_ms)), ..Self::of(made, WaitingKind::Timer, next) }
    }

    pub(crate) fn approval(run: RunId, made: &Made, is_plan: bool) -> Self {
        let (kind, next) = match is_plan {
            true => (WaitingKind::Plan, format!("refrain approvals approve {run}")),
            false => (WaitingKind::Approval, format!("refrain approvals approve {run}/{}", made.call)),
        };
        Self { due: made.due_ms().map(utc), why: made.rule.clone(), ..Self::of(made, kind, next) }
    }

    pub(crate) fn question(run: RunId, made: &Made) -> Self {
        Self::of(made, WaitingKind::Question, format!("refrain runs answer {run} {} VALUE", made.call))
    }

    pub(crate) fn interrupted(run: RunId, made: &Made) -> Self {
        let next = format!("refrain runs answer {run} {} RESULT|--again|--unknown", made.call);
        Self::of(made, WaitingKind::Interrupted, next)
    }

    pub(crate) fn diverged(run: RunId, divergence: &Divergence) -> Self {
        Self {
            call: Some(divergence.call),
            expected: Some(divergence.expected.clone()),
            actual: Some(divergence.actual.clone()),
            after: divergence.after.clone(),
            ..Self::new(format!("call-{}", divergence.call), WaitingKind::Diverged, format!("refrain amend {run} FILE"))
        }
    }

    pub(crate) fn restarts(run: RunId, times: u32) -> Self {
        let actual = format!("{times} processes died of it, one after the other and without any progress");
        Self {
            actual: Some(actual),
            ..Self::new("restarts".into(), WaitingKind::Restarts, format!("refrain runs resume {run}"))
        }
    }
}

/// The word of the journal for an approval.
pub(crate) const APPROVE: &str = "approve";

/// What a person says about a call for which a run waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The number of the call.
    pub call: u32,
    /// What is to become of it.
    pub what: Decided,
    /// Who says so.
    pub by: Option<String>,
}

/// What is to become of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// The answer to a question, or what an interrupted call gave.
    Value(Json),
    /// A call may be made.
    Approve,
    /// A call may not be made, and what the script is told.
    Reject(Option<String>),
    /// An interrupted call did not happen, and is to be made.
    Again,
    /// Nobody knows whether an interrupted call happened: the script is told so. Of a question, that nobody answers it.
    Unknown,
}
