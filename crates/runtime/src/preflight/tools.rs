//! Uses of tools: whether they exist, what they are given, and whether anybody waits for them.

use refrain_catalog::{Catalog, Status, Tool, Unresolved};
use refrain_engine::source::{Fate, Reach, ToolUse};

use super::{Certainty, Finding, Kind, Scene, arguments, near, promises};

/// What the language asks every object for; the sandbox answers these without a tool.
const ASKED_BY_THE_LANGUAGE: [&str; 9] =
    ["then", "catch", "toJSON", "constructor", "toString", "valueOf", "inspect", "prototype", "length"];

/// What a use of a tool leads to.
enum Target<'c> {
    Tool(&'c Tool),
    /// Something else that exists, or that cannot be known.
    Other,
    Nothing {
        kind: Kind,
        message: String,
        path: String,
        is_sure: bool,
    },
}

pub(super) fn check(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    for used in &scene.facts.tools {
        // What goes wrong goes on to the end of the run: nothing catches it, and somebody waits.
        let goes_on = used.reach == Reach::Sure && used.call.as_ref().is_some_and(|call| call.fate == Fate::Awaited);
        let target = if scene.is_flat() { in_flat(scene, used) } else { in_nested(scene, used) };
        match target {
            Target::Other => {}
            Target::Nothing { kind, message, path, is_sure } => findings.push(Finding {
                certainty: if goes_on && is_sure { Certainty::Certain } else { Certainty::Suspected },
                kind,
                message,
                position: used.position,
                tool: Some(path),
            }),
            Target::Tool(tool) => {
                let path = tool.path();
                let call = used.call.as_ref();
                let wrong = call.and_then(|call| arguments::check(tool, &call.argument));
                match wrong {
                    Some(fault) => findings.push(Finding {
                        certainty: if goes_on && fault.is_sure { Certainty::Certain } else { Certainty::Suspected },
                        kind: Kind::InvalidArguments,
                        message: fault.message,
                        position: fault.position,
                        tool: Some(path),
                    }),
                    None => findings.extend(promises::check(used, &path, &written(scene, used))),
                }
            }
        }
    }
}

/// The call as the script writes it.
fn written(scene: &Scene<'_>, used: &ToolUse) -> String {
    let mut call = scene.root().to_owned();
    for name in &used.names {
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if is_plain {
            call.push_str(&format!(".{name}"));
        } else {
            call.push_str(&format!("[{}]", serde_json::Value::from(name.as_str())));
        }
    }
    call
}

fn in_nested<'c>(scene: &Scene<'c>, used: &ToolUse) -> Target<'c> {
    let catalog = scene.catalog;
    match &used.names[..] {
        [_, tool] if ASKED_BY_THE_LANGUAGE.contains(&tool.as_str()) && tool != "then" => {
            match catalog.resolve(&used.names[0], tool) {
                Ok(tool) => Target::Tool(tool),
                Err(_) => Target::Other,
            }
        }
        // `then` is left undefined, whatever tools there are.
        [source, then] if then == "then" && used.call.is_some() => match catalog.resolve(source, then) {
            Ok(tool) => {
                let message = format!(
                    "`{}.{source}.then` is not a function, so that no source looks like a promise; this tool is called as `await {}(args)`",
                    scene.root(),
                    tool.call_expression()
                );
                Target::Nothing { kind: Kind::UnknownTool, message, path: tool.path(), is_sure: true }
            }
            Err(_) => of_source(catalog, source, then),
        },
        [source, tool] => {
            // `tools.mcp__a__b.call(…)` and the like.
            if source.starts_with("mcp__") && !has_source(catalog, source) {
                return Target::Other;
            }
            of_source(catalog, source, tool)
        }
        [name] => {
            if let Some((source, tool)) = prefixed(catalog, name) {
                return of_source(catalog, source, tool);
            }
            if ASKED_BY_THE_LANGUAGE.contains(&name.as_str()) {
                return Target::Other;
            }
            let root = scene.root();
            if used.call.is_none() {
                if has_source(catalog, name) {
                    return Target::Other;
                }
                let message = format!(
                    "there is no source `{name}`, and `{root}.{name}` is true all the same; ask with `{} in {root}`",
                    serde_json::Value::from(name.as_str())
                );
                return Target::Nothing { kind: Kind::UnknownTool, message, path: name.clone(), is_sure: false };
            }
            let message = if has_source(catalog, name) {
                format!(
                    "`{root}.{name}` is a source and not a tool; call `{root}.{name}.<tool>(args)`{}",
                    some_of(catalog, name)
                )
            } else if let Some(tool) = catalog.tools().iter().find(|tool| tool.name == *name || tool.ident == *name) {
                format!(
                    "`{root}.{name}` is not a function; the tool is called as `await {}(args)`",
                    tool.call_expression()
                )
            } else {
                let names = catalog.tools().iter().map(|tool| tool.name.as_str());
                let near =
                    near::nearest(name, names).and_then(|near| catalog.tools().iter().find(|tool| tool.name == near));
                let near = near.map_or(String::new(), |tool| format!("; did you mean `{}`?", tool.call_expression()));
                format!("unknown tool `{name}`{near}; tools are called as `await {root}.<source>.<tool>(args)`")
            };
            Target::Nothing { kind: Kind::UnknownTool, message, path: name.clone(), is_sure: true }
        }
        _ => Target::Other,
    }
}

