//! Prints what preflight costs on this machine: `cargo run --release -p refrain-runtime --example preflight`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and prints"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use refrain_engine::source::read;
use refrain_runtime::{Catalog, Dialect, Tool, preflight};
use serde_json::json;

fn main() {
    let script: String = (0..10).map(|index| PART.replace('#', &index.to_string())).collect();
    let globals: Vec<String> = ["Promise", "String", "Map", "console", "JSON"].map(str::to_owned).into();
    for tools in [10, 1000] {
        let catalog = catalog(tools);
        for name in ["refrain", "cloudflare"] {
            let dialect = Some(Dialect::find(name).unwrap());
            let text = if name == "refrain" { script.clone() } else { script.replace("tools.github", "codemode") };
            let read = read(&text, &preflight::roots(dialect)).unwrap();
            let took = median(|| drop(preflight::check(&read.facts, &catalog, &globals, dialect)));
            let found = preflight::check(&read.facts, &catalog, &globals, dialect).len();
            println!(
                "{:<52} {:.3} ms, {found} findings",
                format!("preflight, {} lines, {tools} tools, {name}", text.lines().count()),
                took.as_secs_f64() * 1000.0
            );
        }
    }
}

const PART: &str = r#"interface Row# { id: number; title: string; labels?: string[] }
const rows#: Row#[] = await tools.github.list_issues({ owner: "acme", repo: "web", state: "open", per_page: 100 });
const open# = rows#.filter((row) => row.labels?.includes("bug") && row.title.length > 3);
const full# = await Promise.all(open#.map(async (row) => {
  try { return await tools.github.get_issue({ owner: "acme", repo: "web", id: row.id }); }
  catch (error) { return { id: row.id, error: String(error) }; }
}));
const by# = new Map<string, number>();
for (const one of full# as any[]) by#.set(one.user ?? "nobody", (by#.get(one.user) ?? 0) + 1);
console.log(`part #: ${full#.length} of ${rows#.length}`, JSON.stringify([...by#]));
"#;

fn catalog(tools: usize) -> Catalog {
    let schema = json!({
        "type": "object", "required": ["owner", "repo"], "additionalProperties": false,
        "properties": {
            "owner": {"type": "string"}, "repo": {"type": "string"}, "id": {"type": "integer"},
            "state": {"enum": ["open", "closed"]}, "per_page": {"type": "integer"},
        },
    });
    let names = ["list_issues".to_owned(), "get_issue".to_owned()].into_iter();
    let more = (2..tools).map(|index| format!("tool_{index}"));
    let made = names.chain(more).map(|name| {
        let mut tool = Tool::new("github", name);
        tool.input_schema = Arc::new(schema.clone());
        tool
    });
    Catalog::new(made.collect(), Vec::new())
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut all: Vec<Duration> = (0..200)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        })
        .collect();
    all.sort_unstable();
    all[100]
}
