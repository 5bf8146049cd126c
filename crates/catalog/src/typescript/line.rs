//! Types on one line: for search hits, messages and prompts, and in files where one line is enough.
//!
//! In a file every definition has its name. Elsewhere definitions are written out where they are used, so that a reader needs nothing else; only one that leads back to itself
//! is called by its name, and follows after the line. What does not fit is left out from the inside: `{ … }`.

use super::{
    names::{Names, pascal},
    settle,
    shape::{Definition, Object, Type},
};
use crate::name;

/// Levels that are tried when the whole does not fit.
const DEPTHS: [usize; 6] = [usize::MAX, 5, 4, 3, 2, 1];

/// What stands for a definition.
enum Naming<'d> {
    Given(&'d Names),
    Expand { definitions: &'d [Definition], recursive: &'d [bool] },
}

/// Writes on one line, up to a number of bytes and levels.
pub(super) struct Line<'d> {
    naming: Naming<'d>,
    /// Recursive definitions by the order in which they are named.
    named: Vec<(usize, String)>,
    text: String,
    limit: usize,
    depth: usize,
}

impl<'d> Line<'d> {
    /// Returns what `write` writes, with as many levels as fit into `limit` bytes.
    pub(super) fn fit(definitions: &[Definition], limit: usize, write: impl Fn(&mut Line<'_>)) -> String {
        let recursive = settle::recursive(definitions);
        let mut text = String::new();
        for depth in DEPTHS {
            let naming = Naming::Expand { definitions, recursive: &recursive };
            let mut line = Line { naming, named: Vec::new(), text: String::new(), limit, depth };
            write(&mut line);
            line.afterwards();
            if line.text.len() <= limit {
                return line.text;
            }
            text = line.text;
        }
        name::cut(&text, limit)
    }

    /// Returns the type with every definition by its name, if that fits into `limit` bytes.
    pub(super) fn within(limit: usize, ty: &Type, names: &'d Names) -> Option<String> {
        let naming = Naming::Given(names);
        let mut line = Line { naming, named: Vec::new(), text: String::new(), limit, depth: usize::MAX };
        line.write(ty);
        (line.text.len() <= limit).then_some(line.text)
    }

    pub(super) fn push(&mut self, text: &str) {
        // What is over the limit is thrown away whole, so there is no need to write on.
        if self.text.len() <= self.limit {
            self.text.push_str(text);
        }
    }

    pub(super) fn write(&mut self, ty: &Type) {
        self.at(ty, 0);
    }

    /// Writes the definitions that were only named.
    fn afterwards(&mut self) {
        let Naming::Expand { definitions, .. } = self.naming else { return };
        let mut at = 0;
        while let Some((place, name)) = self.named.get(at).cloned() {
            at += 1;
            self.push(&format!("; type {name} = "));
            self.at(&definitions[place].ty, 0);
        }
    }

    fn at(&mut self, ty: &Type, depth: usize) {
        if self.text.len() > self.limit {
            return;
        }
        match ty {
            Type::Unknown => self.push("unknown"),
            Type::Never => self.push("never"),
            Type::Keyword(word) => self.push(word),
            Type::Literal(text) => self.push(text),
            Type::Named(place) => match self.naming {
                Naming::Given(names) => self.push(names.get(place).map_or("unknown", String::as_str)),
                Naming::Expand { definitions, recursive } if recursive[*place] => {
                    let name = self.name(*place, definitions);
                    self.push(&name);
                }
                Naming::Expand { definitions, .. } => self.at(&definitions[*place].ty, depth),
            },
            Type::Array(item) => {
                self.operand(item, depth);
                self.push("[]");
            }
            Type::Tuple { .. } => {
                self.push("[");
                for (index, (head, item, tail)) in ty.items().into_iter().enumerate() {
                    self.push(if index > 0 { ", " } else { "" });
                    self.push(head);
                    if tail.is_empty() {
                        self.at(item, depth)
                    } else {
                        self.operand(item, depth)
                    }
                    self.push(tail);
                }
                self.push("]");
            }
            Type::Object(object) => self.object(object, depth),
            Type::Union(parts) => self.parts(parts, " | ", depth),
            Type::Intersection(parts) => self.parts(parts, " & ", depth),
        }
    }

    fn object(&mut self, object: &Object, depth: usize) {
        let index = object.index();
        if object.properties.is_empty() && index.is_none() {
            // `{}` alone would be any value but null.
            return self.push("Record<string, never>");
        }
        if depth >= self.depth {
            return self.push("{ … }");
        }
        self.push("{ ");
        for (at, property) in object.properties.iter().enumerate() {
            self.push(if at > 0 { "; " } else { "" });
            self.push(&name::key(&property.name));
            self.push(if property.required { ": " } else { "?: " });
            self.at(&property.ty, depth + 1);
        }
        if let Some(index) = index {
            self.push(if object.properties.is_empty() { "" } else { "; " });
            self.push("[key: string]: ");
            self.at(&index, depth + 1);
        }
        self.push(" }");
    }

    fn parts(&mut self, parts: &[Type], between: &str, depth: usize) {
        for (at, part) in parts.iter().enumerate() {
            self.push(if at > 0 { between } else { "" });
            let flat = between == " | " && matches!(self.written(part), Type::Union(_));
            if flat { self.at(part, depth) } else { self.operand(part, depth) }
        }
    }

    /// Writes the type so that `[]` or `&` may follow.
    fn operand(&mut self, ty: &Type, depth: usize) {
        let grouped = matches!(self.written(ty), Type::Union(_) | Type::Intersection(_));
        self.push(if grouped { "(" } else { "" });
        self.at(ty, depth);
        self.push(if grouped { ")" } else { "" });
    }

    /// Returns the type as it is written: what a name stands for, where it is written out.
    fn written<'t>(&'t self, ty: &'t Type) -> &'t Type {
        match (ty, &self.naming) {
            (Type::Named(place), Naming::Expand { definitions, recursive }) if !recursive[*place] => {
                self.written(&definitions[*place].ty)
            }
            _ => ty,
        }
    }

    fn name(&mut self, place: usize, definitions: &[Definition]) -> String {
        if let Some((_, name)) = self.named.iter().find(|(other, _)| *other == place) {
            return name.clone();
        }
        let wanted = Some(pascal(&definitions[place].hint)).filter(|name| name::is_identifier(name));
        let wanted = wanted.unwrap_or_else(|| "Part".to_owned());
        let mut name = wanted.clone();
        let mut number = 2;
        while self.named.iter().any(|(_, other)| *other == name) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        self.named.push((place, name.clone()));
        name
    }
}
