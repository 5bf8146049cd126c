//! What is wrong with the settings. All of it is collected before anything is said.

use std::{
    cell::RefCell,
    fmt,
    path::{Path, PathBuf},
};

use crate::text::nearest;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The file, as a person in the current folder would write it; or the flag or variable.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: Option<usize>,
    /// What is wrong and what to write instead.
    pub(crate) message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// Where faults are put.
#[derive(Debug)]
pub(crate) struct Faults {
    folder: PathBuf,
    found: RefCell<Vec<Fault>>,
}

impl Faults {
    /// Nothing is wrong yet. Files are named relative to `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), found: RefCell::default() }
    }

    /// Returns how a file is named to the person.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).unwrap_or(path).display().to_string()
    }

    /// Adds one.
    pub(crate) fn push(&self, file: impl Into<String>, line: Option<usize>, message: impl Into<String>) {
        self.found.borrow_mut().push(Fault { file: file.into(), line, message: message.into() });
    }

    /// Returns all, those of one file together and by line.
    pub(crate) fn into_sorted(self) -> Vec<Fault> {
        let mut found = self.found.into_inner();
        found.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        found
    }
}

/// Returns names in backticks, joined.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns a sentence's end that names what was meant, or what there is.
pub(crate) fn instead(name: &str, names: &[&str]) -> String {
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", listed(names.iter().copied())),
    }
}
