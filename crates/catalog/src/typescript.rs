//! TypeScript declarations for tools: what a model reads before it writes a call.
//!
//! [`schema`](convert) turns JSON Schema into a small tree of types and [`print`] writes it out; this file puts functions,
//! namespaces and globals around them. The worst case of any schema is `unknown` with a note: nothing here fails, and no
//! schema, however deep or however often it refers to itself, makes more than a bounded text.
//!
//! Deliberately not here yet: `patternProperties` as types, merging of `allOf` objects, discriminators.

mod convert;
mod print;

use std::collections::{BTreeMap, HashSet};

use crate::{catalog::Catalog, name, tool::Tool};
use convert::{Converter, Type};
use print::Printer;

/// The globals beside `tools`, as a script finds them. Each thing declared here exists in the sandbox.
const GLOBALS: &str = include_str!("typescript/globals.d.ts");
/// Globals that a model knows anyway.
const PLATFORM: &str = include_str!("typescript/platform.d.ts");

/// A one-line signature longer than this is cut.
const MAX_SIGNATURE: usize = 1000;

/// Returns the call with its types on one line, without comments.
pub(crate) fn signature(tool: &Tool) -> String {
    let mut names = HashSet::new();
    let types = Types::of(tool, "", &mut names);
    let args = types.parameter(print::inline);
    let text = format!("{}({args}): Promise<{}>", tool.call_expression(), print::inline(&types.output));
    name::cut(&text, MAX_SIGNATURE)
}

/// Returns the types of what a tool takes and gives, each on one line.
pub(crate) fn types(tool: &Tool) -> (String, String) {
    let mut names = HashSet::new();
    let types = Types::of(tool, "", &mut names);
    (name::cut(&print::inline(&types.input), MAX_SIGNATURE), name::cut(&print::inline(&types.output), MAX_SIGNATURE))
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
    let mut names = HashSet::new();
    let mut named = String::new();
    let mut interfaces = String::new();
    let mut tools = Printer::new();
    tools.open("declare const tools: {");
    for (source, own) in sources {
        let ident = catalog.source_ident(source);
        if ident == source && own.iter().all(|tool| tool.ident == tool.name) {
            tools.open(&format!("{}: {{", name::key(source)));
            functions(&own, "", &mut tools, &mut named, &mut names);
            tools.close("};");
            continue;
        }
        // What is reached under two names gets a name for its type, so that the text is there once.
        let interface_name = format!("Tools_{ident}");
        let mut interface = Printer::new();
        interface.open(&format!("interface {interface_name} {{"));
        functions(&own, &interface_name, &mut interface, &mut named, &mut names);
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
    let mut parts = [named, interfaces, tools.finish()].map(|part| part.trim_end().to_owned()).to_vec();
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

/// Writes the functions of one source. `interface` is the name of the type around them, if it has one.
fn functions(own: &[&Tool], interface: &str, out: &mut Printer, named: &mut String, names: &mut HashSet<String>) {
    for tool in own {
        let prefix = pascal(&tool.source) + &pascal(&tool.name);
        let types = Types::of(tool, &prefix, names);
        for (name, ty) in &types.named {
            let mut printer = Printer::new();
            printer.typed(&format!("type {name} = "), ty, ";");
            named.push_str(&printer.finish());
        }
        // A `then` would make the object a promise, so that tool has its identifier alone.
        let name = if tool.name == "then" { &tool.ident } else { &tool.name };
        let key = method_key(name);
        out.docs(&docs(tool, &types.notes));
        out.typed(&format!("{key}({}: ", types.parameter_head()), &types.input, "): Promise<");
        out.finish_typed(&types.output, ">;");
        if tool.ident != *name {
            out.line(&format!("{}: {interface}[{}];", name::key(&tool.ident), name::quoted(name)));
        }
    }
}

/// Returns the lines of a function's comment.
fn docs(tool: &Tool, notes: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = tool.description.trim().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.extend(tool.notes.iter().chain(notes).map(|note| format!("Note: {note}")));
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
    named: Vec<(String, Type)>,
    notes: Vec<String>,
}

impl Types {
    fn of(tool: &Tool, prefix: &str, names: &mut HashSet<String>) -> Self {
        let mut input = Converter::new(&tool.input_schema, format!("{prefix}Args"), names);
        let input_type = input.root();
        let (mut named, mut notes) = input.finish();
        let output_type = match tool.result_schema() {
            Some(schema) => {
                let mut output = Converter::new(schema, format!("{prefix}Result"), names);
                let ty = output.root();
                let (more_named, more_notes) = output.finish();
                named.extend(more_named);
                notes.extend(more_notes);
                ty
            }
            None => Type::Unknown,
        };
        notes.dedup();
        Self { input: input_type, output: output_type, named, notes }
    }

    /// Returns `args`, or `args?` where nothing has to be passed. There is always a parameter: models pass `{}` to every tool.
    fn parameter_head(&self) -> &'static str {
        if self.input.accepts_empty() { "args?" } else { "args" }
    }

    fn parameter(&self, print: impl Fn(&Type) -> String) -> String {
        format!("{}: {}", self.parameter_head(), print(&self.input))
    }
}

/// In an object type `new(…)` would declare a constructor.
fn method_key(key: &str) -> String {
    if key == "new" { name::quoted(key) } else { name::key(key) }
}

/// Returns `ListCommits` for `list_commits`, with nothing in it that an identifier cannot have.
fn pascal(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.extend(chars);
    }
    out
}
