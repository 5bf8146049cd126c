//! Coercion: a text is taken as what it spells, where the schema wants just that.
//!
//! Only a text is ever changed, and only into the one value that it is the JSON of. Among alternatives a change stays only if
//! fewer faults are left afterwards, so that none is made for an alternative that does not fit anyway.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use super::{MAX_COUNTED, path_of, shown, validator::Checker};

/// Texts that are tried in one call.
const MAX_TRIED: usize = 100;
/// What was changed is told up to here.
pub(super) const MAX_NOTES: usize = 10;

/// Takes a text in place of all arguments, where it is the JSON of an object.
pub(super) fn whole(text: String, notes: &mut Vec<String>) -> Value {
    match serde_json::from_str(&text) {
        Ok(value @ Value::Object(_)) => {
            notes.push("`args` was a text and was taken as the object that it spells".to_owned());
            value
        }
        Ok(_) | Err(_) => Value::String(text),
    }
}

/// Coerces what `args` needs. What cannot be checked stays as it is: whoever checks it next says so.
pub(super) fn coerce(checker: &Checker, mut args: Value, notes: &mut Vec<String>) -> Value {
    // Each text costs one check to find it and one to see whether it helped.
    let most = MAX_TRIED.min(checker.times(&args) / 2);
    let mut tried = Vec::new();
    let Some(mut faults) = count(checker, &args) else { return args };
    // What is inside a text that was taken as an object may be in need itself.
    while faults > 0 && tried.len() < most {
        let mut wanted = Vec::new();
        let collected = checker.check(&args, |errors| {
            errors.take(MAX_COUNTED).for_each(|error| collect(&error, true, &mut wanted));
        });
        if collected.is_err() {
            break;
        }
        let Some(next) = wanted.into_iter().find(|wanted| !tried.contains(wanted)) else { break };
        tried.push(next.clone());
        let Wanted { pointer, kind, is_sure } = next;
        let Some(place) = args.pointer_mut(&pointer) else { continue };
        let Some(value) = place.as_str().and_then(|text| spelt(text, kind)) else { continue };
        let old = std::mem::replace(place, value);
        // One that cannot be checked once it is taken is left as it was.
        let Some(left) = count(checker, &args) else {
            if let Some(place) = args.pointer_mut(&pointer) {
                *place = old;
            }
            continue;
        };
        // What is wrong inside of an object is only seen once it is one.
        if left < faults || is_sure && matches!(kind, JsonType::Object | JsonType::Array) {
            faults = left;
            if notes.len() < MAX_NOTES {
                let new = args.pointer(&pointer).map(shown).unwrap_or_default();
                notes.push(format!("`{}`: the text {} was taken as {new}", path_of(&pointer, &args), shown(&old)));
            }
        } else if let Some(place) = args.pointer_mut(&pointer) {
            *place = old;
        }
    }
    args
}

/// Returns how much is wrong, the faults of alternatives included: a text mended inside of one counts.
fn count(checker: &Checker, args: &Value) -> Option<usize> {
    fn weight(error: &ValidationError<'_>) -> usize {
        match error.kind() {
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                let least = context.iter().map(|branch| branch.iter().map(weight).sum()).min();
                1 + least.unwrap_or(0)
            }
            _ => 1,
        }
    }
    checker.check(args, |errors| errors.take(MAX_COUNTED).map(|error| weight(&error)).sum()).ok()
}

/// A place where a text stands and another type is wanted.
#[derive(Clone, PartialEq)]
struct Wanted {
    pointer: String,
    kind: JsonType,
    /// Nothing else will do: it is not one of alternatives.
    is_sure: bool,
}

fn collect(error: &ValidationError<'_>, is_sure: bool, wanted: &mut Vec<Wanted>) {
    match error.kind() {
        ValidationErrorKind::Type { kind } if error.instance().is_string() => {
            let of = |kind| Wanted { pointer: error.instance_path().as_str().to_owned(), kind, is_sure };
            match kind {
                TypeKind::Single(one) => wanted.push(of(*one)),
                TypeKind::Multiple(set) => wanted.extend(set.iter().map(of)),
            }
        }
        // Without a type, the values that are allowed say which.
        ValidationErrorKind::Enum { options } if error.instance().is_string() => {
            wanted.extend(
                options.as_array().into_iter().flatten().take(MAX_COUNTED).filter_map(|option| meant(error, option)),
            );
        }
        ValidationErrorKind::Constant { expected_value } if error.instance().is_string() => {
            wanted.extend(meant(error, expected_value));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.iter().flatten().for_each(|error| collect(error, false, wanted));
        }
        _ => {}
    }
}

/// Returns what to try where a text stands in place of the one value `allowed`, if it spells that.
fn meant(error: &ValidationError<'_>, allowed: &Value) -> Option<Wanted> {
    let kind = match allowed {
        Value::Number(_) => JsonType::Number,
        Value::Bool(_) => JsonType::Boolean,
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let spelt = spelt(error.instance().as_str()?, kind)?;
    let pointer = error.instance_path().as_str().to_owned();
    (spelt == *allowed).then_some(Wanted { pointer, kind, is_sure: false })
}

/// Returns the value of this type that a text is the JSON of.
fn spelt(text: &str, kind: JsonType) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    let fits = match (&value, kind) {
        // Without white space around it, or it was meant as a text.
        (Value::Number(number), JsonType::Number | JsonType::Integer) => text.trim() == text && is_whole(text, number),
        (Value::Bool(_), JsonType::Boolean) => text.trim() == text,
        (Value::Array(_), JsonType::Array) | (Value::Object(_), JsonType::Object) => true,
        _ => false,
    };
    fits.then_some(value)
}

/// Returns whether a number says all that its text says: an id of thirty digits does not fit into one.
fn is_whole(text: &str, number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64() || text.contains(['.', 'e', 'E'])
}
