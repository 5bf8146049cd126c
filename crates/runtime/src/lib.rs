//! One run from start to end: what happens next, and the loop that makes it happen.
//!
//! [`Runtime`] is the façade that both edges use; there is no other way in. Below it, `run` decides by a pure function from
//! records, turns and results to the next step, and `drive` does the I/O that the step names. That split is what makes each
//! crash point testable: the decisions can be cut anywhere, since nothing but the journal is trusted to remember.
//!
//! # Invariants
//!
//! * A call that is not `safe` leaves only after the record that asks for it is durable, and so is everything before it.
//! * A result reaches the script only after it is durable, and in the order in which it was written, live and on replay alike.
//! * On replay a script that calls something else, or more, or less than recorded admits nothing.
//! * Only this crate knows more than one of engine, journal and catalog. They are joined here, by conversion.
//! * Only `clock` reads time.
//!
//! # Deliberately not here
//!
//! Words for people and wire formats: the edges have them. Rules on who may call what, and questions to a person, are still to
//! come; until then everything is allowed, and the report says so.

mod amend;
mod approvals;
mod canonical;
mod clock;
mod config;
pub mod date;
mod drive;
mod error;
mod functions;
mod policy;
pub mod preflight;
mod report;
mod rounded;
mod run;
mod runtime;
mod snapshot;
mod ticker;
mod view;
mod waiting;

pub use approvals::ApprovalView;
pub use clock::{Clock, SystemClock};
pub use config::{Durability, LimitSettings, OnClientCancel, OnDivergence, OnInterrupted, Settings};
pub use error::RuntimeError;
pub use functions::NO_APPROVAL;
pub use policy::{Condition, Effects, Person, Policy, Rule, Subject, Verdict};
pub use refrain_catalog::{
    Answer, Asked, CallError, Catalog, CommandSettings, CommandTool, CommandToolSettings, DECLARATION_MARK, DIALECTS,
    DeclarationFile, Description, Diagnosis, Dialect, Effect, Elicit, Environment, ErrorCode, Expose, Found, Functions,
    Glob, Hit, McpHttpSettings, McpSettings, Observed, OnMismatch, Output, OutputFormat, Permission, Query, Question,
    Replay, Retry, Secrets, SettingsError, SharedFunctions, SourceKind, SourceSettings, SourceStatus, Status, Tool,
    ToolOverride, Trust, Unresolved, demo, escaped, guard_main,
};
pub use refrain_engine::{EngineError, Language};
pub use refrain_journal::{Journal, JournalError, Json, RunId, RunState, Take};
pub use report::{
    AmendReport, CallReport, CallStatus, ErrorKind, ErrorReport, Log, Note, Report, ReportStatus, UnmatchedCall, Usage,
};
pub use rounded::rounded_numbers;
pub use runtime::{AmendRequest, Origin, RunRequest, Runtime, Tended};
pub use view::{OwnerView, RecordView, RunDetail, RunListing, RunView, ToolListing, ToolView};
pub use waiting::{Decided, Decision, Waiting, WaitingKind};
