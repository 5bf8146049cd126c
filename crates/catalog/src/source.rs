//! What every kind of source can do.
//!
//! A kind knows its protocol and nothing else: which tools are offered, in which words, how many calls at a time and what to
//! do after a failure is the same for all kinds and stands in [`sources`](crate::sources).

pub(crate) mod command;
pub(crate) mod functions;
pub(crate) mod mcp;
mod tail;

use std::{path::PathBuf, process::Stdio, time::Duration};

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

/// A kind of source.
#[async_trait]
pub(crate) trait Source: Send + Sync {
    /// Connects where needed, and lists all tools.
    ///
    /// # Errors
    ///
    /// The reason, as a sentence with the fix.
    async fn list(&self) -> Result<Listing, String>;

    /// Makes a call. Dropping the future stops it as far as the protocol allows.
    async fn call(&self, call: Call<'_>) -> Result<CallOutput, CallError>;

    /// Ends what was started. Nothing is called afterwards.
    async fn close(&self) {}
}

/// A source whose settings cannot work.
pub(crate) struct Unusable(pub(crate) String);

#[async_trait]
impl Source for Unusable {
    async fn list(&self) -> Result<Listing, String> {
        Err(self.0.clone())
    }

    async fn call(&self, _: Call<'_>) -> Result<CallOutput, CallError> {
        Err(CallError::new(crate::ErrorCode::SourceDown, self.0.clone()))
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
