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

pub(super) fn coerce(checker: &Checker, mut args: Value, notes: &mut Vec<String>) -> Value {
    let mut tried = Vec::new();
    let mut faults = count(checker, &args);
    // What is inside a text that was taken as an object may be in need itself.
    while faults > 0 && tried.len() < MAX_TRIED {
        let mut wanted = Vec::new();
        for error in checker.errors(&args).take(MAX_COUNTED) {
            collect(&error, true, &mut wanted);
        }
        let Some(next) = wanted.into_iter().find(|wanted| !tried.contains(wanted)) else { break };
        tried.push(next.clone());
        let Wanted { pointer, kind, is_sure } = next;
        let Some(place) = args.pointer_mut(&pointer) else { continue };
        let Some(value) = place.as_str().and_then(|text| spelt(text, kind)) else { continue };
        let old = std::mem::replace(place, value);
        let left = count(checker, &args);
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
fn count(checker: &Checker, args: &Value) -> usize {
    fn weight(error: &ValidationError<'_>) -> usize {
        match error.kind() {
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                let least = context.iter().map(|branch| branch.iter().map(weight).sum()).min();
                1 + least.unwrap_or(0)
            }
            _ => 1,
        }
    }
    checker.errors(args).take(MAX_COUNTED).map(|error| weight(&error)).sum()
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
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.iter().flatten().for_each(|error| collect(error, false, wanted));
        }
        _ => {}
    }
}

/// Returns the value of this type that a text is the JSON of.
fn spelt(text: &str, kind: JsonType) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    let fits = match (&value, kind) {
        // Without white space around it, or it was meant as a text.
        (Value::Number(_), JsonType::Number | JsonType::Integer) | (Value::Bool(_), JsonType::Boolean) => {
            text.trim() == text
        }
        (Value::Array(_), JsonType::Array) | (Value::Object(_), JsonType::Object) => true,
        _ => false,
    };
    fits.then_some(value)
}
