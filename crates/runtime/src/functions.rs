//! The functions of a script that are not tools: they are calls like any other, numbered and journaled, and answered here.

use std::time::Duration;

use refrain_catalog::{CallError, Catalog, Dialect, Effect, ErrorCode, Replay, Tool};
use refrain_journal::Json;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::run::{Plan, Target};

/// Hits that `searchTools` gives when it is not told how many.
const HITS: usize = 10;
/// The most it gives.
const MOST_HITS: usize = 100;

/// What is to happen with a call of one of these functions.
pub(crate) fn plan(catalog: &Catalog, dialect: Option<&Dialect>, name: &str, args: &str) -> Plan {
    match name {
        "sleep" => match read::<Sleep>(name, args) {
            Ok(sleep) => {
                // Past some centuries, `for ever` says the same and adds up without overflow.
                let ms = sleep.ms.clamp(0.0, 1e13);
                Plan::Send {
                    target: Target::Timer(Duration::from_micros((ms * 1000.0) as u64)),
                    effect: Effect::Read,
                    replay: Replay::Safe,
                }
            }
            Err(error) => Plan::Here(Err(error)),
        },
        "searchTools" => Plan::Here(read(name, args).map(|asked| search(catalog, dialect, &asked))),
        "describeTools" => Plan::Here(read(name, args).and_then(|asked| describe(catalog, dialect, &asked))),
        "ask" => Plan::Here(Err(CallError::new(
            ErrorCode::Denied,
            "no person can be reached to answer; decide without, or return what you would ask",
        ))),
        _ => Plan::Here(Err(CallError::new(ErrorCode::UnknownTool, format!("there is no function `{name}`")))),
    }
}

#[derive(Deserialize)]
struct Sleep {
    ms: f64,
}

#[derive(Deserialize)]
struct Search {
    query: String,
    limit: Option<usize>,
    namespace: Option<String>,
}

#[derive(Deserialize)]
struct Describe {
    names: Vec<String>,
    /// All tools of this source, by its name or as it begins flat names: `mcp__github__`.
    namespace: Option<String>,
    /// `name`: a record by the names asked for, with nothing but types and description.
    by: Option<String>,
}

fn read<'a, T: Deserialize<'a>>(name: &str, args: &'a str) -> Result<T, CallError> {
    serde_json::from_str(args).map_err(|error| {
        let form = match name {
            "sleep" => "sleep(milliseconds)",
            "searchTools" => "searchTools(\"words\", { limit?, namespace? })",
            _ => "describeTools([\"source.tool\", …])",
        };
        CallError::new(ErrorCode::InvalidArguments, format!("`{name}` is called as {form}: {error}"))
    })
}

fn search(catalog: &Catalog, dialect: Option<&Dialect>, asked: &Search) -> Json {
    let limit = asked.limit.unwrap_or(HITS).min(MOST_HITS);
    // A filter by source may leave out the best hits, so more are looked at.
    let looked_at = if asked.namespace.is_some() { usize::MAX } else { limit };
    let hits: Vec<Value> = catalog
        .search(&asked.query, looked_at)
        .into_iter()
        .filter(|hit| {
            asked
                .namespace
                .as_ref()
                .is_none_or(|source| hit.path.strip_prefix(source.as_str()).is_some_and(|rest| rest.starts_with('.')))
        })
        .take(limit)
        .map(|hit| {
            let call = catalog.find(&hit.path).map_or(hit.call.clone(), |tool| catalog.call_in(tool, dialect));
            let signature = with_call(&hit.signature, &hit.call, &call);
            json!({ "path": hit.path, "call": call, "signature": signature, "description": hit.summary })
        })
        .collect();
    Json::from_value(&hits.into())
}

fn describe(catalog: &Catalog, dialect: Option<&Dialect>, asked: &Describe) -> Result<Json, CallError> {
    let mut list = Vec::new();
    let mut by_name = Map::new();
    let spaces: Vec<String> = asked.namespace.iter().map(|namespace| namespace_glob(catalog, namespace)).collect();
    for name in asked.names.iter().chain(&spaces) {
        let mut found: Vec<&Tool> = Vec::new();
        if name.contains('*') {
            let glob = refrain_catalog::Glob::new(name);
            found.extend(catalog.tools().iter().filter(|tool| glob.matches(&tool.path())));
        } else if let Some(tool) = catalog.flat(name) {
            found.push(tool);
        } else {
            found.push(catalog.find(name)?);
        }
        for tool in found {
            let (input, output) = tool.types();
            if asked.by.is_some() {
                by_name
                    .insert(name.clone(), json!({ "input": input, "output": output, "description": tool.description }));
            } else {
                let call = catalog.call_in(tool, dialect);
                list.push(json!({
                    "path": tool.path(),
                    "call": call,
                    "signature": with_call(&tool.signature(), &tool.call_expression(), &call),
                    "input": input,
                    "output": output,
                    "description": tool.description,
                    "effect": tool.effect.as_str(),
                    "replay": tool.replay.as_str(),
                }));
            }
        }
    }
    Ok(Json::from_value(&if asked.by.is_some() { by_name.into() } else { list.into() }))
}

/// The signature with another expression for the tool.
fn with_call(signature: &str, from: &str, to: &str) -> String {
    match signature.strip_prefix(from) {
        Some(rest) => format!("{to}{rest}"),
        None => signature.to_owned(),
    }
}

/// The tools of a namespace, which may be given as flat names begin with it.
fn namespace_glob(catalog: &Catalog, namespace: &str) -> String {
    let name = namespace.strip_prefix("mcp__").unwrap_or(namespace);
    let name = name.strip_suffix("__").unwrap_or(name);
    let source = catalog.sources().iter().map(|status| status.name.as_str());
    let known = source
        .clone()
        .find(|source| *source == name)
        .or_else(|| source.clone().find(|source| catalog.source_ident(source) == name));
    format!("{}.*", known.unwrap_or(name))
}
