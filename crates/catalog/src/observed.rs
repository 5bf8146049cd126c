//! The shapes of what tools gave: for tools that do not declare what they give.
//!
//! A [`Shape`] is a type without values. It is read off one value, united with others as more are seen, and becomes a JSON
//! Schema in the end, so that what prints declared types prints these as well. [`Observed`] keeps one for each tool.
//!
//! # Invariants
//!
//! * No value is in a shape, and no key that looks like data or has a secret in it: an object with such keys, or with very
//!   many, is a map. A key that is a word is kept, whatever it means to people.
//! * Uniting is commutative and adds up counts, so that processes may bring theirs together in any order.
//! * A shape is bounded in depth and size, whatever it was read off, and reading one stops looking after a bounded part of
//!   the value.
//!
//! Deliberately not here: enumerations and constants (a value that was seen is no promise about those to come), files.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, json, value::RawValue};

use crate::secrets::Secrets;

/// Deeper than this nothing is known.
const MAX_DEPTH: usize = 8;
/// More fields than this and an object is a map.
const MAX_FIELDS: usize = 64;
/// Objects, lists and fields in one shape.
const MAX_NODES: usize = 400;
/// Elements of one list, and values in all, that are looked at.
const MAX_ELEMENTS: usize = 100;
const MAX_VALUES: usize = 10_000;
/// Objects of at least this many keys, whose values are objects alike, are maps: `{"alice": {…}, "bob": {…}, "eve": {…}}`.
const ALIKE: usize = 3;
/// Results of one tool that are looked at. Later ones would hardly tell more, and each costs a look.
const MAX_CALLS: u64 = 200;
/// Tools that are remembered, in one source and in all.
const MAX_TOOLS: usize = 5_000;

