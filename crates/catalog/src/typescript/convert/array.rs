//! Lists and tuples.

use serde_json::{Map, Value};

use super::{Converter, TOO_LARGE, Type, unevaluated};

impl<'a> Converter<'a, '_> {
    pub(super) fn array(&mut self, map: &'a Map<String, Value>, depth: usize) -> Type {
        // Before 2020-12 a tuple was a list in `items`, and `additionalItems` said what follows.
        let (items, rest) = match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(prefix)), rest) => (prefix.as_slice(), rest),
            (_, Some(Value::Array(prefix))) => (prefix.as_slice(), map.get("additionalItems")),
            (_, rest) => (&[][..], rest),
        };
        let rest = match rest {
            Some(Value::Array(_)) | None => unevaluated(map, "unevaluatedItems"),
            rest => rest,
        };
        if items.is_empty() {
            return match rest {
                Some(Value::Bool(false)) => Type::Tuple { required: Vec::new(), optional: Vec::new(), rest: None },
                Some(schema) => Type::Array(Box::new(self.part(schema, depth, None))),
                None => Type::Array(Box::new(Type::Unknown)),
            };
        }
        let count = |key: &str| map.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let mut required = Vec::new();
        for item in items {
            if self.left == 0 {
                break;
            }
            required.push(self.part(item, depth, None));
        }
        let was_cut = required.len() < items.len();
        if was_cut {
            self.note(TOO_LARGE.to_owned());
        }
        let optional = required.split_off(count("minItems").unwrap_or(0).min(required.len()));
        let is_closed = !was_cut && count("maxItems").is_some_and(|max| max <= items.len());
        let rest = match rest {
            _ if is_closed => None,
            _ if was_cut => Some(Type::Unknown),
            Some(Value::Bool(false)) => None,
            Some(schema) => Some(self.part(schema, depth, None)),
            None => Some(Type::Unknown),
        };
        Type::Tuple { required, optional, rest: rest.filter(|rest| *rest != Type::Never).map(Box::new) }
    }
}
