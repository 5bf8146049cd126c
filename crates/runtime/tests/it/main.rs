//! The script environment as a script and its author see it, over tools of this process.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod amend;
mod approvals;
mod calls;
mod cancel;
mod case;
mod cases;
mod checks;
mod dialects;
mod errors;
mod fake;
mod globals;
mod host;
mod names;
mod output;
mod parking;
mod places;
mod policies;
mod remarks;
mod seeds;
mod snapshots;
mod store;
mod traces;
mod wall;
