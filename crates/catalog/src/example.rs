//! Makes up arguments for a tool, to show what a call looks like.
//!
//! What the schema offers comes first: examples, defaults, constants, the first of an enum, what a description quotes after
//! `e.g.`. Else a value follows from type and bounds. Only what has to be there is there. The outcome is checked like the arguments of a call, so a schema that needs
//! more than this can guess (a pattern, a `not`) gives no example and never a wrong one.

use serde_json::{Map, Number, Value, json};

use crate::{name, tool::Tool};

/// Schemas within one another that are followed.
const DEEPEST: usize = 8;
/// Values that one example may have.
const MOST_VALUES: usize = 100;
/// A longer example shows nothing any more.
const MOST_BYTES: usize = 1_500;

/// Returns arguments that pass the tool's check, as they are typed in a script.
pub(crate) fn arguments(tool: &Tool) -> Option<String> {
    // What a description quotes is a guess: should it not pass, the plain values may.
    let args = [Quotes::Taken, Quotes::Left].into_iter().find_map(|quotes| {
        let args =
            Maker { root: &tool.input_schema, quotes, left: MOST_VALUES }.value(&tool.input_schema, "value", 0)?;
        tool.check_args(&args).is_ok().then_some(args)
    })?;
    let mut text = String::new();
    print(&args, &mut text);
    (text.len() <= MOST_BYTES).then_some(text)
}

/// Whether descriptions are asked for values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Taken,
    Left,
}

struct Maker<'a> {
    root: &'a Value,
    quotes: Quotes,
    left: usize,
}

impl Maker<'_> {
    /// Returns a value that the schema may accept. `key` is what it is called where it stands.
    fn value(&mut self, schema: &Value, key: &str, depth: usize) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        if depth > DEEPEST {
            return None;
        }
        let Some(map) = schema.as_object() else { return Some(key.into()) };
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            return self.value(root.pointer(target.strip_prefix('#')?)?, key, depth + 1);
        }
        if let Some(given) = offered(map) {
            return Some(given);
        }
        let mut value = match kind(map) {
            Some("object") => self.object(map, depth)?,
            Some("array") => self.array(map, key, depth)?,
            Some("string") => match quoted(map).filter(|_| self.quotes == Quotes::Taken) {
                Some(quoted) => quoted.into(),
                None => string(map, key).into(),
            },
            Some("integer" | "number") => number(map).into(),
            Some("boolean") => true.into(),
            Some("null") => Value::Null,
            _ if ["allOf", "anyOf", "oneOf"].iter().any(|word| map.contains_key(*word)) => Value::Null,
            _ => key.into(),
        };
        for word in ["allOf", "anyOf", "oneOf"] {
            let branches = map.get(word).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let taken = if word == "allOf" { branches.len() } else { 1 };
            let telling = branches.iter().filter(|branch| word == "allOf" || branch["type"] != "null");
            for branch in telling.take(taken) {
                let more = self.value(branch, key, depth + 1)?;
                value = match (value, more) {
                    (Value::Object(mut own), Value::Object(more)) => {
                        own.extend(more);
                        own.into()
                    }
                    // A branch without a type says something about the value and not what it is.
                    (own, _) if !own.is_null() => own,
                    (_, more) => more,
                };
            }
        }
        Some(value)
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Option<Value> {
        let mut object = Map::new();
        for name in map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            let schema =
                map.get("properties").and_then(|properties| properties.get(name)).unwrap_or(&Value::Bool(true));
            object.insert(name.to_owned(), self.value(schema, name, depth + 1)?);
        }
        Some(object.into())
    }

    /// One item where none has to be there: an empty list shows nothing of what it holds.
    fn array(&mut self, map: &Map<String, Value>, key: &str, depth: usize) -> Option<Value> {
        let bound = |word: &str| map.get(word).and_then(Value::as_u64);
        let count = bound("minItems").unwrap_or(1).max(1).min(bound("maxItems").unwrap_or(u64::MAX));
        let tuple = map.get("prefixItems").and_then(Value::as_array);
        let mut items = Vec::new();
        for at in 0..usize::try_from(count).ok()?.max(tuple.map_or(0, Vec::len)) {
            let schema = tuple.and_then(|tuple| tuple.get(at)).or_else(|| map.get("items"));
            items.push(self.value(schema.unwrap_or(&Value::Bool(true)), key, depth + 1)?);
        }
        Some(items.into())
    }
}

/// Returns a value that the schema itself gives.
fn offered(map: &Map<String, Value>) -> Option<Value> {
    let first = |word: &str| map.get(word)?.as_array()?.first().cloned();
    let own = |word: &str| map.get(word).cloned();
    // A default of null or nothing says what happens without the value, and shows none.
    let telling =
        |value: &Value| !matches!(value, Value::Null) && value != "" && *value != json!([]) && *value != json!({});
    own("const")
        .or_else(|| first("examples"))
        .or_else(|| own("example"))
        .or_else(|| own("default").filter(telling))
        .or_else(|| first("enum"))
}

fn kind(map: &Map<String, Value>) -> Option<&str> {
    match map.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ if map.contains_key("properties") => Some("object"),
        _ if map.contains_key("items") => Some("array"),
        _ => None,
    }
}

/// Returns `PROJ-123` for a description that says "(e.g., 'PROJ-123')".
fn quoted(map: &Map<String, Value>) -> Option<&str> {
    const LONGEST: usize = 80;
    let description = map.get("description")?.as_str()?;
    let (_, rest) = description.split_once("e.g.").or_else(|| description.split_once("Example:"))?;
    let rest = rest.trim_start_matches([',', ':', ' ']);
    let mark = rest.chars().next().filter(|mark| ['\'', '"', '`'].contains(mark))?;
    let (value, _) = rest[1..].split_once(mark)?;
    (!value.is_empty() && value.len() <= LONGEST && !value.contains('\n')).then_some(value)
}

