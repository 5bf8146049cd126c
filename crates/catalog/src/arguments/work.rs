//! How much work it is to hold a value against a schema, known before it is done.
//!
//! A schema of a few lines can ask for more than anybody can wait for: forty definitions of which each combines the next one
//! twice, or one that does so with itself at each level of the value. Nothing stops a check that has begun. So the steps are
//! counted first, each pair of a schema and a value once, and a check that would take too many is not begun.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::document::{Document, Target};

/// Pairs that are looked at. Counting is work as well.
const MAX_PAIRS: usize = 1_000_000;
/// Options of an enumeration, and bytes of a text that a pattern looks at, that count as a step.
const OPTIONS_A_STEP: usize = 8;
const BYTES_A_STEP: usize = 32;

/// Stands for the keys of an object, which are texts and no values of their own.
static A_KEY: Value = Value::Null;

/// Returns about how many steps a check takes, its faults told; too many to wait for are any number over the truth.
pub(super) fn steps(schema: &Value, value: &Value) -> u64 {
    let mut work = Work { document: Document::new(schema), known: HashMap::new() };
    work.of(schema, value).told
}

#[derive(Clone, Copy)]
struct Steps {
    /// To find whether the value fits.
    valid: u64,
    /// To say why not: where none of some alternatives fits, each is gone through again.
    told: u64,
}

impl Steps {
    const fn both(steps: u64) -> Self {
        Self { valid: steps, told: steps }
    }

    fn add(&mut self, other: Self) {
        self.valid = self.valid.saturating_add(other.valid);
        self.told = self.told.saturating_add(other.told);
    }
}

struct Work<'v> {
    document: Document<'v>,
    known: HashMap<(*const Value, *const Value), Steps>,
}

impl<'v> Work<'v> {
    fn of(&mut self, schema: &'v Value, value: &'v Value) -> Steps {
        let Value::Object(map) = schema else { return Steps::both(1) };
        let pair = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(steps) = self.known.get(&pair) {
            return *steps;
        }
        if self.known.len() >= MAX_PAIRS {
            return Steps::both(u64::MAX);
        }
        // One that comes back to itself counts once: it is not followed twice at one value.
        self.known.insert(pair, Steps::both(1));
        let mut steps = self.here(map, value);
        // What was evaluated is found out by going through the schema once more.
        if ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| map.contains_key(*key)) {
            steps.add(steps);
        }
        match value {
            Value::Object(fields) => self.fields(map, fields, &mut steps),
            Value::Array(items) => self.items(map, items, &mut steps),
            Value::String(text) if map.contains_key("pattern") => {
                steps.add(Steps::both(of_len(text.len(), BYTES_A_STEP)))
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        self.known.insert(pair, steps);
        steps
    }

    /// What is asked of the value itself.
    fn here(&mut self, map: &'v Map<String, Value>, value: &'v Value) -> Steps {
        let mut steps = Steps::both(1);
        if let Some(Value::Array(options)) = map.get("enum") {
            steps.add(Steps::both(of_len(options.len(), OPTIONS_A_STEP)));
        }
        let list = |key: &str| map.get(key).and_then(Value::as_array).into_iter().flatten();
        let single = ["then", "else"].iter().filter_map(|key| map.get(*key));
        let dependent = ["dependentSchemas", "dependencies"].iter().filter_map(|key| map.get(*key)?.as_object());
        let target = Document::reference(map).and_then(|reference| match self.document.resolve(map, reference) {
            Target::Part(part) => Some(part),
            Target::Outside | Target::Nowhere => None,
        });
        for part in list("allOf").chain(single).chain(dependent.flat_map(Map::values)).chain(target) {
            steps.add(self.of(part, value));
        }
        for part in list("anyOf").chain(list("oneOf")) {
            let part = self.of(part, value);
            steps.add(Steps { valid: part.valid, told: part.valid.saturating_add(part.told) });
        }
        for part in ["if", "not"].iter().filter_map(|key| map.get(*key)) {
            steps.add(Steps::both(self.of(part, value).valid));
        }
        steps
    }

    fn fields(&mut self, map: &'v Map<String, Value>, fields: &'v Map<String, Value>, steps: &mut Steps) {
        let named = map.get("properties").and_then(Value::as_object);
        let patterns = map.get("patternProperties").and_then(Value::as_object);
        for (key, field) in fields {
            let own = named.and_then(|named| named.get(key));
            let rest = ["additionalProperties", "unevaluatedProperties"].iter().filter_map(|key| map.get(*key));
            let rest = rest.filter(|_| own.is_none());
            for part in own.into_iter().chain(patterns.into_iter().flat_map(Map::values)).chain(rest) {
                steps.add(self.of(part, field));
            }
            if let Some(part) = map.get("propertyNames") {
                steps.add(self.of(part, &A_KEY));
            }
        }
    }

    fn items(&mut self, map: &'v Map<String, Value>, items: &'v [Value], steps: &mut Steps) {
        let lists = ["prefixItems", "items"].iter().filter_map(|key| map.get(*key)?.as_array());
        let lists: Vec<&Vec<Value>> = lists.collect();
        let every = ["items", "additionalItems", "unevaluatedItems", "contains"];
        let every: Vec<&Value> = every.iter().filter_map(|key| map.get(*key)).filter(|part| !part.is_array()).collect();
        for (at, item) in items.iter().enumerate() {
            for part in lists.iter().filter_map(|list| list.get(at)).chain(every.iter().copied()) {
                steps.add(self.of(part, item));
            }
        }
        if map.contains_key("uniqueItems") {
            steps.add(Steps::both(items.len() as u64));
        }
    }
}

fn of_len(len: usize, a_step: usize) -> u64 {
    (len / a_step) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!({"a": inner}))
    }

    #[test]
    fn what_multiplies_is_counted_without_doing_it() {
        let definitions: Map<String, Value> = (0..40)
            .map(|at| {
                let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
                (format!("d{at}"), json!({"allOf": [next, next]}))
            })
            .chain([("d40".to_owned(), json!({"type": "object"}))])
            .collect();
        assert!(steps(&json!({"$ref": "#/$defs/d0", "$defs": definitions}), &json!({})) > 1 << 40);

        let twice = json!({"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]});
        assert!(steps(&twice, &nested(40)) > 1 << 40);
        assert!(steps(&twice, &nested(5)) < 1000);
    }

    #[test]
    fn what_follows_the_value_grows_with_it() {
        let tree = json!({"properties": {"a": {"$ref": "#"}}, "anyOf": [{"type": "object"}, {"type": "number"}]});
        let (some, more) = (steps(&tree, &nested(10)), steps(&tree, &nested(100)));
        assert!(some > 10 && more < 15 * some, "{some} {more}");
        let alone = json!({"$ref": "#"});
        assert!(steps(&alone, &json!({})) < 10);
    }

    #[test]
    fn alternatives_inside_of_alternatives_are_gone_through_again() {
        let schema = json!({"anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"type": "null"}]});
        let (some, more) = (steps(&schema, &nested(50)), steps(&schema, &nested(100)));
        assert!(more > 3 * some && more < 5 * some, "{some} {more}");
    }

    #[test]
    fn counting_ends_as_well() {
        let items: Vec<Value> = (0..2000).map(|it| json!({"a": it})).collect();
        let parts: Vec<Value> = (0..1000).map(|it| json!({"properties": {"a": {"minimum": it}}})).collect();
        assert_eq!(steps(&json!({"items": {"allOf": parts}}), &items.into()), u64::MAX);
    }
}
