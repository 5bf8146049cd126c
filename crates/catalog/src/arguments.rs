//! Checks the arguments of a call against the tool's input schema, and mends them where the settings want that.
//!
//! A validator is made at the first check and kept. A schema that makes none (invalid, or with a reference to somewhere
//! outside) accepts any object: the server still checks, and one bad schema must not take a tool away. No reference is ever
//! fetched, and no pattern runs for long.
//!
//! Deliberately not here: anything that would change what a caller meant. A number stays a number where a text is wanted, and
//! one value is never wrapped into a list of one.

mod defaults;
mod fault;
mod lenient;
mod validator;
mod work;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    error::{CallError, ErrorCode},
    name,
    tool::Tool,
};
use fault::Fault;
pub(crate) use validator::{CachedValidator, Checker, build};

/// More faults than this are counted and not listed.
const MAX_FAULTS: usize = 10;
/// More than this are not even counted.
const MAX_COUNTED: usize = 1000;
/// Longer paths are cut in messages.
const MAX_PLACE: usize = 200;
/// Longer values are cut in messages.
const MAX_SHOWN: usize = 80;

/// What may be changed in arguments before they are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArgumentRules {
    /// A text that spells a number, a boolean, a list or an object is taken as that where the schema wants one.
    pub coerce: bool,
    /// What is left out gets the default that the schema gives.
    pub defaults: bool,
}

impl ArgumentRules {
    pub(crate) fn is_strict(&self) -> bool {
        !self.coerce && !self.defaults
    }
}

/// Arguments as they are sent.
pub(crate) struct Prepared {
    pub(crate) args: Map<String, Value>,
    /// What was changed, for whoever reads the call's notes.
    pub(crate) notes: Vec<String>,
}

/// Returns whether a schema has nothing in it that is about arguments.
pub(crate) fn says_nothing(schema: &Value) -> bool {
    const ABOUT: [&str; 6] = ["$schema", "$id", "id", "title", "description", "$comment"];
    schema.as_object().is_some_and(|map| map.keys().all(|key| ABOUT.contains(&key.as_str())))
}

/// Checks arguments without changing them, as far as that gives the same answer.
pub(crate) fn check(tool: &Tool, args: &Value) -> Result<(), CallError> {
    if !tool.rules.is_strict() {
        return prepare(tool, args.clone()).map(drop);
    }
    let empty = Value::Object(Map::new());
    let args = match args {
        Value::Null => &empty,
        Value::Object(_) => args,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => return Err(no_object(tool, args)),
    };
    refuse(tool, args).map(drop)
}

/// Returns the arguments as they are to be sent.
pub(crate) fn prepare(tool: &Tool, args: Value) -> Result<Prepared, CallError> {
    let mut notes = Vec::new();
    let args = match args {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if tool.rules.coerce => lenient::whole(text, &mut notes),
        other => other,
    };
    if !args.is_object() {
        return Err(no_object(tool, &args));
    }
    let args = match tool.validator() {
        Ok(checker) if !tool.rules.is_strict() => mended(tool.rules, checker, args, &mut notes),
        Ok(_) | Err(_) => args,
    };
    notes.extend(refuse(tool, &args)?);
    match args {
        Value::Object(args) => Ok(Prepared { args, notes }),
        other => Err(no_object(tool, &other)),
    }
}

fn mended(rules: ArgumentRules, checker: &Checker, args: Value, notes: &mut Vec<String>) -> Value {
    let args = if rules.defaults { defaults::fill(checker, args, notes) } else { args };
    if rules.coerce { lenient::coerce(checker, args, notes) } else { args }
}

/// Refuses what does not fit. Where that cannot be told, returns a note that says so: then the server has the word.
fn refuse(tool: &Tool, args: &Value) -> Result<Option<String>, CallError> {
    let unchecked = |why: &str| Ok(Some(format!("the arguments of `{}` were not checked: {why}", tool.path())));
    let checker = match tool.validator() {
        Ok(checker) => checker,
        Err(why) => return unchecked(&format!("its input schema is not valid: {why}")),
    };
    match faults(checker, args, MAX_FAULTS) {
        Ok((faults, _)) if faults.is_empty() => Ok(None),
        Ok((faults, more)) => Err(invalid(tool, &faults, more)),
        Err(why) => unchecked(why),
    }
}

/// Returns up to `most` faults of a value, and how many more there are.
///
/// # Errors
///
/// Why it cannot be checked.
fn faults(checker: &Checker, value: &Value, most: usize) -> Result<(Vec<Fault>, usize), &'static str> {
    checker.check(value, |errors| {
        let mut faults = Vec::new();
        let mut more = 0;
        let all = errors.flat_map(|error| fault::of(&error, value, checker.schema()));
        for fault in all.take(MAX_COUNTED) {
            if faults.len() < most { faults.push(fault) } else { more += 1 }
        }
        (faults, more)
    })
}

/// Returns what is wrong with a result, a phrase for each of up to `most` faults.
///
/// # Errors
///
/// Why it cannot be checked.
pub(crate) fn faults_of_result(checker: &Checker, value: &Value, most: usize) -> Result<Vec<String>, &'static str> {
    let (faults, more) = faults(checker, value, most)?;
    let mut told: Vec<String> = faults
        .iter()
        .map(|fault| {
            let place = fault.path.strip_prefix("args").unwrap_or(&fault.path);
            let got = fault.got.as_deref().unwrap_or("nothing");
            format!("`result{}`: expected {}, got {got}", name::cut(place, MAX_PLACE), fault.expected)
        })
        .collect();
    told.extend((more > 0).then(|| format!("and {more} more")));
    Ok(told)
}

fn no_object(tool: &Tool, args: &Value) -> CallError {
    invalid(tool, &[Fault::new("args", "an object", Some(shown(args)))], 0)
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
        let many = if more + MAX_FAULTS >= MAX_COUNTED { "at least " } else { "" };
        lines.push(format!("- and {many}{more} more"));
    }
    let message =
        format!("invalid arguments for `{}`\n{}\nsignature: {}", tool.path(), lines.join("\n"), tool.signature());
    let data: Vec<Value> =
        faults.iter().map(|fault| json!({"path": fault.path, "expected": fault.expected, "got": fault.got})).collect();
    CallError::new(ErrorCode::InvalidArguments, message).with_data(json!({"faults": data}))
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
    // A long text is not copied whole only to be cut.
    match value {
        Value::String(text) if text.len() > 2 * MAX_SHOWN => {
            name::cut(&Value::from(name::cut(text, 2 * MAX_SHOWN)).to_string(), MAX_SHOWN)
        }
        _ => name::cut(&value.to_string(), MAX_SHOWN),
    }
}
