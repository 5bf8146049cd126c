//! Settings of sources: plain data with the defaults in, checked once.
//!
//! `cli` reads files and turns them into these. Nothing here reads a file or a variable; [`Environment`] is what the
//! program around us lends.

use std::{ffi::OsString, fmt, path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value;

pub use crate::command::{CommandTool, CommandToolSettings, Output, OutputFormat};
pub use crate::secrets::Secrets;
pub use crate::source::{
    functions::{Functions, SharedFunctions},
    question::{Answer, Elicit, Question},
};
use crate::{
    glob::Glob,
    observed::Observed,
    tool::{Effect, Permission, Replay, Retry},
};

/// One source: where tools come from, and what is believed and allowed there.
#[derive(Clone, Debug)]
pub struct SourceSettings {
    /// Its name, which is the first part of every path. Not empty.
    pub name: String,
    /// What it is and how it is reached.
    pub kind: SourceKind,
    /// Only tools whose name matches one of these. Empty means all.
    pub include: Vec<Glob>,
    /// No tools whose name matches one of these.
    pub exclude: Vec<Glob>,
    /// How far the source's own claims are believed. Default: not at all.
    pub trust_annotations: Trust,
    /// To whom its tools are offered. Default: to scripts.
    pub expose: Expose,
    /// Calls at one time; more wait their turn. Default 32.
    pub max_in_flight: usize,
    /// How long the source may take until it has listed its tools. Default 10 s.
    pub connect_timeout: Duration,
    /// How long a call may be silent; progress starts it anew. Default: no limit of its own.
    pub call_idle_timeout: Option<Duration>,
    /// How long a call may take. Default 60 s. Does not count the wait for a free place or for the connection.
    pub call_total_timeout: Duration,
    /// What becomes of a result that contradicts the schema which its tool declares.
    pub on_output_mismatch: OnMismatch,
    /// Whether calls give an MCP server's whole answer, its `CallToolResult`, and not the value in it.
    pub raw_results: bool,
    /// Whether the shapes of results are kept, for tools that declare none. Default: yes.
    pub learn_types: bool,
    /// Whether a text that spells a number, a boolean, a list or an object is taken as that where the schema wants one.
    /// Default: no.
    pub coerce_arguments: bool,
    /// Whether what is left out of a call's arguments gets the default that the schema gives. Default: no.
    pub apply_defaults: bool,
    /// Corrections by tool name. All that match are applied in order, so a later one wins.
    pub overrides: Vec<(Glob, ToolOverride)>,
    /// What must not be repeated in any message: the values of its secrets.
    pub secrets: Secrets,
}

impl SourceSettings {
    /// Returns a source with all defaults.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: SourceKind) -> Self {
        Self {
            name: name.into(),
            kind,
            include: Vec::new(),
            exclude: Vec::new(),
            trust_annotations: Trust::None,
            expose: Expose::default(),
            max_in_flight: 32,
            connect_timeout: Duration::from_secs(10),
            call_idle_timeout: None,
            call_total_timeout: Duration::from_secs(60),
            on_output_mismatch: OnMismatch::Note,
            raw_results: false,
            learn_types: true,
            coerce_arguments: false,
            apply_defaults: false,
            overrides: Vec::new(),
            secrets: Secrets::default(),
        }
    }

    /// Returns whether a tool of this name is to be offered.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        (self.include.is_empty() || self.include.iter().any(|glob| glob.matches(tool)))
            && !self.exclude.iter().any(|glob| glob.matches(tool))
    }

    /// Returns the paths of the tools that tell what became of calls of this source's tools.
    pub fn reconcilers(&self) -> impl Iterator<Item = &str> {
        let own = match &self.kind {
            SourceKind::Command(settings) => settings.tools.as_slice(),
            _ => &[],
        };
        let corrections = self.overrides.iter().filter_map(|(_, over)| over.reconcile.as_deref());
        own.iter().filter_map(|tool| tool.settings.reconcile.as_deref()).chain(corrections)
    }
}

/// What a source is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SourceKind {
    /// An MCP server that is our child and speaks on its standard streams.
    Mcp(McpSettings),
    /// An MCP server that is reached by HTTP.
    McpHttp(McpHttpSettings),
    /// Programs behind argument templates.
    Command(CommandSettings),
    /// Functions of this process.
    Functions(SharedFunctions),
    /// Settings that could be read and cannot work, such as a variable without a value. The source is listed as failed
    /// with this reason, and every other source works on.
    Unusable {
        /// The `type` it would have had.
        r#type: String,
        /// Why not, and the fix.
        reason: String,
    },
}

impl SourceKind {
    /// Returns the `type` key of the config.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Mcp(_) | Self::McpHttp(_) => "mcp",
            Self::Command(_) => "command",
            Self::Functions(_) => "host",
            Self::Unusable { r#type, .. } => r#type,
        }
    }
}

/// How an MCP server is started.
#[derive(Clone, Default)]
pub struct McpSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables beside `PATH`, `HOME` and `LANG`.
    pub env: Vec<(String, String)>,
    /// Where it runs. Default: where we run.
    pub cwd: Option<PathBuf>,
}