/// What is known of the values at one place. Nothing set: nothing seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    #[serde(default, skip_serializing_if = "is_false")]
    null: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    boolean: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    number: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    string: bool,
    /// Something was here that is not known further.
    #[serde(default, skip_serializing_if = "is_false")]
    unknown: bool,
    /// Elements of lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    list: Option<Box<Shape>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<Object>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Object {
    Map { values: Box<Shape> },
    Fields { seen: u64, fields: BTreeMap<String, Field> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Field {
    /// In how many of the objects it was.
    seen: u64,
    shape: Shape,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Shape {
    /// Reads the shape off a value, or of the part of it that is looked at.
    #[must_use]
    pub fn of(value: &RawValue) -> Self {
        let mut left = MAX_VALUES;
        let look = Look { depth: 0, left: &mut left };
        // What a tool gave was parsed before; a text that is none is something unknown.
        let mut shape = look
            .deserialize(&mut serde_json::Deserializer::from_str(value.get()))
            .unwrap_or_else(|_| Self { unknown: true, ..Self::default() });
        shape.bound();
        shape
    }

    /// Takes in what another shape knows.
    pub fn unite(&mut self, other: Self) {
        self.join(other);
        self.bound();
    }

    fn join(&mut self, other: Self) {
        self.null |= other.null;
        self.boolean |= other.boolean;
        self.number |= other.number;
        self.string |= other.string;
        self.unknown |= other.unknown;
        if let Some(list) = other.list {
            self.list.get_or_insert_default().join(*list);
        }
        if let Some(theirs) = other.object {
            self.object = Some(match self.object.take() {
                Some(ours) => ours.joined(theirs),
                None => theirs,
            });
        }
    }

    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn nodes(&self) -> usize {
        let list = self.list.as_ref().map_or(0, |list| list.nodes());
        1 + list
            + match &self.object {
                Some(Object::Map { values }) => values.nodes(),
                Some(Object::Fields { fields, .. }) => fields.values().map(|field| field.shape.nodes()).sum(),
                None => 0,
            }
    }

    fn bound(&mut self) {
        for depth in (1..=MAX_DEPTH).rev() {
            if self.nodes() <= MAX_NODES {
                return;
            }
            self.prune(depth);
        }
    }

    /// Makes a map of every object with a key that is one of those.
    fn fold(&mut self, is_one: &impl Fn(&str) -> bool) {
        if let Some(list) = &mut self.list {
            list.fold(is_one);
        }
        match &mut self.object {
            Some(Object::Map { values }) => values.fold(is_one),
            Some(Object::Fields { fields, .. }) => {
                fields.values_mut().for_each(|field| field.shape.fold(is_one));
                if fields.keys().any(|key| is_one(key)) {
                    self.object = self.object.take().map(|object| Object::Map { values: object.into_values() });
                }
            }
            None => {}
        }
    }

    /// Forgets what lies `depth` levels down.
    fn prune(&mut self, depth: usize) {
        if depth == 0 {
            *self = Self { unknown: true, ..Self::default() };
            return;
        }
        if let Some(list) = &mut self.list {
            list.prune(depth - 1);
        }
        match &mut self.object {
            Some(Object::Map { values }) => values.prune(depth - 1),
            Some(Object::Fields { fields, .. }) => {
                fields.values_mut().for_each(|field| field.shape.prune(depth - 1));
            }
            None => {}
        }
    }

    /// Returns the JSON Schema of it.
    #[must_use]
    pub fn schema(&self) -> Value {
        if self.unknown || self.is_nothing() {
            return json!({});
        }
        let mut kinds = Vec::new();
        match &self.object {
            Some(Object::Map { values }) => {
                kinds.push(json!({"type": "object", "additionalProperties": values.schema()}));
            }
            Some(Object::Fields { seen, fields }) => {
                let properties: Map<String, Value> =
                    fields.iter().map(|(name, field)| (name.clone(), field.shape.schema())).collect();
                let required: Vec<&String> =
                    fields.iter().filter(|(_, field)| field.seen >= *seen).map(|(name, _)| name).collect();
                kinds.push(json!({"type": "object", "properties": properties, "required": required}));
            }
            None => {}
        }
        if let Some(list) = &self.list {
            kinds.push(json!({"type": "array", "items": list.schema()}));
        }
        for (seen, name) in
            [(self.string, "string"), (self.number, "number"), (self.boolean, "boolean"), (self.null, "null")]
        {
            if seen {
                kinds.push(json!({"type": name}));
            }
        }
        if kinds.len() == 1 { kinds.remove(0) } else { json!({"anyOf": kinds}) }
    }
}

impl Object {
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fields { seen, mut fields }, Self::Fields { seen: more, fields: theirs }) => {
                for (name, theirs) in theirs {
                    match fields.get_mut(&name) {
                        Some(ours) => {
                            ours.seen = ours.seen.saturating_add(theirs.seen);
                            ours.shape.join(theirs.shape);
                        }
                        None => drop(fields.insert(name, theirs)),
                    }
                }
                Self::Fields { seen: seen.saturating_add(more), fields }.settled()
            }
            (ours, theirs) => {
                let mut values = ours.into_values();
                values.join(*theirs.into_values());
                Self::Map { values }
            }
        }
    }

    /// Returns a map where there are too many fields to be names.
    fn settled(self) -> Self {
        match self {
            Self::Fields { ref fields, .. } if fields.len() > MAX_FIELDS => Self::Map { values: self.into_values() },
            Self::Fields { .. } | Self::Map { .. } => self,
        }
    }

    fn into_values(self) -> Box<Shape> {
        match self {
            Self::Map { values } => values,
            Self::Fields { fields, .. } => {
                let mut values = Shape::default();
                for field in fields.into_values() {
                    values.join(field.shape);
                }
                Box::new(values)
            }
        }
    }
}

/// Returns whether a key is more likely a piece of data than the name of a field: a date, a number, an id, an address.
fn is_data(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    let capitals = key.bytes().filter(u8::is_ascii_uppercase).count();
    // `AKIAIOSFODNN7EXAMPLE`, and what is made at random from all letters and digits.
    let is_token = key.len() >= 12
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && (digits > 0 && capitals + digits == key.len() || digits > 2 && capitals > 2);
    let hex = |part: &str| part.len() >= 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    key.is_empty()
        || key.len() > 64
        || key.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\' | '@' | '#' | '?'))
        || digits >= 4
        || digits == key.len()
        || is_token
        || (digits > 0 && key.split(['-', '_']).any(hex))
}

