//! A large JSON result in a form that the guest builds from cheaply. `guest/value.c` is the other half.
//!
//! The text is parsed once, here, straight into bytes. The guest makes objects from them when a script touches them, so what a
//! script does not look at costs next to nothing.
//!
//! Layout, little endian: offset of the tables (u32), the root value, the tables. A value is a tag and its content: nothing for null
//! and booleans; 4 bytes for a small whole number, 8 for another; a length (u32) and the content for a string, in Latin-1 where
//! that is enough and in UTF-16 else; a count (u32), a size in bytes (u32) and the elements for an array; an index of a key list (u32), a size and
//! the fields for an object. The tables: the keys in UTF-8, then the key lists.

use std::{collections::HashMap, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Texts below this are parsed in the guest: its own parser is as fast on them, and one form less is at work.
const SMALLEST: usize = 1024;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const FLOAT: u8 = 4;
const LATIN1: u8 = 5;
const UTF16: u8 = 6;
const ARRAY: u8 = 7;
const OBJECT: u8 = 8;

/// The compact form of a JSON text. None when the guest should parse the text itself: it is small, or this parser refuses what JavaScript's
/// takes (a lone surrogate, a number out of range, nesting beyond 128).
pub(crate) fn compact(json: &str) -> Option<Vec<u8>> {
    if json.len() < SMALLEST || json.len() > u32::MAX as usize / 4 {
        return None;
    }
    let mut encoder = Encoder { bytes: Vec::with_capacity(json.len()), ..Encoder::default() };
    encoder.bytes.extend_from_slice(&[0; 4]);
    let mut parser = serde_json::Deserializer::from_str(json);
    Value(&mut encoder).deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    encoder.finish()
}

#[derive(Default)]
struct Encoder {
    bytes: Vec<u8>,
    keys: HashMap<String, u32>,
    /// Key lists as a trie: a list is the one before it and one more key.
    next: HashMap<(u32, u32), u32>,
    /// For each node of the trie, the node before it and its last key. Node 0 is the empty list.
    nodes: Vec<(u32, u32)>,
    /// The key lists that objects have, as nodes.
    lists: Vec<u32>,
    list_of_node: HashMap<u32, u32>,
}

impl Encoder {
    fn key(&mut self, key: &str) -> u32 {
        if let Some(index) = self.keys.get(key) {
            return *index;
        }
        let index = self.keys.len() as u32;
        self.keys.insert(key.to_owned(), index);
        index
    }

    fn step(&mut self, node: u32, key: u32) -> u32 {
        let nodes = &mut self.nodes;
        *self.next.entry((node, key)).or_insert_with(|| {
            nodes.push((node, key));
            nodes.len() as u32
        })
    }

    fn list(&mut self, node: u32) -> u32 {
        let lists = &mut self.lists;
        *self.list_of_node.entry(node).or_insert_with(|| {
            lists.push(node);
            lists.len() as u32 - 1
        })
    }

    fn u32(&mut self, value: usize) {
        // The input has less than 2^30 bytes, and no part of the output more than twice its input.
        self.bytes.extend_from_slice(&(value as u32).to_le_bytes());
    }

    fn patch(&mut self, at: usize, value: usize) {
        self.bytes[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    }

    fn string(&mut self, text: &str) {
        if text.is_ascii() {
            self.bytes.push(LATIN1);
            self.u32(text.len());
            self.bytes.extend_from_slice(text.as_bytes());
        } else if text.chars().all(|c| c <= '\u{ff}') {
            self.bytes.push(LATIN1);
            self.u32(text.chars().count());
            self.bytes.extend(text.chars().map(|c| c as u8));
        } else {
            self.bytes.push(UTF16);
            self.u32(text.encode_utf16().count());
            self.bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        }
    }

    fn float(&mut self, number: f64) {
        self.bytes.push(FLOAT);
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// A whole number, small if it is.
    fn whole(&mut self, small: Option<i32>, number: f64) {
        match small {
            Some(small) => {
                self.bytes.push(INT);
                self.bytes.extend_from_slice(&small.to_le_bytes());
            }
            None => self.float(number),
        }
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        let tables = self.bytes.len();
        self.patch(0, tables);
        let mut keys: Vec<(&str, u32)> = self.keys.iter().map(|(key, index)| (key.as_str(), *index)).collect();
        keys.sort_unstable_by_key(|(_, index)| *index);
        let names: Vec<&str> = keys.into_iter().map(|(key, _)| key).collect();
        let mut bytes = std::mem::take(&mut self.bytes);
        let put = |bytes: &mut Vec<u8>, value: usize| bytes.extend_from_slice(&(value as u32).to_le_bytes());
        put(&mut bytes, names.len());
        for name in &names {
            put(&mut bytes, name.len());
            bytes.extend_from_slice(name.as_bytes());
        }
        put(&mut bytes, self.lists.len());
        for &node in &self.lists {
            let mut list = Vec::new();
            let mut node = node;
            while node != 0 {
                let (before, key) = self.nodes[node as usize - 1];
                list.push(key);
                node = before;
            }
            list.reverse();
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let plain = sorted.len() == list.len() && list.iter().all(|key| !looks_like_an_index(names[*key as usize]));
            put(&mut bytes, list.len());
            put(&mut bytes, plain.into());
            for key in list {
                put(&mut bytes, key as usize);
            }
        }
        u32::try_from(bytes.len()).is_ok().then_some(bytes)
    }
}

/// Whether JavaScript orders this key before the others. `__proto__` is no index, but defining it one by one is the way that
/// cannot go wrong.
fn looks_like_an_index(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_digit()) || key == "__proto__"
}

struct Value<'a>(&'a mut Encoder);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.bytes.push(NULL);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.bytes.push(if value { TRUE } else { FALSE });
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.0.whole(value.try_into().ok(), value as f64);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.0.whole(value.try_into().ok(), value as f64);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.0.float(value);
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.0.string(value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let encoder = self.0;
        encoder.bytes.push(ARRAY);
        let head = encoder.bytes.len();
        encoder.bytes.extend_from_slice(&[0; 8]);
        let mut count = 0;
        while elements.next_element_seed(Value(encoder))?.is_some() {
            count += 1;
        }
        let size = encoder.bytes.len() - head - 8;
        encoder.patch(head, count);
        encoder.patch(head + 4, size);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let encoder = self.0;
        encoder.bytes.push(OBJECT);
        let head = encoder.bytes.len();
        encoder.bytes.extend_from_slice(&[0; 8]);
        let mut node = 0;
        while let Some(key) = members.next_key_seed(Key(encoder))? {
            node = encoder.step(node, key);
            members.next_value_seed(Value(encoder))?;
        }
        let size = encoder.bytes.len() - head - 8;
        let list = encoder.list(node);
        encoder.patch(head, list as usize);
        encoder.patch(head + 4, size);
        Ok(())
    }
}

struct Key<'a>(&'a mut Encoder);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<u32, E> {
        Ok(self.0.key(key))
    }
}
