//! From the text that a model sent to the JavaScript that runs, and back from a position in it to a position in the text.
//!
//! Types are stripped by a real parser. The generated text has other lines than the sent one, so every position goes through a
//! source map; the map is kept with the run, since a later version of the parser may generate another text.

use std::path::{Path, PathBuf};

use oxc::{
    allocator::Allocator,
    ast::ast::Statement,
    codegen::{Codegen, CodegenOptions},
    diagnostics::{OxcDiagnostic, Severity},
    parser::{ParseOptions, Parser},
    semantic::SemanticBuilder,
    span::{GetSpan, SourceType},
    transformer::{TransformOptions, Transformer},
};

mod depth;
mod frame;
mod position;

pub use frame::Frame;
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

/// Makes the body of an async function (top-level `await` and `return`, types allowed) ready to run.
///
/// # Errors
///
/// [`SyntaxError`] with the first fault found.
pub fn prepare(text: &str) -> Result<Prepared, SyntaxError> {
    if text.len() > MAX_SCRIPT_BYTES {
        let message = format!(
            "the script has {} bytes and may have {MAX_SCRIPT_BYTES}; give large data as `args`, or let a tool return it",
            text.len()
        );
        return Err(SyntaxError { message, position: Position::START });
    }
    depth::on_a_stack_for(text, || prepare_here(text))
}

fn prepare_here(text: &str) -> Result<Prepared, SyntaxError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts().with_module(true))
        .with_options(ParseOptions {
            allow_return_outside_function: true,
            parse_regular_expression: true,
            ..ParseOptions::default()
        })
        .parse();
    refuse(text, parsed.diagnostics.into_iter())?;
    let mut program = parsed.program;
    for statement in &program.body {
        if let Some(message) = no_modules(statement) {
            return Err(SyntaxError { message: message.into(), position: Position::of(text, statement.span().start) });
        }
    }
    if let Some(message) = depth::too_many_scopes(&program) {
        return Err(SyntaxError { message, position: Position::START });
    }
    let checked = SemanticBuilder::new_compiler().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    refuse(text, checked.diagnostics.into_iter())?;
    let scoping = checked.semantic.into_scoping();
    let options = TransformOptions::default();
    let stripped =
        Transformer::new(&allocator, Path::new("script.ts"), &options).build_with_scoping(scoping, &mut program);
    refuse(text, stripped.diagnostics.into_iter())?;
    let printed = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(PathBuf::from("script.ts")),
            // Indented, blocks nested a thousand deep would take a megabyte of spaces.
            indent_width: 0,
            ..CodegenOptions::default()
        })
        .build(&program);
    let map = printed.map.map(|map| SourceMap::new(&map)).unwrap_or_default();
    Ok(Prepared { javascript: format!("{BEFORE}{}{AFTER}", printed.code), map })
}

/// Fails with the first of the errors among `found`.
fn refuse(text: &str, found: impl Iterator<Item = OxcDiagnostic>) -> Result<(), SyntaxError> {
    for diagnostic in found {
        if diagnostic.severity != Severity::Error {
            continue;
        }
        let offset = diagnostic.labels.first().map_or(0, |label| label.offset());
        let mut message = diagnostic.message.to_string();
        if let Some(help) = &diagnostic.help {
            message.push_str("; ");
            message.push_str(help);
        }
        return Err(SyntaxError { message, position: Position::of(text, offset) });
    }
    Ok(())
}

fn no_modules(statement: &Statement<'_>) -> Option<&'static str> {
    match statement {
        Statement::ImportDeclaration(_) | Statement::TSImportEqualsDeclaration(_) => {
            Some("`import` does not exist here: everything a script can reach is a global, above all `tools`")
        }
        Statement::ExportNamedDeclaration(_)
        | Statement::ExportAllDeclaration(_)
        | Statement::TSExportAssignment(_) => Some("`export` does not exist here: `return` the result"),
        Statement::ExportDefaultDeclaration(_) => {
            Some("`export default` does not exist here yet: write the body of the function and `return` the result")
        }
        _ => None,
    }
}
