//! From what a server lists to tools: every page, and of every entry what can be used.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{ClientRequest, PaginatedRequestParams, RequestOptionalParam, ServerResult},
};
use serde_json::{Map, Value};

use super::{super::Listing, mend::Mended};
use crate::{
    name,
    settings::Trust,
    tool::{Effect, Replay, Tool},
};

/// A server that pages for ever, or lists without end, is cut off here.
const MAX_PAGES: usize = 1000;
const MAX_TOOLS: usize = 20_000;

/// As much is told of what is odd about a list.
const MAX_NOTES: usize = 5;

/// What a server listed.
#[derive(Debug, Default)]
pub(super) struct Pages {
    pub(super) entries: Vec<Value>,
    /// What was odd about the pages.
    pub(super) notes: Vec<String>,
}

/// Lists every page of a kind of entries, which are under `key`. A cursor that comes again ends the list: some servers return
/// the one they were given.
pub(super) async fn pages(
    peer: &Peer<RoleClient>,
    key: &str,
    request: impl Fn(PaginatedRequestParams) -> ClientRequest,
) -> Result<Pages, ServiceError> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    let mut notes = Vec::new();
    for page in 1.. {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let answer = match peer.send_request(request(params)).await {
            Ok(answer) => answer,
            // No such method: a server without any, which is allowed.
            Err(ServiceError::McpError(error)) if error.code.0 == -32601 => break,
            Err(error) => return Err(error),
        };
        let mut answer = match answer {
            // A list in which any entry breaks the protocol arrives whole.
            ServerResult::CustomResult(page) => page.0,
            other => serde_json::to_value(other).map_err(|_| ServiceError::UnexpectedResponse)?,
        };
        let mended = answer.as_object_mut().and_then(Mended::of);
        match answer.get_mut(key).map(Value::take) {
            Some(Value::Array(more)) => {
                if let Some(mended) = mended {
                    notes.push(mended_in(&mended, &more));
                }
                entries.extend(more);
            }
            // An empty list in the words of languages that have one kind of empty container.
            Some(Value::Object(none)) if none.is_empty() => {}
            // Some languages have no other empty list; it may as well be that the server could not list.
            Some(Value::Null) => notes.push(format!("its list of {key} is `null` and not a list")),
            _ => return Err(ServiceError::UnexpectedResponse),
        }
        let next = answer.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty()).map(str::to_owned);
        let Some(next) = next else { break };
        if !seen.insert(next.clone()) {
            notes.push("its list comes back to a page that was there before; the list ends there".to_owned());
            break;
        }
        if page == MAX_PAGES || entries.len() > MAX_TOOLS {
            notes.push(format!(
                "its list does not end; what comes after {MAX_PAGES} pages or {MAX_TOOLS} entries is left out"
            ));
            break;
        }
        cursor = Some(next);
    }
    entries.truncate(MAX_TOOLS);
    notes.truncate(MAX_NOTES);
    Ok(Pages { entries, notes })
}

fn mended_in(mended: &Mended, page: &[Value]) -> String {
    let names: Vec<String> = mended.names(page).iter().map(|name| format!("`{}`", name::cut(name, 100))).collect();
    let at = if names.is_empty() { String::new() } else { format!(" at {}", names.join(", ")) };
    format!("what it lists was mended{at}: {}", mended.told())
}

/// Lists the tools.
pub(super) async fn tools(peer: &Peer<RoleClient>) -> Result<Pages, ServiceError> {
    pages(peer, "tools", |params| ClientRequest::ListToolsRequest(RequestOptionalParam::with_param(params))).await
}

/// Reads the tools as they came. Lenient where that costs nothing: one wrong entry must not hide the others.
pub(super) fn read(source: &str, trust: Trust, pages: Pages) -> Listing {
    let all = pages.entries.len();
    let tools: Vec<Tool> = pages.entries.into_iter().filter_map(|value| tool(source, trust, value)).collect();
    let without = all - tools.len();
    let nameless = (without > 0).then(|| {
        let rest = if without == 1 { "has no name and is left out" } else { "have no name and are left out" };
        format!("{without} of its {all} tools {rest}")
    });
    let warnings: Vec<String> = nameless.into_iter().chain(listed_again(&tools)).chain(pages.notes).collect();
    Listing { tools, warning: (!warnings.is_empty()).then(|| warnings.join("; ")) }
}

