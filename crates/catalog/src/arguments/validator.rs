//! The validator of a schema, made once.
//!
//! The schema is the tool's own. Two habits that JSON Schema does not know any more, or never knew, are put in its words
//! before: `nullable` of OpenAPI 3.0, and bounds that are exclusive by a mark. A schema that does not say which draft it
//! follows is read by the newest first, and then by the older ones, whose tuples look different.

use std::{
    borrow::Cow,
    collections::HashSet,
    fmt,
    sync::{Arc, OnceLock},
};

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};

use super::work::steps;
use crate::{
    document::{Document, Extent, MAX_LEVELS},
    name,
};

/// Steps that a pattern may take back before it counts as undecided.
const MAX_BACKTRACKS: usize = 100_000;

/// Bytes that a pattern may take once it is compiled.
const MAX_PATTERN: usize = 1 << 20;
/// Parts that a schema may refer to.
const MAX_TARGETS: usize = 5000;
/// Steps that a check may take for each value that is checked, and for all together beside that.
const STEPS_A_VALUE: u64 = 200;
const MIN_STEPS: u64 = 100_000;
/// Steps that no check may take: about a third of a second.
const MAX_STEPS: u64 = 5_000_000;
/// Levels for which the stack of any thread is large enough.
const LEVELS_HERE: usize = 400;
/// Bytes of stack that one level takes, and more than that.
const BYTES_A_LEVEL: usize = 4096;
/// No thread gets a larger stack. Only what is used of it costs memory.
const MAX_STACK: usize = 512 << 20;

/// A validator and the schema that it was made from.
pub(crate) struct Checker {
    validator: Validator,
    schema: Value,
    /// How deep the schema goes, each reference followed once.
    levels: usize,
    /// Its parts. None where it refers to some, since then there may be any number at one value.
    parts: Option<usize>,
}

impl Checker {
    /// Returns the schema that the validator follows.
    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    /// Checks `value` once, where there is stack and time enough to do so.
    ///
    /// The validator goes into itself with each level of the schema and of the value, and a stack that overflows ends the
    /// process.
    ///
    /// # Errors
    ///
    /// Why it cannot be checked: no stack would be large enough, or it would take too long.
    pub(super) fn check<T: Send>(
        &self,
        value: &Value,
        look: impl FnOnce(&mut dyn Iterator<Item = ValidationError<'_>>) -> T + Send,
    ) -> Result<T, &'static str> {
        let extent = Extent::of(value);
        let checked = || {
            let may = self.steps(value, extent) <= most_steps(extent);
            may.then(|| look(&mut self.validator.iter_errors(value)))
        };
        match with_stack(self.stack_levels(extent), checked) {
            Some(Some(done)) => Ok(done),
            Some(None) => Err("the schema multiplies what is to be checked, which would take too long"),
            None => Err("schema and value lead too deep into each other"),
        }
    }

    /// Returns how many checks of a value such as this take no longer than one may.
    pub(super) fn times(&self, value: &Value) -> usize {
        let extent = Extent::of(value);
        let steps = with_stack(self.stack_levels(extent), || self.steps(value, extent));
        steps.map_or(0, |steps| usize::try_from(most_steps(extent) / steps.max(1)).unwrap_or(usize::MAX))
    }

    fn steps(&self, value: &Value, extent: Extent) -> u64 {
        // Where the worst case is little, it need not be looked at.
        let at_most = self.parts.map(|parts| parts.saturating_mul(extent.values) as u64);
        at_most.filter(|steps| *steps <= MIN_STEPS).unwrap_or_else(|| steps(&self.schema, value))
    }

    fn stack_levels(&self, extent: Extent) -> usize {
        self.levels.saturating_mul(1 + extent.levels)
    }
}

fn most_steps(extent: Extent) -> u64 {
    (extent.values as u64).saturating_mul(STEPS_A_VALUE).saturating_add(MIN_STEPS).min(MAX_STEPS)
}

fn with_stack<T: Send>(levels: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    if levels <= LEVELS_HERE {
        return Some(work());
    }
    let bytes = levels.checked_mul(BYTES_A_LEVEL).filter(|bytes| *bytes <= MAX_STACK)?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work).ok()?;
        thread.join().ok()
    })
}

/// Returns how many different references a schema has.
fn targets(schema: &Value) -> usize {
    fn collect<'v>(value: &'v Value, found: &mut HashSet<&'v str>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(map) => {
                found.extend(Document::reference(map));
                map.values().for_each(|value| collect(value, found));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = HashSet::new();
    collect(schema, &mut found);
    found.len()
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
    let Extent { levels, values } = Extent::of(schema);
    if levels > MAX_LEVELS {
        return Err(format!("it is nested more than {MAX_LEVELS} levels deep"));
    }
    let targets = targets(schema);
    if targets > MAX_TARGETS {
        return Err(format!("it refers to {targets} parts of itself, and at most {MAX_TARGETS} are followed"));
    }
    let levels = levels.saturating_mul(1 + targets);
    let parts = (targets == 0).then_some(values);
    with_stack(levels, || validator(schema, levels, parts))
        .unwrap_or_else(|| Err("it leads too deep into itself".to_owned()))
}

fn validator(schema: &Value, levels: usize, parts: Option<usize>) -> Result<Checker, String> {
    let is_draft_4 = schema.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-04"));
    let schema = match needs_words(schema) {
        true => Cow::Owned(in_words(schema, is_draft_4, true)),
        false => Cow::Borrowed(schema),
    };
    let options = || {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS).size_limit(MAX_PATTERN);
        jsonschema::options().offline().should_validate_formats(true).with_pattern_options(patterns)
    };
    let first = options().build(&schema);
    let built = first.or_else(|error| {
        let mut older = [Draft::Draft7, Draft::Draft4].into_iter();
        older.find_map(|draft| options().with_draft(draft).build(&schema).ok()).ok_or(error)
    });
    match built {
        Ok(validator) => Ok(Checker { validator, schema: schema.into_owned(), levels, parts }),
        Err(error) => Err(name::cut(&error.to_string(), 200)),
    }
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
