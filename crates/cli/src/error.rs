//! Why a command could not do what it was asked. A script that fails is a report, not an error.

use std::{error::Error, fmt::Write as _, io};

use refrain_runtime::{EngineError, JournalError, RunId, RuntimeError};
use serde_json::{Value, json};

use crate::{config::Fault, exit::Exit};

/// Why a command could not do what it was asked, by what the person can do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The command line is wrong. Type another one.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do, as a sentence or a command.
        hint: Option<String>,
    },
    /// The settings are wrong. Every fault is here, in the order of the file.
    #[error("the settings cannot be used")]
    Settings(Vec<Fault>),
    /// What was asked for is not there or did not work.
    #[error("{message}")]
    Failed {
        /// What happened.
        message: String,
        /// What to do, as a sentence or a command.
        hint: Option<String>,
    },
    /// The runtime could not.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A signal ended the command. Nothing was decided about the run.
    #[error("stopped")]
    Stopped,
    /// Nobody reads what we print. No failure.
    #[error("nobody reads the output")]
    Closed,
    /// What we print cannot be written.
    #[error("the output cannot be written")]
    Output(#[source] io::Error),
    /// Ours to mend.
    #[error("bug: {what}; please report it")]
    Bug {
        /// What happened.
        what: String,
    },
}

