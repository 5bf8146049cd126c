//! `[sources.NAME]`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use refrain_runtime::{
    CommandSettings, Expose, Glob, McpHttpSettings, McpSettings, OnMismatch, Secrets as Hidden, SourceKind,
    SourceSettings, Trust, demo,
};

use super::{
    MOST_MS, address,
    document::Table,
    fault::listed,
    secret::{Secrets, Values},
    tool,
};

/// Keys of every source.
const COMMON: &[&str] = &[
    "type",
    "include",
    "exclude",
    "trust_annotations",
    "expose",
    "coerce_arguments",
    "apply_defaults",
    "max_in_flight",
    "connect_timeout_ms",
    "call_idle_timeout_ms",
    "call_total_timeout_ms",
    "on_output_mismatch",
    "raw_results",
    "learn_types",
    "tools",
];
/// Keys of releases to come.
const LATER: &[&str] = &["auth", "login_timeout_ms"];
const TYPES: &[&str] = &["mcp", "command", "demo"];
const LATER_TYPES: &[&str] = &["openapi", "aoi", "http", "graphql", "agent"];

/// Reads all sources. `folder` is the current one. What is wrong goes to the faults of the file, and its source is left out.
pub(crate) fn read_all(root: &Table<'_>, folder: &Path, secrets: &mut Secrets<'_>) -> Vec<SourceSettings> {
    root.tables("sources").iter().filter_map(|table| read(table, folder, secrets)).collect()
}

fn read(table: &Table<'_>, folder: &Path, secrets: &Secrets<'_>) -> Option<SourceSettings> {
    let name = table.name().to_owned();
    if name.is_empty() {
        table.fault("", "is a source without a name; give it one");
        return None;
    }
    if !table.has("type") {
        // A key that is meant to be `type` is told as that.
        if !any_known(table).contains(&"type") {
            let told = "has no `type`; write `type = \"mcp\"` for an MCP server, `type = \"command\"` for programs";
            table.fault("", told);
        }
        return None;
    }
    let r#type = table.text("type")?;
    // Every part is read whatever is wrong with another, so that all faults are told at once.
    let mut hidden = Vec::new();
    let kind = match r#type.as_str() {
        "mcp" => mcp(table, secrets, &mut hidden),
        "command" => command(table, secrets, &mut hidden),
        "demo" => {
            known(table, &["cwd"]);
            Some(demo::source(cwd(table).unwrap_or_else(|| folder.to_path_buf())).kind)
        }
        later if LATER_TYPES.contains(&later) => {
            let there_are = listed(TYPES.iter().copied());
            table.fault("type", format!("is {later:?}, which comes with a later release; there are {there_are}"));
            None
        }
        other => {
            table.fault("type", format!("is {other:?}; write one of {}", listed(TYPES.iter().copied())));
            any_known(table);
            None
        }
    };
    let makes_tools = r#type == "command";
    let mut source = SourceSettings::new(name, SourceKind::Unusable { r#type, reason: String::new() });
    common(table, makes_tools, &mut source);
    source.kind = kind?;
    source.secrets = Hidden::new(hidden);
    Some(source)
}

fn known<'k>(table: &Table<'_>, own: &[&'k str]) -> Vec<&'k str> {
    table.known(&[COMMON, own].concat(), LATER)
}

/// Reports keys that no type of source has.
fn any_known<'k>(table: &Table<'_>) -> Vec<&'k str> {
    known(table, &["command", "env", "cwd", "url", "headers"])
}

