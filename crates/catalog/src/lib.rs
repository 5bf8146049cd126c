//! All tools of all sources, their types, and how they are reached.
//!
//! A [`Source`](SourceSettings) is where tools come from: a command template or an MCP server. [`Sources`] holds the live
//! connections; a [`Catalog`] is what they offered at one moment, as plain data that a journal can keep. Whoever plans a
//! run reads the catalog, whoever makes a call asks the sources.
//!
//! # Invariants
//!
//! * **A source takes only its own tools along.** One that is down, slow or wrong never delays or breaks another; one tool
//!   with a broken schema never breaks its neighbours.
//! * **A catalog never changes.** It is swapped whole, and two catalogs of the same tools have the same fingerprint.
//! * **The environment stays out.** A child gets `PATH`, `HOME`, `LANG` and what its settings list. This crate reads no
//!   config file, no variable and no wall clock of its own: all three come through [`Environment`].
//! * **No shell.** A command is a list of arguments, and an argument of a call can become neither an option nor a second
//!   command.
//! * **No child outlives us.** See the guard ([`guard_main`]).
//! * **`source_down` means it did not happen; `interrupted` means that nobody knows.** Retrying rests on the difference.
//!
//! # Deliberately not here
//!
//! No journal, no policy, no retries, no script. What a call may do is said here ([`Effect`], [`Replay`]); what follows
//! from that is the runtime's business.

mod arguments;
mod backoff;
mod catalog;
mod command;
mod declaration_files;
pub mod demo;
mod describe;
mod dialect;
mod document;
mod error;
mod example;
mod glob;
mod name;
mod observed;
mod output;
mod process;
mod search;
mod secrets;
mod settings;
mod source;
mod sources;
mod tool;
mod typescript;
mod unseen;
mod vain;

pub use arguments::ArgumentRules;
pub use catalog::{Catalog, SourceStatus, Status};
pub use declaration_files::{DECLARATION_MARK, DeclarationFile};
pub use describe::{Asked, Description};
pub use dialect::{DIALECTS, Dialect};
pub use error::{CallError, ErrorCode, SettingsError, Unresolved};
pub use glob::Glob;
pub use observed::{Observed, Seen, Shape};
pub use process::guard_main;
pub use search::{Found, Hit, Query};
pub use settings::{
    Answer, CommandSettings, CommandTool, CommandToolSettings, Elicit, Environment, Expose, Functions, McpHttpSettings,
    McpSettings, OnMismatch, Output, OutputFormat, Proxies, Question, Secrets, SharedFunctions, SourceKind,
    SourceSettings, ToolOverride, Trust,
};
pub use source::Server;
pub use sources::{CallOutput, CallRequest, Diagnosis, Sources};
pub use tool::{Effect, Observation, Permission, Replay, Retry, Tool};
pub use unseen::escaped;
