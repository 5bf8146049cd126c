//! Tests of the crate as its users see it.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod arguments;
mod bounds;
mod broken;
mod catalog;
mod command;
mod corpus;
mod declarations;
mod demo;
mod describe;
mod guard;
mod http;
mod lifecycle;
mod mcp;
mod mended;
mod questions;
mod results;
mod schemas;
mod scripted;
mod search;
mod support;
mod transport;
mod tsc;
mod unwrapping;
