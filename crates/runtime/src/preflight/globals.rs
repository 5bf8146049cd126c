//! Names that nothing defines.

use std::collections::HashSet;

use refrain_catalog::DIALECTS;
use refrain_engine::source::{GlobalUse, Reach};

use super::{Certainty, Finding, Kind, Scene, near};

/// Globals of other places, and what there is here instead.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &[
            "fetch",
            "axios",
            "XMLHttpRequest",
            "WebSocket",
            "EventSource",
            "Request",
            "Response",
            "Headers",
            "got",
            "$",
            "jQuery",
        ],
        "a script has no network; the tools are the only way out",
    ),
    (
        &["require", "module", "exports", "define", "importScripts"],
        "there is no module loader, and nothing to import; the tools are in scope, and are the only way out",
    ),
    (
        &["fs", "path", "os", "child_process", "http", "https", "net", "readFileSync", "writeFileSync"],
        "there are no modules of Node.js and no file system here; the tools are the only way out",
    ),
    (&["process"], "there is no process and no environment here; what the caller gives is in `args`"),
    (&["Deno", "Bun"], "this is neither Deno nor Bun; the tools are the only way out"),
    (&["__dirname", "__filename"], "a script is no file and has no folder"),
    (&["global", "self", "window"], "the global object is `globalThis`"),
    (
        &[
            "document",
            "navigator",
            "location",
            "history",
            "HTMLElement",
            "DOMParser",
            "FormData",
            "Blob",
            "File",
            "FileReader",
        ],
        "this is no browser; take texts apart with string methods and regular expressions",
    ),
    (
        &["localStorage", "sessionStorage", "indexedDB"],
        "to keep a value for later scripts there is `store(key, value)` and `load(key)`",
    ),
    (&["alert", "confirm"], "to tell something there is `text(…)`, to ask a person `await ask(question)`"),
    (&["prompt", "input", "readline"], "to ask a person there is `await ask(question)`"),
    (&["print", "println", "log", "puts", "echo"], "to tell something there is `text(…)`, to debug `console.log(…)`"),
    (&["Buffer"], "use `Uint8Array`, `TextEncoder`, `TextDecoder`, `atob` and `btoa`"),
    (&["setImmediate"], "use `setTimeout(callback, 0)`"),
    (&["requestAnimationFrame"], "use `setTimeout(callback, ms)`"),
    (
        &["SharedArrayBuffer", "Atomics", "Worker", "WebAssembly"],
        "a script is one thread; calls run side by side with `Promise.all`",
    ),
    (&["WeakRef", "FinalizationRegistry"], "what is collected when differs from run to run, so it cannot be seen"),
    (&["Intl", "moment", "dayjs", "luxon"], "dates are UTC; use `Date`, and take texts apart by hand"),
    (&["_", "lodash", "Temporal", "z", "zod"], "there are no libraries here; use what the language has"),
    (&["mcp", "callTool", "call_tool", "invokeTool", "client", "session"], "tools are called directly"),
    (&["None", "True", "False", "len", "dict", "str"], "this is JavaScript, not Python"),
];

/// The first use of each name that nothing defines.
pub(super) fn check(scene: &Scene<'_>) -> Vec<Finding> {
    let mut known: HashSet<&str> = scene.globals.iter().map(String::as_str).collect();
    if let Some(dialect) = scene.dialect {
        if dialect.root != "tools" {
            known.remove("tools");
        }
        known.extend(dialect.globals.iter().map(|(name, _)| *name));
        known.extend(dialect.list);
    }
    known.insert(scene.root());
    let mut findings: Vec<Finding> = Vec::new();
    let mut told: HashSet<&str> = HashSet::new();
    // A sure use is worth more than an earlier one that is not.
    let mut unknown: Vec<&GlobalUse> =
        scene.facts.globals.iter().filter(|used| !known.contains(used.name.as_str())).collect();
    unknown.sort_by_key(|used| (used.reach != Reach::Sure, used.position));
    for used in unknown {
        if !told.insert(&used.name) {
            continue;
        }
        let surely = used.reach == Reach::Sure && !used.guarded && !scene.facts.makes_globals;
        findings.push(Finding {
            certainty: if surely { Certainty::Certain } else { Certainty::Suspected },
            kind: Kind::UnknownGlobal,
            message: message(scene, used, &known),
            position: used.position,
            tool: None,
        });
    }
    findings
}

fn message(scene: &Scene<'_>, used: &GlobalUse, known: &HashSet<&str>) -> String {
    let name = &used.name;
    if used.assigned {
        return format!("`{name}` is assigned and never declared, which is an error here; write `let {name} = …`");
    }
    let root = scene.root();
    if name == "tools" || DIALECTS.iter().any(|dialect| dialect.root == name) {
        let form = if scene.is_flat() { "<tool>(args)" } else { "<source>.<tool>(args)" };
        return format!("`{name}` does not exist here; tools are called as `await {root}.{form}`");
    }
    if let Some((_, help)) = ELSEWHERE.iter().find(|(names, _)| names.contains(&name.as_str())) {
        return format!("`{name}` does not exist here: {help}{}", examples(scene, help));
    }
    let catalog = scene.catalog;
    if !scene.is_flat()
        && catalog.sources().iter().any(|source| source.name == *name || catalog.source_ident(&source.name) == name)
    {
        return format!("`{name}` is not defined; it is a source, so write `{root}.{name}.<tool>(args)`");
    }
    if let Some(tool) = catalog.tools().iter().find(|tool| tool.source == *name) {
        let call = scene.call_of(tool);
        return format!("`{name}` is not defined; it is a source, whose tools are called like `await {call}(args)`");
    }
    if let Some(tool) = catalog.tools().iter().find(|tool| tool.name == *name || tool.ident == *name) {
        return format!("`{name}` is not defined; it is a tool, so write `await {}(args)`", scene.call_of(tool));
    }
    let mut names: Vec<&str> = known.iter().copied().chain(scene.facts.declared.iter().map(String::as_str)).collect();
    names.sort_unstable();
    match near::nearest(name, names) {
        Some(near) => format!("`{name}` is not defined; did you mean `{near}`?"),
        None => format!("`{name}` is not defined; a script has what JavaScript has, `{root}`, `args`, and no modules"),
    }
}

/// How a tool is called, where that is the way out.
fn examples(scene: &Scene<'_>, help: &str) -> String {
    let helps = help.contains("tools");
    match scene.catalog.tools().first().filter(|_| helps) {
        Some(tool) => format!(", like `await {}(args)`", scene.call_of(tool)),
        None => String::new(),
    }
}
