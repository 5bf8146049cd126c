//! Why the runtime could not do what it was asked. A script that fails is a report, not an error.

use refrain_engine::EngineError;
use refrain_journal::{JournalError, RunId};

/// Why the runtime could not do what it was asked, by what the caller can do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The journal failed; its error says what to do. The run, if there is one, can be resumed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The engine could not be made.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No run has such an id.
    #[error("no run starts with `{prefix}`; `refrain runs list` shows every run")]
    NoSuchRun {
        /// What was asked for.
        prefix: String,
    },
    /// Several runs have ids that start so.
    #[error("`{prefix}` is the start of more than one run, among them `{first}` and `{second}`; give more of the id")]
    AmbiguousRun {
        /// What was asked for.
        prefix: String,
        /// One of them.
        first: RunId,
        /// Another.
        second: RunId,
    },
    /// A record can be read and makes no sense to this version.
    #[error("run `{run}` cannot be taken up: {what}")]
    Unusable {
        /// The run.
        run: RunId,
        /// What is wrong with it.
        what: String,
    },
    /// A source whose tools it calls is not there. It stays as it is, and goes on once the source is.
    #[error(
        "run `{run}` waits for source `{source_name}`: {why}; mend it and resume the run again, or `refrain amend` it"
    )]
    Blocked {
        /// The run.
        run: RunId,
        /// The source.
        source_name: String,
        /// Why it is not there.
        why: String,
    },
    /// A decision for which the run does not wait. It stays as it is.
    #[error("run `{run}` takes no such answer for call {call}: {what}")]
    NotWaiting {
        /// The run.
        run: RunId,
        /// The call.
        call: u32,
        /// What it waits for, or why the answer is none.
        what: String,
    },
    /// Ours to mend.
    #[error("bug: {what}; please report it")]
    Bug {
        /// What happened.
        what: String,
    },
}
