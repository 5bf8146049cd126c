//! Who may write a run.
//!
//! A lease is a run and a fence: the number of the acquisition that it came from. A write with an older fence fails, so
//! it does not matter whether the older owner knows that it lost the run. Whether an owner is alive is a question for
//! the store, and only decides if the run can be had without force.

use std::fmt;

use uuid::Uuid;

use crate::RunId;

/// The right to write one run, until someone else acquires it.
///
/// Dropping it lets the run go, so that a task that panicked does not keep its run from the rest of the process.
#[must_use = "dropping a lease lets the run go"]
pub struct Lease {
    run: RunId,
    fence: u64,
    restarts: u32,
    let_go: Option<LetGo>,
}

/// Frees the run if the fence is still the one given, without waiting.
pub(crate) type LetGo = Box<dyn FnOnce(RunId, u64) + Send + Sync>;

impl Lease {
    pub(crate) fn new(run: RunId, fence: u64, restarts: u32, let_go: LetGo) -> Self {
        Self { run, fence, restarts, let_go: Some(let_go) }
    }

    /// Returns the run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Returns how many owners of the run died one after the other, up to now, without writing anything or letting it go.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Returns the number that goes with every write of this lease. Each acquisition has a higher one than those before.
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// Ends the lease without letting the run go: the store does that itself.
    pub(crate) fn end(mut self) -> (RunId, u64) {
        self.let_go = None;
        (self.run, self.fence)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(let_go) = self.let_go.take() {
            let_go(self.run, self.fence);
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("run", &self.run).field("fence", &self.fence).finish_non_exhaustive()
    }
}

/// How to acquire a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Only if no live owner holds it.
    IfFree,
    /// In any case: for an owner that is alive and stuck. Its late writes fail.
    ByForce,
}

/// How far a commit must have got before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flush {
    /// Survives any end of this process. A power cut may take it, and everything after it.
    Process,
    /// Has reached the disk, together with all that was committed before it.
    Disk,
}

/// The name of one opened store. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnerId(Uuid);

impl OwnerId {
    pub(crate) fn random() -> Self {
        Self(Uuid::new_v4())
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.simple().fmt(f)
    }
}

/// A live owner of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The store that holds the run.
    pub id: OwnerId,
    /// Who that is, for people: `process 4711`.
    pub who: String,
    /// Since when it holds the run, in milliseconds since the epoch.
    pub since_ms: i64,
}
