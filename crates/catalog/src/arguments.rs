//! Checks the arguments of a call against the tool's input schema.
//!
//! A validator is made at the first check and kept. A schema that makes none (invalid, or with a reference to somewhere
//! outside) accepts any object: the server still checks, and one bad schema must not take a tool away. No reference is ever
//! fetched.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use jsonschema::{
    ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Value, json};

use crate::{
    error::{CallError, ErrorCode},
    name,
    tool::Tool,
};

/// More faults than this are counted and not listed.
const MAX_FAULTS: usize = 10;
/// Longer values are cut in messages.
const MAX_SHOWN: usize = 80;

/// A validator that is made when first needed. Says nothing about equality: it follows from the schema beside it.
#[derive(Clone, Default)]
pub(crate) struct CachedValidator(Arc<OnceLock<Result<Validator, String>>>);

impl CachedValidator {
    pub(crate) fn get(&self, schema: &Value) -> Result<&Validator, &str> {
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
pub(crate) fn build(schema: &Value) -> Result<Validator, String> {
    jsonschema::options().offline().build(schema).map_err(|error| name::cut(&error.to_string(), 200))
}

pub(crate) fn check(tool: &Tool, args: &Value) -> Result<(), CallError> {
    let empty = Value::Object(serde_json::Map::new());
    let args = match args {
        Value::Null => &empty,
        Value::Object(_) => args,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(invalid(tool, &[Fault::new("args", "an object", Some(shown(args)))], 0));
        }
    };
    let Ok(validator) = tool.validator() else { return Ok(()) };
    let mut faults = Vec::new();
    let mut more = 0;
    for error in validator.iter_errors(args) {
        for fault in faults_of(&error, args, &tool.input_schema) {
            if faults.len() < MAX_FAULTS { faults.push(fault) } else { more += 1 }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(invalid(tool, &faults, more)) }
}

struct Fault {
    path: String,
    expected: String,
    /// `None` where nothing came.
    got: Option<String>,
    hint: String,
}

impl Fault {
    fn new(path: impl Into<String>, expected: impl Into<String>, got: Option<String>) -> Self {
        Self { path: path.into(), expected: expected.into(), got, hint: String::new() }
    }
}

fn invalid(tool: &Tool, faults: &[Fault], more: usize) -> CallError {
    let mut lines: Vec<String> = faults
        .iter()
        .map(|fault| {
            let got = fault.got.as_deref().unwrap_or("nothing");
            format!("- `{}`: expected {}, got {got}{}", fault.path, fault.expected, fault.hint)
        })
        .collect();
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    let message =
        format!("invalid arguments for `{}`\n{}\nsignature: {}", tool.path(), lines.join("\n"), tool.signature());
    let data: Vec<Value> =
        faults.iter().map(|fault| json!({"path": fault.path, "expected": fault.expected, "got": fault.got})).collect();
    CallError::new(ErrorCode::InvalidArguments, message).with_data(json!({"faults": data}))
}

fn faults_of(error: &ValidationError<'_>, args: &Value, schema: &Value) -> Vec<Fault> {
    let path = path_of(error.instance_path().as_str(), args);
    let got = Some(shown(error.instance()));
    let one = |expected: String| vec![Fault::new(&path, expected, got.clone())];
    match error.kind() {
        ValidationErrorKind::Type { kind } => one(types(kind)),
        ValidationErrorKind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            vec![Fault::new(format!("{path}{}", name::access(key)), "a value", None)]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|key| {
                let value = error.instance().get(key).unwrap_or(&Value::Null);
                let mut fault = Fault::new(format!("{path}{}", name::access(key)), "no such key", Some(shown(value)));
                fault.hint = name::did_you_mean(key, known_keys(error, schema));
                fault
            })
            .collect(),
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().take(20).map(|option| format!("`{option}`")).collect();
            one(format!("one of {}", options.join(", ")))
        }
        ValidationErrorKind::Constant { expected_value } => one(format!("`{expected_value}`")),
        ValidationErrorKind::Minimum { limit } => one(format!("at least {limit}")),
        ValidationErrorKind::Maximum { limit } => one(format!("at most {limit}")),
        ValidationErrorKind::ExclusiveMinimum { limit } => one(format!("more than {limit}")),
        ValidationErrorKind::ExclusiveMaximum { limit } => one(format!("less than {limit}")),
        ValidationErrorKind::MinLength { limit } => one(format!("at least {limit} characters")),
        ValidationErrorKind::MaxLength { limit } => one(format!("at most {limit} characters")),
        ValidationErrorKind::MinItems { limit } => one(format!("at least {limit} items")),
        ValidationErrorKind::MaxItems { limit } => one(format!("at most {limit} items")),
        ValidationErrorKind::Pattern { pattern } => one(format!("text that matches `{pattern}`")),
        ValidationErrorKind::Format { format } => one(format!("a text of the format `{format}`")),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            one("a value that fits one of the alternatives".into())
        }
        // The rest say it well enough in their own words, with the value masked.
        _ => one(name::cut(&error.masked().to_string(), 200)),
    }
}

/// Returns the keys that the object with one key too many could have.
fn known_keys<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Vec<&'s str> {
    let path = error.schema_path().as_str();
    let object = path.rsplit_once('/').and_then(|(parent, _)| schema.pointer(parent));
    let properties = object.and_then(|object| object.get("properties")).and_then(Value::as_object);
    properties.into_iter().flat_map(|map| map.keys().map(String::as_str)).collect()
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.as_str().to_owned(),
        TypeKind::Multiple(set) => {
            let names: Vec<&str> = set.iter().map(|one| one.as_str()).collect();
            names.join(" or ")
        }
    }
}

/// Turns a JSON pointer into what a script would write: `args.items[0].name`.
fn path_of(pointer: &str, args: &Value) -> String {
    let mut path = "args".to_owned();
    let mut at = Some(args);
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        match at {
            Some(Value::Array(items)) => {
                path.push_str(&format!("[{part}]"));
                at = part.parse().ok().and_then(|index: usize| items.get(index));
            }
            Some(Value::Object(map)) => {
                path.push_str(&name::access(&part));
                at = map.get(&part);
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {
                path.push_str(&name::access(&part));
                at = None;
            }
        }
    }
    path
}

fn shown(value: &Value) -> String {
    name::cut(&value.to_string(), MAX_SHOWN)
}
