//! The other side of the tests: an MCP server with every habit that servers have, a guard, and a parent that can be killed.
//!
//! The protocol is written out by hand here, so that the tests do not compare a library with itself.
#![expect(clippy::unwrap_used, reason = "a panic is how a fixture fails")]
#![expect(clippy::exit, clippy::disallowed_methods, reason = "it crashes on demand, and shows the environment it got")]

use std::{io::Write as _, time::Duration};

use refrain_catalog::{CallRequest, Environment, McpSettings, SourceKind, SourceSettings, Sources};
use serde_json::{Value, json};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["guard"] => refrain_catalog::guard_main(std::io::stdin().lock()),
        ["mcp", habit] => mcp(habit),
        ["parent", pids] => parent(pids),
        ["sleep"] => std::thread::sleep(Duration::from_secs(600)),
        other => panic!("no such fixture: {other:?}"),
    }
}

/// Starts a server that starts a child of its own, writes both ids to a file, and waits to be killed.
fn parent(pids: &str) {
    let me = std::env::current_exe().unwrap();
    let mut environment = Environment::new(|name| std::env::var_os(name), || 0);
    environment.guard = Some(vec![me.clone().into(), "guard".into()]);
    let command = vec![me.to_str().unwrap().to_owned(), "mcp".into(), "stubborn".into()];
    let settings = McpSettings { command, ..McpSettings::default() };
    let settings = SourceSettings::new("s", SourceKind::Mcp(settings));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sources = Sources::open(vec![settings], environment);
        let request =
            CallRequest { source: "s".into(), tool: "pids".into(), args: Value::Null, key: None, timeout: None };
        let output = sources.call(request).await.unwrap();
        std::fs::write(format!("{pids}.part"), output.value.get()).unwrap();
        std::fs::rename(format!("{pids}.part"), pids).unwrap();
        std::future::pending::<()>().await;
    });
}

fn mcp(habit: &str) {
    match habit {
        "dies" => {
            eprint(&format!("{}\nno token in \u{1b}[31mTOKEN\n", "x".repeat(10_000)));
            std::process::exit(7);
        }
        "silent" => std::thread::sleep(Duration::from_secs(600)),
        "garbage" => print("Welcome to the server!\n\n{\"not\": \"a message\"}\n{broken\n"),
        _ => {}
    }
    let mut child = None;
    let mut cancelled = Vec::new();
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { break };
        let message: Value = serde_json::from_str(&line).unwrap();
        let method = message["method"].as_str().unwrap_or_default();
        let params = &message["params"];
        if method == "notifications/cancelled" {
            cancelled.push(params["requestId"].clone());
        }
        let Some(id) = message.get("id") else { continue };
        let result = match method {
            "initialize" => json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "fixture", "version": "1"},
            }),
            "tools/list" if habit == "no-tools" => {
                answer(json!({"id": id, "error": {"code": -32601, "message": "Method not found"}}));
                continue;
            }
            "tools/list" => list(habit, params["cursor"].as_str()),
            "tools/call" => match params["name"].as_str().unwrap_or_default() {
                "pids" => {
                    let me = std::env::current_exe().unwrap();
                    let started = std::process::Command::new(me).arg("sleep").spawn().unwrap();
                    let ids = json!([std::process::id(), started.id()]);
                    child = Some(started);
                    json!({"content": [], "structuredContent": ids})
                }
                "never" => continue,
                "refuse" => {
                    answer(json!({"id": id, "error": {"code": -32602, "message": "no such room", "data": 5}}));
                    continue;
                }
                "crash" => {
                    eprint("out of memory\n");
                    std::process::exit(3);
                }
                "cancelled" => json!({"content": [], "structuredContent": cancelled.len()}),
                tool => call(tool, params),
            },
            _ => json!({}),
        };
        answer(json!({"id": id, "result": result}));
    }
    // A server that goes on after its input has ended, as some do.
    if habit == "stubborn" {
        std::thread::sleep(Duration::from_secs(600));
    }
    drop(child);
}

fn list(habit: &str, cursor: Option<&str>) -> Value {
    let named = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    match (habit, cursor) {
        ("loop", _) => json!({"tools": [named(cursor.unwrap_or("first"))], "nextCursor": "again"}),
        (_, None) => json!({"tools": [
            {"name": "echo", "description": "Says it again. And again.", "inputSchema": {
                "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
                "additionalProperties": false,
            }, "annotations": {"readOnlyHint": true}},
            {"name": "weather", "inputSchema": {"type": "object", "properties": {}},
             "outputSchema": {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}},
            {"name": "list-items", "inputSchema": {"type": "object"}},
            {"name": "list_items", "inputSchema": {"type": "object"}},
            {"name": "then", "inputSchema": {"type": "object"}},
            {"name": "erase", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true}},
        ], "nextCursor": "2"}),
        // The second page breaks the protocol in three ways.
        (_, Some(_)) => json!({"tools": [
            {"name": "no-schema"},
            {"name": "bad-schema", "inputSchema": {"type": "banana"}},
            {"description": "no name"},
            named("crash"), named("never"), named("refuse"), named("cancelled"), named("meta"), named("environment"),
            named("fail"), named("large"), named("pids"), named("echo"),
        ]}),
    }
}

fn call(tool: &str, params: &Value) -> Value {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    match tool {
        "weather" => json!({"content": [{"type": "text", "text": "mild"}], "structuredContent": {"degrees": 21.5}}),
        "meta" => json!({"content": [], "structuredContent": params["_meta"]["refrain/idempotencyKey"]}),
        "environment" => {
            let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            names.sort();
            json!({"content": [], "structuredContent": names})
        }
        "fail" => json!({"content": [{"type": "text", "text": "the disk is full"}], "isError": true}),
        "large" => text(&"x".repeat(17 << 20)),
        _ => text(&params["arguments"].to_string()),
    }
}

fn answer(mut message: Value) {
    message["jsonrpc"] = "2.0".into();
    print(&format!("{message}\n"));
}

fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever listened may have gone.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn eprint(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}
