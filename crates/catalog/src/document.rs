//! One schema as a document: where the references inside it lead.
//!
//! A reference is a JSON pointer (`#/$defs/a`), an anchor (`#a`), or the `$id` of another part with either behind it. Only
//! this document is ever looked at: what leads elsewhere is [`Target::Outside`], and nothing is fetched. Old spellings (`id`,
//! `#name` as an `id`) are read as well, and `$dynamicRef` and `$recursiveRef` are followed as if they were `$ref`: which
//! schema extends which is nothing that a tool's own schema can know.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Parts of a schema that are looked at for `$id` and anchors. Beyond, a name is not found; pointers work all the same.
const MAX_PARTS: usize = 300_000;

/// The keywords that refer.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// What a reference leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target<'a> {
    /// This part of the document.
    Part(&'a Value),
    /// Another document.
    Outside,
    /// Nothing that is there.
    Nowhere,
}

/// A schema and the names of its parts.
pub(crate) struct Document<'a> {
    root: &'a Value,
    /// The address of each part that has one, and its own value. The first is the document itself.
    resources: Vec<(String, &'a Value)>,
    by_address: HashMap<String, usize>,
    /// Parts by `address#name`.
    anchors: HashMap<String, &'a Value>,
    /// In which resource an object that refers stands, where it is not the first.
    homes: HashMap<*const Map<String, Value>, usize>,
}