fn in_flat<'c>(scene: &Scene<'c>, used: &ToolUse) -> Target<'c> {
    let [name] = &used.names[..] else { return Target::Other };
    let is_member = scene.dialect.is_some_and(|dialect| dialect.members.iter().any(|(member, _)| member == name));
    if is_member || ASKED_BY_THE_LANGUAGE.contains(&name.as_str()) || used.call.is_none() {
        return Target::Other;
    }
    if let Some(tool) = scene.catalog.flat(name) {
        return Target::Tool(tool);
    }
    // A source that is down may have had it.
    let down = scene.catalog.sources().iter().find(|source| source.status != Status::Ready);
    let near = near::nearest(name, scene.catalog.flat_names().map(|(name, _)| name));
    let near = near.map_or(String::new(), |near| format!("; did you mean `{}.{near}`?", scene.root()));
    let near = if ["search", "describe"].iter().any(|begin| name.starts_with(begin)) {
        "; tools are looked for with `await searchTools(words)` and `await describeTools(names)`".to_owned()
    } else {
        near
    };
    let message = match down {
        Some(source) => format!("unknown tool `{name}`{near}; source `{}` is not ready and may have it", source.name),
        None => format!("unknown tool `{name}`{near}"),
    };
    Target::Nothing { kind: Kind::UnknownTool, message, path: name.clone(), is_sure: down.is_none() }
}

fn of_source<'c>(catalog: &'c Catalog, source: &str, tool: &str) -> Target<'c> {
    let path = format!("{source}.{tool}");
    match catalog.resolve(source, tool) {
        Ok(tool) => Target::Tool(tool),
        Err(Unresolved::SourceDown { message }) => {
            Target::Nothing { kind: Kind::SourceDown, message, path, is_sure: false }
        }
        Err(error) => {
            let status = catalog
                .sources()
                .iter()
                .find(|status| status.name == source || catalog.source_ident(&status.name) == source);
            // A source that is not quite well may list the tool again.
            let is_sure = status.is_none_or(|status| status.status == Status::Ready);
            Target::Nothing { kind: Kind::UnknownTool, message: error.to_string(), path, is_sure }
        }
    }
}

/// The source and the tool of `mcp__source__tool`.
pub(super) fn prefixed<'n>(catalog: &Catalog, name: &'n str) -> Option<(&'n str, &'n str)> {
    let rest = name.strip_prefix("mcp__")?;
    rest.match_indices("__")
        .map(|(at, _)| (&rest[..at], &rest[at + 2..]))
        .find(|(source, _)| has_source(catalog, source))
}

fn has_source(catalog: &Catalog, name: &str) -> bool {
    catalog.sources().iter().any(|status| status.name == name || catalog.source_ident(&status.name) == name)
        || catalog.tools().iter().any(|tool| tool.source == name)
}

fn some_of(catalog: &Catalog, source: &str) -> String {
    let own =
        catalog.tools().iter().filter(|tool| tool.source == source || catalog.source_ident(&tool.source) == source);
    let names: Vec<String> = own.take(4).map(|tool| format!("`{}`", tool.name)).collect();
    if names.is_empty() { String::new() } else { format!("; it has {}", names.join(", ")) }
}