fn mcp(table: &Table<'_>, secrets: &Secrets<'_>, hidden: &mut Vec<String>) -> Option<SourceKind> {
    if table.has("url") {
        return mcp_http(table, secrets, hidden);
    }
    known(table, &["command", "env", "cwd", "url", "headers"]);
    if table.has("headers") {
        table.fault("headers", "is for servers that are reached by `url`; a program gets its secrets through `env`");
    }
    if !table.has("command") {
        let told = "has neither `command` nor `url`; write the server's program and arguments, \
                    `command = [\"npx\", \"…\"]`, or its address, `url = \"https://…\"`";
        table.fault("", told);
    }
    let command = table.texts("command").and_then(|command| program(command, table));
    let env = variables(table, secrets, hidden);
    let cwd = cwd(table).or_else(|| Some(table.folder().to_path_buf()));
    Some(match (command?, env) {
        (command, Ok(env)) => SourceKind::Mcp(McpSettings { command, env, cwd }),
        (_, Err(reason)) => SourceKind::Unusable { r#type: "mcp".into(), reason },
    })
}

fn mcp_http(table: &Table<'_>, secrets: &Secrets<'_>, hidden: &mut Vec<String>) -> Option<SourceKind> {
    known(table, &["url", "headers", "command", "env", "cwd"]);
    for key in ["command", "env", "cwd"].into_iter().filter(|key| table.has(key)) {
        table.fault(key, "is for servers that are programs, and this one has a `url`; remove one of them");
    }
    let url = table.text("url").filter(|url| {
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        if !is_web {
            table.fault("url", "is no web address; write `https://…`");
        }
        is_web
    });
    let headers = headers(table, secrets, hidden);
    hidden.extend(url.iter().flat_map(|url| address::secrets(url)));
    Some(match (url?, headers) {
        (url, Ok(headers)) => SourceKind::McpHttp(McpHttpSettings { url, headers }),
        (_, Err(reason)) => SourceKind::Unusable { r#type: "mcp".into(), reason },
    })
}

fn command(table: &Table<'_>, secrets: &Secrets<'_>, hidden: &mut Vec<String>) -> Option<SourceKind> {
    known(table, &["env", "cwd"]);
    let tools = tool::read_all(table);
    if tools.is_empty() && !table.has("tools") {
        table.fault("", format!("has no tools; write `[sources.{}.tools.NAME]` with a `command`", table.name()));
    }
    let env = variables(table, secrets, hidden);
    let cwd = cwd(table).or_else(|| Some(table.folder().to_path_buf()));
    Some(match env {
        Ok(env) => SourceKind::Command(CommandSettings { tools, env, cwd }),
        Err(reason) => SourceKind::Unusable { r#type: "command".into(), reason },
    })
}

fn common(table: &Table<'_>, makes_tools: bool, source: &mut SourceSettings) {
    let globs = |key| table.texts(key).unwrap_or_default().into_iter().map(Glob::new).collect();
    let time = |key| table.whole(key, 1..=MOST_MS).map(Duration::from_millis);
    source.include = globs("include");
    source.exclude = globs("exclude");
    let expose = [("code", Expose::Code), ("direct", Expose::Direct), ("both", Expose::Both), ("auto", Expose::Auto)];
    source.expose = table.choice("expose", &expose).unwrap_or(source.expose);
    let trust = [("none", Trust::None), ("effect", Trust::Effect), ("all", Trust::All)];
    source.trust_annotations = table.choice("trust_annotations", &trust).unwrap_or(source.trust_annotations);
    source.coerce_arguments = table.flag("coerce_arguments").unwrap_or(source.coerce_arguments);
    source.apply_defaults = table.flag("apply_defaults").unwrap_or(source.apply_defaults);
    if let Some(most) = table.whole("max_in_flight", 1..=10_000) {
        source.max_in_flight = usize::try_from(most).unwrap_or(usize::MAX);
    }
    source.connect_timeout = time("connect_timeout_ms").unwrap_or(source.connect_timeout);
    source.call_idle_timeout = time("call_idle_timeout_ms").or(source.call_idle_timeout);
    source.call_total_timeout = time("call_total_timeout_ms").unwrap_or(source.call_total_timeout);
    let mismatch = [("note", OnMismatch::Note), ("reject", OnMismatch::Reject)];
    source.on_output_mismatch = table.choice("on_output_mismatch", &mismatch).unwrap_or(source.on_output_mismatch);
    source.raw_results = table.flag("raw_results").unwrap_or(source.raw_results);
    source.learn_types = table.flag("learn_types").unwrap_or(source.learn_types);
    source.overrides = tool::overrides(table, makes_tools);
}

/// Checks a command. A program that is named by a path is looked for from the file's folder, whatever `cwd` is.
fn program(mut command: Vec<String>, table: &Table<'_>) -> Option<Vec<String>> {
    let Some(program) = command.first_mut().filter(|program| !program.is_empty()) else {
        table.fault("command", "names no program; write its name first, `[\"npx\", \"…\"]`");
        return None;
    };
    *program = from_folder(program, table.folder());
    Some(command)
}

/// Returns a program with its path made whole, where it has one. A bare name is left to `PATH`.
pub(crate) fn from_folder(program: &str, folder: &Path) -> String {
    // Through its components, which drop `./`.
    let whole: PathBuf = folder.join(program).components().collect();
    match whole.to_str() {
        Some(whole) if program.contains('/') => whole.to_owned(),
        _ => program.to_owned(),
    }
}

fn cwd(table: &Table<'_>) -> Option<PathBuf> {
    table.text("cwd").map(|cwd| table.folder().join(cwd))
}

type Pairs = Vec<(String, String)>;

/// Reads `env`. An error is the reason why the source cannot be used.
fn variables(table: &Table<'_>, secrets: &Secrets<'_>, hidden: &mut Vec<String>) -> Result<Pairs, String> {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    let add = |name: &str, text: &str, values: &mut Values| secrets.variable(name, text, table.folder(), values);
    pairs(table, "env", hidden, ("is no name of a variable", &is_name), &add)
}

/// Reads `headers`. An error is the reason why the source cannot be used.
fn headers(table: &Table<'_>, secrets: &Secrets<'_>, hidden: &mut Vec<String>) -> Result<Pairs, String> {
    let is_name = |name: &str| {
        let is_mark = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte))
    };
    let add = |name: &str, text: &str, values: &mut Values| secrets.header(name, text, table.folder(), values);
    pairs(table, "headers", hidden, ("is no name of a header", &is_name), &add)
}

type Add<'a> = &'a dyn Fn(&str, &str, &mut Values) -> Result<(), String>;

fn pairs(
    table: &Table<'_>,
    key: &str,
    hidden: &mut Vec<String>,
    (wrong, is_name): (&str, &dyn Fn(&str) -> bool),
    add: Add<'_>,
) -> Result<Pairs, String> {
    let Some(entries) = table.table(key) else { return Ok(Vec::new()) };
    let mut values = Values::default();
    let mut reasons = Vec::new();
    for name in entries.keys() {
        if !is_name(&name) {
            entries.fault(&name, wrong);
        } else if let Some(text) = entries.text(&name) {
            if text.contains('\0') {
                entries.fault(&name, "has a NUL in it, which nothing can be given");
            } else if let Err(reason) = add(&name, &text, &mut values) {
                reasons.push(format!("`{key}.{name}`: {reason}"));
            }
        }
    }
    hidden.extend(values.secrets);
    if reasons.is_empty() { Ok(values.pairs) } else { Err(reasons.join("; ")) }
}
