//! Defaults of the schema for what is left out.
//!
//! Only below objects that are there, and only where it is sure which schema they follow: through `$ref` and `allOf`, and not
//! into alternatives. Where the arguments fit worse with their defaults, they stay as they were.

use serde_json::{Map, Value};

use super::{MAX_COUNTED, lenient::MAX_NOTES, shown, validator::Checker};
use crate::{
    document::{Document, Target},
    name,
};

/// Schemas that are followed for one call.
const MAX_STEPS: usize = 10_000;
const MAX_DEPTH: usize = 32;

pub(super) fn fill(checker: &Checker, args: Value, notes: &mut Vec<String>) -> Value {
    let document = Document::new(checker.schema());
    let mut filled = args.clone();
    let mut filler = Filler { document: &document, left: MAX_STEPS, notes: Vec::new() };
    filler.schema(checker.schema(), &mut filled, "args", MAX_DEPTH);
    if filler.notes.is_empty() {
        return args;
    }
    let faults = |args: &Value| checker.check(args, |errors| errors.take(MAX_COUNTED).count()).ok();
    let is_better = faults(&filled).zip(faults(&args)).is_some_and(|(after, before)| after <= before);
    if !is_better {
        return args;
    }
    filler.notes.truncate(MAX_NOTES);
    notes.extend(filler.notes);
    filled
}

struct Filler<'a> {
    document: &'a Document<'a>,
    left: usize,
    notes: Vec<String>,
}

impl Filler<'_> {
    fn schema(&mut self, schema: &Value, value: &mut Value, path: &str, depth: usize) {
        let (Value::Object(map), false) = (schema, depth == 0 || self.left == 0) else { return };
        self.left -= 1;
        if let Some(reference) = Document::reference(map)
            && let Target::Part(part) = self.document.resolve(map, reference)
        {
            self.schema(part, value, path, depth - 1);
        }
        for part in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.schema(part, value, path, depth - 1);
        }
        match value {
            Value::Object(fields) => self.fields(map, fields, path, depth),
            Value::Array(items) => {
                let Some(schema) = map.get("items") else { return };
                for (at, item) in items.iter_mut().enumerate() {
                    self.schema(schema, item, &format!("{path}[{at}]"), depth - 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn fields(&mut self, map: &Map<String, Value>, fields: &mut Map<String, Value>, path: &str, depth: usize) {
        for (key, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let path = format!("{path}{}", name::access(key));
            match (fields.get_mut(key), schema.get("default")) {
                (Some(value), _) => self.schema(schema, value, &path, depth - 1),
                (None, Some(default)) => {
                    self.notes.push(format!("`{path}` was left out and its default {} was sent", shown(default)));
                    fields.insert(key.clone(), default.clone());
                }
                (None, None) => {}
            }
        }
    }
}
