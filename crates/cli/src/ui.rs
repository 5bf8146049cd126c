//! The two streams: data to stdout, talk to stderr.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use serde::Serialize;

use crate::error::CommandError;

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

    /// Prints data as it is, with a line break at its end.
    ///
    /// # Errors
    ///
    /// [`CommandError::Closed`] when nobody reads, [`CommandError::Output`] when the disk is full or the like.
    pub(crate) fn data(&self, text: &str) -> Result<(), CommandError> {
        self.begun.store(true, Ordering::SeqCst);
        let out = io::stdout();
        let text = for_terminal(text, out.is_terminal());
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
    let talk = io::stderr();
    let mut text = for_terminal(text, talk.is_terminal()).into_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    // One write, so that lines of several processes do not mix.
    let _ = talk.lock().write_all(text.as_bytes());
}

/// On a terminal, control characters are shown and not obeyed: what a tool returned must not move the cursor or set the
/// title. Into a pipe or a file every byte goes as it is.
fn for_terminal(text: &str, is_terminal: bool) -> std::borrow::Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !is_terminal || !text.contains(obeyed) {
        return text.into();
    }
    text.chars()
        .map(|c| if obeyed(c) { c.escape_default().to_string() } else { c.to_string() })
        .collect::<String>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_given_control_characters_and_a_pipe_gets_every_byte() {
        let text = "a\tb\n\u{1b}[2Jc\u{9b}d\r";
        assert_eq!(for_terminal(text, true), "a\tb\n\\u{1b}[2Jc\\u{9b}d\\r");
        assert_eq!(for_terminal(text, false), text);
    }
}