impl<'a> Document<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        let mut document = Self {
            root,
            resources: vec![(String::new(), root)],
            by_address: HashMap::new(),
            anchors: HashMap::new(),
            homes: HashMap::new(),
        };
        document.index();
        document
    }

    pub(crate) fn root(&self) -> &'a Value {
        self.root
    }

    /// Returns the reference that a schema consists of or has beside other keywords.
    pub(crate) fn reference(schema: &'a Map<String, Value>) -> Option<&'a str> {
        REFERENCES.iter().find_map(|key| schema.get(*key)?.as_str())
    }

    /// Follows a reference that stands in `holder`.
    pub(crate) fn resolve(&self, holder: &Map<String, Value>, reference: &str) -> Target<'a> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let home = self.homes.get(&std::ptr::from_ref(holder)).copied().unwrap_or(0);
        let resource = if address.is_empty() {
            home
        } else {
            match self.by_address.get(&joined(&self.resources[home].0, address)) {
                Some(resource) => *resource,
                None => return Target::Outside,
            }
        };
        let (base, value) = &self.resources[resource];
        if fragment.is_empty() {
            return Target::Part(value);
        }
        let name = decoded(fragment);
        let part = if name.starts_with('/') {
            // Some generators move a part with its `$id` and leave its pointers as they were, and some do not encode.
            value.pointer(&name).or_else(|| self.root.pointer(&name)).or_else(|| self.root.pointer(fragment))
        } else {
            self.anchors.get(&format!("{base}#{name}")).copied()
        };
        part.map_or(Target::Nowhere, Target::Part)
    }

    /// Walks the document once. A list of what is still open, and no recursion: a schema may be deep.
    fn index(&mut self) {
        let mut open = vec![(self.root, 0)];
        let mut left = MAX_PARTS;
        while let Some((value, mut home)) = open.pop() {
            left -= 1;
            if left == 0 {
                return;
            }
            match value {
                Value::Array(items) => open.extend(items.iter().map(|item| (item, home))),
                Value::Object(map) => {
                    home = self.name(value, map, home);
                    if home != 0 && REFERENCES.iter().any(|key| map.contains_key(*key)) {
                        self.homes.insert(std::ptr::from_ref(map), home);
                    }
                    // What stands in these is data, and no schema.
                    let parts =
                        map.iter().filter(|(key, _)| !["enum", "const", "default", "examples"].contains(&key.as_str()));
                    open.extend(parts.map(|(_, part)| (part, home)));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }

    /// Takes down what a part calls itself. Returns the resource that it is in.
    fn name(&mut self, value: &'a Value, map: &'a Map<String, Value>, mut home: usize) -> usize {
        // In old drafts nothing beside a reference counts, and an address neither.
        let is_old = self.root.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("/draft-0"));
        let id = map.get("$id").or_else(|| map.get("id")).and_then(Value::as_str);
        let id = id.filter(|_| !is_old || !map.contains_key("$ref"));
        if let Some(id) = id {
            let (address, fragment) = id.split_once('#').unwrap_or((id, ""));
            if !address.is_empty() {
                let address = joined(&self.resources[home].0, address);
                if std::ptr::eq(value, self.root) {
                    self.resources[0].0.clone_from(&address);
                    home = 0;
                } else {
                    self.resources.push((address.clone(), value));
                    home = self.resources.len() - 1;
                }
                self.by_address.entry(address).or_insert(home);
            }
            if !fragment.is_empty() {
                self.anchor(home, fragment, value);
            }
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = map.get(key).and_then(Value::as_str) {
                self.anchor(home, name, value);
            }
        }
        home
    }

    fn anchor(&mut self, home: usize, name: &str, value: &'a Value) {
        self.anchors.entry(format!("{}#{name}", self.resources[home].0)).or_insert(value);
    }
}

/// Levels of a schema, over which it is not read. More than any parser lets in, and less than a stack holds.
pub(crate) const MAX_LEVELS: usize = 256;

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extent {
    /// Levels of lists and objects.
    pub(crate) levels: usize,
    /// Values in all, itself included.
    pub(crate) values: usize,
}

impl Extent {
    pub(crate) fn of(value: &Value) -> Self {
        // A list of what is open, since a value that is too deep is too deep for recursion as well.
        let mut open = vec![(value, 0)];
        let mut extent = Self::default();
        while let Some((value, level)) = open.pop() {
            extent.levels = extent.levels.max(level);
            extent.values += 1;
            match value {
                Value::Array(items) => open.extend(items.iter().map(|inner| (inner, level + 1))),
                Value::Object(map) => open.extend(map.values().map(|inner| (inner, level + 1))),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        extent
    }
}

/// Returns the address that `reference` means beside `base`. Enough of RFC 3986 for names that only have to equal each other.
fn joined(base: &str, reference: &str) -> String {
    let has_scheme = |text: &str| {
        text.split_once(':').is_some_and(|(scheme, _)| {
            !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        })
    };
    if base.is_empty() || has_scheme(reference) {
        return reference.to_owned();
    }
    let authority = base.find("://").map_or(0, |at| base[at + 3..].find('/').map_or(base.len(), |end| at + 3 + end));
    if reference.starts_with('/') {
        return format!("{}{reference}", &base[..authority]);
    }
    let folder = base[authority..].rfind('/').map_or(authority, |at| authority + at + 1);
    let mut path: Vec<&str> = base[authority..folder].split('/').collect();
    path.pop();
    for part in reference.split('/') {
        match part {
            "." => {}
            ".." if path.len() > 1 => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    format!("{}{}", &base[..authority], path.join("/"))
}

/// Undoes percent-encoding. A `%` that begins none stays.
pub(crate) fn decoded(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_joined_as_a_browser_would() {
        let check = |base: &str, reference: &str, expect: &str| assert_eq!(joined(base, reference), expect);
        check("", "a.json", "a.json");
        check("http://h/x/root.json", "a.json", "http://h/x/a.json");
        check("http://h/x/root.json", "../a.json", "http://h/a.json");
        check("http://h/x/root.json", "../../../a.json", "http://h/a.json");
        check("http://h/x/", "y/", "http://h/x/y/");
        check("http://h/x/", "/y", "http://h/y");
        check("http://h", "/y", "http://h/y");
        check("http://h/x", "urn:uuid:1", "urn:uuid:1");
        check("folder/root.json", "a.json", "folder/a.json");
    }
}
