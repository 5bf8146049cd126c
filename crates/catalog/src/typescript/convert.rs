//! JSON Schema to a tree of types.
//!
//! Reads what is in use: 2020-12 and 2019-09, draft-07 down to what is left of draft-04, and the dialects of OpenAPI. What a
//! reference leads to becomes a definition, converted once and apart from the place that refers to it. So a schema costs what
//! it is long, however often and however deep it refers to itself, and the recursion here is as deep as the text.
//!
//! Where the standard says "anything" and every author means less, the author is believed: `properties` without a `type`
//! describes an object. What is over a bound becomes `unknown` with a note, which also is the worst case of any schema.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    docs::{self, Ink},
    literal::{self, literal},
    merge::both,
    shape::{Definition, Object, Property, Rest, Type, union},
};
use crate::{
    document::{Document, Extent, MAX_LEVELS, Target},
    name,
};

mod array;
mod object;
mod variants;

/// Parts that one schema may have.
const MAX_PARTS: usize = 5000;
/// Levels that one definition may have.
const MAX_DEPTH: usize = 32;

const TOO_LARGE: &str = "the schema is too large to be shown whole";

/// A tool's schemas, converted.
#[derive(Default)]
pub(super) struct Output {
    pub(super) definitions: Vec<Definition>,
    /// What is shown otherwise than the schema says, for a person.
    pub(super) notes: Vec<String>,
}

/// Converts one schema document, and adds what it defines to `output`. `hint` names the whole, where it has to have a name.
pub(super) fn convert(root: &Value, hint: &str, output: &mut Output) -> Type {
    if Extent::of(root).levels > MAX_LEVELS {
        output.notes.push(format!("the schema is nested more than {MAX_LEVELS} levels deep and is not shown"));
        return Type::Unknown;
    }
    let document = Document::new(root);
    let mut converter = Converter {
        document: &document,
        places: HashMap::new(),
        queue: Vec::new(),
        left: MAX_PARTS,
        ink: Ink::default(),
        root_hint: hint,
        output,
    };
    let ty = converter.part(root, 0, None);
    let mut at = 0;
    while let Some((place, part)) = converter.queue.get(at).copied() {
        at += 1;
        let ty = converter.part(part, 0, None);
        let docs = docs::of(part, &mut converter.ink);
        let definition = &mut converter.output.definitions[place];
        (definition.ty, definition.docs) = (ty, docs);
    }
    // A schema that refers to itself as a whole has been converted as a definition, too.
    converter.places.get(&std::ptr::from_ref(root)).map_or(ty, |place| Type::Named(*place))
}

