//! Tests of the journal from outside: the contract on every store, and what only one of them can show.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod golden;
mod memory;
mod open;
mod power_cut;
mod power_loss;
mod processes;
mod sqlite;
