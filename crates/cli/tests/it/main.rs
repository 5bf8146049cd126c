//! What only the real binary or the whole tree can show: the promises of the README, and the rules of the project.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod crash;
mod crash_table;
mod demo;
mod failures;
mod left_behind;
mod listings;
mod mcp;
mod observed;
mod parking;
mod pipes;
mod place;
mod readme;
mod responsive;
mod servers;
mod settings;
mod sources;
mod tidy;
