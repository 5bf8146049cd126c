//! JSON Schema to a tree of types.
//!
//! References are expanded in place, except those that lead back to themselves: these become named types. Depth and size of
//! the expansion are bounded, and what is over becomes `unknown` with a note.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::pascal;
use crate::name;

/// Types that one schema may expand to, counted over all levels.
const MAX_TYPES: usize = 2000;
/// Levels that one schema may expand to.
const MAX_DEPTH: usize = 32;
/// Longer enums are widened: a model gains nothing from the thousandth value.
const MAX_ENUM: usize = 100;

/// A TypeScript type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Unknown,
    Never,
    Keyword(&'static str),
    Literal(String),
    Named(String),
    Array(Box<Type>),
    Tuple { required: Vec<Type>, optional: Vec<Type>, rest: Option<Box<Type>> },
    Object(Object),
    Union(Vec<Type>),
    Intersection(Vec<Type>),
}

/// An object type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object {
    pub(super) properties: Vec<Property>,
    /// The type of all other keys, where there may be others.
    pub(super) index: Option<Box<Type>>,
}

/// One key of an object type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) ty: Type,
    pub(super) docs: Vec<String>,
}

impl Type {
    /// Returns whether `{}` is a value of the type.
    pub(super) fn accepts_empty(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Object(object) => object.properties.iter().all(|property| !property.required),
            Self::Union(parts) => parts.iter().any(Self::accepts_empty),
            Self::Intersection(parts) => parts.iter().all(Self::accepts_empty),
            Self::Never
            | Self::Keyword(_)
            | Self::Literal(_)
            | Self::Named(_)
            | Self::Array(_)
            | Self::Tuple { .. } => false,
        }
    }
}

/// Converts one schema document.
pub(super) struct Converter<'a> {
    root: &'a Value,
    prefix: String,
    /// Every type name in the file so far.
    taken: &'a mut HashSet<String>,
    /// The references that are being expanded, outermost first.
    open: Vec<String>,
    names: HashMap<String, String>,
    named: Vec<(String, Type)>,
    notes: Vec<String>,
    left: usize,
}

impl<'a> Converter<'a> {
    pub(super) fn new(root: &'a Value, prefix: String, taken: &'a mut HashSet<String>) -> Self {
        Self {
            root,
            prefix,
            taken,
            open: Vec::new(),
            names: HashMap::new(),
            named: Vec::new(),
            notes: Vec::new(),
            left: MAX_TYPES,
        }
    }

    pub(super) fn root(&mut self) -> Type {
        self.reference("#", 0)
    }

    /// Returns the named types and the notes.
    pub(super) fn finish(self) -> (Vec<(String, Type)>, Vec<String>) {
        let mut named = self.named;
        for at in 0..named.len() {
            let (name, ty) = &named[at];
            // A type may contain itself, and must not be itself: `type A = A | string` is an error that would take the
            // whole file along. Leaving itself out says the same; a detour by way of another name is not unravelled.
            if let Some(ty) = without(ty, name, &|target| leads_to(&named, target, name)) {
                named[at].1 = ty;
            }
        }
        (named, self.notes)
    }

    fn reference(&mut self, reference: &str, depth: usize) -> Type {
        if let Some(name) = self.names.get(reference) {
            return Type::Named(name.clone());
        }
        if self.open.iter().any(|open| open == reference) {
            let name = self.free_name(reference);
            self.names.insert(reference.to_owned(), name.clone());
            return Type::Named(name);
        }
        let root = self.root;
        let Some(target) = pointer(root, reference) else {
            return self.unknown(format!("`{}` leads nowhere in the schema", name::cut(reference, 80)));
        };
        self.open.push(reference.to_owned());
        let ty = self.convert(target, depth);
        self.open.pop();
        match self.names.get(reference) {
            Some(name) => {
                self.named.push((name.clone(), ty));
                Type::Named(name.clone())
            }
            None => ty,
        }
    }

    fn free_name(&mut self, reference: &str) -> String {
        let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
        let mut wanted = format!("{}{}", self.prefix, pascal(last));
        if wanted.starts_with(|c: char| c.is_ascii_digit()) {
            wanted.insert(0, '_');
        }
        let mut name = wanted.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }

    fn unknown(&mut self, note: String) -> Type {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        Type::Unknown
    }

