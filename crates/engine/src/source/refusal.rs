//! What is no program here, and what to write instead.
//!
//! The parser's own messages are kept where they help. Three faults get better ones, since models make them all the time and
//! the parser cannot know what they meant: prose, JSX, and syntax that types cannot explain away (decorators, `import()`).

use oxc::{
    allocator::Allocator,
    ast::AstKind,
    diagnostics::OxcDiagnostic,
    semantic::AstNodes,
    span::{GetSpan, SourceType},
};

use super::{Position, SyntaxError, parse};

/// The parser's message with its place.
pub(super) fn told(text: &str, fault: &OxcDiagnostic) -> SyntaxError {
    let offset = fault.labels.first().map_or(0, |label| label.offset());
    let mut message = fault.message.to_string();
    if let Some(help) = &fault.help {
        message.push_str("; ");
        message.push_str(help);
    }
    SyntaxError { message, position: Position::of(text, offset) }
}

/// The error for a text that does not parse. `program` is the part of it that was taken for the program, at its place.
pub(super) fn of_text(text: &str, program: &str, fault: OxcDiagnostic) -> SyntaxError {
    let mut error = told(text, &fault);
    // Looking for a better message costs another parse, which only wrong scripts pay.
    if !parse(&Allocator::default(), program, SourceType::tsx()).diagnostics.has_errors() {
        error.message =
            "JSX does not exist here: nothing renders it; return plain data, or build the text with a template string"
                .into();
    } else if let Some(start) = prose(program, error.position.line) {
        error.position = Position::of(text, start);
        error.message =
            "this line is prose and no program; send only the program, or put it into one fenced code block".into();
    }
    error
}

/// Where a line of prose begins that the parser stumbled over. Only makes the message better, so it may be wrong.
fn prose(program: &str, line: u32) -> Option<u32> {
    let content = program.lines().nth(line as usize - 1)?;
    let start = content.as_ptr() as usize - program.as_ptr() as usize;
    let words: Vec<&str> = content.split_whitespace().collect();
    let is_word = |word: &&&str| {
        let core = word.trim_matches([',', '.', ':', ';', '!', '?', '`', '*', '"', '\'']);
        !core.is_empty() && core.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
    };
    let plain = words.iter().take_while(is_word).count();
    let keyword = matches!(
        *words.first()?,
        "const"
            | "let"
            | "var"
            | "return"
            | "if"
            | "for"
            | "while"
            | "function"
            | "async"
            | "await"
            | "class"
            | "throw"
            | "import"
            | "export"
            | "type"
            | "interface"
            | "enum"
            | "declare"
            | "new"
            | "try"
            | "switch"
            | "case"
            | "else"
            | "do"
            | "abstract"
            | "namespace"
            | "public"
            | "private"
            | "static"
            | "yield"
            | "using"
    );
    (plain >= 3 && !keyword).then_some(start as u32)
}

/// Refuses what parses and cannot run here.
pub(super) fn of_tree(text: &str, nodes: &AstNodes<'_>) -> Result<(), SyntaxError> {
    for node in nodes.iter() {
        let message = match node.kind() {
            AstKind::ImportExpression(_) => {
                "`import()` does not exist here: a script cannot load anything; the tools are already in scope, as \
                 `await tools.<source>.<tool>(args)`"
            }
            AstKind::ImportMeta(_) => "`import.meta` does not exist here: a script is no module",
            AstKind::Decorator(_) => {
                "decorators do not exist here; call the function on the class or the value instead"
            }
            AstKind::AccessorProperty(_) => "`accessor` does not exist here; write `get` and `set`, or a plain field",
            AstKind::TSExternalModuleDeclaration(_) => {
                "`declare module` has no use here: nothing can be imported; declare the types themselves"
            }
            _ => continue,
        };
        return Err(SyntaxError { message: message.into(), position: Position::of(text, node.kind().span().start) });
    }
    Ok(())
}
