//! What all sources offered at one moment.
//!
//! Plain data in a fixed order: sources by name, tools by name within. It goes to JSON and back unchanged, since a run keeps
//! the catalog that it started with.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    ops::Range,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{error::Unresolved, name, search::Index, tool::Tool, typescript};

/// How a source is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not yet asked, or its answer is not in yet.
    Connecting,
    /// Its tools are listed and can be called.
    Ready,
    /// Its tools are listed, and something is wrong: calls may fail.
    Degraded,
    /// It has no tools, for the reason given.
    Failed,
}

impl Status {
    /// Returns the word that listings use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
        }
    }
}

/// One source in a catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// Its `type`, as in the config.
    pub r#type: String,
    /// How it is doing.
    pub status: Status,
    /// Why it is not `ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when it is so, in milliseconds since 1970.
    pub since_ms: i64,
    /// How many tools it has here.
    pub tools: usize,
}

/// All tools at one moment. Cheap to share behind an `Arc`, never changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Parts")]
pub struct Catalog {
    tools: Vec<Tool>,
    sources: Vec<SourceStatus>,
    /// Name and identifier of each source that differ.
    #[serde(skip)]
    idents: BTreeMap<String, String>,
    /// Index into `tools` by flat name, made when first asked for.
    #[serde(skip)]
    pub(crate) flat: Made<BTreeMap<String, usize>>,
    /// What search looks into, made when first asked for.
    #[serde(skip)]
    index: Made<Arc<Index>>,
}

/// What follows from the tools and is made when first asked for. It is no part of a catalog's value.
#[derive(Clone, Debug)]
pub(crate) struct Made<T>(pub(crate) OnceLock<T>);

impl<T> Default for Made<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> PartialEq for Made<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[derive(Deserialize)]
struct Parts {
    tools: Vec<Tool>,
    sources: Vec<SourceStatus>,
}

impl From<Parts> for Catalog {
    fn from(parts: Parts) -> Self {
        Self::new(parts.tools, parts.sources)
    }
}

impl Catalog {
    /// Returns the catalog of `tools` and `sources`, in its fixed order.
    #[must_use]
    pub fn new(mut tools: Vec<Tool>, mut sources: Vec<SourceStatus>) -> Self {
        tools.sort_by(|a, b| (&a.source, &a.name).cmp(&(&b.source, &b.name)));
        sources.sort_by(|a, b| a.name.cmp(&b.name));
        let mut names: Vec<&str> =
            sources.iter().map(|s| s.name.as_str()).chain(tools.iter().map(|t| t.source.as_str())).collect();
        names.sort_unstable();
        names.dedup();
        let idents = names
            .iter()
            .zip(name::identifiers(&names))
            .filter(|(name, ident)| *name != ident)
            .map(|(name, ident)| ((*name).to_owned(), ident))
            .collect();
        Self { tools, sources, idents, flat: Made::default(), index: Made::default() }
    }

    /// Returns the catalog without some sources.
    #[must_use]
    pub fn without(&self, is_hidden: impl Fn(&str) -> bool) -> Self {
        let tools = self.tools.iter().filter(|tool| !is_hidden(&tool.source)).cloned().collect();
        Self::new(tools, self.sources.iter().filter(|source| !is_hidden(&source.name)).cloned().collect())
    }

    /// Returns all tools, sources by name and tools by name.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns how each source was doing, by name.
    #[must_use]
    pub fn sources(&self) -> &[SourceStatus] {
        &self.sources
    }

    /// Returns the identifier under which a source is reached beside its name: `my_src` for `my-src`.
    #[must_use]
    pub fn source_ident<'a>(&'a self, source: &'a str) -> &'a str {
        self.idents.get(source).map_or(source, String::as_str)
    }

    /// Returns the expression that reaches a source in a script: `tools.github`.
    #[must_use]
    pub fn source_call(&self, source: &str) -> String {
        format!("tools{}", name::access(if source == "then" { self.source_ident(source) } else { source }))
    }

    /// Finds a tool by source and tool, each by its original name or its identifier.
    ///
    /// # Errors
    ///
    /// [`Unresolved`], with the nearest names, or with the reason why the source is down.
    pub fn resolve(&self, source: &str, tool: &str) -> Result<&Tool, Unresolved> {
        let source_name = self.source_name(source);
        let own = self.of_source(source_name);
        // Names before identifiers: an identifier never equals the name of another tool, so the order is only for speed.
        if let Ok(at) = own.binary_search_by(|probe| probe.name.as_str().cmp(tool)) {
            return Ok(&own[at]);
        }
        own.iter().find(|probe| probe.ident == tool).ok_or_else(|| self.unresolved(source, source_name, tool))
    }

