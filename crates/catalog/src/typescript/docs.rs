//! What a comment says: the description, and as tags what a type cannot carry.

use serde_json::{Map, Value};

use crate::name;

/// Bytes of comments in one schema.
const MAX_INK: usize = 100_000;
/// Bytes of one description.
const MAX_DESCRIPTION: usize = 2000;
/// Bytes of one tag.
const MAX_TAG: usize = 200;

/// What is left for comments.
pub(super) struct Ink(usize);

impl Default for Ink {
    fn default() -> Self {
        Self(MAX_INK)
    }
}

/// Returns the lines of a comment on what has this schema.
pub(super) fn of(schema: &Value, ink: &mut Ink) -> Vec<String> {
    let Some(map) = schema.as_object() else { return Vec::new() };
    let mut lines = description(map);
    lines.extend(tags(map));
    // Alone it is not worth a comment.
    if map.get("type").and_then(Value::as_str) == Some("integer") && !lines.is_empty() {
        lines.push("@integer".to_owned());
    }
    let bytes: usize = lines.iter().map(String::len).sum();
    match ink.0.checked_sub(bytes) {
        Some(left) => {
            ink.0 = left;
            lines
        }
        None => {
            ink.0 = 0;
            Vec::new()
        }
    }
}

/// Returns the description, or else the title.
pub(super) fn description(map: &Map<String, Value>) -> Vec<String> {
    let text = ["description", "title"]
        .iter()
        .find_map(|key| map.get(*key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty()));
    lines(text.unwrap_or_default(), MAX_DESCRIPTION)
}

/// Returns the lines of `text`, cut to so many bytes.
pub(super) fn lines(text: &str, max: usize) -> Vec<String> {
    name::cut(text.trim(), max).lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Returns a tag for each keyword that the type does not show.
pub(super) fn tags(map: &Map<String, Value>) -> Vec<String> {
    let mut tags = Vec::new();
    let is = |key: &str| map.get(key) == Some(&Value::Bool(true));
    tags.extend(["deprecated", "readOnly", "writeOnly"].iter().filter(|key| is(key)).map(|key| format!("@{key}")));
    for key in [
        "default",
        "format",
        "minimum",
        "exclusiveMinimum",
        "maximum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "contentEncoding",
        "contentMediaType",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "dependencies",
        "contains",
        "not",
    ] {
        let Some(value) = map.get(key) else { continue };
        match (key, value) {
            // Draft 4: a mark on the bound beside it.
            ("minimum" | "maximum", _) if is(exclusive(key)) => tags.push(format!("@{} {value}", exclusive(key))),
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => {}
            (_, Value::String(text)) if key != "default" && !text.contains(char::is_control) => {
                tags.push(tag(key, text))
            }
            _ => tags.push(tag(key, &value.to_string())),
        }
    }
    if is("uniqueItems") {
        tags.push("@uniqueItems".to_owned());
    }
    if let Some(patterns) = map.get("patternProperties").and_then(Value::as_object) {
        tags.extend(
            patterns.keys().take(5).map(|pattern| tag("patternProperties", &Value::from(pattern.as_str()).to_string())),
        );
    }
    if let Some(options) = map.get("enum").and_then(Value::as_array)
        && super::literal::all(options).is_none()
    {
        let some: Vec<String> = options.iter().take(5).map(|option| name::cut(&option.to_string(), 40)).collect();
        tags.push(format!("@enum {} values: {}, …", options.len(), some.join(", ")));
    }
    tags.extend(condition(map));
    let parts = map.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    for part in parts.filter(|part| part.contains_key("if") || part.contains_key("not")).take(5) {
        tags.extend(condition(part));
        tags.extend(part.get("not").map(|value| tag("not", &value.to_string())));
    }
    if let Some(name) = map.get("discriminator").and_then(|it| it.get("propertyName")).and_then(Value::as_str) {
        tags.push(tag("discriminator", &Value::from(name).to_string()));
    }
    let examples = map.get("examples").and_then(Value::as_array).map(Vec::as_slice);
    let examples = examples.or_else(|| map.get("example").map(std::slice::from_ref)).unwrap_or_default();
    tags.extend(examples.iter().take(3).map(|example| tag("example", &example.to_string())));
    tags
}

/// Returns `@if … @then … @else …`, on one line.
fn condition(map: &Map<String, Value>) -> Option<String> {
    let parts = ["if", "then", "else"].iter().filter_map(|key| Some(tag(key, &map.get(*key)?.to_string())));
    map.contains_key("if").then(|| parts.collect::<Vec<_>>().join(" "))
}

fn exclusive(key: &str) -> &'static str {
    if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" }
}

fn tag(key: &str, text: &str) -> String {
    format!("@{key} {}", name::cut(text, MAX_TAG))
}
