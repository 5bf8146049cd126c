//! The functions of a script that are not tools: they are calls like any other, numbered and journaled, and answered here.

use std::time::Duration;

use refrain_catalog::{CallError, Catalog, Dialect, Effect, ErrorCode, Query, Replay};
use refrain_journal::{Json, Outcome};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::run::{Here, Plan, Target};

/// Hits that `searchTools` gives when it is not told how many.
const HITS: usize = 10;
/// The most it gives.
const MOST_HITS: usize = 100;

/// What a person is asked before a call of a tool. There are no rules yet, so nobody is asked anything.
pub const NO_APPROVAL: &str = "none";

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
            Err(error) => Plan::Here(error.into()),
        },
        "searchTools" => here(read(name, args).and_then(|asked| search(catalog, dialect, &asked))),
        "describeTools" => here(read(name, args).and_then(|asked| describe(catalog, dialect, &asked))),
        "ask" => match read::<Question>(name, args) {
            Ok(Question { .. }) => Plan::Ask,
            Err(error) => Plan::Here(error.into()),
        },
        _ => here(Err(CallError::new(ErrorCode::UnknownTool, format!("there is no function `{name}`")))),
    }
}

fn here(answer: Result<Here, CallError>) -> Plan {
    Plan::Here(answer.unwrap_or_else(Here::from))
}

#[derive(Deserialize)]
struct Sleep {
    ms: f64,
}

/// Only looked at by whoever answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    #[serde(rename = "question")]
    _question: String,
    /// JSON Schema of the answer.
    #[serde(default, rename = "schema")]
    _schema: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Search {
    query: String,
    limit: Option<usize>,
    namespace: Option<String>,
    /// How many hits to leave out, as a text: where a page before ended.
    cursor: Option<String>,
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
            "ask" => "ask(\"question\", { schema: { type: \"boolean\" } })",
            "searchTools" => "searchTools(\"words\", { limit?, namespace? })",
            _ => "describeTools([\"source.tool\", …])",
        };
        CallError::new(ErrorCode::InvalidArguments, format!("`{name}` is called as {form}: {error}"))
    })
}

/// The hits. That there are none, or which words were of no use, is said in a note of the run: the value stays a plain list.
fn search(catalog: &Catalog, dialect: Option<&Dialect>, asked: &Search) -> Result<Here, CallError> {
    let skip = asked.cursor.as_deref().map_or(Ok(0), str::parse).map_err(|_| {
        let told = "`cursor` is the number of hits to leave out, as a text";
        CallError::new(ErrorCode::InvalidArguments, told)
    })?;
    let query = Query {
        words: &asked.query,
        limit: asked.limit.unwrap_or(HITS).min(MOST_HITS),
        skip,
        namespace: asked.namespace.as_deref(),
    };
    let found = catalog.find_tools(&query);
    let hits: Vec<Value> = found
        .hits
        .iter()
        .map(|hit| {
            // A hit is a tool of this catalog, and is found by what it is.
            let (call, signature) = match catalog.resolve(&hit.source, &hit.name) {
                Ok(tool) => (catalog.call_in(tool, dialect), catalog.signature_in(tool, dialect)),
                Err(_) => (hit.call.clone(), hit.signature.clone()),
            };
            json!({ "path": hit.path, "call": call, "signature": signature, "description": hit.summary })
        })
        .collect();
    let note = found.note().map(|note| format!("search for {:?}: {note}", short(&asked.query)));
    Ok(Here { outcome: Outcome::Value(Json::from_value(&hits.into())), notes: note.into_iter().collect(), taken: None })
}

/// The beginning of what was asked, for a note.
fn short(query: &str) -> &str {
    query.char_indices().nth(80).map_or(query, |(at, _)| &query[..at])
}

/// Everything about each name. One that leads nowhere is an entry with its error, unless none leads anywhere: then it is most
/// likely a slip, and a script that goes on with it would fail further down.
fn describe(catalog: &Catalog, dialect: Option<&Dialect>, asked: &Describe) -> Result<Here, CallError> {
    let space = asked.namespace.as_deref().map(|namespace| namespace_glob(catalog, namespace));
    let names = asked.names.iter().map(String::as_str).chain(space.as_deref());
    let found = catalog.select(names);
    if found.iter().all(|one| one.found.is_err())
        && let Some(Err(unresolved)) = found.first().map(|one| &one.found)
    {
        return Err(unresolved.clone().into());
    }
    let mut list = Vec::new();
    let mut by_name = Map::new();
    for one in found {
        let about = match one.found {
            Ok(tool) => {
                let about = catalog.description_of(tool, dialect);
                match asked.by {
                    Some(_) => json!({ "input": about.input, "output": about.output, "description": tool.description }),
                    None => json!({
                        "path": about.path,
                        "call": about.call,
                        "signature": about.signature,
                        "input": about.input,
                        "output": about.output,
                        "description": tool.description,
                        "effect": tool.effect.as_str(),
                        "replay": tool.replay.as_str(),
                        "approval": NO_APPROVAL,
                        "example": about.example,
                        "notes": tool.notes,
                    }),
                }
            }
            Err(unresolved) => json!({ "name": one.name, "error": unresolved.to_string() }),
        };
        if asked.by.is_some() {
            by_name.insert(one.name.to_owned(), about);
        } else {
            list.push(about);
        }
    }
    let value = if asked.by.is_some() { by_name.into() } else { list.into() };
    Ok(Here { outcome: Outcome::Value(Json::from_value(&value)), notes: Vec::new(), taken: None })
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
