//! Positions in a script, and the map from what ran to what was sent.
//!
//! A line ends at `\n` and a column counts characters, as an editor shows them. The parser's map counts otherwise: lines end
//! at every JavaScript line terminator and columns are UTF-16 units. The engine's stacks count columns in bytes. All three
//! agree on plain ASCII; for anything else the map is translated once, when it is made.

use crate::source::{Frame, LINES_BEFORE};

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// Where the lines of a text begin, for whoever asks for many positions. Each takes the same time, however long a line is.
pub(crate) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// How many characters come before each block of bytes.
    characters: Vec<usize>,
}

/// Bytes that are counted again for each position.
const BLOCK: usize = 1024;

impl<'t> Lines<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after).collect();
        let mut before = 0;
        let blocks = text.as_bytes().chunks(BLOCK).map(|block| {
            let here = before;
            before += characters_in(block);
            here
        });
        Self { text, starts, characters: blocks.collect() }
    }

    /// The position of byte `offset`.
    pub(crate) fn position(&self, offset: u32) -> Position {
        let offset = self.text.floor_char_boundary(offset as usize);
        let line = self.starts.partition_point(|start| *start <= offset);
        let column = self.characters_before(offset) - self.characters_before(self.starts[line - 1]);
        Position { line: line as u32, column: column as u32 + 1 }
    }

    fn characters_before(&self, offset: usize) -> usize {
        match self.characters.get(offset / BLOCK) {
            Some(before) => before + characters_in(&self.text.as_bytes()[offset / BLOCK * BLOCK..offset]),
            // The end of a text that fills its last block, or is empty.
            None => self.text.chars().count(),
        }
    }
}

/// How many characters begin in `bytes`.
fn characters_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

/// From positions in the JavaScript that ran to positions in the text that was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    /// Generated line and column, original line and column, all from 0, ascending by the first two.
    tokens: Vec<[u32; 4]>,
    json: String,
}

impl SourceMap {
    /// `text` is what was sent and `code` what was made of it.
    pub(crate) fn new(map: &oxc_sourcemap::SourceMap<'_>, text: &str, code: &str) -> Self {
        let mut tokens = tokens(map);
        if !is_plain(text) || !is_plain(code) {
            let (from, to) = (Units::of(code), Units::of(text));
            for token in &mut tokens {
                let (line, column) = from.place(token[0], token[1], BYTES);
                let (source_line, source_column) = to.place(token[2], token[3], CHARACTERS);
                *token = [line, column, source_line, source_column];
            }
            tokens.sort_unstable();
        }
        let kept = tokens.iter().map(|[line, column, source_line, source_column]| {
            oxc_sourcemap::Token::new(*line, *column, *source_line, *source_column, Some(0), None)
        });
        // Without the text itself, which the journal has already.
        let slim = oxc_sourcemap::SourceMap::from_parts(oxc_sourcemap::SourceMapParts {
            file: None,
            names: Vec::new(),
            source_root: None,
            sources: map.get_sources().map(|name| name.to_owned().into()).collect(),
            source_contents: Vec::new(),
            tokens: kept.collect(),
            token_chunks: None,
            x_google_ignore_list: None,
            debug_id: None,
        });
        Self { tokens, json: slim.to_json_string() }
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

/// Whether all ways of counting agree on `text`.
fn is_plain(text: &str) -> bool {
    text.is_ascii() && !text.contains('\r')
}

/// From lines and columns as the parser's map counts them to ours. Every look-up takes the same time, however long a line is.
struct Units {
    /// The byte and the character at which each UTF-16 unit begins, and the end.
    places: Vec<[u32; 2]>,
    /// The unit at which each line of the map begins.
    lines: Vec<usize>,
    /// The byte and the character at which each line that ends with `\n` begins.
    starts: Vec<[u32; 2]>,
}

const BYTES: usize = 0;
const CHARACTERS: usize = 1;

impl Units {
    fn of(text: &str) -> Self {
        let mut units = Self { places: Vec::new(), lines: vec![0], starts: vec![[0, 0]] };
        for (index, (at, c)) in text.char_indices().enumerate() {
            units.places.extend(std::iter::repeat_n([at as u32, index as u32], c.len_utf16()));
            let after = at + c.len_utf8();
            if c == '\n' {
                units.starts.push([after as u32, index as u32 + 1]);
            }
            if matches!(c, '\n' | '\u{2028}' | '\u{2029}') || (c == '\r' && !text[after..].starts_with('\n')) {
                units.lines.push(units.places.len());
            }
        }
        units.places.push([text.len() as u32, text.chars().count() as u32]);
        units
    }

    /// The line and the column in `measure`, both from 0.
    fn place(&self, line: u32, column: u32, measure: usize) -> (u32, u32) {
        let unit = self.lines.get(line as usize).map_or(usize::MAX, |start| start.saturating_add(column as usize));
        let place = self.places.get(unit).unwrap_or(&self.places[self.places.len() - 1]);
        let line = self.starts.partition_point(|start| start[BYTES] <= place[BYTES]) - 1;
        (line as u32, place[measure] - self.starts[line][measure])
    }
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
