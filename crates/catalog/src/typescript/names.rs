//! Names of types in a file: legal, unique, and shared where two tools mean the same type.
//!
//! A name is `Source_Hint`. Nothing that TypeScript or a script declares has a `_` in it, so no name hides one of those.
//! Servers repeat a definition in every tool that uses it. Definitions of one source that are equal, with all that they lead
//! to, become one type.

use std::collections::{HashMap, HashSet};

use super::{
    print::Printer,
    settle,
    shape::{Definition, Type},
};

/// How each definition that is used is called.
pub(super) type Names = HashMap<usize, String>;

/// Definitions longer than this with all that they lead to are not compared with others.
const MAX_COMPARED: usize = 20_000;
/// A tool with more definitions has none compared.
const MAX_SHARED: usize = 300;

/// Gives names.
#[derive(Default)]
pub(super) struct Namer {
    taken: HashSet<String>,
    /// The names of what has been written, by source and text.
    shared: HashMap<(String, String), String>,
}

impl Namer {
    pub(super) fn reserve(&mut self, name: String) {
        self.taken.insert(name);
    }

    /// Returns the name of each definition that `types` need, and which of them are still to be written, in order.
    pub(super) fn name(
        &mut self,
        source: &str,
        tool: &str,
        definitions: &[Definition],
        types: &[&Type],
    ) -> (Names, Vec<usize>) {
        let used = settle::reachable(definitions, types);
        let mut names = Names::new();
        let mut new = Vec::new();
        for &place in &used {
            let key = (used.len() <= MAX_SHARED).then(|| text(definitions, place)).flatten();
            let key = key.map(|text| (source.to_owned(), text));
            if let Some(name) = key.as_ref().and_then(|key| self.shared.get(key)) {
                names.insert(place, name.clone());
                continue;
            }
            let name = self.free(source, tool, &definitions[place].hint);
            if let Some(key) = key {
                self.shared.insert(key, name.clone());
            }
            names.insert(place, name);
            new.push(place);
        }
        (names, new)
    }

    fn free(&mut self, source: &str, tool: &str, hint: &str) -> String {
        let mut source = pascal(source);
        if !source.starts_with(|c: char| c.is_ascii_alphabetic()) {
            source.insert(0, '_');
        }
        let hint = Some(pascal(hint)).filter(|hint| !hint.is_empty()).unwrap_or_else(|| "Part".to_owned());
        let short = format!("{source}_{hint}");
        let long = format!("{source}_{}_{hint}", pascal(tool));
        let numbered = (2_u64..).map(|number| format!("{long}{number}"));
        let mut wanted = [short, long.clone()].into_iter().chain(numbered);
        // There are more numbers than names.
        let name = wanted.find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }
}

/// Returns a definition and all that it leads to as text, in which names are numbers. Equal for equal types.
fn text(definitions: &[Definition], place: usize) -> Option<String> {
    let used = settle::reachable(definitions, &[&Type::Named(place)]);
    let names: Names = used.iter().enumerate().map(|(number, place)| (*place, format!("#{number}"))).collect();
    let mut printer = Printer::default();
    printer.line(&pascal(&definitions[place].hint));
    for place in used {
        printer.definition(&definitions[place], &names[&place], &names);
        if printer.len() > MAX_COMPARED {
            return None;
        }
    }
    Some(printer.finish())
}

/// Returns `ListCommits` for `list_commits`, with nothing in it that an identifier cannot have.
pub(super) fn pascal(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.extend(chars);
    }
    out
}
