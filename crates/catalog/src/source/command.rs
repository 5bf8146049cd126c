//! Runs command tools.
//!
//! One program per call, in a group of its own. It gets its input, everything it prints is read up to a limit, and whatever
//! is left of the group afterwards is killed: at the end, at the time-out, and when the caller loses interest.

use std::{collections::BTreeSet, ffi::OsString, io, path::Path, process::ExitStatus, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use super::{Call, Down, Listing, Source, command, program::Whereabouts, tail::Tail};
use crate::{
    command::template::Invocation,
    error::{CallError, ErrorCode},
    process::Children,
    settings::{CommandSettings, CommandTool, Environment},
    sources::CallOutput,
};

/// What a program may print. Bounds our memory, not the program's.
pub(crate) const MAX_OUTPUT: usize = 16 << 20;

/// How long a program's own children may hold its output open after it has ended.
const STRAGGLERS: Duration = Duration::from_millis(500);

/// The variable in which a program finds the idempotency key of its call, the same one each time that call is made.
const KEY: &str = "REFRAIN_IDEMPOTENCY_KEY";

/// `EX_TEMPFAIL` of `sysexits.h`: the program says that the same may work later.
const TEMPORARY: i32 = 75;

pub(crate) struct CommandSource {
    name: String,
    settings: CommandSettings,
    environment: Environment,
    children: Arc<Children>,
}

impl CommandSource {
    pub(crate) fn new(
        name: &str,
        settings: CommandSettings,
        environment: Environment,
        children: Arc<Children>,
    ) -> Self {
        Self { name: name.to_owned(), settings, environment, children }
    }
}

#[async_trait]
impl Source for CommandSource {
    async fn list(&self) -> Result<Listing, Down> {
        let (missing, all) = self.missing();
        let reason = (!missing.is_empty()).then(|| {
            format!(
                "cannot start {}: not found; install what is missing, or give its full path in `command`",
                missing.iter().map(|program| format!("`{program}`")).collect::<Vec<_>>().join(", ")
            )
        });
        match reason {
            // With none of its programs it can do nothing.
            Some(reason) if missing.len() == all => Err(reason.into()),
            warning => {
                Ok(Listing { tools: self.settings.tools.iter().map(|tool| tool.tool(&self.name)).collect(), warning })
            }
        }
    }

    async fn call(&self, call: Call<'_>) -> Result<CallOutput, CallError> {
        let path = call.tool.path();
        let tool = self.settings.tools.iter().find(|tool| tool.name() == call.tool.name);
        let tool = tool.ok_or_else(|| CallError::new(ErrorCode::UnknownTool, format!("unknown tool `{path}`")))?;
        let invocation = tool.template.fill(&path, &tool.with_defaults(call.args), call.key)?;
        // A program shows no progress, so silence means nothing and only the whole time counts.
        let printed = timeout(call.total, self.run(tool, &path, invocation, call.key)).await.map_err(|_| {
            let message = format!("`{path}` did not end within {} ms and was stopped", call.total.as_millis());
            CallError::new(ErrorCode::Timeout, message)
        })??;
        let schema = call.tool.output_schema.as_deref();
        let (value, notes) = tool.settings.output.read(tool.pattern.as_ref(), schema, &path, &printed)?;
        Ok(CallOutput { value, notes })
    }
}

impl CommandSource {
    /// Returns its programs that are not there, and how many it has.
    fn missing(&self) -> (Vec<&str>, usize) {
        let own: Vec<(OsString, OsString)> =
            self.settings.env.iter().map(|(name, text)| (name.into(), text.into())).collect();
        let variables = self.environment.variables.iter().chain(&own).map(|(name, text)| (name, text));
        let whereabouts = Whereabouts::new(variables, self.settings.cwd.as_deref().unwrap_or(Path::new(".")));
        let programs: BTreeSet<&str> = self.settings.tools.iter().map(|tool| tool.template.program()).collect();
        let all = programs.len();
        (programs.into_iter().filter(|program| !whereabouts.has(program)).collect(), all)
    }

    async fn run(
        &self,
        tool: &CommandTool,
        path: &str,
        invocation: Invocation,
        key: Option<&str>,
    ) -> Result<Vec<u8>, CallError> {
        let Invocation { program, arguments, stdin: input } = invocation;
        let mut command = command(&program, &self.environment, &self.settings.env, self.settings.cwd.as_ref());
        command.args(&arguments);
        command.env_remove(KEY).envs(key.map(|key| (KEY, key)));
        let failed = |message: String| CallError::new(ErrorCode::ToolError, message);
        let (mut child, group) =
            self.children.spawn(&mut command).map_err(|reason| failed(format!("`{path}`: {reason}")))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let words = Tail::default();
        let mut printed = Vec::new();
        let (status, streamed) = {
            let write = async move {
                // A program that does not read its input is free to do so.
                if let (Some(mut stdin), Some(text)) = (stdin, input) {
                    let _ = stdin.write_all(text.as_bytes()).await;
                }
                Ok(())
            };
            let read = async {
                match stdout {
                    Some(stdout) => read_up_to(stdout, &mut printed).await,
                    None => Ok(()),
                }
            };
            let complain = async {
                if let Some(stderr) = stderr {
                    words.follow(stderr).await;
                }
                Ok(())
            };
            let streams = async { tokio::try_join!(write, read, complain).map(drop) };
            tokio::pin!(streams);
            tokio::select! {
                // With too much printed nobody waits for the end: the program is killed on the way out.
                streamed = &mut streams => match streamed {
                    Ok(()) => (child.wait().await, Ok(())),
                    Err(cut) => (Ok(ExitStatus::default()), Err(cut)),
                },
                status = child.wait() => (status, timeout(STRAGGLERS, streams).await.unwrap_or(Ok(()))),
            }
        };
        drop(group);
        match streamed {
            Ok(()) => {}
            Err(Cut::TooLong) => {
                let message = format!("`{path}` printed more than {} MiB; ask for less", MAX_OUTPUT >> 20);
                return Err(CallError::new(ErrorCode::ResultTooLarge, message));
            }
            Err(Cut::Io(error)) => return Err(failed(format!("`{path}`: its output cannot be read: {error}"))),
        }
        let status = status.map_err(|error| failed(format!("`{path}`: its end cannot be seen: {error}")))?;
        if status.success() {
            return Ok(printed);
        }
        let words = words.text();
        let mut message = format!("`{path}`: `{program}` ended with {status}");
        if !words.is_empty() {
            message = format!("{message}: {words}");
        }
        if let Some((_, hint)) = tool.settings.hints.iter().find(|(needle, _)| words.contains(needle)) {
            message = format!("{message}\nhint: {hint}");
        }
        let retryable = status.code() == Some(TEMPORARY);
        Err(CallError { retryable, ..failed(message).with_data(json!({"exit": status.code(), "stderr": words})) })
    }
}

/// Why reading stopped before the end.
enum Cut {
    TooLong,
    Io(io::Error),
}

async fn read_up_to(stream: impl AsyncRead + Unpin, into: &mut Vec<u8>) -> Result<(), Cut> {
    let mut limited = stream.take(MAX_OUTPUT as u64 + 1);
    limited.read_to_end(into).await.map_err(Cut::Io)?;
    if into.len() <= MAX_OUTPUT { Ok(()) } else { Err(Cut::TooLong) }
}