impl CommandError {
    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// Something did not work.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), hint: None }
    }

    /// Adds what to do.
    #[must_use]
    pub(crate) fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Usage { hint, .. } | Self::Failed { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// Returns how the command ends.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } | Self::Settings(_) => Exit::Usage,
            Self::Failed { .. } | Self::Output(_) => Exit::Failed,
            Self::Runtime(
                RuntimeError::Bug { .. }
                | RuntimeError::Engine(EngineError::Bug { .. })
                | RuntimeError::Journal(JournalError::Bug { .. }),
            )
            | Self::Bug { .. } => Exit::Bug,
            Self::Runtime(RuntimeError::Journal(JournalError::Settings { .. })) => Exit::Usage,
            Self::Runtime(_) => Exit::Failed,
            Self::Stopped => Exit::Stopped,
            Self::Closed => Exit::Completed,
        }
    }

    /// Returns the word for programs.
    fn kind(&self) -> &'static str {
        match self {
            Self::Usage { .. } => "usage",
            Self::Settings(_) => "settings",
            Self::Failed { .. } | Self::Closed | Self::Output(_) => "failed",
            Self::Stopped => "stopped",
            Self::Runtime(_) | Self::Bug { .. } if self.exit() == Exit::Bug => "internal",
            Self::Runtime(_) if self.exit() == Exit::Usage => "settings",
            Self::Runtime(_) | Self::Bug { .. } => "failed",
        }
    }

    /// What to do. A run that began and was not ended by this can be resumed.
    fn hint(&self, run: Option<RunId>) -> Option<String> {
        match self {
            Self::Usage { hint: Some(hint), .. } | Self::Failed { hint: Some(hint), .. } => Some(hint.clone()),
            Self::Runtime(RuntimeError::NotWaiting { run, .. }) => {
                Some(format!("`refrain runs show {run}` tells what it waits for, and the command for each"))
            }
            Self::Runtime(_) | Self::Stopped => run.map(|run| format!("go on with `refrain runs resume {run}`")),
            Self::Usage { hint: None, .. }
            | Self::Failed { hint: None, .. }
            | Self::Settings(_)
            | Self::Closed
            | Self::Output(_)
            | Self::Bug { .. } => None,
        }
    }

    /// Returns the message with its causes.
    pub(crate) fn whole(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            // Some errors repeat their cause; saying it twice helps nobody.
            let more = error.to_string();
            if !text.contains(&more) {
                let _ = write!(text, ": {more}");
            }
            cause = error.source();
        }
        text
    }

    /// Returns what a person reads. `run` is the one that was under way.
    pub(crate) fn text(&self, run: Option<RunId>) -> String {
        let mut text = match self {
            Self::Settings(faults) => faults.iter().map(|fault| format!("error: {fault}\n")).collect(),
            Self::Stopped => "stopped\n".to_owned(),
            Self::Closed => String::new(),
            Self::Usage { .. } | Self::Failed { .. } | Self::Runtime(_) | Self::Output(_) | Self::Bug { .. } => {
                format!("error: {}\n", self.whole())
            }
        };
        if let Some(hint) = self.hint(run) {
            let _ = writeln!(text, "hint: {hint}");
        }
        text
    }

    /// Returns what a program reads: `{"error": {"kind", "message", "hint"?, "faults"?}, "run_id"?}`.
    pub(crate) fn json(&self, run: Option<RunId>) -> Value {
        let mut error = json!({ "kind": self.kind(), "message": self.whole() });
        if let Some(hint) = self.hint(run) {
            error["hint"] = hint.into();
        }
        if let Self::Settings(faults) = self {
            error["faults"] = faults
                .iter()
                .map(|fault| json!({ "file": fault.file, "line": fault.line, "message": fault.message }))
                .collect();
        }
        let mut whole = json!({ "error": error });
        if let Some(run) = run {
            whole["run_id"] = run.to_string().into();
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_trouble_has_its_exit_code_and_its_word_for_programs() {
        let run = RunId::from_parts(0, [0; 10]);
        let fault = Fault { file: "refrain.toml".into(), line: Some(3), message: "`a` is wrong".into() };
        let check = |error: CommandError, run: Option<RunId>| {
            format!("{} {}\n{}", error.exit().code(), error.json(run), error.text(run))
        };
        insta::assert_snapshot!(check(CommandError::usage("no such thing").with_hint("try this"), None), @r#"
        2 {"error":{"kind":"usage","message":"no such thing","hint":"try this"}}
        error: no such thing
        hint: try this
        "#);
        insta::assert_snapshot!(check(CommandError::failed("it is gone"), Some(run)), @r#"
        1 {"error":{"kind":"failed","message":"it is gone"},"run_id":"00000000-0000-7000-8000-000000000000"}
        error: it is gone
        "#);
        insta::assert_snapshot!(check(CommandError::Settings(vec![fault]), None), @r#"
        2 {"error":{"kind":"settings","message":"the settings cannot be used","faults":[{"file":"refrain.toml","line":3,"message":"`a` is wrong"}]}}
        error: refrain.toml:3: `a` is wrong
        "#);
        insta::assert_snapshot!(check(CommandError::Stopped, Some(run)), @r#"
        130 {"error":{"kind":"stopped","message":"stopped","hint":"go on with `refrain runs resume 00000000-0000-7000-8000-000000000000`"},"run_id":"00000000-0000-7000-8000-000000000000"}
        stopped
        hint: go on with `refrain runs resume 00000000-0000-7000-8000-000000000000`
        "#);
        insta::assert_snapshot!(check(CommandError::Stopped, None), @r#"
        130 {"error":{"kind":"stopped","message":"stopped"}}
        stopped
        "#);
        insta::assert_snapshot!(check(RuntimeError::NoSuchRun { prefix: "f".into() }.into(), None), @r#"
        1 {"error":{"kind":"failed","message":"no run starts with `f`; `refrain runs list` shows every run"}}
        error: no run starts with `f`; `refrain runs list` shows every run
        "#);
        insta::assert_snapshot!(check(RuntimeError::Bug { what: "lost".into() }.into(), Some(run)), @r#"
        70 {"error":{"kind":"internal","message":"bug: lost; please report it","hint":"go on with `refrain runs resume 00000000-0000-7000-8000-000000000000`"},"run_id":"00000000-0000-7000-8000-000000000000"}
        error: bug: lost; please report it
        hint: go on with `refrain runs resume 00000000-0000-7000-8000-000000000000`
        "#);
        insta::assert_snapshot!(check(CommandError::Bug { what: "lost".into() }, None), @r#"
        70 {"error":{"kind":"internal","message":"bug: lost; please report it"}}
        error: bug: lost; please report it
        "#);
        insta::assert_snapshot!(check(CommandError::Output(io::Error::other("no space")), None), @r#"
        1 {"error":{"kind":"failed","message":"the output cannot be written: no space"}}
        error: the output cannot be written: no space
        "#);
        assert_eq!((CommandError::Closed.exit(), CommandError::Closed.text(None)), (Exit::Completed, String::new()));
    }
}
