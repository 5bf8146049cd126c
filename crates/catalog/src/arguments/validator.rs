//! The validator of a schema, made once.
//!
//! The schema is the tool's own. Two habits that JSON Schema does not know any more, or never knew, are put in its words
//! before: `nullable` of OpenAPI 3.0, and bounds that are exclusive by a mark. A schema that does not say which draft it
//! follows is read by the newest first, and then by the older ones, whose tuples look different.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, OnceLock},
};

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value, json};

use crate::name;

/// Levels of a schema, over which it is not read: the validator goes through them one inside the other.
const MAX_DEPTH: usize = 256;
/// Steps that a pattern may take back before it counts as undecided.
const MAX_BACKTRACKS: usize = 100_000;

/// A validator and the schema that it was made from.
pub(crate) struct Checker {
    pub(crate) validator: Validator,
    pub(crate) schema: Value,
}

/// A validator that is made when first needed. Says nothing about equality: it follows from the schema beside it.
#[derive(Clone, Default)]
pub(crate) struct CachedValidator(Arc<OnceLock<Result<Checker, String>>>);

impl CachedValidator {
    pub(crate) fn get(&self, schema: &Value) -> Result<&Checker, &str> {
        self.0.get_or_init(|| build(schema)).as_ref().map_err(String::as_str)
    }
}

impl fmt::Debug for CachedValidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CachedValidator")
    }
}

impl PartialEq for CachedValidator {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Returns a validator, or why there is none.
pub(crate) fn build(schema: &Value) -> Result<Checker, String> {
    if is_deeper(schema, MAX_DEPTH) {
        return Err(format!("it is nested more than {MAX_DEPTH} levels deep"));
    }
    let is_draft_4 = schema.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-04"));
    let schema = match needs_words(schema) {
        true => Cow::Owned(in_words(schema, is_draft_4, true)),
        false => Cow::Borrowed(schema),
    };
    let options = || {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS);
        jsonschema::options().offline().should_validate_formats(true).with_pattern_options(patterns)
    };
    let first = options().build(&schema);
    let built = first.or_else(|error| {
        let mut older = [Draft::Draft7, Draft::Draft4].into_iter();
        older.find_map(|draft| options().with_draft(draft).build(&schema).ok()).ok_or(error)
    });
    match built {
        Ok(validator) => Ok(Checker { validator, schema: schema.into_owned() }),
        Err(error) => Err(name::cut(&error.to_string(), 200)),
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    // A list of what is open, since a value that is too deep is too deep for recursion as well.
    let mut open = vec![(value, levels)];
    while let Some((value, levels)) = open.pop() {
        let inner: &mut dyn Iterator<Item = &Value> = match value {
            Value::Array(items) => &mut items.iter(),
            Value::Object(map) => &mut map.values(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => continue,
        };
        let Some(levels) = levels.checked_sub(1) else { return true };
        open.extend(inner.map(|inner| (inner, levels)));
    }
    false
}

fn needs_words(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(needs_words),
        Value::Object(map) => {
            map.get("nullable") == Some(&Value::Bool(true))
                || ["exclusiveMinimum", "exclusiveMaximum"]
                    .iter()
                    .any(|key| map.get(*key).is_some_and(Value::is_boolean))
                || map.values().any(needs_words)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn in_words(value: &Value, is_draft_4: bool, is_root: bool) -> Value {
    let map = match value {
        Value::Array(items) => return items.iter().map(|item| in_words(item, is_draft_4, false)).collect(),
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return value.clone(),
    };
    let mut map: Map<String, Value> = map
        .iter()
        .map(|(key, value)| {
            let is_data = ["enum", "const", "default", "example", "examples"].contains(&key.as_str());
            (key.clone(), if is_data { value.clone() } else { in_words(value, is_draft_4, false) })
        })
        .collect();
    if !is_draft_4 {
        for (bound, mark) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            let Some(Value::Bool(is_exclusive)) = map.get(mark) else { continue };
            let is_exclusive = *is_exclusive;
            map.remove(mark);
            if is_exclusive && let Some(limit) = map.remove(bound) {
                map.insert(mark.to_owned(), limit);
            }
        }
    }
    if map.get("nullable") != Some(&Value::Bool(true)) || is_root {
        return map.into();
    }
    map.remove("nullable");
    if let Some(Value::Array(options)) = map.get_mut("enum")
        && !options.contains(&Value::Null)
    {
        options.push(Value::Null);
    }
    match map.get_mut("type") {
        Some(Value::Array(types)) => types.push("null".into()),
        Some(one @ Value::String(_)) => *one = json!([one.clone(), "null"]),
        _ => {}
    }
    // A reference or a combination would refuse the null that the type now takes.
    if ["$ref", "allOf", "anyOf", "oneOf", "const", "not"].iter().any(|key| map.contains_key(*key)) {
        return json!({"anyOf": [map, {"type": "null"}]});
    }
    map.into()
}
