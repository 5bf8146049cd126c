//! One frame of a script's stack.

use serde::{Deserialize, Serialize};

/// A place in a script, as a stack shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function's name; none for the script's own body and for functions without one.
    pub function: Option<String>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Frame {
    /// Reads the engine's lines, `at name (script:3:7)` or `name (script:3:7)`. Lines of other files are left out, and so is
    /// whatever does not look like a frame: a script may have written the text.
    pub fn parse_all(stack: &str) -> Vec<Self> {
        stack.lines().filter_map(Self::parse).take(32).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let line = line.strip_prefix("at ").unwrap_or(line);
        let (name, place) = match line.rsplit_once('(') {
            Some((name, place)) => (name.trim(), place.strip_suffix(')')?),
            None => ("", line),
        };
        let (line, column) = place.strip_prefix("script:")?.split_once(':')?;
        let name = (!name.is_empty() && !name.starts_with('<')).then(|| name.to_owned());
        Some(Self { function: name, line: line.parse().ok()?, column: column.parse().ok()? })
    }
}
