//! Positions in a script, and the map from what ran to what was sent.

use crate::source::{Frame, LINES_BEFORE};

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The position of byte `offset`.
    pub(crate) fn of(text: &str, offset: u32) -> Self {
        let before = &text[..text.floor_char_boundary(offset as usize)];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self { line, column: before[start..].chars().count() as u32 + 1 }
    }
}

/// From positions in the JavaScript that ran to positions in the text that was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    /// Generated line and column, original line and column, all from 0, ascending by the first two.
    tokens: Vec<[u32; 4]>,
    json: String,
}

impl SourceMap {
    pub(crate) fn new(map: &oxc_sourcemap::SourceMap<'_>) -> Self {
        // Without the text itself, which the journal has already.
        let mut slim = map.clone();
        slim.set_source_contents(Vec::new());
        Self { tokens: tokens(map), json: slim.to_json_string() }
    }

    /// Reads the stored form, a source map of version 3. A text that is none gives a map that knows no position.
    pub fn from_json(json: &str) -> Self {
        match oxc_sourcemap::SourceMap::from_json_string(json) {
            Ok(map) => Self { tokens: tokens(&map), json: json.to_owned() },
            Err(_) => Self::default(),
        }
    }

    /// The stored form.
    pub fn to_json(&self) -> &str {
        &self.json
    }

    /// Where the place of a frame lies in the text that was sent. None when the map does not know.
    pub fn original(&self, frame: &Frame) -> Option<Position> {
        let line = frame.line.checked_sub(1 + LINES_BEFORE)?;
        let column = frame.column.saturating_sub(1);
        let after = self.tokens.partition_point(|[l, c, ..]| (*l, *c) <= (line, column));
        let at = match after.checked_sub(1).map(|index| self.tokens[index]) {
            Some(token) if token[0] == line => token,
            // Before the line's first token: that token is the nearest.
            _ => *self.tokens.get(after).filter(|token| token[0] == line)?,
        };
        Some(Position { line: at[2] + 1, column: at[3] + 1 })
    }
}

fn tokens(map: &oxc_sourcemap::SourceMap<'_>) -> Vec<[u32; 4]> {
    let mut tokens: Vec<_> = map
        .get_tokens()
        .filter(|token| token.get_source_id().is_some())
        .map(|token| [token.get_dst_line(), token.get_dst_col(), token.get_src_line(), token.get_src_col()])
        .collect();
    tokens.sort_unstable();
    tokens
}

/// The lines around `position` with a caret under it:
///
/// ```text
///   6 | const rows = [];
/// > 7 | throw new Error("boom");
///     | ^
/// ```
pub fn code_frame(text: &str, position: Position) -> String {
    let line = position.line as usize;
    let last = line + 1;
    let width = last.to_string().len();
    let mut frame = String::new();
    for (index, content) in text.lines().enumerate().map(|(index, content)| (index + 1, content)) {
        if index + 2 < line || index > last {
            continue;
        }
        // A line may be a megabyte long; what helps is near the caret.
        let column = position.column as usize;
        let skip = if index == line { column.saturating_sub(80) } else { 0 };
        let shown: String = content.chars().skip(skip).take(120).map(|c| if c == '\t' { ' ' } else { c }).collect();
        let mark = if index == line { '>' } else { ' ' };
        frame.push_str(format!("{mark} {index:>width$} | {shown}").trim_end());
        frame.push('\n');
        if index == line {
            frame.push_str(&format!("  {:width$} | {}^\n", "", " ".repeat(column.saturating_sub(1 + skip).min(200))));
        }
    }
    frame
}
