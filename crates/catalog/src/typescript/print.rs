//! Types over many lines with comments, for files.

use super::{
    line::Line,
    names::Names,
    shape::{Definition, Object, Type},
};
use crate::{name, unseen};

/// A type without comments stays on its line up to this width.
const MAX_INLINE: usize = 80;

/// Builds an indented text.
#[derive(Default)]
pub(super) struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Writes `type name = …;`.
    pub(super) fn definition(&mut self, definition: &Definition, name: &str, names: &Names) {
        self.docs(&definition.docs);
        self.begin(&format!("type {name} = "));
        self.write(&definition.ty, names);
        self.push(";\n");
    }

    pub(super) fn line(&mut self, text: &str) {
        self.begin(text);
        self.text.push('\n');
    }

    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.line(text);
    }

    /// Starts a line and leaves it open.
    pub(super) fn begin(&mut self, text: &str) {
        (0..self.indent).for_each(|_| self.text.push_str("  "));
        self.text.push_str(text);
    }

    /// Goes on with the open line.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes a comment, in which nothing can end it early.
    pub(super) fn docs(&mut self, lines: &[String]) {
        let lines: Vec<String> = lines
            .iter()
            .flat_map(|line| line.split(['\n', '\r']))
            .map(|line| unseen::escaped(&line.replace("*/", "*\\/"), |c| c == '\t').into_owned())
            .collect();
        match lines.as_slice() {
            [] => {}
            [one] => self.line(&format!("/** {one} */")),
            many => {
                self.line("/**");
                for line in many {
                    self.line(format!(" * {line}").trim_end());
                }
                self.line(" */");
            }
        }
    }

    /// Goes on with the type.
    pub(super) fn write(&mut self, ty: &Type, names: &Names) {
        if !has_docs(ty)
            && let Some(text) = Line::within(MAX_INLINE, ty, names)
        {
            return self.push(&text);
        }
        match ty {
            Type::Object(object) => self.write_object(object, names),
            Type::Array(item) => {
                self.write_operand(item, names);
                self.push("[]");
            }
            Type::Union(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.push(if index > 0 { " | " } else { "" });
                    self.write_operand(part, names);
                }
            }
            Type::Intersection(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.push(if index > 0 { " & " } else { "" });
                    self.write_operand(part, names);
                }
            }
            Type::Tuple { .. } => {
                self.push("[");
                for (index, (head, item, tail)) in ty.items().into_iter().enumerate() {
                    self.push(if index > 0 { ", " } else { "" });
                    self.push(head);
                    if tail.is_empty() {
                        self.write(item, names)
                    } else {
                        self.write_operand(item, names)
                    }
                    self.push(tail);
                }
                self.push("]");
            }
            Type::Unknown | Type::Never | Type::Keyword(_) | Type::Literal(_) | Type::Named(_) => {
                self.push(&Line::within(usize::MAX, ty, names).unwrap_or_default());
            }
        }
    }

    fn write_object(&mut self, object: &Object, names: &Names) {
        let index = object.index();
        if object.properties.is_empty() {
            match index {
                None => self.push("Record<string, never>"),
                Some(index) => {
                    self.push("{ [key: string]: ");
                    self.write(&index, names);
                    self.push(" }");
                }
            }
            return;
        }
        self.push("{\n");
        self.indent += 1;
        for property in &object.properties {
            self.docs(&property.docs);
            self.begin(&name::key(&property.name));
            self.push(if property.required { ": " } else { "?: " });
            self.write(&property.ty, names);
            self.push(";\n");
        }
        if let Some(index) = index {
            self.begin("[key: string]: ");
            self.write(&index, names);
            self.push(";\n");
        }
        self.indent -= 1;
        self.begin("}");
    }

    fn write_operand(&mut self, ty: &Type, names: &Names) {
        let grouped = matches!(ty, Type::Union(_) | Type::Intersection(_));
        self.push(if grouped { "(" } else { "" });
        self.write(ty, names);
        self.push(if grouped { ")" } else { "" });
    }
}

fn has_docs(ty: &Type) -> bool {
    let own = matches!(ty, Type::Object(object) if object.properties.iter().any(|property| !property.docs.is_empty()));
    own || ty.parts().into_iter().any(has_docs)
}