struct Converter<'a, 'o> {
    document: &'a Document<'a>,
    /// The definition of each part that is referred to.
    places: HashMap<*const Value, usize>,
    queue: Vec<(usize, &'a Value)>,
    left: usize,
    ink: Ink,
    root_hint: &'a str,
    output: &'o mut Output,
}

impl<'a> Converter<'a, '_> {
    /// Converts a part. `around` is the `type` that the schema around it states for the same value.
    fn part(&mut self, schema: &'a Value, depth: usize, around: Option<&'a Value>) -> Type {
        if depth > MAX_DEPTH || self.left == 0 {
            return self.unknown(TOO_LARGE.to_owned());
        }
        self.left -= 1;
        match schema {
            Value::Bool(true) => Type::Unknown,
            Value::Bool(false) => Type::Never,
            Value::Object(map) => self.schema(map, depth + 1, around),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.unknown("a part of the schema is not a schema".to_owned())
            }
        }
    }

    fn schema(&mut self, map: &'a Map<String, Value>, depth: usize, around: Option<&'a Value>) -> Type {
        let stated = map.get("type").or(around).or_else(|| {
            let parts = list(map, "allOf").iter();
            parts.filter_map(Value::as_object).find_map(|part| part.get("type"))
        });
        let mut ty = self.own(map, depth, stated);
        if let Some(reference) = Document::reference(map) {
            ty = both(self.reference(map, reference), ty);
        }
        for part in list(map, "allOf") {
            ty = both(ty, self.part(part, depth, stated));
        }
        for key in ["anyOf", "oneOf"] {
            if !list(map, key).is_empty() {
                ty = both(ty, self.variants(map, key, depth, stated));
            }
        }
        match map.get("nullable") {
            Some(Value::Bool(true)) => union(vec![ty, Type::Keyword("null")]),
            _ => ty,
        }
    }

    /// Returns the name of what a reference leads to.
    fn reference(&mut self, holder: &Map<String, Value>, reference: &str) -> Type {
        let shown = || name::cut(reference, 80);
        match self.document.resolve(holder, reference) {
            Target::Part(Value::Bool(true)) => Type::Unknown,
            Target::Part(Value::Bool(false)) => Type::Never,
            Target::Part(part @ Value::Object(_)) => {
                let next = self.output.definitions.len();
                let place = *self.places.entry(std::ptr::from_ref(part)).or_insert(next);
                if place == next {
                    let is_root = std::ptr::eq(part, self.document.root());
                    let hint = if is_root { self.root_hint.to_owned() } else { hint(reference) };
                    self.output.definitions.push(Definition { hint, ty: Type::Unknown, docs: Vec::new() });
                    self.queue.push((place, part));
                }
                Type::Named(place)
            }
            Target::Part(_) => self.unknown(format!("`{}` leads to something that is not a schema", shown())),
            Target::Outside => self.unknown(format!("`{}` leads outside the schema and is not fetched", shown())),
            Target::Nowhere => self.unknown(format!("`{}` leads nowhere in the schema", shown())),
        }
    }

    fn unknown(&mut self, note: String) -> Type {
        self.note(note);
        Type::Unknown
    }

    fn note(&mut self, note: String) {
        const MAX_NOTES: usize = 20;
        if self.output.notes.len() < MAX_NOTES && !self.output.notes.contains(&note) {
            self.output.notes.push(note);
        }
    }

    /// Returns what the schema itself says, without references and combinations.
    fn own(&mut self, map: &'a Map<String, Value>, depth: usize, stated: Option<&'a Value>) -> Type {
        let fits = |ty: &Type, stated: &Value| match stated {
            Value::String(one) => literal::is_of(ty, one),
            Value::Array(many) => many.iter().filter_map(Value::as_str).any(|one| literal::is_of(ty, one)),
            _ => true,
        };
        if let Some(value) = map.get("const") {
            return literal(value);
        }
        if let Some(options) = map.get("enum").and_then(Value::as_array) {
            let Some(types) = literal::all(options) else {
                self.note(format!("an enum of {} values is shown as its type", options.len()));
                return literal::kinds(options);
            };
            let kept: Vec<Type> =
                types.iter().filter(|ty| stated.is_none_or(|stated| fits(ty, stated))).cloned().collect();
            // An enum that contradicts its type takes nothing at all; the values are what the author knew.
            return union(if kept.is_empty() { types } else { kept });
        }
        match stated {
            Some(Value::String(one)) => self.typed(one, map, depth),
            Some(Value::Array(many)) => {
                let names: HashSet<&str> = many.iter().filter_map(Value::as_str).collect();
                let mut once = names.clone();
                let in_order = many.iter().filter_map(Value::as_str).filter(|name| once.remove(name));
                union(in_order.map(|one| self.typed(one, map, depth)).collect())
            }
            _ => {
                let kinds = KINDS.iter().filter(|(_, keywords)| keywords.iter().any(|key| map.contains_key(*key)));
                let types: Vec<Type> = kinds.map(|(kind, _)| self.typed(kind, map, depth)).collect();
                if types.is_empty() { Type::Unknown } else { union(types) }
            }
        }
    }

    fn typed(&mut self, name: &str, map: &'a Map<String, Value>, depth: usize) -> Type {
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
}

/// The keywords that tell of which type a schema without `type` is. `format` is not among them: there are formats of numbers.
const KINDS: [(&str, &[&str]); 4] = [
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
        ],
    ),
    ("array", &["items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"]),
    ("string", &["minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"]),
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

/// Returns the list under a keyword, or an empty one.
fn list<'a>(map: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    map.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns `unevaluatedProperties` or `unevaluatedItems`, where nothing else in the schema can know of more properties or items
/// than it does itself.
fn unevaluated<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    const OTHERS: [&str; 9] =
        ["allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "$recursiveRef", "contains", "dependentSchemas"];
    map.get(key).filter(|_| OTHERS.iter().all(|other| !map.contains_key(*other)))
}

/// Returns what a reference calls the part that it leads to: the last word that is a name and no keyword or number.
fn hint(reference: &str) -> String {
    const STRUCTURE: [&str; 12] = [
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$defs",
        "definitions",
        "additionalProperties",
        "prefixItems",
        "schema",
        "components",
        "schemas",
    ];
    let decoded = crate::document::decoded(reference);
    let words = decoded.rsplit(['/', '#']).filter(|word| !word.is_empty() && !word.bytes().all(|b| b.is_ascii_digit()));
    let word = words.into_iter().find(|word| !STRUCTURE.contains(word)).unwrap_or_default();
    name::cut(&word.replace("~1", "/").replace("~0", "~"), 60)
}
