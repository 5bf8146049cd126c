//! The two streams: data to stdout, talk to stderr.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use serde::Serialize;

use crate::{error::CommandError, text::visible::visible};

/// How data is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    // Plain comments: as documentation they would be repeated in the help of every command.
    // For a person.
    #[default]
    Text,
    // One JSON object, whatever happens.
    Json,
    // A stream of events. Comes with a later release.
    #[value(hide = true)]
    Jsonl,
}

/// The two streams.
#[derive(Debug)]
pub(crate) struct Ui {
    format: Format,
    /// Set before the first byte of data leaves, so that a second object never follows a first.
    begun: AtomicBool,
}

impl Ui {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, begun: AtomicBool::new(false) }
    }

    /// Returns whether one JSON object is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Returns whether data was printed, or is being printed.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }

    /// Prints what was made for a person to read. It has names and descriptions that others chose, and shows them whole, also
    /// into a pipe.
    ///
    /// # Errors
    ///
    /// As [`data`](Self::data).
    pub(crate) fn listing(&self, text: &str) -> Result<(), CommandError> {
        self.data(&visible(text))
    }

    /// Prints data as it is, with a line break at its end. Only a terminal, which would obey it, is shown it.
    ///
    /// # Errors
    ///
    /// [`CommandError::Closed`] when nobody reads, [`CommandError::Output`] when the disk is full or the like.
    pub(crate) fn data(&self, text: &str) -> Result<(), CommandError> {
        self.begun.store(true, Ordering::SeqCst);
        let out = io::stdout();
        let text = if out.is_terminal() { visible(text) } else { text.into() };
        let mut out = out.lock();
        let mut written = out.write_all(text.as_bytes());
        if !text.ends_with('\n') {
            written = written.and_then(|()| out.write_all(b"\n"));
        }
        match written.and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CommandError::Closed),
            Err(error) => Err(CommandError::Output(error)),
        }
    }

    /// Prints the one JSON object.
    ///
    /// # Errors
    ///
    /// As [`data`](Self::data).
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), CommandError> {
        match serde_json::to_string(value) {
            Ok(text) => self.data(&text),
            Err(error) => Err(CommandError::Bug { what: format!("the output has no JSON: {error}") }),
        }
    }

    /// Says something to the person. Nothing is said when nobody listens.
    #[expect(clippy::unused_self, reason = "whoever talks has been given the streams")]
    pub(crate) fn say(&self, text: &str) {
        say(text);
    }
}

/// As [`Ui::say`], where there is no [`Ui`] yet.
pub(crate) fn say(text: &str) {
    if text.is_empty() {
        return;
    }
    let mut text = visible(text).into_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    // One write, so that lines of several processes do not mix.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