    /// Finds a tool by its path, by the expression that calls it, or by its bare name where only one source has it.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Self::resolve).
    pub fn find(&self, path: &str) -> Result<&Tool, Unresolved> {
        // Sources and tools may have dots in their names, so every dot may be the one between them.
        let splits = path.match_indices('.').map(|(at, _)| (&path[..at], &path[at + 1..]));
        if let Some(tool) = splits.clone().find_map(|(source, tool)| self.resolve(source, tool).ok()) {
            return Ok(tool);
        }
        if let Some(tool) = self.tools.iter().find(|tool| tool.call_expression() == path) {
            return Ok(tool);
        }
        if let Some(rest) = path.strip_prefix("tools.") {
            return self.find(rest);
        }
        let mut bare = self.tools.iter().filter(|tool| tool.name == path || tool.ident == path);
        if let (Some(tool), None) = (bare.next(), bare.next()) {
            return Ok(tool);
        }
        match splits.clone().find(|(source, _)| self.knows(source)).or_else(|| splits.clone().next()) {
            Some((source, tool)) => self.resolve(source, tool),
            None => {
                let paths: Vec<String> = self.tools.iter().map(Tool::path).collect();
                let names = paths.iter().map(String::as_str).chain(self.tools.iter().map(|tool| tool.name.as_str()));
                Err(Unresolved::Unknown {
                    message: format!("unknown tool `{path}`{}", name::did_you_mean(path, names)),
                })
            }
        }
    }

    /// Returns one TypeScript file that declares `tools` and the other globals of a script, and compiles by itself.
    #[must_use]
    pub fn declarations(&self) -> String {
        typescript::declarations(self)
    }

    /// Returns the part of [`declarations`](Self::declarations) that is about the tools, without the globals every script has.
    #[must_use]
    pub fn tool_declarations(&self) -> String {
        typescript::tools(self)
    }

    /// Returns a hash over all tools. Equal whenever the tools are, whatever the sources' health, the order that a server
    /// listed them in, or the order of keys in its schemas.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for tool in &self.tools {
            let value = serde_json::to_value(tool).unwrap_or(Value::Null);
            let mut text = String::new();
            canonical(&value, &mut text);
            hash.update(text.as_bytes());
            hash.update(b"\n");
        }
        hash.finalize().iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Returns the tools of one source.
    pub(crate) fn of_source(&self, source: &str) -> &[Tool] {
        let start = self.tools.partition_point(|tool| tool.source.as_str() < source);
        let end = self.tools.partition_point(|tool| tool.source.as_str() <= source);
        &self.tools[start..end]
    }

    /// Returns where the tools of a namespace are in [`tools`](Self::tools). It may be given as its source's name, as the
    /// identifier, or as flat names begin with it: `mcp__github__`.
    ///
    /// # Errors
    ///
    /// A sentence with the nearest names.
    pub(crate) fn namespace(&self, asked: &str) -> Result<Range<usize>, String> {
        let bare = asked.strip_prefix("mcp__").map(|name| name.strip_suffix("__").unwrap_or(name));
        let spellings = [Some(asked), asked.strip_prefix("tools."), bare];
        match spellings.into_iter().flatten().find(|name| self.knows(name)) {
            Some(known) => {
                let source = self.source_name(known);
                let start = self.tools.partition_point(|tool| tool.source.as_str() < source);
                Ok(start..start + self.of_source(source).len())
            }
            None => match self.unresolved(asked, asked, "") {
                Unresolved::Unknown { message } | Unresolved::SourceDown { message } => Err(message),
            },
        }
    }

    pub(crate) fn index(&self) -> &Index {
        self.index.0.get_or_init(|| Arc::new(Index::new(self)))
    }

    fn source_name<'a>(&'a self, source: &'a str) -> &'a str {
        self.idents.iter().find(|(_, ident)| *ident == source).map_or(source, |(name, _)| name)
    }

    fn knows(&self, source: &str) -> bool {
        let source = self.source_name(source);
        self.sources.iter().any(|probe| probe.name == source) || !self.of_source(source).is_empty()
    }

    fn unresolved(&self, asked: &str, source: &str, tool: &str) -> Unresolved {
        let status = self.sources.iter().find(|probe| probe.name == source);
        let own = self.of_source(source);
        if status.is_none() && own.is_empty() {
            let mut names: Vec<&str> = self.sources.iter().map(|s| s.name.as_str()).collect();
            names.extend(self.tools.iter().map(|t| t.source.as_str()));
            names.sort_unstable();
            names.dedup();
            let all = if names.is_empty() {
                "; no sources are configured".to_owned()
            } else {
                format!("; there are {}", list(&names))
            };
            let near = name::did_you_mean(asked, names.iter().copied());
            let message = format!("no source `{asked}`{}", if near.is_empty() { all } else { near });
            return Unresolved::Unknown { message };
        }
        if let Some(status) = status
            && matches!(status.status, Status::Connecting | Status::Failed)
        {
            let reason = match (&status.reason, status.status) {
                (Some(reason), _) => reason.as_str(),
                (None, Status::Connecting) => "it has not listed its tools yet",
                (None, _) => "no reason given",
            };
            return Unresolved::SourceDown { message: format!("source `{source}` is down: {reason}") };
        }
        let near = name::did_you_mean(tool, own.iter().map(|tool| tool.name.as_str()));
        let names: Vec<&str> = own.iter().map(|tool| tool.name.as_str()).collect();
        let rest = match (near.is_empty(), names.is_empty()) {
            (false, _) => near,
            (true, true) => format!("; source `{source}` has no tools"),
            (true, false) => format!("; source `{source}` has {}", list(&names)),
        };
        Unresolved::Unknown { message: format!("unknown tool `{source}.{tool}`{rest}") }
    }
}

/// Returns at most eight names and how many more there are.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", name::readable(name))).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Writes `value` with the keys of every object sorted.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&name::quoted(key));
                out.push(':');
                canonical(item, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
}
