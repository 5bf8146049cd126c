//! What every kind of source can do.
//!
//! A kind knows its protocol and nothing else: which tools are offered, in which words, how many calls at a time and what to
//! do after a failure is the same for all kinds and stands in [`sources`](crate::sources).

pub(crate) mod command;
pub(crate) mod functions;
pub(crate) mod mcp;
mod program;
pub(crate) mod question;
mod tail;

use std::{fmt, path::PathBuf, process::Stdio, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::{error::CallError, settings::Environment, sources::CallOutput, tool::Tool};

/// What a source offers, before the settings have their say.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Tool>,
    /// What is wrong although the listing worked.
    pub(crate) warning: Option<String>,
}

/// One call, with arguments that were checked.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) args: Map<String, Value>,
    pub(crate) key: Option<&'a str>,
    /// How long there may be no sign of life.
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Duration,
}

/// What a source says without being asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Its list of tools is another one now.
    ListChanged,
    /// Something is wrong, and it goes on.
    Trouble(String),
}

/// Where a source says it. Never blocks.
#[derive(Clone)]
pub(crate) struct Events(Arc<dyn Fn(Event) + Send + Sync>);

impl Events {
    pub(crate) fn new(hear: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    fn tell(&self, event: Event) {
        (self.0)(event);
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

/// Who is at the other end, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The revision of the protocol that is spoken.
    pub protocol: String,
}

/// What a source can be found to be like, beside its tools.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) server: Option<Server>,
    /// How long a round trip takes.
    pub(crate) latency: Option<Duration>,
    pub(crate) notes: Vec<String>,
    /// The last lines that it wrote beside the protocol.
    pub(crate) log: Vec<String>,
}

/// Why a source cannot be used now.
#[derive(Clone, Debug)]
pub(crate) struct Down {
    /// As a sentence with the fix.
    pub(crate) reason: String,
    /// How long it asks to be left alone.
    pub(crate) rest: Option<Duration>,
    /// Whether it stays so until somebody changes something.
    pub(crate) stays: bool,
}

impl From<String> for Down {
    fn from(reason: String) -> Self {
        Self { reason, rest: None, stays: false }
    }
}

/// A kind of source.
#[async_trait]
pub(crate) trait Source: Send + Sync {
    /// Connects where needed, and lists all tools.
    ///
    /// # Errors
    ///
    /// Why there is no list.
    async fn list(&self) -> Result<Listing, Down>;

    /// Makes a call. Dropping the future stops it as far as the protocol allows.
    async fn call(&self, call: Call<'_>) -> Result<CallOutput, CallError>;

    /// Looks at the connection, where there is one.
    async fn facts(&self) -> Facts {
        Facts::default()
    }

    /// Ends what was started. Nothing is called afterwards.
    async fn close(&self) {}
}

/// A source whose settings cannot work.
pub(crate) struct Unusable(pub(crate) String);

#[async_trait]
impl Source for Unusable {
    async fn list(&self) -> Result<Listing, Down> {
        Err(Down { stays: true, ..self.0.clone().into() })
    }

    async fn call(&self, _: Call<'_>) -> Result<CallOutput, CallError> {
        let error = CallError::new(crate::ErrorCode::SourceDown, self.0.clone());
        Err(CallError { retryable: false, ..error })
    }
}

/// Returns a command with its streams piped and an environment of only what it may see.
fn command(program: &str, environment: &Environment, env: &[(String, String)], cwd: Option<&PathBuf>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_clear().envs(environment.variables.iter().cloned()).envs(env.iter().cloned());
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    command
}
