//! Values that settings only refer to: `env:NAME`, `file:PATH`, `cmd:COMMAND`.
//!
//! A reference that leads nowhere takes its source along and nothing else. What it leads to is printed nowhere, errors
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
            (Reference::Variable(name), Need::Sources) => match self.variables.text(name)? {
                Some(value) => Ok(value),
                None => Err(format!("the variable `{name}` is not set; set it, or change `{text}`")),
            },
            (Reference::File(path), Need::Sources) => {
                let mut bytes = Vec::new();
                let file = std::fs::File::open(folder.join(path))
                    .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
                file.map_err(|error| format!("the file of `{text}` cannot be read: {error}"))?;
                value_of(bytes, text)
            }
            (Reference::Command(command), Need::Sources) => run(command, folder, text),
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
