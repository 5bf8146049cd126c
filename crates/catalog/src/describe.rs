//! Everything about tools that were asked for by name.
//!
//! A name that leads nowhere is an answer of its own, with the nearest names, and takes none of the others along. Patterns
//! give at most [`MOST_FIT`] tools, and say so when there were more.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{catalog::Catalog, dialect::Dialect, error::Unresolved, example, glob::Glob, tool::Tool};

/// Tools that one pattern gives.
const MOST_FIT: usize = 200;
/// Names that are looked at in one go.
const MOST_NAMES: usize = 1_000;

/// Everything about one tool, for a person or a model that asked for it by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Its path.
    pub path: String,
    /// The expression that reaches it.
    pub call: String,
    /// The call with its types on one line.
    pub signature: String,
    /// The TypeScript type of what it takes.
    pub input: String,
    /// The TypeScript type of what it gives.
    pub output: String,
    /// A call that passes the check of arguments, with what has to be there and no more. None where none could be made up.
    pub example: Option<String>,
    /// The tool.
    #[serde(flatten)]
    pub tool: Tool,
    /// What its settings say in vain. For a person.
    #[serde(default, skip)]
    pub vain: Vec<String>,
}

/// One of the tools that were asked for, or why there is none.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The name or pattern that was asked for.
    pub name: &'a str,
    /// The tool, or what is wrong with the name.
    pub found: Result<&'a Tool, Unresolved>,
}

impl Catalog {
    /// Returns the tools that `names` mean, in their order: paths as for [`find`](Self::find), flat names, and patterns with
    /// `*` and `?`. What a pattern gives that is there already is left out.
    #[must_use]
    pub fn select<'a>(&'a self, names: impl IntoIterator<Item = &'a str>) -> Vec<Asked<'a>> {
        let mut asked = Vec::new();
        let mut seen: HashSet<*const Tool> = HashSet::new();
        for name in names.into_iter().take(MOST_NAMES) {
            match self.flat(name).map_or_else(|| self.find(name), Ok) {
                Ok(tool) => {
                    seen.insert(tool);
                    asked.push(Asked { name, found: Ok(tool) });
                }
                Err(_) if name.contains(['*', '?']) => {
                    let fitting: Vec<&Tool> = self.fitting(name).collect();
                    let fresh = fitting.iter().filter(|tool| seen.insert(**tool)).take(MOST_FIT);
                    asked.extend(fresh.map(|tool| Asked { name, found: Ok(*tool) }));
                    if let Some(message) = pattern_fault(name, fitting.len()) {
                        asked.push(Asked { name, found: Err(Unresolved::Unknown { message }) });
                    }
                }
                Err(unresolved) => asked.push(Asked { name, found: Err(unresolved) }),
            }
        }
        asked
    }

    /// Returns everything about a tool, with the expression that calls it in a script of `dialect`.
    #[must_use]
    pub fn description_of(&self, tool: &Tool, dialect: Option<&Dialect>) -> Description {
        let call = self.call_in(tool, dialect);
        let (input, output) = tool.types();
        Description {
            path: tool.path(),
            signature: self.signature_in(tool, dialect),
            input,
            output,
            example: example::arguments(tool).map(|args| format!("await {call}({args})")),
            call,
            tool: tool.clone(),
            vain: self.vain_settings(tool),
        }
    }

    /// Returns the call with its types on one line, as a script of `dialect` makes it.
    #[must_use]
    pub fn signature_in(&self, tool: &Tool, dialect: Option<&Dialect>) -> String {
        let (signature, own) = (tool.signature(), tool.call_expression());
        match signature.strip_prefix(&own) {
            Some(rest) => format!("{}{rest}", self.call_in(tool, dialect)),
            None => signature,
        }
    }

    /// Returns the tools whose path fits a pattern, by their names or their identifiers.
    fn fitting(&self, pattern: &str) -> impl Iterator<Item = &Tool> {
        let glob = Glob::new(pattern.strip_prefix("tools.").unwrap_or(pattern));
        self.tools().iter().filter(move |tool| {
            glob.matches(&tool.path()) || glob.matches(&format!("{}.{}", self.source_ident(&tool.source), tool.ident))
        })
    }
}

fn pattern_fault(pattern: &str, fitting: usize) -> Option<String> {
    match fitting {
        0 => Some(format!(
            "no tool fits `{pattern}`; `github.*` means every tool of `github`, `*.list_*` those that list"
        )),
        1..=MOST_FIT => None,
        more => Some(format!("`{pattern}` fits {more} tools, of which {MOST_FIT} are here; write a narrower pattern")),
    }
}
