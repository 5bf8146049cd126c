//! What machines talk to: the MCP server.
//!
//! A client starts `refrain serve` and speaks MCP on its standard streams, or finds it at an address. It is offered `run_code`, which runs a script,
//! `search_tools` and `describe_tools`, which tell what a script can call, `run_tool` for one call by itself, and `get_run`,
//! `resume_run` and `read_artifact` for what came of runs. Everything else is the runtime's business.
//!
//! # Invariants
//!
//! * **Standard output is the protocol.** Nothing in this crate prints.
//! * **A client never decides about a run.** A request that is cancelled or a client that hangs up ends the answer, and the
//!   journal has the run: it goes on, or is taken up later.
//! * **What a model can mend, a model can read.** A script that fails and arguments that are wrong are tool results with
//!   `isError`; a protocol error is for a request that reaches no tool.
//! * **Every answer is bounded**, the text and the structured content each, and says so where it was cut.
//! * **Equal catalogs give equal bytes** in `tools/list`, so that a client's prompt cache survives.
//! * Only this crate knows the wire types of the protocol, and `refrain-runtime` is all it knows of Refrain.
//!
//! # Deliberately not here
//!
//! No policy, no settings, no environment: handlers translate and call the runtime. Progress and the lists of other systems are still
//! to come.

mod arguments;
mod artifact;
mod cut;
mod direct;
mod discover;
mod error;
mod http;
mod images;
mod mcp;
mod person;
mod prompt;
mod relay;
mod render;
mod runs;
mod stdio;
mod structured;
mod tasks;
mod tools;

pub use error::ServeError;
pub use http::{HttpSettings, Scope, Token, serve_http};
pub use relay::Relay;
pub use stdio::{serve, serve_stdio};
