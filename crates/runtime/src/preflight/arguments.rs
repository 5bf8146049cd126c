//! Arguments that a tool refuses, as far as the script's text shows them.
//!
//! What is wholly known is given to the very check that the call will meet. What is known in part is compared with the schema
//! here, keyword by keyword, and only where the unknown rest cannot mend it. A keyword that is not understood says nothing.

use refrain_catalog::Tool;
use refrain_engine::source::{Argument, Field, Literal, Position};
use serde_json::{Map, Number, Value, json};

use super::near;

/// Schemas in one another that are followed.
const MOST_DEPTH: usize = 12;

/// What is wrong with an argument.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) position: Position,
    /// Whether the call is surely refused.
    pub(super) is_sure: bool,
}

pub(super) fn check(tool: &Tool, argument: &Argument) -> Option<Fault> {
    let path = tool.path();
    let refused = |message: String, position: Position| Some(Fault { message, position, is_sure: true });
    if let Some(position) = big_int(&argument.value, argument.position) {
        return refused(
            format!("the arguments of `{path}` hold a BigInt, which JSON does not have; send a number or a text"),
            position,
        );
    }
    // What the sandbox sends for no argument.
    let nothing = Literal::Object { fields: Vec::new(), open: false };
    let given = if argument.value == Literal::Undefined { &nothing } else { &argument.value };
    if let Some(value) = whole(given) {
        if let Err(error) = tool.check_args(&value) {
            let position = place_of(error.data.as_ref(), given).unwrap_or(argument.position);
            return refused(error.message, position);
        }
    } else {
        let schema = Schema { root: &tool.input_schema };
        let found = schema.contradiction(&tool.input_schema, given, "args", MOST_DEPTH);
        // The check that the call will meet has the last word, on the part that is known: it may not understand the schema.
        if let Some(found) = found
            && tool.check_args(&known(given)).is_err()
        {
            let message = format!("invalid arguments for `{path}`: {}\nsignature: {}", found.message, tool.signature());
            return refused(message, found.position.unwrap_or(argument.position));
        }
    }
    if let Some(fault) = misspelt(tool, given) {
        return Some(fault);
    }
    (argument.ignored > 0).then(|| Fault {
        message: format!(
            "`{path}` takes one object of arguments, and the {} after it {} ignored; signature: {}",
            if argument.ignored == 1 { "one".to_owned() } else { format!("{}", argument.ignored) },
            if argument.ignored == 1 { "is" } else { "are" },
            tool.signature()
        ),
        position: argument.position,
        is_sure: false,
    })
}

/// A key that the tool takes, as an open schema takes any, and does not know, while it knows one that is nearly the same.
fn misspelt(tool: &Tool, given: &Literal) -> Option<Fault> {
    let Literal::Object { fields, .. } = given else { return None };
    let properties = tool.input_schema.get("properties")?.as_object()?;
    let is_given = |name: &str| fields.iter().any(|field| field.name == name);
    fields.iter().filter(|field| !properties.contains_key(&field.name)).find_map(|field| {
        let free = properties.keys().map(String::as_str).filter(|name| !is_given(name));
        // Two letters are too few for the measure of what is near, and another case of the same is near enough.
        let same = free.clone().find(|name| name.eq_ignore_ascii_case(&field.name));
        let near = same.or_else(|| near::nearest(&field.name, free))?;
        Some(Fault {
            message: format!("`{}` does not say that it takes `{}`; did you mean `{near}`?", tool.path(), field.name),
            position: field.position,
            is_sure: false,
        })
    })
}

fn big_int(value: &Literal, position: Position) -> Option<Position> {
    match value {
        Literal::BigInt => Some(position),
        Literal::Array { items, .. } => items.iter().find_map(|item| big_int(item, position)),
        Literal::Object { fields, .. } => fields.iter().find_map(|field| big_int(&field.value, field.position)),
        Literal::Unknown
        | Literal::Undefined
        | Literal::Null
        | Literal::Bool(_)
        | Literal::Number(_)
        | Literal::Text(_)
        | Literal::SomeText => None,
    }
}

