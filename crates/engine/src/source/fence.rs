//! Markdown round a program: which part of the text is the program.
//!
//! The text is masked and not cut: what is no program becomes spaces, and every position stays that of the text that was sent.
//!
//! Whether there is Markdown at all is decided by the parser and not here. A text that parses is a program, unless it is one
//! only by accident: to JavaScript, a fence is an empty template that is called as the tag of another, which can only throw.

use std::ops::Range;

use oxc::{
    ast::ast::{Program, TaggedTemplateExpression},
    ast_visit::{Visit, walk},
};

use super::{Position, SyntaxError};

/// A fenced block.
struct Block {
    /// Where its first backtick or tilde stands.
    fence: usize,
    content: Range<usize>,
    closed: bool,
}

/// The fenced blocks of `text`, by the rules of CommonMark for fences that are not nested in a list or a quotation.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // The character and the length of the fence that is open.
    let mut open: Option<(char, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        let Some(mark) = body.chars().next().filter(|mark| matches!(mark, '`' | '~') && indent <= 3) else { continue };
        let length = body.len() - body.trim_start_matches(mark).len();
        let info = body[length..].trim();
        match open {
            Some((kind, least)) => {
                if mark == kind && length >= least && info.is_empty() {
                    if let Some(block) = blocks.last_mut() {
                        block.content.end = start;
                        block.closed = true;
                    }
                    open = None;
                }
            }
            None => {
                if length >= 3 && !(mark == '`' && info.contains('`')) {
                    blocks.push(Block { fence: start + indent, content: end..text.len(), closed: false });
                    open = Some((mark, length));
                }
            }
        }
    }
    blocks
}

/// Whether `text` may hold a fence. Cheap, and true for some texts without one.
pub(super) fn may_be(text: &str) -> bool {
    text.contains("```") || text.contains("~~~")
}

/// Whether `program` parsed only because a fence happens to be JavaScript.
pub(super) fn is_accident(program: &Program<'_>, text: &str) -> bool {
    struct Tags<'b> {
        blocks: &'b [Block],
        found: bool,
    }
    impl<'a> Visit<'a> for Tags<'_> {
        fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
            // The third backtick of a fence.
            let fence = (it.quasi.span.start as usize).wrapping_sub(2);
            self.found |= self.blocks.binary_search_by_key(&fence, |block| block.fence).is_ok();
            walk::walk_tagged_template_expression(self, it);
        }
    }
    let blocks = blocks(text);
    // A fence of tildes parses as three operators. Nobody negates something three times at the start of a line.
    if blocks.iter().any(|block| text[block.fence..].starts_with('~')) {
        return true;
    }
    let mut tags = Tags { blocks: &blocks, found: false };
    tags.visit_program(program);
    tags.found
}

/// Where the one program lies in a text that does not parse as it stands. None when nothing in it is fenced.
pub(super) fn program(text: &str) -> Result<Option<Range<usize>>, SyntaxError> {
    let blocks = blocks(text);
    let Some(first) = blocks.first() else { return Ok(None) };
    let before = &text[..first.fence];
    // A fence inside a comment or a template belongs to a program that is wrong elsewhere.
    let in_comment = before.rfind("/*").is_some_and(|open| !before[open..].contains("*/"));
    let in_template = before.matches('`').count() % 2 == 1;
    if in_comment || in_template {
        return Ok(None);
    }
    let refuse = |at: usize, message: String| Err(SyntaxError { message, position: Position::of(text, at as u32) });
    if let Some(second) = blocks.get(1) {
        return refuse(
            second.fence,
            format!(
                "the text has {} fenced code blocks, and which of them is the program is not clear; send one block",
                blocks.len()
            ),
        );
    }
    if !first.closed {
        return refuse(
            first.fence,
            "the fenced code block that begins here is not closed, so the program may be cut short; send it whole"
                .into(),
        );
    }
    Ok(Some(first.content.clone()))
}

/// `text` with spaces in place of everything outside `program`, byte for byte.
pub(super) fn masked(text: &str, program: &Range<usize>) -> String {
    let blank = |part: &str| -> String { part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    let mut masked = blank(&text[..program.start]);
    masked.push_str(&text[program.clone()]);
    masked.push_str(&blank(&text[program.end..]));
    masked
}
