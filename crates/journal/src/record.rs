//! What is stored of a run.
//!
//! Records say what was asked and what came back, as data that outlives the code. How they look on disk is in
//! `payload.rs`, so that renaming a field here cannot rename one there.

use crate::{BlobHash, Json, RunId};

/// One durable fact about a run.
///
/// The number in each doc is its kind on disk. Numbers are forever: old journals outlive every release, so a number
/// is never reused and a payload only ever gains optional fields. A change of meaning takes a new variant and a new
/// number.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// 1. The run exists. Always record 0, and never any other.
    Started(Box<Started>),
    /// 2. A turn made these calls. Durable before one leaves that is not `safe`.
    Asked(Asked),
    /// 3. What a call came to. Durable before the script sees it, and delivered in the order of these records.
    Answered(Answered),
    /// 4. The run is over. Nothing may follow.
    Ended(Ended),
    /// 5. The run is being cancelled: what follows is its clean-up, and its end.
    Cancelling(Cancelling),
    /// 6. The run waits for what is outside, and no process holds it meanwhile. What follows ends the wait.
    Parked(Parked),
    /// 7. A person said what is to become of a call. Durable before anything is done about it.
    Decided(Decided),
    /// 8. A call failed, and is made once more. Durable before it is.
    Attempted(Attempted),
}

/// Everything that a run starts from, so that each attempt starts the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    /// The source as it was sent.
    pub script: String,
    /// The language of the source.
    pub language: String,
    /// The JavaScript that ran.
    pub javascript: String,
    /// From `javascript` back to `script`, where lines moved.
    pub source_map: Option<String>,
    /// Seeds everything random in the run.
    pub seed: u64,
    /// When the run started, in milliseconds since the epoch; the script's first clock.
    pub started_ms: i64,
    /// The script's arguments.
    pub args: Json,
    /// The limits it runs under.
    pub limits: Json,
    /// The engine build that a snapshot or a replay must match.
    pub fingerprint: String,
    /// The catalog entries that the run may see; a blob stored with this record.
    pub catalog: BlobHash,
    /// The session whose store values it reads and writes.
    pub session: Option<String>,
    /// The session's store values at the start.
    pub store: Json,
    /// How the run came in: front, client, way.
    pub origin: Json,
    /// What its calls may do: `read`, nothing but that. None for anything.
    pub effects: Option<String>,
    /// The names under which the script sees the tools; none for our own.
    pub dialect: Option<String>,
    /// The run that this one corrects, and those that it corrected in its turn: their finished calls answer equal ones of
    /// this one. The newest is the first.
    pub amends: Vec<RunId>,
}

/// The calls that one turn made.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The turn, from 0: the stretch of the sandbox from a delivery (or the start) until it waits.
    pub turn: u64,
    /// The calls, in the order the script made them.
    pub calls: Vec<AskedCall>,
    /// How many calls the script had made up to and with this turn.
    pub calls_made: u64,
}

/// One call as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedCall {
    /// Its number, from 1, in the order the script made its calls.
    pub call: u64,
    /// The tool's path.
    pub tool: String,
    /// The arguments as sent.
    pub args: Json,
    /// The tool's effect when asked: a later change of settings does not change what may run again.
    pub effect: String,
    /// The tool's replay rule when asked.
    pub replay: String,
    /// The idempotency key, the same on every attempt.
    pub key: Option<String>,
    /// When a timer is due, or an approval is too late, in milliseconds since the epoch. A crash does not move it.
    pub due_ms: Option<i64>,
    /// Why it could not simply leave: `ask`, only after a person agreed; `deny`, not at all.
    pub permission: Option<String>,
    /// What in the policy said so, or let a write through.
    pub rule: Option<String>,
}

/// What a call came to, and the clock that the script sees from then on.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The number of the call.
    pub call: u64,
    /// The script's clock on delivery, in milliseconds since the epoch.
    pub clock_ms: i64,
    /// How long the call took.
    pub took_ms: u64,
    /// Active time of the run when this was written, over all attempts, in milliseconds.
    pub active_ms: u64,
    /// The last turn that had run when this was written. Every call up to it is in an earlier record.
    pub turn: u64,
    /// How many calls the script had made before this was delivered.
    pub calls_made: u64,
    /// The value or the failure.
    pub outcome: Outcome,
    /// What the source said beside the value, for the report.
    pub notes: Vec<String>,
    /// The call of an amended run that this answer was first given to. None where the call was made.
    pub reused: Option<Reused>,
    /// Who gave the answer, where it was a person.
    pub by: Option<String>,
}

/// A call of another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reused {
    /// The run.
    pub run: RunId,
    /// The call's number there.
    pub call: u64,
}

/// A value, or what the script is told instead.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The tool's result.
    Value(Json),
    /// The tool's result, so large that the journal keeps it apart. Read as such; a store makes it of a [`Value`](Self::Value)
    /// that it is given, and takes it as it is where it has the blob.
    Blob {
        /// Under which the journal has the text.
        hash: BlobHash,
        /// How long the text is.
        bytes: u64,
    },
    /// The call rejects with this.
    Failure(Failure),
}

/// Why a call failed, with everything the script can see of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The code that programs read.
    pub code: String,
    /// The text that people and models read.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// How long to wait before that.
    pub retry_after_ms: Option<u64>,
    /// What else the tool said.
    pub data: Option<Json>,
}

/// The mark that a run is to be cancelled. Whatever happens after it, the run does not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancelling {
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Who wanted it, and why, as they say it.
    pub reason: Option<String>,
}

/// A run that waits for nothing but what is outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Parked {
    /// When it parked, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Active time of the run so far, over all attempts, in milliseconds.
    pub active_ms: u64,
    /// When the first timer is due, in milliseconds since the epoch. None where only a person can go on.
    pub wake_ms: Option<i64>,
    /// What it waits for, as reports tell it.
    pub waiting: Json,
}

/// What a person decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The number of the call.
    pub call: u64,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The decision: `again`, it did not happen and is to be made; `approve`, it may be made.
    pub decision: String,
    /// Who, as they say.
    pub by: Option<String>,
}

/// An attempt at a call that failed and is followed by another.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempted {
    /// The number of the call.
    pub call: u64,
    /// The number of the attempt that failed, from 1.
    pub attempt: u64,
    /// Why it failed.
    pub failure: Failure,
    /// How long it took.
    pub took_ms: u64,
    /// Active time of the run when this was written, over all attempts, in milliseconds.
    pub active_ms: u64,
    /// When the next attempt is due, in milliseconds since the epoch.
    pub again_ms: i64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The state that never changes again.
    pub state: EndState,
    /// When, in milliseconds since the epoch.
    pub ended_ms: i64,
    /// The report that was given.
    pub report: Json,
    /// What the run leaves in the store of its session, in this same commit.
    pub stored: Vec<Stored>,
}

/// A value that a run leaves in the store of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its name.
    pub key: String,
    /// The value. None deletes.
    pub value: Option<Json>,
    /// Set where the value may only be stored over a certain one.
    pub guard: Option<Guard>,
}

/// What has to be in the store for a write to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The value before. None where there was none.
    pub was: Option<Json>,
}

/// The states that a run can end in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndState {
    /// The script returned.
    Completed,
    /// The script, a tool or a limit ended it.
    Failed,
    /// A person or a client ended it.
    Cancelled,
}