/// The JSON that is sent, if all of it is known.
fn whole(literal: &Literal) -> Option<Value> {
    Some(match literal {
        Literal::Null => Value::Null,
        Literal::Bool(it) => (*it).into(),
        Literal::Number(it) => number(*it)?,
        Literal::Text(it) => it.as_str().into(),
        Literal::Array { items, open: false } => items.iter().map(whole).collect::<Option<Vec<_>>>()?.into(),
        Literal::Object { fields, open: false } => {
            let sent = fields.iter().filter(|field| field.value != Literal::Undefined);
            let fields = sent.map(|field| Some((field.name.clone(), whole(&field.value)?)));
            fields.collect::<Option<Map<_, _>>>()?.into()
        }
        Literal::Array { open: true, .. }
        | Literal::Object { open: true, .. }
        | Literal::Unknown
        | Literal::Undefined
        | Literal::BigInt
        | Literal::SomeText => return None,
    })
}

/// The part of the JSON that is known. A text of which only that is known is empty.
fn known(literal: &Literal) -> Value {
    match literal {
        Literal::Array { items, .. } => items.iter().map(known).collect(),
        Literal::Object { fields, .. } => {
            let sent = fields.iter().filter(|field| !matches!(field.value, Literal::Undefined | Literal::Unknown));
            sent.map(|field| (field.name.clone(), known(&field.value))).collect::<Map<_, _>>().into()
        }
        Literal::SomeText => "".into(),
        other => whole(other).unwrap_or(Value::Null),
    }
}

/// As JavaScript writes it: `1.0` is `1`.
fn number(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        return Some((value as i64).into());
    }
    Number::from_f64(value).map(Value::Number)
}

/// Where the first faulty field stands that is there.
fn place_of(data: Option<&Value>, given: &Literal) -> Option<Position> {
    let Literal::Object { fields, .. } = given else { return None };
    data?["faults"].as_array()?.iter().find_map(|fault| {
        let path = fault["path"].as_str()?.strip_prefix("args")?;
        let is_it = |field: &&Field| {
            let rest = path.strip_prefix('.').and_then(|path| path.strip_prefix(field.name.as_str()));
            let quoted = format!("[{}]", Value::from(field.name.as_str()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])) || path.starts_with(&quoted)
        };
        fields.iter().find(is_it).map(|field| field.position)
    })
}

struct Contradiction {
    message: String,
    position: Option<Position>,
}

struct Schema<'s> {
    root: &'s Value,
}

