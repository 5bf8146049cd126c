//! Runs one script in a sandbox that knows no tools, clock, disk or network: it emits calls and is fed results.
//!
//! The sandbox is QuickJS-NG compiled to WebAssembly, hosted by wasmtime. A [`Sandbox`] is driven by whoever holds the
//! journal: [`Sandbox::start`], then [`Sandbox::feed`] once for each result, each of which runs one [`Turn`]. A live run, a
//! replay and a worker process drive it in the same way.
//!
//! # The promise
//!
//! The same source, [`Start`] and sequence of [`Delivery`]s give the same turns, on every machine and attempt, for one
//! [`Engine::fingerprint`]: the clock is the delivery's, randomness comes from the seed, the maths library lies inside the
//! module, and computing is counted in fuel. What depends on time alone, [`Stopper::stop`], ends a run and never steers it.
//!
//! # Invariants
//!
//! * Nothing here reads a clock or does I/O, but for the cache of the compiled module. The host ticks [`Engine::tick`].
//! * Bytes that come out of a guest are hostile: every length is checked, nothing is assumed to be valid text.
//! * The guest's linear memory is its whole state. One mechanism, [`Snapshot`], serves the template that every run starts from
//!   and the waiting run that is put away.
//!
//! # Deliberately not here
//!
//! Which tools exist, what a call means, policy, retries: a call is two names and JSON text.

mod error;
mod guest;
mod limits;
mod module;
mod sandbox;
mod snapshot;
pub mod source;
mod template;
mod value;

pub use error::EngineError;
pub use limits::{Limits, Stop};
pub use sandbox::{
    Call, Delivery, Outcome, Output, Packed, Remark, Sandbox, Start, Status, Stopper, Target, Thrown, ThrownByTool,
    Turn,
};
pub use snapshot::{Snapshot, SnapshotError};
pub use source::{Frame, Language, Prepared, SourceMap, SyntaxError};
pub use template::Engine;