    fn convert(&mut self, schema: &Value, depth: usize) -> Type {
        if depth > MAX_DEPTH || self.left == 0 {
            return self.unknown("the schema is too large to be shown whole".to_owned());
        }
        self.left -= 1;
        match schema {
            Value::Bool(true) => Type::Unknown,
            Value::Bool(false) => Type::Never,
            Value::Object(map) => self.schema(map, depth + 1),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.unknown("a part of the schema is not a schema".to_owned())
            }
        }
    }

    fn schema(&mut self, map: &Map<String, Value>, depth: usize) -> Type {
        let mut parts = Vec::new();
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            parts.push(self.reference(reference, depth));
        }
        let own = self.own(map, depth);
        if own != Type::Unknown {
            parts.push(own);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let Some(alternatives) = map.get(key).and_then(Value::as_array).filter(|list| !list.is_empty()) else {
                continue;
            };
            let types: Vec<Type> = alternatives.iter().map(|part| self.convert(part, depth)).collect();
            if key == "allOf" { parts.extend(types) } else { parts.push(union(types)) }
        }
        let ty = intersection(parts);
        match map.get("nullable") {
            Some(Value::Bool(true)) if ty != Type::Unknown => union(vec![ty, Type::Keyword("null")]),
            _ => ty,
        }
    }

    /// Returns what the schema itself says, without references and combinations.
    fn own(&mut self, map: &Map<String, Value>, depth: usize) -> Type {
        if let Some(value) = map.get("const") {
            return literal(value);
        }
        if let Some(options) = map.get("enum").and_then(Value::as_array) {
            if options.len() <= MAX_ENUM {
                return union(options.iter().map(literal).collect());
            }
            self.notes.push(format!("an enum of {} values is shown as its type", options.len()));
        }
        match map.get("type") {
            Some(Value::String(one)) => self.typed(one, map, depth),
            Some(Value::Array(many)) => {
                let types = many.iter().filter_map(Value::as_str).map(|one| self.typed(one, map, depth)).collect();
                union(types)
            }
            _ if ["properties", "additionalProperties", "required"].iter().any(|key| map.contains_key(*key)) => {
                self.typed("object", map, depth)
            }
            _ if ["items", "prefixItems"].iter().any(|key| map.contains_key(*key)) => self.typed("array", map, depth),
            _ => Type::Unknown,
        }
    }

    fn typed(&mut self, name: &str, map: &Map<String, Value>, depth: usize) -> Type {
        match name {
            "string" => Type::Keyword("string"),
            "number" | "integer" => Type::Keyword("number"),
            "boolean" => Type::Keyword("boolean"),
            "null" => Type::Keyword("null"),
            "array" => self.array(map, depth),
            "object" => self.object(map, depth),
            other => self.unknown(format!("`{}` is not a type of JSON Schema", name::cut(other, 80))),
        }
    }

    fn array(&mut self, map: &Map<String, Value>, depth: usize) -> Type {
        // Before 2020-12 a tuple was an array in `items`, and `additionalItems` said what follows.
        let (items, rest) = match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(prefix)), rest) => (Some(prefix), rest),
            (_, Some(Value::Array(prefix))) => (Some(prefix), map.get("additionalItems")),
            (_, rest) => (None, rest),
        };
        let Some(items) = items else {
            return match rest {
                Some(schema) => Type::Array(Box::new(self.convert(schema, depth))),
                None => Type::Array(Box::new(Type::Unknown)),
            };
        };
        let count = |key: &str| map.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let mut required: Vec<Type> = items.iter().map(|schema| self.convert(schema, depth)).collect();
        let optional = required.split_off(count("minItems").unwrap_or(0).min(required.len()));
        let closed = count("maxItems").is_some_and(|max| max <= items.len());
        let rest = match rest {
            _ if closed => None,
            Some(Value::Bool(false)) => None,
            Some(schema) => Some(self.convert(schema, depth)),
            None => Some(Type::Unknown),
        };
        Type::Tuple { required, optional, rest: rest.map(Box::new) }
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Type {
        let required: HashSet<&str> =
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut properties = Vec::new();
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let ty = self.convert(schema, depth);
            properties.push(Property {
                name: name.clone(),
                required: required.contains(name.as_str()),
                ty,
                docs: docs(schema),
            });
        }
        // A key that must be there and is described nowhere.
        let mut extra: Vec<&str> =
            required.into_iter().filter(|key| !properties.iter().any(|property| property.name == *key)).collect();
        extra.sort_unstable();
        properties.extend(extra.into_iter().map(|name| Property {
            name: name.to_owned(),
            required: true,
            ty: Type::Unknown,
            docs: Vec::new(),
        }));
        let index = match map.get("additionalProperties") {
            Some(Value::Bool(false)) => None,
            // TypeScript wants every property to fit the index type, so beside properties it can only be the widest.
            Some(Value::Object(_)) if !properties.is_empty() => Some(Type::Unknown),
            Some(schema @ Value::Object(_)) => Some(self.convert(schema, depth)),
            Some(_) => Some(Type::Unknown),
            None if map.contains_key("patternProperties") => Some(Type::Unknown),
            // Open by the letter of the standard, closed by intent: `properties` alone lists what there is.
            None if map.contains_key("properties") => None,
            None => Some(Type::Unknown),
        };
        Type::Object(Object { properties, index: index.map(Box::new) })
    }
}