/// Reads one value. What was read costs from `left`; without any left nothing more is looked at.
struct Look<'a> {
    depth: usize,
    left: &'a mut usize,
}

impl Look<'_> {
    fn inner(&mut self) -> Look<'_> {
        Look { depth: self.depth + 1, left: self.left }
    }

    fn may_look(&mut self) -> bool {
        let may = *self.left > 0;
        *self.left = self.left.saturating_sub(1);
        may
    }
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = Shape;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape { null: true, ..Shape::default() })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape { boolean: true, ..Shape::default() })
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape { number: true, ..Shape::default() })
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape { number: true, ..Shape::default() })
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape { number: true, ..Shape::default() })
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape { string: true, ..Shape::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Shape, A::Error> {
        let mut elements = Shape::default();
        let mut looked = 0;
        while self.depth < MAX_DEPTH && looked < MAX_ELEMENTS && self.may_look() {
            let Some(element) = seq.next_element_seed(self.inner())? else { break };
            elements.join(element);
            looked += 1;
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            // Beyond the depth, what is there is not known; beyond the number, it is taken to be like the first ones.
            elements.unknown |= self.depth >= MAX_DEPTH;
        }
        Ok(Shape { list: Some(Box::new(elements)), ..Shape::default() })
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Shape, A::Error> {
        let mut fields: BTreeMap<String, Field> = BTreeMap::new();
        let mut values = Shape::default();
        let mut is_map = false;
        while self.depth < MAX_DEPTH && self.may_look() {
            let Some(key) = map.next_key::<String>()? else {
                return Ok(Shape { object: Some(as_seen(fields, values, is_map)), ..Shape::default() });
            };
            is_map |= is_data(&key) || fields.len() == MAX_FIELDS;
            let shape = map.next_value_seed(self.inner())?;
            if is_map {
                values.join(shape);
            } else {
                fields.insert(key, Field { seen: 1, shape });
            }
        }
        let mut more = false;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            more = true;
        }
        values.unknown |= more;
        Ok(Shape { object: Some(as_seen(fields, values, is_map || more)), ..Shape::default() })
    }
}

/// Returns what one object is: fields, or a map with `values` and those of the fields that were read before it showed.
fn as_seen(fields: BTreeMap<String, Field>, values: Shape, is_map: bool) -> Object {
    let kinds = |shape: &Shape| match &shape.object {
        Some(Object::Fields { fields, .. }) => Some(fields.keys().cloned().collect::<Vec<_>>()),
        Some(Object::Map { .. }) | None => None,
    };
    let mut shapes = fields.values().map(|field| kinds(&field.shape));
    let alike = fields.len() >= ALIKE
        && shapes.next().flatten().is_some_and(|first| shapes.all(|next| next.as_ref() == Some(&first)));
    let seen = Object::Fields { seen: 1, fields };
    if !is_map && !alike {
        return seen;
    }
    let mut all = seen.into_values();
    all.join(values);
    Object::Map { values: all }
}

/// What was seen of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// How many results it rests on.
    pub calls: u64,
    /// What they have in common.
    pub shape: Shape,
}

/// What was seen of many tools, by source and name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Observed(BTreeMap<String, BTreeMap<String, Seen>>);

impl Observed {
    /// Returns what is known of a tool.
    #[must_use]
    pub fn get(&self, source: &str, tool: &str) -> Option<&Seen> {
        self.0.get(source)?.get(tool)
    }

    /// Returns whether nothing is known of any tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes in what another process, or this one since it started, has seen. What is of more tools than are remembered
    /// stays out.
    pub fn unite(&mut self, other: Self) {
        let mut count: usize = self.0.values().map(BTreeMap::len).sum();
        for (source, tools) in other.0 {
            for (tool, seen) in tools {
                let is_new = self.get(&source, &tool).is_none();
                if is_new && count >= MAX_TOOLS {
                    continue;
                }
                count += usize::from(is_new);
                let ours = self.0.entry(source.clone()).or_default().entry(tool).or_default();
                ours.calls = ours.calls.saturating_add(seen.calls);
                ours.shape.unite(seen.shape);
            }
        }
    }
}

