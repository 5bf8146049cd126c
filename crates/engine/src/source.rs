//! From the text that a model sent to the JavaScript that runs, and back from a position in it to a position in the text.
//!
//! One parse serves everything: it tells the form of the program, strips the types, and gives the [`Facts`] that are checked
//! before anything runs. The generated text has other lines than the sent one, so every position goes through a source map;
//! the map is kept with the run, since a later version of the parser may generate another text.
//!
//! # Invariants
//!
//! * Nothing here runs anything, and no text, however nested or long, takes the process down: every pass that recurses does
//!   so on a stack made for the text, and what is looked at per name or call is bounded.
//! * Every position is one in the text that was sent, also inside a Markdown fence.
//! * Form and faults are found in the syntax tree. Code is never searched as text.
//!
//! # Deliberately not here
//!
//! Tools, and the judgement whether a fact is a fault: `refrain-runtime` has the rules, since it has the catalog.

use std::path::{Path, PathBuf};

use oxc::{
    allocator::Allocator,
    codegen::{Codegen, CodegenOptions},
    diagnostics::{OxcDiagnostic, Severity},
    parser::{ParseOptions, Parser, ParserReturn},
    semantic::SemanticBuilder,
    span::SourceType,
    transformer::{TransformOptions, Transformer},
};

mod depth;
mod facts;
mod fence;
mod form;
mod frame;
mod options;
mod position;
mod refusal;

pub use facts::{Argument, Facts, Fate, Field, GlobalUse, Literal, Reach, Roots, ToolCall, ToolUse, Uncalled};
pub use frame::Frame;
pub use options::ScriptOptions;
pub use position::{Position, SourceMap, code_frame};

/// The languages that a script may be written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// TypeScript; JavaScript is a part of it.
    #[default]
    TypeScript,
}

impl Language {
    /// The name as settings and records have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::TypeScript => "typescript",
        }
    }
}

/// A script made ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// An expression whose value is an async function: the script's body, without types.
    pub javascript: String,
    /// From positions in `javascript` to positions in the text that was sent.
    pub map: SourceMap,
}

/// A text that is a program: what runs, and everything that is known before it does.
#[derive(Clone, Debug)]
pub struct Script {
    /// What runs.
    pub prepared: Prepared,
    /// What the script asks for itself.
    pub options: ScriptOptions,
    /// What is to be checked before it runs.
    pub facts: Facts,
    /// What was made of the program beyond the obvious, to be told beside the result.
    pub remarks: Vec<Remark>,
}

/// Something to tell beside the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What it is about: `form`.
    pub kind: &'static str,
    /// The sentence.
    pub message: String,
    /// Where.
    pub position: Position,
}

/// The script is no program. Nothing has run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, and what to write instead where that is known.
    pub message: String,
    /// Where, in the text that was sent.
    pub position: Position,
}

/// Lines that stand before the script in what runs.
const BEFORE: &str = "(async () => { \"use strict\";\n";
const AFTER: &str = "\n})";
/// How many lines `BEFORE` takes.
pub(crate) const LINES_BEFORE: u32 = 1;

/// The longest script, in bytes. Nobody writes one by hand or by model; what is longer is data, which belongs into `args`.
pub const MAX_SCRIPT_BYTES: usize = 256 << 10;

/// Makes a program ready to run, and forgets everything else about it. See [`read`].
///
/// # Errors
///
/// As [`read`].
pub fn prepare(text: &str) -> Result<Prepared, SyntaxError> {
    read(text, &Roots::default()).map(|script| script.prepared)
}

/// Reads a text that a model sent: a program in any of the forms that a script may have, perhaps in a Markdown fence.
///
/// # Errors
///
/// [`SyntaxError`] with the first fault found.
pub fn read(text: &str, roots: &Roots) -> Result<Script, SyntaxError> {
    if text.len() > MAX_SCRIPT_BYTES {
        let message = format!(
            "the script has {} bytes and may have {MAX_SCRIPT_BYTES}; give large data as `args`, or let a tool return it",
            text.len()
        );
        return Err(SyntaxError { message, position: Position::START });
    }
    depth::on_a_stack_for(text, || read_here(text, roots))
}

