//! Values of a schema as types: `const` and `enum`.

use serde_json::Value;

use super::shape::{Object, Property, Rest, Type, union};
use crate::name;

/// Longer enums are shown as their type: a model gains nothing from the thousandth value.
const MAX_VALUES: usize = 100;
/// The same for enums of long texts, in bytes.
const MAX_BYTES: usize = 4000;
/// The most parts that a list or an object as a value is shown with.
const MAX_PARTS: usize = 50;

/// Returns the type of this value alone.
pub(super) fn literal(value: &Value) -> Type {
    exact(value, &mut { MAX_PARTS }).unwrap_or_else(|| kind(value))
}

/// Returns the type of each value, or nothing where they are too many.
pub(super) fn all(values: &[Value]) -> Option<Vec<Type>> {
    if values.len() > MAX_VALUES {
        return None;
    }
    let bytes: usize = values.iter().filter_map(Value::as_str).map(str::len).sum();
    (bytes <= MAX_BYTES).then(|| values.iter().map(literal).collect())
}

/// Returns the type that covers all values.
pub(super) fn kinds(values: &[Value]) -> Type {
    union(values.iter().map(kind).collect())
}

/// Returns whether a value's type is of the type that a schema calls so. `any` type that nobody knows is.
pub(super) fn is_of(ty: &Type, name: &str) -> bool {
    match (ty, name) {
        (Type::Keyword("null"), "null")
        | (Type::Array(_) | Type::Tuple { .. }, "array")
        | (Type::Object(_), "object") => true,
        (Type::Literal(text), "string") => text.starts_with('"'),
        (Type::Literal(text), "boolean") => text == "true" || text == "false",
        (Type::Literal(text), "number" | "integer") => text.starts_with(|c: char| c == '-' || c.is_ascii_digit()),
        (_, "null" | "array" | "object" | "string" | "boolean" | "number" | "integer") => false,
        _ => true,
    }
}

fn exact(value: &Value, left: &mut usize) -> Option<Type> {
    *left = left.checked_sub(1)?;
    Some(match value {
        Value::Null => Type::Keyword("null"),
        Value::String(text) if text.len() > MAX_BYTES => return None,
        Value::String(text) => Type::Literal(name::quoted(text)),
        Value::Bool(_) | Value::Number(_) => Type::Literal(value.to_string()),
        Value::Array(items) => {
            let required = items.iter().map(|item| exact(item, left)).collect::<Option<Vec<_>>>()?;
            Type::Tuple { required, optional: Vec::new(), rest: None }
        }
        Value::Object(map) => {
            let properties = map.iter().map(|(name, value)| {
                Some(Property { name: name.clone(), required: true, ty: exact(value, left)?, docs: Vec::new() })
            });
            Type::Object(Object { properties: properties.collect::<Option<Vec<_>>>()?, rest: Rest::Closed })
        }
    })
}

fn kind(value: &Value) -> Type {
    match value {
        Value::Null => Type::Keyword("null"),
        Value::Bool(_) => Type::Keyword("boolean"),
        Value::Number(_) => Type::Keyword("number"),
        Value::String(_) => Type::Keyword("string"),
        Value::Array(_) => Type::Array(Box::new(Type::Unknown)),
        Value::Object(_) => Type::object(),
    }
}
