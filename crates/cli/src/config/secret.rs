//! Values that settings only refer to: `env:NAME`, `file:PATH`, `cmd:COMMAND`; in a header also behind a word, as in
//! `Bearer env:TOKEN`.
//!
//! A command is given to `sh`, in the folder of the file: it is written by whoever writes the programs of the sources, and a pipe
//! (`cmd:pass show x | head -1`) is what people write there. A reference that leads nowhere takes its source along and nothing else. What it leads to is printed nowhere, errors
//! included; what a command says to stderr goes to the person's, since it may ask for a password there.

use std::{
    io::Read as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{Need, variables::Variables};

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer values are no secrets.
const MOST_BYTES: u64 = 64 << 10;

/// A value of a variable, as the settings have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    /// The value itself.
    Literal(&'a str),
    /// The value of a variable.
    Variable(&'a str),
    /// What a file holds.
    File(&'a str),
    /// What a command prints. It is given to `sh`.
    Command(&'a str),
    /// A kind of releases to come.
    Later(&'a str),
}

impl<'a> Reference<'a> {
    /// Every text is one.
    pub(crate) fn parse(text: &'a str) -> Self {
        match text.split_once(':') {
            Some(("env", name)) => Self::Variable(name),
            Some(("file", path)) => Self::File(path),
            Some(("cmd", command)) => Self::Command(command),
            Some(("keyring", _)) => Self::Later(text),
            _ => Self::Literal(text),
        }
    }

    /// Returns the word in front, with its space, and the reference behind it; for headers.
    fn behind_a_word(text: &'a str) -> (&'a str, Self) {
        if let Some(at) = text.find(' ')
            && text[..at].bytes().all(|byte| byte.is_ascii_alphabetic())
        {
            let behind = Self::parse(text[at..].trim_start());
            if !matches!(behind, Self::Literal(_)) {
                return (&text[..=at], behind);
            }
        }
        ("", Self::parse(text))
    }

    /// As [`shown`](Self::shown), for a header.
    pub(crate) fn header_shown(text: &str) -> String {
        let (word, reference) = Reference::behind_a_word(text);
        format!("{word}{}", reference.shown())
    }

    /// Returns what may be shown. A value that stands in the settings themselves may be a secret as well.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Literal(_) => "***".to_owned(),
            Self::Variable(name) => format!("env:{name}"),
            Self::File(path) => format!("file:{path}"),
            Self::Command(command) => format!("cmd:{command}"),
            Self::Later(text) => (*text).to_owned(),
        }
    }
}

/// Names and values, and what of them must not be repeated.
#[derive(Clone, Default)]
pub(crate) struct Values {
    pub(crate) pairs: Vec<(String, String)>,
    pub(crate) secrets: Vec<String>,
}

impl Values {
    /// Adds a value that stands in the settings themselves, where it may be a secret all the same. A short word is none, and
    /// taking it out of messages would spoil them.
    pub(crate) fn add_literal(&mut self, name: &str, value: &str) {
        const FEWEST: usize = 6;
        if value.len() >= FEWEST {
            self.secrets.push(value.to_owned());
        }
        self.pairs.push((name.to_owned(), value.to_owned()));
    }
}

/// Returns whether the name of a variable is one under which secrets are kept.
pub(crate) fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "KEY", "SECRET", "PASS", "AUTH", "CREDENTIAL", "DSN"].iter().any(|part| name.contains(part))
}

/// Where references lead.
#[derive(Debug)]
pub(crate) struct Secrets<'a> {
    variables: &'a Variables,
    need: Need,
}

impl<'a> Secrets<'a> {
    pub(crate) fn new(variables: &'a Variables, need: Need) -> Self {
        Self { variables, need }
    }

    /// Adds the value of a variable for a child.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Self::resolve).
    pub(crate) fn variable(&self, name: &str, text: &str, folder: &Path, values: &mut Values) -> Result<(), String> {
        let value = self.resolve(text, folder)?;
        match Reference::parse(text) {
            Reference::Literal(_) if is_telling(name) => values.add_literal(name, &value),
            Reference::Literal(_) => values.pairs.push((name.to_owned(), value)),
            _ => {
                values.secrets.push(value.clone());
                values.pairs.push((name.to_owned(), value));
            }
        }
        Ok(())
    }

