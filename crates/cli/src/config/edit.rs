//! Changes to the settings file: sources are added and removed, everything else stays as a person wrote it.
//!
//! Commands that run side by side take turns by a lock on the folder, and the file is replaced whole, so that whoever reads it
//! sees the old one or the new one.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use toml_edit::{Array, DocumentMut, InlineTable, Item, RawString, Table, TableLike, value};

use super::{FILE, address, find, secret::Reference};
use crate::{arguments::Places, error::CommandError, text::nearest};

/// A source that is to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewSource {
    pub(crate) command: Vec<String>,
    pub(crate) url: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) env: Vec<(String, String)>,
    /// Where the command was typed: its paths are relative to this.
    pub(crate) folder: PathBuf,
}

/// The file that is changed.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    current: PathBuf,
}

impl SettingsFile {
    /// The file that other commands would read; where there is none, a new one in the current folder.
    pub(crate) fn of(places: &Places, folder: &Path) -> Self {
        let named = places.config.as_ref().map(|path| folder.join(path));
        let path = named.or_else(|| find(folder)).unwrap_or_else(|| folder.join(FILE));
        Self { path, current: folder.to_path_buf() }
    }

    /// Returns the file as a person in the current folder would write it.
    pub(crate) fn shown(&self) -> String {
        self.path.strip_prefix(&self.current).unwrap_or(&self.path).display().to_string()
    }

    /// Adds a source, and returns what should be said beside it.
    ///
    /// # Errors
    ///
    /// [`CommandError`]. The file is as it was.
    pub(crate) fn add(&self, name: &str, source: &NewSource) -> Result<Vec<String>, CommandError> {
        if name.is_empty() {
            return Err(CommandError::usage("the name is empty; give one"));
        }
        if name.contains(char::is_control) {
            return Err(CommandError::usage(format!("the name {name:?} has a control character; leave it out")));
        }
        if let Some(url) =
            source.url.as_deref().filter(|url| !url.starts_with("https://") && !url.starts_with("http://"))
        {
            return Err(CommandError::usage(format!("`{}` is no web address; write `https://…`", address::shown(url))));
        }
        let login = source.url.as_deref().and_then(address::login);
        let folder = self.path.parent().unwrap_or(&self.current).to_path_buf();
        self.change(|document| {
            let sources = sources(document)?;
            if sources.contains_key(name) {
                return Err(format!("there is a source `{name}` already; remove it first, or choose another name"));
            }
            let table = table(source, &folder);
            // In a table of one line there is no room for one of several.
            let mut last = sources.iter_mut().last();
            match last.as_mut().and_then(|(_, item)| item.as_value_mut()) {
                Some(last) => {
                    last.decor_mut().set_suffix("");
                    sources.insert(name, value(table.into_inline_table()));
                }
                None => drop(sources.insert(name, Item::Table(table))),
            }
            Ok(())
        })?;
        let mut notes =
            vec!["`trust_annotations = \"effect\"`: a tool that is said to only read counts as reading".to_owned()];
        let literal = |(name, text): &&(String, String)| {
            let text = text.strip_prefix("Bearer ").unwrap_or(text);
            matches!(Reference::parse(text), Reference::Literal(_)) && super::secret::is_telling(name)
        };
        let written = source.headers.iter().chain(&source.env).filter(literal);
        notes.extend(written.map(|(name, _)| {
            format!("the value of `{name}` stands in the file as it is; `env:NAME` keeps a secret out of it")
        }));
        notes.extend(login.map(|_| {
            "the name and password in the address stand in the file as they are; take them out of `url` and write \
             `headers = { Authorization = \"env:NAME\" }`, where the variable holds `Basic ` and the Base64 of `name:password`"
                .to_owned()
        }));
        Ok(notes)
    }