/// Values of variables may be secrets.
impl fmt::Debug for McpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("McpSettings")
            .field("command", &self.command)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// How an MCP server is reached by HTTP.
#[derive(Clone, Default)]
pub struct McpHttpSettings {
    /// The address of its endpoint.
    pub url: String,
    /// What is sent with every request, to this origin and to no other.
    pub headers: Vec<(String, String)>,
}

/// Headers are secrets, and addresses may hold one.
impl fmt::Debug for McpHttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("McpHttpSettings").field("headers", &names).finish_non_exhaustive()
    }
}

/// A set of command tools.
#[derive(Clone, Default)]
pub struct CommandSettings {
    /// The tools.
    pub tools: Vec<CommandTool>,
    /// Variables beside `PATH`, `HOME` and `LANG`.
    pub env: Vec<(String, String)>,
    /// Where the programs run. Default: where we run.
    pub cwd: Option<PathBuf>,
}

/// Values of variables may be secrets.
impl fmt::Debug for CommandSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("CommandSettings")
            .field("tools", &self.tools)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// How far the annotations of a server are believed. They are claims of the party that they would restrict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Every tool writes and may not be repeated.
    #[default]
    None,
    /// What is said to only read counts as reading.
    Effect,
    /// What is said to be repeatable counts as that, too.
    All,
}

/// To whom the tools of a source are offered by a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expose {
    /// To scripts.
    #[default]
    Code,
    /// By themselves, and not to the scripts of clients.
    Direct,
    /// To both.
    Both,
    /// To scripts, and by themselves as well where they are few.
    Auto,
}

/// What becomes of a result that contradicts the schema which its tool declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMismatch {
    /// It is delivered, with a note. Most often the schema is wrong and the value is right.
    #[default]
    Note,
    /// The call fails with `output_mismatch`. What it did is done.
    Reject,
}

/// A correction to what a source says of a tool.
#[derive(Clone, Debug, Default)]
pub struct ToolOverride {
    /// What a call may do.
    pub effect: Option<Effect>,
    /// Whether a call may be made again.
    pub replay: Option<Replay>,
    /// What it gives.
    pub output_schema: Option<Value>,
    /// How long one call may take, in place of the source's limit.
    pub timeout: Option<Duration>,
    /// Whether a run that is being cancelled may call it to clean up.
    pub cleanup: Option<bool>,
    /// Whether a call that failed is made again by itself.
    pub retry: Option<Retry>,
    /// The path of a tool that can tell what became of a call.
    pub reconcile: Option<String>,
    /// Whether a call may be made, whatever the rules of the policy say.
    pub approval: Option<Permission>,
}

/// What the program around this crate lends to it.
#[derive(Clone)]
pub struct Environment {
    /// The variables that every child gets: `PATH`, `HOME`, `LANG`, as far as they exist.
    pub variables: Vec<(OsString, OsString)>,
    /// The command line of a process that runs [`guard_main`](crate::guard_main) on its standard input. Without one,
    /// children are ended at an orderly close only.
    pub guard: Option<Vec<OsString>>,
    /// Milliseconds since 1970, for `since`.
    pub clock: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// What was seen of results before now.
    pub observed: Arc<Observed>,
    /// The proxies that HTTP sources go through.
    pub proxies: Proxies,
    /// Who answers the questions of servers. Without one they are declined, and servers are told that nobody can be asked.
    pub elicit: Option<Arc<dyn Elicit>>,
}

/// The proxies of the environment, as they are named there. Loopback is always reached directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `https:` addresses.
    pub https: Option<String>,
    /// For `http:` addresses.
    pub http: Option<String>,
    /// Hosts that are reached without one, joined by commas.
    pub no_proxy: Option<String>,
}

impl Proxies {
    /// Reads them as other programs do, the names in small letters first.
    fn new(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| {
            let value = lookup(&name.to_lowercase()).or_else(|| lookup(name))?;
            value.into_string().ok().filter(|value| !value.is_empty())
        };
        let all = text("ALL_PROXY");
        Self {
            https: text("HTTPS_PROXY").or_else(|| all.clone()),
            // In capitals it could be a header `Proxy:` of a request to a CGI program, so only small letters count.
            http: lookup("http_proxy").and_then(|value| value.into_string().ok()).filter(|v| !v.is_empty()).or(all),
            no_proxy: text("NO_PROXY"),
        }
    }
}

impl Environment {
    /// The only variables that pass to children without being listed in the settings.
    pub const PASSED: [&str; 3] = ["PATH", "HOME", "LANG"];

    /// Returns an environment without a guard, its variables read through `lookup`.
    pub fn new(lookup: impl Fn(&str) -> Option<OsString>, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self {
            variables: Self::PASSED.iter().filter_map(|name| Some((OsString::from(name), lookup(name)?))).collect(),
            guard: None,
            clock: Arc::new(clock),
            observed: Arc::default(),
            proxies: Proxies::new(lookup),
            elicit: None,
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("guard", &self.guard).finish_non_exhaustive()
    }
}
