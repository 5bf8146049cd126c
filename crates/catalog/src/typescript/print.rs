//! Writes types as text: on one line for messages, or over many lines with comments for files.

use super::convert::{Object, Type};
use crate::name;

/// An object type without comments stays on its line up to this width.
const MAX_INLINE: usize = 80;

/// Returns the type on one line, without comments.
pub(super) fn inline(ty: &Type) -> String {
    match ty {
        Type::Unknown => "unknown".to_owned(),
        Type::Never => "never".to_owned(),
        Type::Keyword(word) => (*word).to_owned(),
        Type::Literal(text) | Type::Named(text) => text.clone(),
        Type::Array(item) => format!("{}[]", operand(item)),
        Type::Tuple { .. } => {
            let parts: Vec<String> = tuple(ty)
                .into_iter()
                .map(|(head, item, tail)| format!("{head}{}{tail}", tuple_item(item, tail)))
                .collect();
            format!("[{}]", parts.join(", "))
        }
        Type::Object(object) => inline_object(object),
        Type::Union(parts) => parts.iter().map(inline).collect::<Vec<_>>().join(" | "),
        Type::Intersection(parts) => parts.iter().map(operand).collect::<Vec<_>>().join(" & "),
    }
}

fn inline_object(object: &Object) -> String {
    let mut parts: Vec<String> = object
        .properties
        .iter()
        .map(|property| {
            let mark = if property.required { "" } else { "?" };
            format!("{}{mark}: {}", name::key(&property.name), inline(&property.ty))
        })
        .collect();
    parts.extend(object.index.iter().map(|index| format!("[key: string]: {}", inline(index))));
    // `{}` alone would be any value but null.
    if parts.is_empty() { "Record<string, never>".to_owned() } else { format!("{{ {} }}", parts.join("; ")) }
}

/// Returns the type so that `[]` or `&` may follow.
fn operand(ty: &Type) -> String {
    match ty {
        Type::Union(_) | Type::Intersection(_) => format!("({})", inline(ty)),
        Type::Unknown
        | Type::Never
        | Type::Keyword(_)
        | Type::Literal(_)
        | Type::Named(_)
        | Type::Array(_)
        | Type::Tuple { .. }
        | Type::Object(_) => inline(ty),
    }
}

/// Returns the items of a tuple with what stands before and after each.
fn tuple(ty: &Type) -> Vec<(&'static str, &Type, &'static str)> {
    let Type::Tuple { required, optional, rest } = ty else { return Vec::new() };
    let required = required.iter().map(|item| ("", item, ""));
    let optional = optional.iter().map(|item| ("", item, "?"));
    required.chain(optional).chain(rest.iter().map(|item| ("...", &**item, "[]"))).collect()
}

fn tuple_item(item: &Type, tail: &str) -> String {
    if tail.is_empty() { inline(item) } else { operand(item) }
}

/// Builds an indented text.
pub(super) struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    pub(super) fn new() -> Self {
        Self { text: String::new(), indent: 0 }
    }

    pub(super) fn finish(self) -> String {
        self.text
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
        self.text.push_str(&"  ".repeat(self.indent));
        self.text.push_str(text);
    }

    /// Writes a comment, in which nothing can end it early.
    pub(super) fn docs(&mut self, lines: &[String]) {
        let lines: Vec<String> = lines
            .iter()
            .flat_map(|line| line.split(['\n', '\r']))
            .map(|line| line.replace("*/", "*\\/").replace(|c: char| c.is_control() && c != '\t', " "))
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

    /// Starts a line with `head` and the type. `tail` ends the line, unless more of it is to come.
    pub(super) fn typed(&mut self, head: &str, ty: &Type, tail: &str) {
        self.begin(head);
        self.write(ty);
        self.text.push_str(tail);
        if tail.ends_with(';') {
            self.text.push('\n');
        }
    }

    /// Ends an open line with the type and `tail`.
    pub(super) fn finish_typed(&mut self, ty: &Type, tail: &str) {
        self.write(ty);
        self.text.push_str(tail);
        self.text.push('\n');
    }

    fn write(&mut self, ty: &Type) {
        if !has_docs(ty) {
            let text = inline(ty);
            if text.len() <= MAX_INLINE {
                self.text.push_str(&text);
                return;
            }
        }
        match ty {
            Type::Object(object) if !object.properties.is_empty() => self.write_object(object),
            Type::Array(item) => self.write_operand(item, "[]"),
            Type::Union(parts) => self.write_parts(parts, " | ", false),
            Type::Intersection(parts) => self.write_parts(parts, " & ", true),
            Type::Tuple { .. } => {
                self.text.push('[');
                for (index, (head, item, tail)) in tuple(ty).into_iter().enumerate() {
                    self.text.push_str(if index > 0 { ", " } else { "" });
                    self.text.push_str(head);
                    if tail.is_empty() { self.write(item) } else { self.write_operand(item, tail) }
                }
                self.text.push(']');
            }
            Type::Object(Object { index: Some(index), .. }) => {
                self.text.push_str("{ [key: string]: ");
                self.write(index);
                self.text.push_str(" }");
            }
            Type::Unknown | Type::Never | Type::Keyword(_) | Type::Literal(_) | Type::Named(_) | Type::Object(_) => {
                self.text.push_str(&inline(ty));
            }
        }
    }

    fn write_object(&mut self, object: &Object) {
        self.text.push_str("{\n");
        self.indent += 1;
        for property in &object.properties {
            self.docs(&property.docs);
            let mark = if property.required { "" } else { "?" };
            self.typed(&format!("{}{mark}: ", name::key(&property.name)), &property.ty, ";");
        }
        if let Some(index) = &object.index {
            self.typed("[key: string]: ", index, ";");
        }
        self.indent -= 1;
        self.begin("}");
    }

    fn write_parts(&mut self, parts: &[Type], between: &str, operands: bool) {
        for (index, part) in parts.iter().enumerate() {
            self.text.push_str(if index > 0 { between } else { "" });
            if operands { self.write_operand(part, "") } else { self.write(part) }
        }
    }

    fn write_operand(&mut self, ty: &Type, tail: &str) {
        let grouped = matches!(ty, Type::Union(_) | Type::Intersection(_));
        self.text.push_str(if grouped { "(" } else { "" });
        self.write(ty);
        self.text.push_str(if grouped { ")" } else { "" });
        self.text.push_str(tail);
    }
}

fn has_docs(ty: &Type) -> bool {
    match ty {
        Type::Unknown | Type::Never | Type::Keyword(_) | Type::Literal(_) | Type::Named(_) => false,
        Type::Array(item) => has_docs(item),
        Type::Tuple { .. } => tuple(ty).into_iter().any(|(_, item, _)| has_docs(item)),
        Type::Object(object) => {
            object.properties.iter().any(|property| !property.docs.is_empty() || has_docs(&property.ty))
                || object.index.as_deref().is_some_and(has_docs)
        }
        Type::Union(parts) | Type::Intersection(parts) => parts.iter().any(has_docs),
    }
}
