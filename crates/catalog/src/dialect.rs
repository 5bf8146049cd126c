//! The same tools under the names that other systems taught models.
//!
//! A dialect is a table: which global holds the tools, whether they lie flat in it or by source, and what else exists under which
//! name. The script environment of the engine is built from it; nothing else knows dialects.

use std::collections::BTreeMap;

use crate::{catalog::Catalog, name, tool::Tool};

/// One dialect.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Its name in settings.
    pub name: &'static str,
    /// The global that holds the tools.
    pub root: &'static str,
    /// Whether tools lie in it directly, and not by source.
    pub flat: bool,
    /// Functions in `root` beside the tools, with the global that each is.
    pub members: &'static [(&'static str, &'static str)],
    /// More globals, with the global that each is.
    pub globals: &'static [(&'static str, &'static str)],
    /// A global that lists all tools as `{name, description}`.
    pub list: Option<&'static str>,
}

const NONE: &[(&str, &str)] = &[];

/// Every dialect. The first is ours.
pub const DIALECTS: &[Dialect] = &[
    Dialect { name: "refrain", root: "tools", flat: false, members: NONE, globals: NONE, list: None },
    Dialect { name: "cloudflare", root: "codemode", flat: true, members: NONE, globals: NONE, list: None },
    Dialect { name: "ordering", root: "codemode", flat: true, members: NONE, globals: NONE, list: None },
    Dialect { name: "pi", root: "tools", flat: true, members: NONE, globals: NONE, list: Some("ALL_TOOLS") },
    Dialect {
        name: "opencode",
        root: "tools",
        flat: false,
        members: NONE,
        globals: &[("search", "searchTools")],
        list: None,
    },
    Dialect {
        name: "polylane",
        root: "tools",
        flat: true,
        members: &[("__describe", "describeByName")],
        globals: NONE,
        list: None,
    },
];

impl Dialect {
    /// Finds a dialect by its name.
    ///
    /// # Errors
    ///
    /// A sentence with the names that there are.
    pub fn find(name: &str) -> Result<&'static Self, String> {
        DIALECTS.iter().find(|dialect| dialect.name == name).ok_or_else(|| {
            let names = DIALECTS.iter().map(|dialect| dialect.name);
            let near = name::did_you_mean(name, names.clone());
            let all: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            format!("no dialect `{name}`{near}; there are {}", all.join(", "))
        })
    }
}

impl Catalog {
    /// Returns the expression that reaches a tool in a script of `dialect`, as it can be typed.
    #[must_use]
    pub fn call_in(&self, tool: &Tool, dialect: Option<&Dialect>) -> String {
        let Some(dialect) = dialect.filter(|dialect| dialect.flat) else { return tool.call_expression() };
        let source = self.source_ident(&tool.source);
        let taught = [
            format!("mcp__{source}__{}", tool.ident),
            tool.ident.clone(),
            camel(&format!("{source}_{}", tool.ident)),
            format!("mcp__{}__{}", tool.source, tool.name),
        ];
        let means_it = |name: &&String| {
            self.flat(name).is_some_and(|known| (&known.source, &known.name) == (&tool.source, &tool.name))
        };
        // Pi taught the first form, the others the second and third.
        let first = usize::from(dialect.list.is_none());
        let found = taught[first..].iter().find(means_it).or_else(|| taught.iter().find(means_it));
        format!("{}{}", dialect.root, name::access(found.unwrap_or(&tool.name)))
    }

    /// Returns the tool that a flat name means: `mcp__github__list_issues`, `githubListIssues`, and `list_issues` where only one
    /// source has such a tool. Where two tools would have one name, neither has it.
    #[must_use]
    pub fn flat(&self, name: &str) -> Option<&Tool> {
        Some(&self.tools()[*self.flat_index().get(name)?])
    }

    /// Returns every flat name with its tool, by name.
    pub fn flat_names(&self) -> impl Iterator<Item = (&str, &Tool)> {
        self.flat_index().iter().map(|(name, index)| (name.as_str(), &self.tools()[*index]))
    }

    fn flat_index(&self) -> &BTreeMap<String, usize> {
        self.flat.0.get_or_init(|| {
            let mut names: BTreeMap<String, Option<usize>> = BTreeMap::new();
            for (index, tool) in self.tools().iter().enumerate() {
                let source = self.source_ident(&tool.source);
                let mut spellings = vec![camel(&format!("{source}_{}", tool.ident))];
                for spelling in [&tool.name, &tool.ident] {
                    spellings.push(spelling.clone());
                    spellings.push(format!("mcp__{}__{spelling}", tool.source));
                    spellings.push(format!("mcp__{source}__{spelling}"));
                }
                for spelling in spellings {
                    let entry = names.entry(spelling).or_insert(Some(index));
                    if *entry != Some(index) {
                        *entry = None;
                    }
                }
            }
            names.into_iter().filter_map(|(name, index)| Some((name, index?))).collect()
        })
    }
}

/// Returns `githubListIssues` for `github_list_issues`. Capitals inside a word stay.
fn camel(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        if out.is_empty() {
            out.push_str(&first.to_ascii_lowercase());
        } else {
            out.push_str(&first.to_ascii_uppercase());
        }
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_names_are_those_that_mean_one_tool() {
        let tools = vec![
            Tool::new("github", "list_issues"),
            Tool::new("my-src", "list-items"),
            Tool::new("other", "list_issues"),
        ];
        let catalog = Catalog::new(tools, Vec::new());
        let names: Vec<String> = catalog.flat_names().map(|(name, tool)| format!("{name} = {}", tool.path())).collect();
        insta::assert_snapshot!(names.join("\n"), @"
        githubListIssues = github.list_issues
        list-items = my-src.list-items
        list_items = my-src.list-items
        mcp__github__list_issues = github.list_issues
        mcp__my-src__list-items = my-src.list-items
        mcp__my-src__list_items = my-src.list-items
        mcp__my_src__list-items = my-src.list-items
        mcp__my_src__list_items = my-src.list-items
        mcp__other__list_issues = other.list_issues
        mySrcListItems = my-src.list-items
        otherListIssues = other.list_issues
        ");
    }

    #[test]
    fn an_unknown_dialect_is_answered_with_those_there_are() {
        assert!(Dialect::find("polylan").unwrap_err().contains("did you mean `polylane`?"));
        assert_eq!(Dialect::find("pi").unwrap().root, "tools");
    }
}
