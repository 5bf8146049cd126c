//! Prints what it costs to convert and to check schemas: `cargo run --release -p refrain-catalog --example types`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and prints"
)]

use std::{sync::Arc, time::Instant};

use refrain_catalog::{Catalog, Tool};
use serde_json::{Value, json};

/// As many operations as a large API has.
const TOOLS: usize = 2500;

fn main() {
    let rows = include_str!("../tests/schemas/openapi.jsonl").lines().map(|line| serde_json::from_str(line).unwrap());
    let schemas: Vec<Arc<Value>> = rows.map(|row: Value| Arc::new(row["schema"].clone())).collect();
    let tools: Vec<Tool> = (0..TOOLS)
        .map(|number| {
            let mut tool = Tool::new("api", format!("operation_{number}"));
            tool.input_schema = Arc::new(json!({"type": "object", "required": ["id"], "properties": {
                "id": {"type": "integer", "minimum": 1}, "page": {"type": "integer", "default": 1},
                "state": {"enum": ["open", "closed"]}, "labels": {"type": "array", "items": {"type": "string"}},
            }}));
            tool.output_schema = Some(Arc::clone(&schemas[number % schemas.len()]));
            tool
        })
        .collect();
    let catalog = Catalog::new(tools, Vec::new());
    let bytes: usize = schemas.iter().map(|schema| schema.to_string().len()).sum::<usize>() * TOOLS / schemas.len();
    println!("{TOOLS} tools with {} KB of schemas", bytes / 1000);
    let (text, ms) = timed(|| catalog.declarations());
    println!("declarations    {ms:6} ms  {} KB", text.len() / 1000);
    let (lines, ms) = timed(|| catalog.tools().iter().map(|tool| tool.signature().len()).sum::<usize>());
    println!("signatures      {ms:6} ms  {} KB", lines / 1000);
    let args = json!({"id": 5, "state": "open", "labels": ["a", "b"]});
    let ((), ms) = timed(|| catalog.tools().iter().for_each(|tool| tool.check_args(&args).unwrap()));
    println!("first check     {ms:6} ms, which makes the validators");
    let ((), ms) = timed(|| catalog.tools().iter().for_each(|tool| tool.check_args(&args).unwrap()));
    println!("each check after{ms:6} ms for all");
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, u128) {
    let began = Instant::now();
    let made = work();
    (made, began.elapsed().as_millis())
}