/// Returns the names that a type is, or is a combination of: not those inside its objects and lists.
fn bare<'t>(ty: &'t Type, found: &mut Vec<&'t str>) {
    match ty {
        Type::Named(name) => found.push(name),
        Type::Union(parts) | Type::Intersection(parts) => parts.iter().for_each(|part| bare(part, found)),
        Type::Unknown
        | Type::Never
        | Type::Keyword(_)
        | Type::Literal(_)
        | Type::Array(_)
        | Type::Tuple { .. }
        | Type::Object(_) => {}
    }
}

/// Returns whether `from` is `to`, or is made of it.
fn leads_to(named: &[(String, Type)], from: &str, to: &str) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name)
            && let Some((_, ty)) = named.iter().find(|(other, _)| other == name)
        {
            bare(ty, &mut open);
        }
    }
    false
}

/// Returns the type without the bare names that `drop` picks, or nothing where it picks none. `itself` is left out, and any
/// other becomes `unknown`.
fn without(ty: &Type, itself: &str, drop: &impl Fn(&str) -> bool) -> Option<Type> {
    let mut found = Vec::new();
    bare(ty, &mut found);
    if !found.into_iter().any(drop) {
        return None;
    }
    let keep = |parts: &[Type]| -> Vec<Type> {
        parts
            .iter()
            .filter(|part| !matches!(part, Type::Named(name) if name == itself))
            .map(|part| without(part, itself, drop).unwrap_or_else(|| part.clone()))
            .collect()
    };
    Some(match ty {
        Type::Union(parts) => union(keep(parts)),
        Type::Intersection(parts) => intersection(keep(parts)),
        _ => Type::Unknown,
    })
}

/// Finds what a local reference points to. No other document is ever looked at.
fn pointer<'v>(root: &'v Value, reference: &str) -> Option<&'v Value> {
    let path = reference.strip_prefix('#')?;
    root.pointer(&percent_decoded(path))
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn literal(value: &Value) -> Type {
    match value {
        Value::Null => Type::Keyword("null"),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Type::Literal(value.to_string()),
        // Rare, and as a type longer than it helps.
        Value::Array(_) => Type::Array(Box::new(Type::Unknown)),
        Value::Object(_) => Type::Object(Object { properties: Vec::new(), index: Some(Box::new(Type::Unknown)) }),
    }
}

fn union(types: Vec<Type>) -> Type {
    let mut parts: Vec<Type> = Vec::new();
    for ty in types {
        let flat = match ty {
            Type::Unknown => return Type::Unknown,
            Type::Union(inner) => inner,
            other => vec![other],
        };
        for part in flat {
            if part != Type::Never && !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    match parts.len() {
        0 => Type::Never,
        1 => parts.remove(0),
        _ => Type::Union(parts),
    }
}

fn intersection(types: Vec<Type>) -> Type {
    let mut parts: Vec<Type> = Vec::new();
    for ty in types {
        if ty == Type::Never {
            return Type::Never;
        }
        if ty != Type::Unknown && !parts.contains(&ty) {
            parts.push(ty);
        }
    }
    match parts.len() {
        0 => Type::Unknown,
        1 => parts.remove(0),
        _ => Type::Intersection(parts),
    }
}

/// Returns what a property's comment says: its description, and as tags what a type cannot carry.
fn docs(schema: &Value) -> Vec<String> {
    let Some(map) = schema.as_object() else { return Vec::new() };
    let mut lines: Vec<String> = map
        .get("description")
        .or_else(|| map.get("title"))
        .and_then(Value::as_str)
        .map(|text| text.trim().lines().map(|line| line.trim_end().to_owned()).collect())
        .unwrap_or_default();
    if map.get("deprecated") == Some(&Value::Bool(true)) {
        lines.push("@deprecated".to_owned());
    }
    for key in ["default", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
        .into_iter()
        .chain(["minLength", "maxLength", "minItems", "maxItems", "pattern"])
    {
        match map.get(key) {
            Some(Value::String(text)) if key != "default" => lines.push(format!("@{key} {}", name::cut(text, 100))),
            Some(value) => lines.push(format!("@{key} {}", name::cut(&value.to_string(), 100))),
            None => {}
        }
    }
    if map.get("type").and_then(Value::as_str) == Some("integer") && !lines.is_empty() {
        lines.push("@integer".to_owned());
    }
    lines
}