    /// Adds the value of a header.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Self::resolve).
    pub(crate) fn header(&self, name: &str, text: &str, folder: &Path, values: &mut Values) -> Result<(), String> {
        let (word, reference) = Reference::behind_a_word(text);
        if let Reference::Literal(literal) = reference {
            values.add_literal(name, literal);
            return Ok(());
        }
        let value = self.resolve(text[word.len()..].trim_start(), folder)?;
        values.secrets.push(value.clone());
        values.pairs.push((name.to_owned(), format!("{word}{value}")));
        Ok(())
    }

    /// Returns the value of a token for clients by HTTP. Nothing is read where nobody comes in by HTTP, and the value is empty.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Self::resolve).
    pub(crate) fn token(&self, text: &str, folder: &Path) -> Result<Option<String>, String> {
        if self.need == Need::Http { self.resolve(text, folder).map(Some) } else { Ok(None) }
    }

    /// Returns the value. Where no sources are needed nothing is read, and the value is empty.
    ///
    /// # Errors
    ///
    /// Why not, and the fix, as a sentence.
    pub(crate) fn resolve(&self, text: &str, folder: &Path) -> Result<String, String> {
        let reference = Reference::parse(text);
        match (&reference, self.need) {
            (Reference::Literal(text), _) => Ok((*text).to_owned()),
            (Reference::Later(_), _) => {
                Err(format!("`{text}`: the keyring comes with a later release; use `env:`, `file:` or `cmd:`"))
            }
            (_, Need::NoSources) => Ok(String::new()),
            (Reference::Variable(name), _) => match self.variables.text(name)? {
                Some(value) => Ok(value),
                None => Err(format!("the variable `{name}` is not set; set it, or change `{text}`")),
            },
            (Reference::File(path), _) => {
                let mut bytes = Vec::new();
                let file = std::fs::File::open(folder.join(path))
                    .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
                file.map_err(|error| format!("the file of `{text}` cannot be read: {error}"))?;
                value_of(bytes, text)
            }
            (Reference::Command(command), _) => run(command, folder, text),
        }
    }
}

fn value_of(bytes: Vec<u8>, reference: &str) -> Result<String, String> {
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("the value of `{reference}` is larger than {} KiB", MOST_BYTES >> 10));
    }
    let mut value = String::from_utf8(bytes).map_err(|_| format!("the value of `{reference}` is no UTF-8"))?;
    value.truncate(value.trim_end_matches(['\n', '\r']).len());
    if value.contains('\0') {
        return Err(format!("the value of `{reference}` has a NUL in it, which no variable can hold"));
    }
    Ok(value)
}

fn run(command: &str, folder: &Path, reference: &str) -> Result<String, String> {
    let child = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| format!("the command of `{reference}` does not start: {error}"))?;
    let (told, hears) = mpsc::channel();
    if let Some(pipe) = child.stdout.take() {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = pipe.take(MOST_BYTES + 1).read_to_end(&mut bytes);
            // Nobody hears this after the time is up.
            let _ = told.send(read.map(|_| bytes));
        });
    }
    let said = hears.recv_timeout(PATIENCE);
    let Ok(said) = said else {
        end(&mut child);
        return Err(format!("the command of `{reference}` did not end within {} s", PATIENCE.as_secs()));
    };
    let bytes = said.map_err(|error| format!("the command of `{reference}` cannot be read: {error}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        end(&mut child);
    }
    let value = value_of(bytes, reference)?;
    match child.wait() {
        Ok(status) if status.success() => Ok(value),
        Ok(status) => Err(format!("the command of `{reference}` failed with {status}")),
        Err(error) => Err(format!("the command of `{reference}` was lost: {error}")),
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself, which is as good.
    let _ = child.kill();
    let _ = child.wait();
}