impl Schema<'_> {
    /// What in `literal` no value of the schema can have.
    fn contradiction(&self, schema: &Value, literal: &Literal, path: &str, depth: usize) -> Option<Contradiction> {
        let depth = depth.checked_sub(1)?;
        let object = schema.as_object()?;
        if let Some(reference) = object.get("$ref") {
            // Beside a reference, some drafts ignore everything else.
            let pointer = reference.as_str()?.strip_prefix('#')?;
            return self.contradiction(self.root.pointer(pointer)?, literal, path, depth);
        }
        if object.contains_key("$id") && !std::ptr::eq(schema, self.root) {
            return None;
        }
        let told = |message: String| Some(Contradiction { message, position: None });
        if let Some(expected) = object.get("type").and_then(|types| wrong_type(types, literal)) {
            return told(format!("`{path}` must be {expected}, and is {}", shown(literal)));
        }
        if let Some(value) = whole(literal).filter(|value| !value.is_object() && !value.is_array()) {
            let allowed = object.get("enum").and_then(Value::as_array).map(|all| &all[..]);
            let allowed = allowed.or_else(|| object.get("const").map(std::slice::from_ref));
            if let Some(allowed) = allowed.filter(|allowed| !allowed.iter().any(|other| same(other, &value))) {
                let names: Vec<String> = allowed.iter().take(8).map(Value::to_string).collect();
                let more = allowed.len().saturating_sub(8);
                let more = if more == 0 { String::new() } else { format!(" or {more} more") };
                return told(format!("`{path}` must be {}{more}, and is {value}", names.join(" or ")));
            }
        }
        let inner = match literal {
            Literal::Object { fields, open } => self.in_object(object, fields, *open, path, depth),
            Literal::Array { items, .. } if !object.contains_key("prefixItems") => {
                let item = object.get("items").filter(|items| items.is_object());
                item.and_then(|schema| {
                    items.iter().find_map(|item| self.contradiction(schema, item, &format!("{path}[…]"), depth))
                })
            }
            _ => None,
        };
        inner.or_else(|| self.in_parts(object, literal, path, depth))
    }

    fn in_object(
        &self,
        schema: &Map<String, Value>,
        fields: &[Field],
        open: bool,
        path: &str,
        depth: usize,
    ) -> Option<Contradiction> {
        let properties = schema.get("properties").and_then(Value::as_object);
        for field in fields.iter().filter(|field| field.value != Literal::Undefined) {
            let own = format!("{path}.{}", field.name);
            let placed =
                |found: Contradiction| Contradiction { position: found.position.or(Some(field.position)), ..found };
            if let Some(property) = properties.and_then(|properties| properties.get(&field.name)) {
                if let Some(found) = self.contradiction(property, &field.value, &own, depth) {
                    return Some(placed(found));
                }
                continue;
            }
            // An unknown value may be undefined, which is not sent.
            let closed = schema.get("additionalProperties") == Some(&json!(false));
            if closed && !schema.contains_key("patternProperties") && field.value != Literal::Unknown {
                let names = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                let near = near::nearest(&field.name, names.clone());
                let hint = match near {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => format!(
                        "; there are {}",
                        names.take(12).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
                    ),
                };
                return Some(placed(Contradiction {
                    message: format!("`{own}` is no argument of it{hint}"),
                    position: None,
                }));
            }
        }
        if open {
            return None;
        }
        let required = schema.get("required").and_then(Value::as_array)?;
        let missing = required
            .iter()
            .filter_map(Value::as_str)
            .find(|name| fields.iter().all(|field| field.name != **name || field.value == Literal::Undefined))?;
        Some(Contradiction { message: format!("`{path}.{missing}` is missing"), position: None })
    }

    fn in_parts(
        &self,
        schema: &Map<String, Value>,
        literal: &Literal,
        path: &str,
        depth: usize,
    ) -> Option<Contradiction> {
        let parts = |name: &str| schema.get(name).and_then(Value::as_array).map(|parts| &parts[..]).unwrap_or_default();
        let one = parts("allOf").iter().find_map(|part| self.contradiction(part, literal, path, depth));
        one.or_else(|| {
            ["anyOf", "oneOf"].into_iter().find_map(|name| {
                let mut found = parts(name).iter().map(|part| self.contradiction(part, literal, path, depth));
                // The first stands for all: none fits.
                let first = found.next()??;
                found.all(|found| found.is_some()).then_some(first)
            })
        })
    }
}

/// What is expected in place of `literal`, if its type is wrong.
fn wrong_type(types: &Value, literal: &Literal) -> Option<String> {
    let is = |name: &str| match literal {
        Literal::Null => name == "null",
        Literal::Bool(_) => name == "boolean",
        Literal::Number(number) => name == "number" || (name == "integer" && number.fract() == 0.0),
        Literal::Text(_) | Literal::SomeText => name == "string",
        Literal::Array { .. } => name == "array",
        Literal::Object { .. } => name == "object",
        Literal::Unknown | Literal::Undefined | Literal::BigInt => true,
    };
    match types {
        Value::String(one) => (!is(one)).then(|| format!("of type {one}")),
        Value::Array(several) => {
            let names: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
            let fits = names.len() != several.len() || names.iter().any(|name| is(name));
            (!fits).then(|| format!("of type {}", names.join(" or ")))
        }
        _ => None,
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn shown(literal: &Literal) -> String {
    match literal {
        Literal::Array { .. } => "an array".into(),
        Literal::Object { .. } => "an object".into(),
        Literal::SomeText => "a text".into(),
        other => whole(other).map_or_else(|| "something else".into(), |value| value.to_string()),
    }
}
