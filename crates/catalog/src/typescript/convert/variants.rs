//! `anyOf` and `oneOf`, with the discriminators of OpenAPI.

use serde_json::{Map, Value};

use super::{Converter, Object, Property, Rest, Type, both, list, union};
use crate::document::{Document, Target};

impl<'a> Converter<'a, '_> {
    pub(super) fn variants(
        &mut self,
        map: &'a Map<String, Value>,
        key: &str,
        depth: usize,
        stated: Option<&'a Value>,
    ) -> Type {
        let discriminator = map.get("discriminator").and_then(Value::as_object);
        let mut types = Vec::new();
        for branch in list(map, key) {
            if self.left == 0 {
                types.push(self.part(branch, depth, None));
                break;
            }
            let ty = self.part(branch, depth, stated);
            let tag = discriminator.and_then(|discriminator| self.tag(discriminator, branch));
            types.push(tag.map_or(ty.clone(), |tag| both(ty, tag)));
        }
        union(types)
    }

    /// Returns `{ kind: "cat" }`, where only the discriminator tells which value leads to the branch.
    fn tag(&self, discriminator: &Map<String, Value>, branch: &'a Value) -> Option<Type> {
        let name = discriminator.get("propertyName")?.as_str()?;
        let branch = branch.as_object()?;
        let reference = Document::reference(branch)?;
        let target = self.document.resolve(branch, reference);
        if let Target::Part(part) = target
            && self.states_tag(part, name, 4)
        {
            return None;
        }
        let own_name = reference.rsplit('/').next()?;
        let mapping = discriminator.get("mapping").and_then(Value::as_object);
        let mapped = mapping.into_iter().flatten().filter(|(_, to)| {
            let to = to.as_str().unwrap_or_default();
            // A mapping may name the schema alone.
            to == own_name
                || self.document.resolve(branch, to) == target && target != Target::Outside
                || to == reference
        });
        let mut values: Vec<Type> = mapped.map(|(value, _)| super::literal(&Value::from(value.as_str()))).collect();
        if values.is_empty() {
            values.push(super::literal(&Value::from(crate::document::decoded(own_name))));
        }
        let property = Property { name: name.to_owned(), required: true, ty: union(values), docs: Vec::new() };
        Some(Type::Object(Object { properties: vec![property], rest: Rest::Unsaid }))
    }

    /// Returns whether a schema says itself which values its tag may have.
    fn states_tag(&self, schema: &Value, name: &str, depth: usize) -> bool {
        let Some(map) = schema.as_object() else { return false };
        let property = map.get("properties").and_then(|properties| properties.get(name));
        if property.is_some_and(|property| ["const", "enum", "$ref"].iter().any(|key| property.get(key).is_some())) {
            return true;
        }
        depth > 0
            && list(map, "allOf").iter().any(|part| {
                let reference = part.as_object().and_then(|part| Some((part, Document::reference(part)?)));
                match reference.map(|(part, reference)| self.document.resolve(part, reference)) {
                    Some(Target::Part(part)) => self.states_tag(part, name, depth - 1),
                    Some(Target::Outside | Target::Nowhere) => false,
                    None => self.states_tag(part, name, depth - 1),
                }
            })
    }
}
