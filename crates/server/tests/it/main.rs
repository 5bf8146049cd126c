//! The server as its clients see it.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod calls;
mod direct;
mod discovery;
mod hangup;
mod http;
mod person;
mod relay;
mod support;
