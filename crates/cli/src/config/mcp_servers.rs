//! `{"mcpServers": {…}}`, the file that agents already have.
//!
//! It belongs to other programs, so keys that we do not know are left alone, and an entry that cannot work fails as a
//! source and stops nothing else. `${NAME}` and `${NAME:-default}` are filled from the environment; any other `$` stays.

use std::path::Path;

use refrain_runtime::{McpHttpSettings, McpSettings, Secrets, SourceKind, SourceSettings};
use serde_json::{Map, Value};

use super::{
    Need, address,
    document::read_bounded,
    fault::Faults,
    row::Row,
    secret::{Values, is_telling},
    source::from_folder,
    variables::Variables,
};

/// Reads a file: each source with its rows.
pub(crate) fn read(path: &Path, variables: &Variables, need: Need, faults: &Faults) -> Vec<(SourceSettings, Vec<Row>)> {
    let Some(text) = read_bounded(path, faults) else { return Vec::new() };
    let name = faults.name_of(path);
    // Some editors write a byte order mark.
    let whole: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(whole) => whole,
        Err(error) => {
            faults.push(name, Some(error.line()), format!("this is no JSON: {error}"));
            return Vec::new();
        }
    };
    // VS Code's file has them under the second name.
    let listed = whole.get("mcpServers").or_else(|| whole.get("servers"));
    let Some(servers) = listed.and_then(Value::as_object) else {
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
            let mut filling = Filling { variables, hidden: Vec::new() };
            let kind = match (need, kind(entry, folder, &mut filling)) {
                // Without its variables a source can still be shown.
                (Need::NoSources, Err(_)) => SourceKind::Mcp(McpSettings::default()),
                (_, Ok(kind)) => kind,
                (Need::Sources | Need::Http, Err(reason)) => SourceKind::Unusable { r#type: "mcp".into(), reason },
            };
            let mut source = SourceSettings::new(server, kind);
            source.secrets = Secrets::new(filling.hidden);
            (source, rows(server, entry, &name))
        })
        .collect()
}

/// Fills in variables, and remembers what must not be repeated.
struct Filling<'a> {
    variables: &'a Variables,
    hidden: Vec<String>,
}

impl Filling<'_> {
    fn text(&mut self, key: &str, value: &Value) -> Result<String, String> {
        let text = value.as_str().ok_or_else(|| format!("`{key}` is no text"))?;
        let mut used = Vec::new();
        let filled = fill(text, self.variables, &mut used);
        // A folder in an argument is no secret; whatever goes into the environment or a header may be one.
        let is_plain = matches!(key, "command" | "args" | "cwd");
        self.hidden.extend(used.into_iter().filter(|(name, _)| !is_plain || is_telling(name)).map(|(_, value)| value));
        filled.map_err(|reason| format!("`{key}`: {reason}"))
    }

    /// Reads an object of texts. A value that may be a secret as it stands is remembered as one.
    fn pairs(&mut self, key: &str, value: Option<&Value>, may_be: fn(&str) -> bool) -> Result<Values, String> {
        let mut values = Values::default();
        let map = match value {
            None | Some(Value::Null) => return Ok(values),
            Some(Value::Object(map)) => map,
            Some(_) => return Err(format!("`{key}` is no object; write names with their values")),
        };
        for (name, value) in map {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(format!("`{key}` has {name:?}, which is no name"));
            }
            let filled = self.text(&format!("{key}.{name}"), value)?;
            if may_be(name) {
                values.add_literal(name, &filled);
            } else {
                values.pairs.push((name.clone(), filled));
            }
        }
        self.hidden.append(&mut values.secrets);
        Ok(values)
    }
}

fn kind(entry: &Value, folder: &Path, filling: &mut Filling<'_>) -> Result<SourceKind, String> {
    // The names that the agents have for it.
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| Some((key, entry.get(key)?)));
    if let (None, Some((key, url))) = (entry.get("command"), url) {
        if entry.get("type").and_then(Value::as_str) == Some("sse") {
            let told = "it is of type `sse`, a transport that the protocol has given up";
            return Err(format!("{told}; give the address of its streamable HTTP endpoint, with type `http`"));
        }
        let url = filling.text(key, url)?;
        filling.hidden.extend(address::secrets(&url));
        let headers = filling.pairs("headers", entry.get("headers"), |_| true)?.pairs;
        return Ok(SourceKind::McpHttp(McpHttpSettings { url, headers }));
    }
    let program =
        entry.get("command").ok_or("it has neither `command` nor `url`; write the server's program or address")?;
    let program = filling.text("command", program)?;
    if program.is_empty() {
        return Err("`command` is empty; write the server's program".to_owned());
    }
    let mut command = vec![from_folder(&program, folder)];
    match entry.get("args") {
        None | Some(Value::Null) => {}
        Some(Value::Array(args)) => {
            for arg in args {
                command.push(filling.text("args", arg)?);
            }
        }
        Some(_) => return Err("`args` is no list; write a list of texts".to_owned()),
    }
    let env = filling.pairs("env", entry.get("env"), is_telling)?.pairs;
    let cwd = match entry.get("cwd") {
        None | Some(Value::Null) => None,
        Some(cwd) => Some(folder.join(filling.text("cwd", cwd)?)),
    };
    Ok(SourceKind::Mcp(McpSettings { command, env, cwd }))
}

/// Fills in variables, and says which were used, with their values.
fn fill(text: &str, variables: &Variables, used: &mut Vec<(String, String)>) -> Result<String, String> {
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
            (Some(value), _) => {
                filled.push_str(&value);
                used.push((name.to_owned(), value));
            }
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
            ("url" | "serverUrl" | "httpUrl", Value::String(url)) => {
                rows.push(Row::of_address(&["sources", server, "url"], url, file));
            }
            ("env" | "headers", Value::Object(env)) => rows.extend(env.iter().map(|(name, value)| {
                // What is filled in from elsewhere is a reference; anything else may be the secret itself.
                let is_reference = |text: &&str| {
                    let behind = text.strip_prefix("Bearer ").unwrap_or(text);
                    behind.strip_prefix("${").and_then(|text| text.strip_suffix('}')).is_some_and(is_name)
                };
                let shown = value.as_str().filter(is_reference).unwrap_or("***");
                Row::new(&["sources", server, key, name], shown.into(), file)
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
            assert_eq!(
                fill(text, &variables, &mut Vec::new()).unwrap_or_else(|error| format!("error: {error}")),
                expect,
                "{text}"
            );
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
