//! What was too large for an answer, read by pages.
//!
//! Nothing is kept for it: the journal has the report of every run that is over, and its id is the handle.

use refrain_runtime::Report;
use serde_json::{Value, json};

use crate::arguments::ReadArtifact;

/// A part of a text.
pub(crate) struct Page {
    id: String,
    path: String,
    offset: usize,
    total: usize,
    pub(crate) text: String,
    next: Option<usize>,
}

/// Returns the characters that are asked for: of a text as it is, of any other value as JSON.
///
/// # Errors
///
/// In words for a model: there is nothing at the path, with what there is instead.
pub(crate) fn page(report: &Report, asked: &ReadArtifact) -> Result<Page, String> {
    let whole = serde_json::to_value(report).map_err(|error| error.to_string())?;
    let path = match &asked.path {
        Some(path) => path.clone(),
        None if whole.get("result").is_some() => "/result".to_owned(),
        None => String::new(),
    };
    let found = whole.pointer(&path).ok_or_else(|| nothing_at(&whole, &path))?;
    let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    let total = text.chars().count();
    let part: String = text.chars().skip(asked.offset).take(asked.limit).collect();
    let end = asked.offset.saturating_add(asked.limit);
    let id = report.run_id.map(|id| id.to_string()).unwrap_or_default();
    Ok(Page { id, path, offset: asked.offset.min(total), total, text: part, next: (end < total).then_some(end) })
}

impl Page {
    pub(crate) fn content(&self) -> Value {
        json!({
            "id": self.id, "path": self.path, "offset": self.offset, "total": self.total, "text": self.text,
            "next_offset": self.next,
        })
    }
}

/// Says how far a path leads, and what is there.
fn nothing_at(whole: &Value, path: &str) -> String {
    if !path.starts_with('/') {
        return format!("`path` is `{path}`; write a JSON pointer, such as `/result/items/0`");
    }
    let mut known = path;
    let place = loop {
        known = &known[..known.rfind('/').unwrap_or(0)];
        if let Some(place) = whole.pointer(known) {
            break place;
        }
    };
    let there = match place {
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().take(20).map(|key| format!("`{key}`")).collect();
            format!("an object with the keys {}", keys.join(", "))
        }
        Value::Array(list) => format!("a list of {} entries, counted from 0", list.len()),
        _ => "a value without parts".to_owned(),
    };
    format!("there is nothing at `{path}`; at `{known}` is {there}")
}