    /// Removes a source.
    ///
    /// # Errors
    ///
    /// [`CommandError`]. The file is as it was.
    pub(crate) fn remove(&self, name: &str) -> Result<(), CommandError> {
        let shown = self.shown();
        if !self.path.is_file() {
            return Err(CommandError::failed(format!("there is no `{shown}`, and so no source to remove")));
        }
        self.change(|document| {
            let sources = sources(document)?;
            let Some(removed) = sources.remove(name) else {
                let names: Vec<&str> = sources.iter().map(|(name, _)| name).collect();
                let near = nearest(name, names.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
                return Err(format!("`{shown}` has no source `{name}`{}", near.unwrap_or_default()));
            };
            keep_comments(document, &removed);
            Ok(())
        })
    }

    fn change(&self, edit: impl FnOnce(&mut DocumentMut) -> Result<(), String>) -> Result<(), CommandError> {
        let shown = self.shown();
        let io = |what: &str, error: &io::Error| CommandError::failed(format!("`{shown}` cannot be {what}: {error}"));
        // A link stays one: what it leads to is changed.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = path.parent().unwrap_or(&self.current);
        if !folder.is_dir() {
            let shown = folder.strip_prefix(&self.current).unwrap_or(folder).display().to_string();
            return Err(CommandError::failed(format!("there is no folder `{shown}`; make it, or correct `--config`")));
        }
        let _turn = lock(folder).map_err(|error| io("locked", &error))?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(io("read", &error)),
        };
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            CommandError::failed(format!("`{shown}` is no TOML: {}", error.message()))
        })?;
        edit(&mut document).map_err(CommandError::failed)?;
        replace(&path, &ended_as(&text, document.to_string())).map_err(|error| io("written", &error))
    }
}

/// Gives lines the ends that they have in `before`, of which the first counts. TOML's own writer knows one kind only.
fn ended_as(before: &str, text: String) -> String {
    match before.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        _ => text,
    }
}

