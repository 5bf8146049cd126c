//! Objects: what is listed, and what else there may be.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Converter, Object, Property, Rest, TOO_LARGE, Type, docs, list, literal, unevaluated, union};

/// Patterns that every key matches, or every key that is worth a thought.
const ANY_KEY: [&str; 6] = ["", ".*", "^.*$", "^(.*)$", ".+", "^.+$"];

/// Letters of a name that count as one part.
const LETTERS: usize = 64;

impl<'a> Converter<'a, '_> {
    pub(super) fn object(&mut self, map: &'a Map<String, Value>, depth: usize) -> Type {
        let mut required: Vec<&str> = list(map, "required").iter().filter_map(Value::as_str).collect();
        required.sort_unstable();
        required.dedup();
        let listed = map.get("properties").and_then(Value::as_object);
        let mut properties = Vec::new();
        let mut was_cut = false;
        for (name, schema) in listed.into_iter().flatten() {
            if !self.afford(name.len() / LETTERS) {
                was_cut = true;
                break;
            }
            let ty = self.part(schema, depth, None);
            let required = required.binary_search(&name.as_str()).is_ok();
            properties.push(Property { name: name.clone(), required, ty, docs: docs::of(schema, &mut self.ink) });
        }
        // A key that must be there and is described nowhere.
        for name in required.into_iter().filter(|name| listed.is_none_or(|listed| !listed.contains_key(*name))) {
            if !self.afford(1 + name.len() / LETTERS) {
                was_cut = true;
                break;
            }
            properties.push(Property { name: name.to_owned(), required: true, ty: Type::Unknown, docs: Vec::new() });
        }
        if was_cut {
            self.note(TOO_LARGE.to_owned());
            return Type::Object(Object { properties, rest: Rest::Open(Box::new(Type::Unknown)) });
        }
        let rest = self.rest(map, depth);
        match self.named_keys(map, &properties, &rest) {
            Some(object) => Type::Object(object),
            None => Type::Object(Object { properties, rest }),
        }
    }

    /// Takes so many parts from what is left. Returns whether there were enough.
    fn afford(&mut self, parts: usize) -> bool {
        let affordable = parts < self.left;
        if affordable {
            self.left -= parts;
        }
        affordable
    }

    fn rest(&mut self, map: &'a Map<String, Value>, depth: usize) -> Rest {
        let mut patterns = Vec::new();
        let mut any_key = None;
        for (pattern, schema) in map.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
            let ty = self.part(schema, depth, None);
            if ANY_KEY.contains(&pattern.as_str()) { any_key = Some(ty) } else { patterns.push(ty) }
        }
        let others = match map.get("additionalProperties").or_else(|| unevaluated(map, "unevaluatedProperties")) {
            _ if any_key.is_some() => any_key,
            Some(Value::Bool(false)) => None,
            Some(schema @ Value::Object(_)) => Some(self.part(schema, depth, None)),
            Some(_) => Some(Type::Unknown),
            None if patterns.is_empty() => return Rest::Unsaid,
            None => Some(Type::Unknown),
        };
        patterns.extend(others);
        match union(patterns) {
            Type::Never => Rest::Closed,
            ty => Rest::Open(Box::new(ty)),
        }
    }

    /// Returns the object of a map whose keys are an enum.
    fn named_keys(&self, map: &Map<String, Value>, properties: &[Property], rest: &Rest) -> Option<Object> {
        let names = map.get("propertyNames")?.get("enum")?.as_array()?;
        let (Rest::Open(ty), true) = (rest, properties.is_empty() && literal::all(names).is_some()) else {
            return None;
        };
        let mut seen = HashSet::new();
        let names = names.iter().filter_map(Value::as_str).filter(|name| seen.insert(*name));
        let properties = names
            .map(|name| Property { name: name.to_owned(), required: false, ty: (**ty).clone(), docs: Vec::new() })
            .collect();
        Some(Object { properties, rest: Rest::Closed })
    }
}
