//! TypeScript declarations for tools: what a model reads before it writes a call.
//!
//! `convert` turns JSON Schema into a small tree of types with definitions beside it, `settle` puts these in order, and the
//! same tree is written on one `line` for a search hit or with comments into a file (`print`, `names`). This file puts
//! functions, namespaces and globals around them. The worst case of any schema is `unknown` with a note: nothing here fails,
//! and no schema, however deep or however often it refers to itself, makes more than a bounded text.
//!
//! Deliberately not here: what depends on values (`if`, `not`, `dependentRequired`, bounds, patterns). The check of the
//! arguments knows it, and comments say it.

mod convert;
mod docs;
mod line;
mod literal;
mod merge;
mod names;
mod print;
mod settle;
mod shape;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    catalog::Catalog,
    document::{Extent, MAX_LEVELS},
    name,
    tool::Tool,
};
use convert::Output;
use line::Line;
use names::Namer;
use print::Printer;
use shape::{Definition, Rest, Type};

/// The globals beside `tools`, as a script finds them. Each thing declared here exists in the sandbox.
const GLOBALS: &str = include_str!("typescript/globals.d.ts");
/// Globals that a model knows anyway.
const PLATFORM: &str = include_str!("typescript/platform.d.ts");

/// Longer descriptions are cut, in bytes.
const MAX_DESCRIPTION: usize = 10_000;

/// A one-line signature longer than this is cut.
const MAX_SIGNATURE: usize = 1000;

/// Returns the call with its types on one line, without comments.
pub(crate) fn signature(tool: &Tool) -> String {
    let types = Types::of(tool);
    Line::fit(&types.definitions, MAX_SIGNATURE, |line| {
        line.push(&tool.call_expression());
        line.push(if types.is_optional() { "(args?: " } else { "(args: " });
        line.write(&types.input);
        line.push("): Promise<");
        line.write(&types.output);
        line.push(">");
    })
}

/// Returns the types of what a tool takes and gives, each on one line.
pub(crate) fn types(tool: &Tool) -> (String, String) {
    let types = Types::of(tool);
    let line = |ty: &Type| Line::fit(&types.definitions, MAX_SIGNATURE, |line| line.write(ty));
    (line(&types.input), line(&types.output))
}

/// Returns what the types of a tool do not show, for a person.
pub(crate) fn notes(tool: &Tool) -> Vec<String> {
    Types::of(tool).notes
}

/// Returns one self-contained declaration file for the whole catalog.
pub(crate) fn declarations(catalog: &Catalog) -> String {
    format!("{GLOBALS}\n{PLATFORM}\n{}", tools(catalog))
}