/// Waits for the others. The lock goes with the file.
fn lock(folder: &Path) -> io::Result<File> {
    const PAUSE: Duration = Duration::from_millis(20);
    let folder = File::open(folder)?;
    for _ in 0..500 {
        match folder.try_lock() {
            Ok(()) => return Ok(folder),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another command keeps it locked"))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let part = path.with_extension(format!("toml.{}.part", std::process::id()));
    let written = (|| {
        let mut file = File::create(&part)?;
        file.write_all(text.as_bytes())?;
        if let Ok(there) = fs::metadata(path) {
            file.set_permissions(there.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&part, path)
    })();
    if written.is_err() {
        // It is of no use to anybody; what is wrong has been told.
        let _ = fs::remove_file(&part);
    }
    written
}

fn sources(document: &mut DocumentMut) -> Result<&mut dyn TableLike, String> {
    let sources = document.entry("sources").or_insert_with(|| {
        let mut table = Table::new();
        // Only what is in it has a line of its own.
        table.set_implicit(true);
        Item::Table(table)
    });
    sources.as_table_like_mut().ok_or_else(|| "`sources` is no table; correct it first".to_owned())
}

fn table(source: &NewSource, folder: &Path) -> Table {
    let mut table = Table::new();
    table.insert("type", value("mcp"));
    if let Some(url) = &source.url {
        table.insert("url", value(url));
    }
    if let Some((program, args)) = source.command.split_first() {
        let mut command = Array::new();
        command.push(relative(program, &source.folder, folder));
        command.extend(args);
        table.insert("command", value(command));
        // Its arguments may be paths, and mean what they meant when they were typed.
        if source.folder != folder {
            let here = source.folder.strip_prefix(folder).unwrap_or(&source.folder);
            table.insert("cwd", value(here.display().to_string()));
        }
    }
    for (key, pairs) in [("headers", &source.headers), ("env", &source.env)] {
        if !pairs.is_empty() {
            let pairs: InlineTable = pairs.iter().map(|(name, text)| (name, text.as_str())).collect();
            table.insert(key, value(pairs));
        }
    }
    table.insert("trust_annotations", value("effect"));
    table
}

/// Returns a program with its path as the file needs it. A bare name is left to `PATH`.
fn relative(program: &str, typed: &Path, folder: &Path) -> String {
    if !program.contains('/') || typed == folder || Path::new(program).is_absolute() {
        return program.to_owned();
    }
    let whole: PathBuf = typed.join(program).components().collect();
    match whole.strip_prefix(folder) {
        Ok(inside) => format!("./{}", inside.display()),
        Err(_) => whole.display().to_string(),
    }
}

/// Comments that stand above a table, apart from it by an empty line, are not about it, and stay.
fn keep_comments(document: &mut DocumentMut, removed: &Item) {
    let Item::Table(removed) = removed else { return };
    let prefix = removed.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
    let Some((kept, _)) = prefix.rsplit_once("\n\n") else { return };
    if kept.trim().is_empty() {
        return;
    }
    let kept = format!("{kept}\n");
    let position = removed.position();
    match next(document.as_table_mut(), position) {
        Some(table) => {
            let own = table.decor().prefix().and_then(RawString::as_str).unwrap_or_default().to_owned();
            table.decor_mut().set_prefix(format!("{kept}{own}"));
        }
        None => {
            let own = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{kept}{own}"));
        }
    }
}

/// Returns the first table that is written after `position`.
fn next(table: &mut Table, position: Option<isize>) -> Option<&mut Table> {
    let mut found: Option<&mut Table> = None;
    for (_, item) in table.iter_mut() {
        let Item::Table(inner) = item else { continue };
        let own =
            (inner.position() > position && !inner.is_implicit() && !inner.is_dotted()).then_some(inner.position());
        let better = |other: &Option<&mut Table>, at| other.as_ref().is_none_or(|other| at < other.position());
        match own {
            Some(at) if better(&found, at) => found = Some(inner),
            Some(_) => {}
            None => {
                if let Some(deeper) = next(inner, position).filter(|deeper| better(&found, deeper.position())) {
                    found = Some(deeper);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, SettingsFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        if !text.is_empty() {
            fs::write(&path, text).unwrap();
        }
        let file = SettingsFile { path, current: folder.path().to_path_buf() };
        (folder, file)
    }

    fn after(text: &str, change: impl Fn(&SettingsFile) -> Result<(), CommandError>) -> String {
        let (_folder, file) = file(text);
        match change(&file) {
            Ok(()) => fs::read_to_string(&file.path).unwrap(),
            Err(error) => {
                assert_eq!(fs::read_to_string(&file.path).unwrap_or_default(), text, "the file is as it was");
                format!("error: {error}")
            }
        }
    }

    const WRITTEN: &str = "# by hand\n\n# about a\n[sources.a] # here\ntype = \"demo\"\n\n[limits]\ncalls = 3\n";

    #[test]
    fn a_source_is_added_at_the_end_and_the_rest_stays_as_it_was() {
        let command = NewSource { command: vec!["npx".into(), "-y".into(), "a \"b\"".into()], ..NewSource::default() };
        let add = |name: &'static str| {
            let command = command.clone();
            move |file: &SettingsFile| {
                let source = NewSource { folder: file.current.clone(), ..command.clone() };
                file.add(name, &source).map(drop)
            }
        };
        insta::assert_snapshot!(after("", add("x.y")), @r#"
        [sources."x.y"]
        type = "mcp"
        command = ["npx", "-y", 'a "b"']
        trust_annotations = "effect"
        "#);
        insta::assert_snapshot!(after(WRITTEN, add("b")), @r#"
        # by hand

        # about a
        [sources.a] # here
        type = "demo"

        [sources.b]
        type = "mcp"
        command = ["npx", "-y", 'a "b"']
        trust_annotations = "effect"

        [limits]
        calls = 3
        "#);
        insta::assert_snapshot!(after("sources = { a = { type = \"demo\" } }\n", add("b")), @r#"sources = { a = { type = "demo" }, b = { type = "mcp", command = ["npx", "-y", 'a "b"'], trust_annotations = "effect" } }"#);
        insta::assert_snapshot!(after(WRITTEN, add("a")), @"error: there is a source `a` already; remove it first, or choose another name");
        insta::assert_snapshot!(after("a = [", add("b")), @"error: `refrain.toml` is no TOML: unclosed array, expected `]`");
        insta::assert_snapshot!(after("sources = 1", add("b")), @"error: `sources` is no table; correct it first");
    }

    #[test]
    fn a_source_is_removed_with_what_is_about_it_and_nothing_else() {
        let remove = |name: &'static str| move |file: &SettingsFile| file.remove(name);
        insta::assert_snapshot!(after(WRITTEN, remove("a")), @"
        # by hand

        [limits]
        calls = 3
        ");
        let more = format!("{WRITTEN}\n[sources.a.tools.\"x\"]\neffect = \"read\"\n\n# the end\n");
        insta::assert_snapshot!(after(&more, remove("a")), @"
        # by hand

        [limits]
        calls = 3

        # the end
        ");
        insta::assert_snapshot!(after("# top\n\n[sources.a]\ntype = \"demo\"\n", remove("a")), @"# top");
        insta::assert_snapshot!(after(WRITTEN, remove("aa")), @"error: `refrain.toml` has no source `aa`");
        insta::assert_snapshot!(after("", remove("a")), @"error: there is no `refrain.toml`, and so no source to remove");
    }

    #[test]
    fn paths_mean_what_they_meant_where_they_were_typed() {
        let check = |program: &str, typed: &str, expect: &str| {
            assert_eq!(relative(program, Path::new(typed), Path::new("/p")), expect, "{program} in {typed}");
        };
        check("node", "/p/q", "node");
        check("./server", "/p", "./server");
        check("./server", "/p/q", "./q/server");
        check("../x/server", "/p/q", "./q/../x/server");
        check("/usr/bin/node", "/p/q", "/usr/bin/node");
        check("./server", "/elsewhere", "/elsewhere/server");
    }
}
