//! What `config show` prints: each value with its origin.

use serde::Serialize;
use serde_json::Value;
use toml_edit::{Item, TableLike};

use super::{
    address,
    document::{self, Document, dotted},
    secret::Reference,
};

/// One value with its origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    /// The key, as it is written with dots.
    pub(crate) key: String,
    /// The value. A secret is its reference, or `***`.
    pub(crate) value: Value,
    /// `default`, a file with its line, a variable, or a flag.
    pub(crate) origin: String,
    /// The source it belongs to.
    #[serde(skip)]
    source: Option<String>,
}

impl Row {
    pub(crate) fn new(key: &[&str], value: Value, origin: impl Into<String>) -> Self {
        let source = (key.first() == Some(&"sources")).then(|| key.get(1).map(|name| (*name).to_owned())).flatten();
        Self { key: dotted(key), value, origin: origin.into(), source }
    }

    /// A row whose value is the text of a variable for a child.
    pub(crate) fn of_variable(key: &[&str], text: &str, origin: impl Into<String>) -> Self {
        Self::new(key, Reference::parse(text).shown().into(), origin)
    }

    /// A row whose value is a header.
    pub(crate) fn of_header(key: &[&str], text: &str, origin: impl Into<String>) -> Self {
        Self::new(key, Reference::header_shown(text).into(), origin)
    }

    /// A row whose value is an address. What stands behind a `?` or before an `@` may be a key.
    pub(crate) fn of_address(key: &[&str], text: &str, origin: impl Into<String>) -> Self {
        Self::new(key, address::shown(text).into(), origin)
    }
}

/// Adds a row for each value under `[sources]`.
pub(crate) fn sources(document: &Document, rows: &mut Vec<Row>) {
    if let Some(sources) = document.table().get("sources").and_then(Item::as_table_like) {
        walk(document, sources, &mut vec!["sources".to_owned()], rows);
    }
}

/// Adds a row for the rules of the policy.
pub(crate) fn rules(document: &Document, rows: &mut Vec<Row>) {
    if let Some(policy) = document.table().get("policy").and_then(Item::as_table_like)
        && let Some((key, item)) = policy.get_key_value("rules")
    {
        let origin = document.place(key.span().or_else(|| item.span()));
        rows.push(Row::new(&["policy", "rules"], document::json(item), origin));
    }
}

/// Removes the rows of a source.
pub(crate) fn forget(rows: &mut Vec<Row>, source: &str) {
    rows.retain(|row| row.source.as_deref() != Some(source));
}

fn walk(document: &Document, table: &dyn TableLike, path: &mut Vec<String>, rows: &mut Vec<Row>) {
    // Nothing is deeper than a source, its tools, a tool and its keys, but for schemas, which are one value.
    let deepest = path.len() >= 5;
    for (name, item) in table.iter() {
        path.push(name.to_owned());
        let is_schema = matches!(name, "input" | "output_schema") && path.len() > 3;
        match item.as_table_like() {
            Some(inner) if !is_schema && !deepest => walk(document, inner, path, rows),
            _ => {
                let parts: Vec<&str> = path.iter().map(String::as_str).collect();
                let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
                let origin = document.place(span);
                rows.push(match (parts.get(2), item.as_str()) {
                    (Some(&"env"), Some(text)) => Row::of_variable(&parts, text, origin),
                    (Some(&"headers"), Some(text)) => Row::of_header(&parts, text, origin),
                    (Some(&"url"), Some(text)) => Row::of_address(&parts, text, origin),
                    _ => Row::new(&parts, document::json(item), origin),
                });
            }
        }
        path.pop();
    }
}
