//! A reader of TOML that reports every fault with its line, and goes on.
//!
//! A value that is wrong is reported and read as if it were not there, so one run over the file finds all faults.

use std::{
    io::{self, Read as _},
    ops::{Range, RangeInclusive},
    path::{Path, PathBuf},
};

use serde_json::{Map, Number, Value};
use toml_edit::{Item, TableLike, Value as Toml};

use super::{
    MOST_BYTES,
    fault::{Faults, instead, listed},
};
use crate::text::nearest;

/// A settings file that is TOML.
#[derive(Debug)]
pub(crate) struct Document {
    name: String,
    folder: PathBuf,
    parsed: toml_edit::Document<String>,
}

impl Document {
    /// Reads a file. What is wrong goes to `faults`.
    pub(crate) fn open(path: &Path, faults: &Faults) -> Option<Self> {
        let text = read_bounded(path, faults)?;
        Self::parse(path, text, faults)
    }

    fn parse(path: &Path, text: String, faults: &Faults) -> Option<Self> {
        let name = faults.name_of(path);
        match toml_edit::Document::parse(text.clone()) {
            Ok(parsed) => {
                let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
                Some(Self { name, folder, parsed })
            }
            Err(error) => {
                let line = error.span().map(|span| line_of(&text, span.start));
                faults.push(name, line, format!("this is no TOML: {}", error.message()));
                None
            }
        }
    }

    /// Returns the folder that its paths are relative to.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the file's name and a line, as `refrain.toml:3`.
    pub(crate) fn place(&self, span: Option<Range<usize>>) -> String {
        match span {
            Some(span) => format!("{}:{}", self.name, line_of(self.parsed.raw(), span.start)),
            None => self.name.clone(),
        }
    }

    /// Returns the top of the file.
    pub(crate) fn root<'a>(&'a self, faults: &'a Faults) -> Table<'a> {
        Table { document: self, faults, path: Vec::new(), span: None, items: self.parsed.as_table() }
    }

    /// Returns the top of the file as it was parsed.
    pub(crate) fn table(&self) -> &dyn TableLike {
        self.parsed.as_table()
    }
}

/// A table in a list, and where it stands.
type Row<'a> = (&'a dyn TableLike, Option<Range<usize>>);

/// One table of a file.
#[derive(Clone)]
pub(crate) struct Table<'a> {
    document: &'a Document,
    faults: &'a Faults,
    path: Vec<String>,
    span: Option<Range<usize>>,
    items: &'a dyn TableLike,
}

impl<'a> Table<'a> {
    /// Returns the folder that paths are relative to.
    pub(crate) fn folder(&self) -> &'a Path {
        self.document.folder()
    }

    /// Returns where faults go.
    pub(crate) fn faults(&self) -> &'a Faults {
        self.faults
    }

    /// Returns the last part of its name.
    pub(crate) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// Returns whether it has a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.items.contains_key(key)
    }

    /// Returns where a key stands, as `refrain.toml:3`.
    pub(crate) fn place(&self, key: &str) -> String {
        self.document.place(self.span_of(key))
    }

    /// Reports every key that is not in `keys`. Those in `later` exist in releases to come. Returns those of `keys` that are
    /// near to a reported one.
    pub(crate) fn known<'k>(&self, keys: &[&'k str], later: &[&str]) -> Vec<&'k str> {
        let mut near = Vec::new();
        for (key, _) in self.items.iter() {
            if keys.contains(&key) {
                continue;
            }
            if later.contains(&key) {
                self.fault(key, "comes with a later release; remove it until then");
            } else {
                let message = format!("unknown key `{}`; {}", self.full(key), instead(key, keys));
                self.faults.push(self.document.name.clone(), self.line_of(key), message);
                near.extend(nearest(key, keys.iter().copied()));
            }
        }
        near
    }

    /// Reports what is wrong with a key, or with this table where it has no such key. The message follows the key's name.
    pub(crate) fn fault(&self, key: &str, message: impl AsRef<str>) {
        let message = format!("`{}` {}", self.full(key), message.as_ref());
        self.faults.push(self.document.name.clone(), self.line_of(key), message);
    }

    /// Reads a text.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let item = self.items.get(key)?;
        let text = item.as_str().map(str::to_owned);
        self.or_fault(text, key, item, "a text")
    }

    /// Reads a whole number within a range.
    pub(crate) fn whole(&self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let item = self.items.get(key)?;
        let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
        let number = number.filter(|number| range.contains(number));
        self.or_fault(number, key, item, &format!("a whole number from {} to {}", range.start(), range.end()))
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        let item = self.items.get(key)?;
        self.or_fault(item.as_bool(), key, item, "`true` or `false`")
    }

    /// Reads a list of texts.
    pub(crate) fn texts(&self, key: &str) -> Option<Vec<String>> {
        let item = self.items.get(key)?;
        let texts = item.as_array().and_then(|list| list.iter().map(|each| each.as_str().map(str::to_owned)).collect());
        self.or_fault(texts, key, item, "a list of texts")
    }

    /// Reads one of some words.
    pub(crate) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let item = self.items.get(key)?;
        let chosen = item.as_str().and_then(|text| choices.iter().find(|(word, _)| *word == text));
        let words = listed(choices.iter().map(|(word, _)| *word));
        self.or_fault(chosen.map(|(_, value)| *value), key, item, &format!("one of {words}"))
    }

    /// Reads anything, as JSON.
    pub(crate) fn json(&self, key: &str) -> Option<Value> {
        self.items.get(key).map(json)
    }

    /// Reads a table.
    pub(crate) fn table(&self, key: &str) -> Option<Self> {
        let item = self.items.get(key)?;
        let items = self.or_fault(item.as_table_like(), key, item, "a table")?;
        let mut path = self.path.clone();
        path.push(key.to_owned());
        Some(Self { document: self.document, faults: self.faults, path, span: self.span_of(key), items })
    }

    /// Reads a table whose keys are names: each with its table.
    pub(crate) fn tables(&self, key: &str) -> Vec<Self> {
        let Some(table) = self.table(key) else { return Vec::new() };
        table.keys().iter().filter_map(|name| table.table(name)).collect()
    }

    /// Reads a list of tables, `[[key]]` or inline.
    pub(crate) fn rows(&self, key: &str) -> Vec<Self> {
        let Some(item) = self.items.get(key) else { return Vec::new() };
        let rows: Option<Vec<Row<'_>>> = match item {
            Item::ArrayOfTables(tables) => {
                Some(tables.iter().map(|table| (table as &dyn TableLike, table.span())).collect())
            }
            _ => item.as_array().and_then(|list| {
                list.iter().map(|each| Some((each.as_inline_table()? as &dyn TableLike, each.span()))).collect()
            }),
        };
        let rows = self.or_fault(rows, key, item, &format!("tables, each under `[[{}]]`", self.full(key)));
        let row = |(n, (items, span)): (usize, (&'a dyn TableLike, _))| {
            let mut path = self.path.clone();
            path.extend([key.to_owned(), (n + 1).to_string()]);
            Self { document: self.document, faults: self.faults, path, span, items }
        };
        rows.unwrap_or_default().into_iter().enumerate().map(row).collect()
    }

    /// Returns the keys, in the order of the file.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.items.iter().map(|(key, _)| key.to_owned()).collect()
    }

    fn or_fault<T>(&self, read: Option<T>, key: &str, item: &Item, wanted: &str) -> Option<T> {
        if read.is_none() {
            self.fault(key, format!("is {}; write {wanted}", seen(item)));
        }
        read
    }

    fn full(&self, key: &str) -> String {
        let mut parts: Vec<&str> = self.path.iter().map(String::as_str).collect();
        parts.extend((!key.is_empty()).then_some(key));
        dotted(&parts)
    }

    fn span_of(&self, key: &str) -> Option<Range<usize>> {
        match self.items.get_key_value(key) {
            Some((key, item)) => key.span().or_else(|| item.span()).or_else(|| self.span.clone()),
            None => self.span.clone(),
        }
    }

    fn line_of(&self, key: &str) -> Option<usize> {
        self.span_of(key).map(|span| line_of(self.document.parsed.raw(), span.start))
    }
}

