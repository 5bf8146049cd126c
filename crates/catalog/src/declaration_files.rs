//! The declarations as files, one for each source, for editors and for agents that look at a folder.
//!
//! Each file compiles alone, and so do all of them together: a source's types are in a namespace of its own, and it adds its
//! tools to one interface that every file may add to. What stands in a file depends on its source alone, so that a change of
//! one source changes one file.

use std::{collections::HashSet, fmt::Write as _};

use crate::{catalog::Catalog, name};

/// The first line of every file. Whoever writes them knows its own by it.
pub const DECLARATION_MARK: &str =
    "// Written by `refrain types --out`. What is changed here is lost at the next time.";

/// The file with everything that is not a tool.
const GLOBALS: &str = "refrain";
/// File systems end at 255 bytes.
const LONGEST: usize = 100;
/// Names that Windows keeps for devices, whatever the ending.
const DEVICES: &[&str] = &["aux", "con", "nul", "prn"];

/// One file of declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationFile {
    /// Its name, which no other file of the catalog has, in whatever case.
    pub name: String,
    /// The source that it is about; none for the file with the globals.
    pub source: Option<String>,
    /// What it holds; none where the source is down, so that nobody knows.
    pub text: Option<String>,
}

impl Catalog {
    /// Returns the declarations as files: one with the globals and one for each source.
    #[must_use]
    pub fn declaration_files(&self) -> Vec<DeclarationFile> {
        let empty = Self::default();
        let globals = empty.declarations();
        let globals = globals.strip_suffix(&empty.tool_declarations()).unwrap_or(&globals).trim_end();
        let tools = "/** Every tool of every source. */\ninterface RefrainTools {}\ndeclare const tools: RefrainTools;";
        let mut taken = HashSet::from([GLOBALS.to_owned()]);
        let mut files = vec![DeclarationFile {
            name: format!("{GLOBALS}.d.ts"),
            source: None,
            text: Some(format!("{DECLARATION_MARK}\n\n{globals}\n\n{tools}\n")),
        }];
        let mut sources: Vec<&str> = self.sources().iter().map(|source| source.name.as_str()).collect();
        sources.extend(self.tools().iter().map(|tool| tool.source.as_str()));
        sources.sort_unstable();
        sources.dedup();
        for source in sources {
            let name = format!("{}.d.ts", file_name(self.source_ident(source), &mut taken));
            files.push(DeclarationFile { name, source: Some(source.to_owned()), text: self.source_file(source) });
        }
        files
    }

    fn source_file(&self, source: &str) -> Option<String> {
        let own = self.of_source(source);
        let down = |status: crate::Status| !matches!(status, crate::Status::Ready | crate::Status::Degraded);
        if own.is_empty() && self.sources().iter().any(|probe| probe.name == source && down(probe.status)) {
            return None;
        }
        let alone = Self::new(own.to_vec(), Vec::new());
        let ident = self.source_ident(source);
        let mut text = format!("{DECLARATION_MARK}\n\ndeclare namespace Refrain_{ident} {{\n");
        // Inside a namespace that is declared, everything is.
        for line in alone.tool_declarations().lines() {
            match line.strip_prefix("declare ").unwrap_or(line) {
                "" => text.push('\n'),
                line => {
                    let _ = writeln!(text, "  {line}");
                }
            }
        }
        text.push_str("}\n\ninterface RefrainTools {\n");
        if !own.is_empty() {
            let here = if source == "then" { alone.source_ident(source) } else { source };
            let tools = format!("(typeof Refrain_{ident}.tools)[{}]", name::quoted(here));
            let mut keys = vec![source, ident];
            // It would make `tools` a promise.
            keys.retain(|key| *key != "then");
            keys.dedup();
            for key in keys {
                let _ = writeln!(text, "  {}: {tools};", name::key(key));
            }
        }
        text.push_str("}\n");
        Some(text)
    }
}

/// Returns a name for a file that none of `taken` has.
fn file_name(ident: &str, taken: &mut HashSet<String>) -> String {
    // Identifiers are ASCII, so every cut is between characters.
    let wanted = ident[..ident.len().min(LONGEST)].to_owned();
    let wanted = if DEVICES.contains(&wanted.to_lowercase().as_str()) { format!("{wanted}_") } else { wanted };
    let free = std::iter::once(wanted.clone())
        .chain((2..).map(|n| format!("{wanted}_{n}")))
        .find(|name| !taken.contains(&name.to_lowercase()))
        .unwrap_or(wanted);
    taken.insert(free.to_lowercase());
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Tool;

    #[test]
    fn every_source_has_a_file_of_its_own_in_every_file_system() {
        let long = "x".repeat(300);
        let sources = ["refrain", "Depot", "depot", "-Depot", "con", "a/b", "..", &long];
        let catalog = Catalog::new(sources.iter().map(|source| Tool::new(*source, "t")).collect(), Vec::new());
        let names: Vec<String> = catalog.declaration_files().into_iter().map(|file| file.name).collect();
        let folded: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(folded.len(), sources.len() + 1, "{names:?}");
        assert!(names.iter().all(|name| name.len() < 200 && !name.contains(['/', '\\']) && !name.starts_with('.')));
        assert!(names.contains(&"con_.d.ts".to_owned()) && names.contains(&"refrain_2.d.ts".to_owned()), "{names:?}");
    }

    #[test]
    fn a_file_adds_its_source_to_the_tools_under_each_of_its_names() {
        let catalog = Catalog::new(vec![Tool::new("my-src", "get-it")], Vec::new());
        let files = catalog.declaration_files();
        insta::assert_snapshot!(files[1].text.as_deref().unwrap_or_default(), @r#"
        // Written by `refrain types --out`. What is changed here is lost at the next time.

        declare namespace Refrain_my_src {
          interface Tools_my_src {
            /**
             * @effect write
             * @throws {ToolError}
             */
            "get-it"(args?: { [key: string]: unknown }): Promise<unknown>;
            get_it: Tools_my_src["get-it"];
          }

          const tools: {
            "my-src": Tools_my_src;
            my_src: Tools_my_src;
          };
        }

        interface RefrainTools {
          "my-src": (typeof Refrain_my_src.tools)["my-src"];
          my_src: (typeof Refrain_my_src.tools)["my-src"];
        }
        "#);
    }
}