/// Names tools that are listed more than once.
fn listed_again(tools: &[Tool]) -> Option<String> {
    let mut seen = HashSet::new();
    let again: BTreeSet<&str> =
        tools.iter().map(|tool| tool.name.as_str()).filter(|name| !seen.insert(*name)).collect();
    let named: Vec<String> = again.iter().take(MAX_NOTES).map(|name| format!("`{}`", name::cut(name, 100))).collect();
    let more = again.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!named.is_empty()).then(|| format!("it lists {}{more} more than once; the first one counts", named.join(", ")))
}

/// Returns whether no object fits, by the type that a schema names.
fn takes_no_object(schema: &Value) -> bool {
    let is_other =
        |kind: &Value| matches!(kind.as_str(), Some("array" | "string" | "number" | "integer" | "boolean" | "null"));
    match &schema["type"] {
        Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(is_other),
        kind => is_other(kind),
    }
}

fn tool(source: &str, trust: Trust, mut value: Value) -> Option<Tool> {
    let map = value.as_object_mut()?;
    let name = map.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())?;
    let mut tool = Tool::new(source, name);
    let text = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    tool.description = text(map, "description").or_else(|| text(map, "title")).unwrap_or_default();
    match map.remove("inputSchema") {
        Some(schema @ Value::Object(_)) => {
            if takes_no_object(&schema) {
                tool.notes.push("its input schema takes no object, so it cannot be called".to_owned());
            }
            tool.input_schema = Arc::new(schema);
            tool.note_unusable_schema();
        }
        None | Some(Value::Null) => {}
        Some(_) => tool.notes.push("its input schema is not an object, so arguments are not checked".to_owned()),
    }
    match map.remove("outputSchema") {
        Some(schema @ Value::Object(_)) => tool.output_schema = Some(Arc::new(schema)),
        None | Some(Value::Null) => {}
        Some(_) => tool.notes.push("its output schema is not an object and is not used".to_owned()),
    }
    if value.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required") {
        tool.notes
            .push("it runs only as a task of the protocol, which is not supported: its calls are refused".to_owned());
    }
    let hint = |key: &str| value.pointer(&format!("/annotations/{key}")).and_then(Value::as_bool) == Some(true);
    (tool.effect, tool.replay) = believed(trust, hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"));
    Some(tool)
}

/// Returns what a tool may do, from what its server says of it and how far that is believed.
fn believed(trust: Trust, read_only: bool, destructive: bool, idempotent: bool) -> (Effect, Replay) {
    let effect = match (read_only, destructive) {
        (true, _) => Effect::Read,
        (false, true) => Effect::Destructive,
        (false, false) => Effect::Write,
    };
    let replay = match (read_only, idempotent) {
        (true, _) => Replay::Safe,
        (false, true) => Replay::Keyed,
        (false, false) => Replay::Unsafe,
    };
    match trust {
        Trust::None => (Effect::Write, Replay::Unsafe),
        Trust::Effect => (effect, Replay::Unsafe),
        Trust::All => (effect, replay),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_count_as_far_as_they_are_trusted() {
        let check = |trust, read_only, destructive, idempotent, expect: &str| {
            let (effect, replay) = believed(trust, read_only, destructive, idempotent);
            assert_eq!(format!("{} {}", effect.as_str(), replay.as_str()), expect);
        };
        check(Trust::None, true, false, true, "write unsafe");
        check(Trust::Effect, true, false, true, "read unsafe");
        check(Trust::Effect, false, true, false, "destructive unsafe");
        check(Trust::Effect, false, false, true, "write unsafe");
        check(Trust::All, true, false, false, "read safe");
        check(Trust::All, false, false, true, "write keyed");
        check(Trust::All, false, true, true, "destructive keyed");
        check(Trust::All, false, false, false, "write unsafe");
    }
}