/// Watches results go by. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observer {
    watch: Arc<Mutex<Watch>>,
    /// What no key may have in it.
    secrets: Secrets,
}

#[derive(Debug, Default)]
struct Watch {
    /// Looks per tool, to stop at enough of them.
    looks: BTreeMap<(String, String), u64>,
    /// What was seen and not yet taken.
    seen: Observed,
}

impl Observer {
    /// Returns one that keeps no key with any of these in it, and tells the same as this one.
    pub(crate) fn hiding(&self, secrets: &Secrets) -> Self {
        Self { watch: Arc::clone(&self.watch), secrets: secrets.clone() }
    }

    /// Takes in a result, unless enough of this tool's were looked at.
    pub(crate) fn look(&self, source: &str, tool: &str, value: &RawValue) {
        let key = (source.to_owned(), tool.to_owned());
        {
            let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            if watch.looks.len() >= MAX_TOOLS && !watch.looks.contains_key(&key) {
                return;
            }
            let looks = watch.looks.entry(key).or_default();
            if *looks >= MAX_CALLS {
                return;
            }
            *looks += 1;
        }
        let mut shape = Shape::of(value);
        shape.fold(&|key| self.secrets.are_in(key));
        let seen = Seen { calls: 1, shape };
        let one = Observed(BTreeMap::from([(source.to_owned(), BTreeMap::from([(tool.to_owned(), seen)]))]));
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).seen.unite(one);
    }

    /// Returns what was seen since this was last asked.
    pub(crate) fn take(&self) -> Observed {
        std::mem::take(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner).seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape that results have together, as its schema.
    fn check(results: &[Value], expect: &Value) {
        let mut shape = Shape::default();
        for result in results {
            shape.unite(Shape::of(&serde_json::value::to_raw_value(result).unwrap()));
        }
        assert_eq!(&shape.schema(), expect, "{results:?}");
        let stored: Shape = serde_json::from_value(serde_json::to_value(&shape).unwrap()).unwrap();
        assert_eq!(stored, shape, "{results:?}");
    }

    #[test]
    fn results_that_differ_widen_the_shape() {
        let string = json!({"type": "string"});
        let number = json!({"type": "number"});
        check(&[json!("a"), json!("b")], &string);
        check(&[json!("a"), json!(1.5), json!(null)], &json!({"anyOf": [string, number, {"type": "null"}]}));
        check(&[json!([]), json!([1])], &json!({"type": "array", "items": number}));
        check(&[json!([])], &json!({"type": "array", "items": {}}));
        check(
            &[json!({"a": 1, "b": "x"}), json!({"a": 2}), json!({"a": null, "c": [true]})],
            &json!({
                "type": "object",
                "properties": {
                    "a": {"anyOf": [number, {"type": "null"}]},
                    "b": string,
                    "c": {"type": "array", "items": {"type": "boolean"}},
                },
                "required": ["a"],
            }),
        );
        // A field that came late was missing before.
        check(
            &[json!([{"a": 1}, {"a": 1, "b": 1}])],
            &json!({"type": "array", "items": {"type": "object", "properties": {"a": number, "b": number}, "required": ["a"]}}),
        );
    }

    #[test]
    fn objects_whose_keys_are_data_are_maps() {
        let map = |values: Value| json!({"type": "object", "additionalProperties": values});
        let number = json!({"type": "number"});
        for key in [
            "2026-11-30",
            "17",
            "ann@example.test",
            "a/b",
            "two words",
            "",
            "deadbeef01",
            "u-3f2a9c41",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxbR7tK2qLm9Zp",
            "x".repeat(65).as_str(),
        ] {
            check(&[json!({ "name": 1, key: 2 })], &map(number.clone()));
        }
        for key in [
            "name",
            "md5",
            "utf8",
            "line_2",
            "größe",
            "x-request-id",
            "$ref",
            "deadbeef",
            "HTTP2_SETTINGS",
            "parseISO86",
        ] {
            let schema = Shape::of(&serde_json::value::to_raw_value(&json!({ key: 2 })).unwrap()).schema();
            assert!(schema.get("properties").is_some(), "{key}");
        }
        let people: Map<String, Value> =
            "ann bob cid".split(' ').map(|name| (name.into(), json!({"age": 1}))).collect();
        check(
            &[Value::Object(people)],
            &map(json!({"type": "object", "properties": {"age": number}, "required": ["age"]})),
        );
        let wide: Map<String, Value> =
            ('a'..='z').flat_map(|a| ('a'..='d').map(move |b| (format!("{a}{b}"), json!(1)))).collect();
        check(&[Value::Object(wide)], &map(number.clone()));
        // A map stays one when other objects come.
        check(&[json!({"17": 1}), json!({"name": "x"})], &map(json!({"anyOf": [{"type": "string"}, number]})));
    }

    #[test]
    fn no_value_is_kept() {
        let result =
            json!({"password": "hunter2", "list": ["hunter2", {"hunter2@example.test": "hunter2"}], "n": 424_242});
        let shape = Shape::of(&serde_json::value::to_raw_value(&result).unwrap());
        let stored = serde_json::to_string(&shape).unwrap() + &shape.schema().to_string();
        assert!(!stored.contains("hunter2") && !stored.contains("424242"), "{stored}");
    }

    #[test]
    fn no_key_with_a_secret_is_kept() {
        let observer = Observer::default().hiding(&Secrets::new(["open-sesame".to_owned()]));
        let result = json!([{"in": {"x-open-sesame": {"age": 1}, "other": {"name": "x"}}}]);
        observer.look("s", "t", &serde_json::value::to_raw_value(&result).unwrap());
        let stored = serde_json::to_string(&observer.take()).unwrap();
        assert!(!stored.contains("sesame") && !stored.contains("other") && stored.contains("age"), "{stored}");
    }

    #[test]
    fn whatever_comes_the_shape_stays_small() {
        fn bush(depth: usize, wide: usize) -> Value {
            match depth {
                0 => json!(1),
                _ => Value::Object(
                    (0..wide).map(|n| (format!("{}", char::from(b'a' + n as u8)), bush(depth - 1, wide))).collect(),
                ),
            }
        }
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let long = format!("[{}1]", "{\"a\":1},".repeat(200_000));
        let mut all = Shape::default();
        for text in [bush(6, 6).to_string(), bush(2, 60).to_string(), deep, long] {
            let shape = Shape::of(&RawValue::from_string(text).unwrap());
            assert!(shape.nodes() <= MAX_NODES, "{}", shape.nodes());
            all.unite(shape);
            assert!(all.nodes() <= MAX_NODES, "{}", all.nodes());
        }
        for _ in 0..100 {
            all = Shape { list: Some(Box::new(all)), ..Shape::default() };
            all.unite(Shape::default());
        }
    }

    #[test]
    fn what_processes_saw_adds_up_in_any_order() {
        let observer = |results: &[Value]| {
            let observer = Observer::default();
            for result in results {
                observer.look("s", "t", &serde_json::value::to_raw_value(result).unwrap());
            }
            observer.take()
        };
        let (a, b) = (observer(&[json!({"a": 1}), json!({"b": 1})]), observer(&[json!([1])]));
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.unite(b);
        ba.unite(a);
        assert_eq!(ab, ba);
        assert_eq!(ab.get("s", "t").unwrap().calls, 3);
    }

    #[test]
    fn enough_looks_are_enough() {
        let observer = Observer::default();
        let value = serde_json::value::to_raw_value(&json!(1)).unwrap();
        for _ in 0..MAX_CALLS + 50 {
            observer.look("s", "t", &value);
        }
        assert_eq!(observer.take().get("s", "t").unwrap().calls, MAX_CALLS);
        assert!(observer.take().is_empty());
    }
}