/// Joins parts of a key, quoting those that need it.
pub(crate) fn dotted(parts: &[&str]) -> String {
    let bare =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let parts: Vec<String> =
        parts.iter().map(|part| if bare(part) { (*part).to_owned() } else { format!("{part:?}") }).collect();
    parts.join(".")
}

/// Reads a file of at most [`MOST_BYTES`]. What is wrong goes to `faults`.
pub(crate) fn read_bounded(path: &Path, faults: &Faults) -> Option<String> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    let message = match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
                format!("there is no folder `{}`; correct the path", faults.name_of(folder))
            }
            _ => "there is no such file; correct the path".to_owned(),
        },
        Err(error) => format!("this file cannot be read: {error}"),
        Ok(_) if bytes.len() as u64 > MOST_BYTES => format!("this file is larger than {} MiB", MOST_BYTES >> 20),
        Ok(_) => match String::from_utf8(bytes) {
            Ok(text) => return Some(text),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let line = 1 + error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count();
                faults.push(faults.name_of(path), Some(line), "this line is no UTF-8");
                return None;
            }
        },
    };
    faults.push(faults.name_of(path), None, message);
    None
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// Returns what a person sees in the file.
fn seen(item: &Item) -> String {
    const MOST_CHARS: usize = 40;
    let cut = |text: &str| match text.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    };
    match item {
        Item::Value(Toml::String(text)) => format!("the text {:?}", cut(text.value())),
        Item::Value(Toml::Integer(number)) => format!("the number {}", number.value()),
        Item::Value(Toml::Float(number)) => format!("the number {}", number.value()),
        Item::Value(Toml::Boolean(truth)) => truth.value().to_string(),
        Item::Value(Toml::Datetime(_)) => "a date".to_owned(),
        Item::Value(Toml::Array(_)) => "a list".to_owned(),
        Item::Value(Toml::InlineTable(_)) | Item::Table(_) => "a table".to_owned(),
        Item::ArrayOfTables(_) => "a list of tables".to_owned(),
        Item::None => "nothing".to_owned(),
    }
}

/// Returns an item as JSON. Dates become texts; what JSON has no number for becomes null.
pub(crate) fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => {
            table.iter().map(|(key, item)| (key.to_owned(), json(item))).collect::<Map<_, _>>().into()
        }
        Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| table.iter().map(|(key, item)| (key.to_owned(), json(item))).collect::<Map<_, _>>())
            .collect(),
    }
}

fn json_value(value: &Toml) -> Value {
    match value {
        Toml::String(text) => text.value().as_str().into(),
        Toml::Integer(number) => (*number.value()).into(),
        Toml::Float(number) => Number::from_f64(*number.value()).map_or(Value::Null, Value::Number),
        Toml::Boolean(truth) => (*truth.value()).into(),
        Toml::Datetime(date) => date.value().to_string().into(),
        Toml::Array(list) => list.iter().map(json_value).collect(),
        Toml::InlineTable(table) => {
            table.iter().map(|(key, value)| (key.to_owned(), json_value(value))).collect::<Map<_, _>>().into()
        }
    }
}