/// Returns the declaration of `tools`, and of the types that it names.
pub(crate) fn tools(catalog: &Catalog) -> String {
    let mut sources: BTreeMap<&str, Vec<&Tool>> = BTreeMap::new();
    for tool in catalog.tools() {
        sources.entry(&tool.source).or_default().push(tool);
    }
    let mut namer = Namer::default();
    sources.keys().for_each(|source| namer.reserve(interface_name(catalog, source)));
    let mut named = Printer::default();
    let mut interfaces = String::new();
    let mut tools = Printer::default();
    tools.open("declare const tools: {");
    for (source, own) in sources {
        let ident = catalog.source_ident(source);
        if ident == source && own.iter().all(|tool| tool.ident == tool.name) {
            tools.open(&format!("{}: {{", name::key(source)));
            functions(&own, "", &mut tools, &mut named, &mut namer);
            tools.close("};");
            continue;
        }
        // What is reached under two names gets a name for its type, so that the text is there once.
        let interface_name = interface_name(catalog, source);
        let mut interface = Printer::default();
        interface.open(&format!("interface {interface_name} {{"));
        functions(&own, &interface_name, &mut interface, &mut named, &mut namer);
        interface.close("}");
        interfaces.push_str(&interface.finish());
        interfaces.push('\n');
        if source != "then" {
            tools.line(&format!("{}: {interface_name};", name::key(source)));
        }
        if ident != source {
            tools.line(&format!("{}: {interface_name};", name::key(ident)));
        }
    }
    tools.close("};");
    let mut parts = [named.finish(), interfaces, tools.finish()].map(|part| part.trim_end().to_owned()).to_vec();
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

fn interface_name(catalog: &Catalog, source: &str) -> String {
    format!("Tools_{}", catalog.source_ident(source))
}

/// Writes the functions of one source. `interface` is the name of the type around them, if it has one.
fn functions(own: &[&Tool], interface: &str, out: &mut Printer, named: &mut Printer, namer: &mut Namer) {
    for tool in own {
        let types = Types::of(tool);
        let (names, new) = namer.name(&tool.source, &tool.name, &types.definitions, &[&types.input, &types.output]);
        for place in new {
            named.definition(&types.definitions[place], &names[&place], &names);
        }
        // A `then` would make the object a promise, so that tool has its identifier alone.
        let name = if tool.name == "then" { &tool.ident } else { &tool.name };
        out.docs(&comment(tool, &types.notes));
        out.begin(&format!("{}(args{}: ", method_key(name), if types.is_optional() { "?" } else { "" }));
        out.write(&types.input, &names);
        out.push("): Promise<");
        out.write(&types.output, &names);
        out.push(">;\n");
        if tool.ident != *name {
            out.line(&format!("{}: {interface}[{}];", name::key(&tool.ident), name::quoted(name)));
        }
    }
}

/// Returns the lines of a function's comment.
fn comment(tool: &Tool, notes: &[String]) -> Vec<String> {
    let mut lines = docs::lines(&tool.description, MAX_DESCRIPTION);
    let more = notes.iter().filter(|note| !tool.notes.contains(note));
    lines.extend(tool.notes.iter().chain(more).map(|note| format!("Note: {note}")));
    // What the schema of the arguments says of them as a whole.
    if let Some(map) = tool.input_schema.as_object() {
        let about = docs::description(map).join(" ");
        if !about.is_empty() && about != tool.description.trim() && map.contains_key("description") {
            lines.push(format!("@param args {about}"));
        }
        if Extent::of(&tool.input_schema).levels <= MAX_LEVELS {
            lines.extend(docs::tags(map));
        }
    }
    if tool.output_schema.is_none() && tool.observed.is_some() {
        // Without the number of results, which would change the text at every start.
        lines.push("@returns as observed in earlier calls, and not declared".to_owned());
    }
    lines.push(format!("@effect {}", tool.effect.as_str()));
    lines.push("@throws {ToolError}".to_owned());
    lines
}

/// The types of one tool.
struct Types {
    input: Type,
    output: Type,
    definitions: Vec<Definition>,
    notes: Vec<String>,
}

impl Types {
    fn of(tool: &Tool) -> Self {
        let mut output = Output::default();
        let mut convert =
            |schema: &Value, role: &str| convert::convert(schema, &format!("{}_{role}", tool.name), &mut output);
        let mut input = convert(&tool.input_schema, "args");
        // By the letter it takes anything; what is meant is a tool without arguments.
        if let Type::Object(object) = &mut input
            && object.is_plain()
            && tool.input_schema.get("properties").is_some()
            && object.rest == Rest::Unsaid
        {
            object.rest = Rest::Closed;
        }
        let mut result = tool.result_schema().map_or(Type::Unknown, |schema| convert(schema, "result"));
        let Output { mut definitions, mut notes } = output;
        if settle::settle(&mut definitions, &mut [&mut input, &mut result]) {
            notes.push("a part of the schema only refers to itself, which says nothing".to_owned());
        }
        Self { input, output: result, definitions, notes }
    }

    /// Returns whether nothing has to be passed. There is a parameter all the same: models pass `{}` to every tool.
    fn is_optional(&self) -> bool {
        self.accepts_empty(&self.input, 8)
    }

    /// Returns whether `{}` is a value of the type.
    fn accepts_empty(&self, ty: &Type, names: usize) -> bool {
        match ty {
            Type::Unknown => true,
            Type::Object(object) => object.properties.iter().all(|property| !property.required),
            Type::Union(parts) => parts.iter().any(|part| self.accepts_empty(part, names)),
            Type::Intersection(parts) => parts.iter().all(|part| self.accepts_empty(part, names)),
            Type::Named(place) => names > 0 && self.accepts_empty(&self.definitions[*place].ty, names - 1),
            Type::Never | Type::Keyword(_) | Type::Literal(_) | Type::Array(_) | Type::Tuple { .. } => false,
        }
    }
}

/// In an object type `new(…)` would declare a constructor.
fn method_key(key: &str) -> String {
    if key == "new" { name::quoted(key) } else { name::key(key) }
}
