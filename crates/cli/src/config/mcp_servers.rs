//! `{"mcpServers": {…}}`, the file that agents already have.
//!
//! It belongs to other programs, so keys that we do not know are left alone, and an entry that cannot work fails as a
//! source and stops nothing else. `${NAME}` and `${NAME:-default}` are filled from the environment; any other `$` stays.

use std::path::Path;

use refrain_runtime::{McpSettings, SourceKind, SourceSettings};
use serde_json::{Map, Value};

use super::{Need, document::read_bounded, fault::Faults, row::Row, source::from_folder, variables::Variables};

/// Reads a file: each source with its rows.
pub(crate) fn read(path: &Path, variables: &Variables, need: Need, faults: &Faults) -> Vec<(SourceSettings, Vec<Row>)> {
    let Some(text) = read_bounded(path, faults) else { return Vec::new() };
    let name = faults.name_of(path);
    let whole: Value = match serde_json::from_str(&text) {
        Ok(whole) => whole,
        Err(error) => {
            faults.push(name, Some(error.line()), format!("this is no JSON: {error}"));
            return Vec::new();
        }
    };
    let Some(servers) = whole.get("mcpServers").and_then(Value::as_object) else {
        faults.push(
            name,
            None,
            "this file has no `mcpServers` object; give a file as `{\"mcpServers\": {\"NAME\": {\"command\": \"…\"}}}`",
        );
        return Vec::new();
    };
    if servers.contains_key("") {
        faults.push(name.clone(), None, "a server in `mcpServers` has an empty name; give it one");
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    servers
        .iter()
        // Whoever switched a server off does not expect it to start here.
        .filter(|(_, server)| server.get("disabled").and_then(Value::as_bool) != Some(true))
        .map(|(server, entry)| {
            let kind = match (need, kind(entry, folder, variables)) {
                // Without its variables a source can still be shown.
                (Need::NoSources, Err(_)) => SourceKind::Mcp(McpSettings::default()),
                (_, Ok(mcp)) => SourceKind::Mcp(mcp),
                (Need::Sources, Err(reason)) => SourceKind::Unusable { r#type: "mcp".into(), reason },
            };
            (SourceSettings::new(server, kind), rows(server, entry, &name))
        })
        .collect()
}

fn kind(entry: &Value, folder: &Path, variables: &Variables) -> Result<McpSettings, String> {
    let filled = |key: &str, value: &Value| match value.as_str() {
        Some(text) => fill(text, variables).map_err(|reason| format!("`{key}`: {reason}")),
        None => Err(format!("`{key}` is {value}; write a text")),
    };
    if entry.get("command").is_none() && (entry.get("url").is_some() || entry.get("serverUrl").is_some()) {
        return Err(
            "it is reached by `url`, and HTTP servers come with a later release (R3); use one with a `command`"
                .to_owned(),
        );
    }
    let program = entry.get("command").ok_or("it has no `command`; write the server's program")?;
    let program = filled("command", program)?;
    if program.is_empty() {
        return Err("`command` is empty; write the server's program".to_owned());
    }
    let mut command = vec![from_folder(&program, folder)];
    match entry.get("args") {
        None | Some(Value::Null) => {}
        Some(Value::Array(args)) => {
            for arg in args {
                command.push(filled("args", arg)?);
            }
        }
        Some(other) => return Err(format!("`args` is {other}; write a list of texts")),
    }
    let mut env = Vec::new();
    match entry.get("env") {
        None | Some(Value::Null) => {}
        Some(Value::Object(map)) => {
            for (name, value) in map {
                if name.is_empty() || name.contains(['=', '\0']) {
                    return Err(format!("`env` has {name:?}, which is no name of a variable"));
                }
                // The value is not repeated: it may be a secret.
                let text = value.as_str().ok_or_else(|| format!("`env.{name}` is no text"))?;
                env.push((name.clone(), fill(text, variables).map_err(|reason| format!("`env.{name}`: {reason}"))?));
            }
        }
        Some(_) => return Err("`env` is no object; write names with their values".to_owned()),
    }
    let cwd = match entry.get("cwd") {
        None | Some(Value::Null) => None,
        Some(cwd) => Some(folder.join(filled("cwd", cwd)?)),
    };
    Ok(McpSettings { command, env, cwd, ..McpSettings::default() })
}

/// Fills in variables.
fn fill(text: &str, variables: &Variables) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        filled.push_str(&rest[..at]);
        let inner = &rest[at + 2..];
        let parsed = inner.find('}').map(|end| (&inner[..end], &inner[end + 1..])).and_then(|(inside, after)| {
            let (name, default) =
                inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
            is_name(name).then_some((name, default, after))
        });
        let Some((name, default, after)) = parsed else {
            filled.push_str("${");
            rest = inner;
            continue;
        };
        match (variables.text(name)?, default) {
            (Some(value), _) => filled.push_str(&value),
            (None, Some(default)) => filled.push_str(default),
            (None, None) => {
                return Err(format!("the variable `{name}` is not set; set it, or write `${{{name}:-default}}`"));
            }
        }
        rest = after;
    }
    filled.push_str(rest);
    if filled.contains('\0') { Err("it has a NUL in it, which no program can be given".to_owned()) } else { Ok(filled) }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn rows(server: &str, entry: &Value, file: &str) -> Vec<Row> {
    let empty = Map::new();
    let mut rows = vec![Row::new(&["sources", server, "type"], "mcp".into(), file)];
    for (key, value) in entry.as_object().unwrap_or(&empty) {
        let row = |value| Row::new(&["sources", server, key], value, file);
        match (key.as_str(), value) {
            ("command" | "args" | "cwd", value) => rows.push(row(value.clone())),
            ("env", Value::Object(env)) => rows.extend(env.iter().map(|(name, value)| {
                // What is filled in from elsewhere is a reference; anything else may be the secret itself.
                let is_reference =
                    |text: &&str| text.strip_prefix("${").and_then(|text| text.strip_suffix('}')).is_some_and(is_name);
                let shown = value.as_str().filter(is_reference).unwrap_or("***");
                Row::new(&["sources", server, "env", name], shown.into(), file)
            })),
            // Other programs' keys.
            _ => {}
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_braces_are_filled_in_and_a_missing_one_is_named() {
        let variables: Variables =
            [("A", "one"), ("EMPTY", "")].map(|(k, v)| (k.into(), v.into())).into_iter().collect();
        let check = |text: &str, expect: &str| {
            assert_eq!(fill(text, &variables).unwrap_or_else(|error| format!("error: {error}")), expect, "{text}");
        };
        check("x ${A}/${A} y", "x one/one y");
        check("${NONE:-two}${A:-two}${EMPTY:-two}${NONE:-}", "twoone");
        check("$A $$ ${} ${1} ${A B} ${A", "$A $$ ${} ${1} ${A B} ${A");
        check("${${A}", "${one");
        check("${NONE:-a:-b}", "a:-b");
        check("${NONE}", "error: the variable `NONE` is not set; set it, or write `${NONE:-default}`");
        check("é${A}é", "éoneé");
    }
}