fn string(map: &Map<String, Value>, key: &str) -> String {
    let text = match map.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "12:00:00Z",
        Some("email") => "name@example.com",
        Some("uri" | "url") => "https://example.com",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("ipv4") => "192.0.2.1",
        _ => key,
    };
    let bound = |word: &str| map.get(word).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    let mut text: String = text.chars().take(bound("maxLength").unwrap_or(usize::MAX)).collect();
    let missing = bound("minLength").unwrap_or(0).min(MOST_BYTES).saturating_sub(text.chars().count());
    text.push_str(&"x".repeat(missing));
    text
}

fn number(map: &Map<String, Value>) -> Number {
    let bound = |word: &str| map.get(word).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound.floor() + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound.ceil() - 1.0));
    let wanted = least.unwrap_or(1.0).max(1.0).min(most.unwrap_or(f64::MAX)).max(least.unwrap_or(f64::MIN));
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let wanted = step.map_or(wanted, |step| (wanted / step).ceil() * step);
    // Whole where it can be: `1` and not `1.0`. Everything up to 2^53 is exact.
    if wanted.fract() == 0.0 && wanted.abs() < 9e15 {
        return Number::from(wanted as i64);
    }
    Number::from_f64(wanted).unwrap_or_else(|| Number::from(1))
}

/// Writes a value as JavaScript: keys without quotes where they need none.
fn print(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Object(map) => {
            out.push_str("{ ");
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                // In a literal this one key would set the prototype.
                if key == "__proto__" {
                    out.push_str("[\"__proto__\"]");
                } else {
                    out.push_str(&name::key(key));
                }
                out.push_str(": ");
                print(item, out);
            }
            out.push_str(" }");
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                print(item, out);
            }
            out.push(']');
        }
        Value::String(text) => out.push_str(&name::quoted(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn of(schema: Value) -> Option<String> {
        let mut tool = Tool::new("s", "t");
        tool.input_schema = Arc::new(schema);
        arguments(&tool)
    }

    fn of_one(schema: Value) -> Option<String> {
        of(json!({"type": "object", "properties": {"a": schema}, "required": ["a"]}))
    }

    #[test]
    fn what_the_schema_offers_comes_first() {
        for (schema, expect) in [
            (json!({"type": "string"}), r#"{ a: "a" }"#),
            (json!({"type": "string", "examples": ["x", "y"]}), r#"{ a: "x" }"#),
            (json!({"type": "string", "default": "", "enum": ["u", "v"]}), r#"{ a: "u" }"#),
            (json!({"const": 7}), "{ a: 7 }"),
            (json!({"type": ["null", "integer"], "minimum": 5}), "{ a: 5 }"),
            (json!({"type": "integer", "exclusiveMaximum": 0}), "{ a: -1 }"),
            (json!({"type": "number", "multipleOf": 0.5, "minimum": 1.2}), "{ a: 1.5 }"),
            (json!({"type": "string", "format": "date"}), r#"{ a: "2026-01-31" }"#),
            (json!({"type": "string", "minLength": 3, "maxLength": 3}), r#"{ a: "axx" }"#),
            (json!({"type": "array", "items": {"type": "boolean"}}), "{ a: [true] }"),
            (json!({"type": "array", "maxItems": 0}), "{ a: [] }"),
            (json!({"anyOf": [{"type": "null"}, {"type": "integer"}]}), "{ a: 1 }"),
            (json!({"properties": {"b-c": {"type": "integer"}}, "required": ["b-c"]}), r#"{ a: { "b-c": 1 } }"#),
            (json!({}), r#"{ a: "a" }"#),
            (
                json!({"type": "string", "pattern": "^[A-Z]+-[0-9]+$", "description": "A key (e.g., 'P-1')."}),
                r#"{ a: "P-1" }"#,
            ),
            (
                json!({"type": "string", "maxLength": 1, "description": "One of many, e.g. `far too long`"}),
                r#"{ a: "a" }"#,
            ),
        ] {
            assert_eq!(of_one(schema.clone()).as_deref(), Some(expect), "{schema}");
        }
        assert_eq!(of(json!({"type": "object"})).as_deref(), Some("{}"));
    }

    #[test]
    fn objects_are_put_together_from_their_parts() {
        let schema = json!({
            "$defs": {"p": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
            "allOf": [{"$ref": "#/$defs/p"}, {"type": "object", "properties": {"y": {"type": "boolean"}}, "required": ["y"]}],
        });
        assert_eq!(of(schema).as_deref(), Some("{ x: 1, y: true }"));
    }

    #[test]
    fn no_example_is_better_than_a_wrong_one_and_no_schema_hangs() {
        assert_eq!(of_one(json!({"type": "string", "pattern": "^[0-9]{4}$"})), None);
        assert_eq!(of_one(json!({"type": "array", "minItems": u64::MAX, "items": {}})), None);
        assert_eq!(of(json!({"$ref": "#", "type": "object"})), None);
        assert_eq!(of_one(json!({"type": "string", "minLength": u64::MAX})), None);
        let own = json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
        assert_eq!(of(own), None);
        // A key that would set the prototype of a literal.
        assert_eq!(
            of(json!({"type": "object", "required": ["__proto__"]})).as_deref(),
            Some(r#"{ ["__proto__"]: "__proto__" }"#)
        );
    }
}