/// More of these and a text is read as JavaScript alone. In TypeScript each may open type arguments, which the parser tries and takes
/// back, so that many in one another take quadratic time: 10,000 of them 20 seconds.
const MOST_ANGLES: usize = 800;

fn read_here(text: &str, roots: &Roots) -> Result<Script, SyntaxError> {
    let allocator = Allocator::default();
    let angles = text.bytes().filter(|byte| *byte == b'<').count();
    if angles <= MOST_ANGLES {
        return read_as(&allocator, text, roots, SourceType::ts());
    }
    read_as(&allocator, text, roots, SourceType::mjs()).map_err(|error| SyntaxError {
        message: format!(
            "{}; with {angles} `<`, more than {MOST_ANGLES}, a script is read without types",
            error.message
        ),
        ..error
    })
}

fn read_as(allocator: &Allocator, text: &str, roots: &Roots, kind: SourceType) -> Result<Script, SyntaxError> {
    let parsed = parse(allocator, text, kind);
    if fence::may_be(text)
        && (parsed.diagnostics.has_errors() || fence::is_accident(&parsed.program, text))
        && let Some(program) = fence::program(text)?
    {
        let masked = fence::masked(text, &program);
        let options = options::read(text, program)?;
        return script(allocator, text, parse(allocator, &masked, kind), options, roots);
    }
    let options = options::read(text, 0..text.len())?;
    script(allocator, text, parsed, options, roots)
}

fn parse<'a>(allocator: &'a Allocator, text: &'a str, kind: SourceType) -> ParserReturn<'a> {
    Parser::new(allocator, text, kind.with_module(true))
        .with_options(ParseOptions {
            allow_return_outside_function: true,
            parse_regular_expression: true,
            ..ParseOptions::default()
        })
        .parse()
}

/// `parsed` is of `text`, or of a part of it at its place.
fn script<'a>(
    allocator: &'a Allocator,
    text: &str,
    parsed: ParserReturn<'a>,
    options: ScriptOptions,
    roots: &Roots,
) -> Result<Script, SyntaxError> {
    if let Some(fault) = first_error(parsed.diagnostics.into_iter()) {
        return Err(refusal::of_text(text, parsed.program.source_text, fault));
    }
    let mut program = parsed.program;
    if let Some(message) = depth::too_deep(&program) {
        return Err(SyntaxError { message, position: Position::START });
    }
    let remarks = form::shape(text, &mut program, allocator)?;
    let checked = SemanticBuilder::new_compiler().with_build_nodes(true).with_enum_eval(true).build(&program);
    refuse(text, checked.diagnostics.into_iter())?;
    let (scoping, nodes) = checked.semantic.into_scoping_and_nodes();
    refusal::of_tree(text, &nodes)?;
    let facts = facts::collect(text, &scoping, &nodes, roots);
    drop(nodes);
    let settings = TransformOptions::default();
    let stripped =
        Transformer::new(allocator, Path::new("script.ts"), &settings).build_with_scoping(scoping, &mut program);
    refuse(text, stripped.diagnostics.into_iter())?;
    let printed = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(PathBuf::from("script.ts")),
            // Indented, blocks nested a thousand deep would take a megabyte of spaces.
            indent_width: 0,
            ..CodegenOptions::default()
        })
        .build(&program);
    let map = printed.map.map(|map| SourceMap::new(&map, text, &printed.code)).unwrap_or_default();
    let prepared = Prepared { javascript: format!("{BEFORE}{}{AFTER}", printed.code), map };
    Ok(Script { prepared, options, facts, remarks })
}

/// Fails with the first of the errors among `found`.
fn refuse(text: &str, found: impl Iterator<Item = OxcDiagnostic>) -> Result<(), SyntaxError> {
    first_error(found).map_or(Ok(()), |fault| Err(refusal::told(text, &fault)))
}

fn first_error(mut found: impl Iterator<Item = OxcDiagnostic>) -> Option<OxcDiagnostic> {
    found.find(|diagnostic| diagnostic.severity == Severity::Error)
}
