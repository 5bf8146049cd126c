//! A client for the conformance suite of the protocol: connects to the server whose address is its last argument, lists its
//! tools, and calls each once with what its input schema asks for. The suite looks at what arrives.
//!
//! Run by `scripts/conformance`. It knows nothing of most scenarios: what it does is what every source does.
#![expect(clippy::unwrap_used, reason = "a panic is how a fixture fails")]
#![expect(clippy::disallowed_methods, reason = "the suite says in variables what it wants")]

use std::{io::Write as _, sync::Arc, time::Duration};

use async_trait::async_trait;
use refrain_catalog::{
    Answer, CallRequest, Elicit, Environment, McpHttpSettings, Question, SourceKind, SourceSettings, Sources, Tool,
};
use serde_json::{Map, Value, json};

/// Somebody who says yes, and leaves every field of a form as it is.
struct Yes;

#[async_trait]
impl Elicit for Yes {
    async fn elicit(&self, question: Question) -> Answer {
        let fields = question.schema["properties"].as_object().cloned().unwrap_or_default();
        let content: Map<String, Value> = fields
            .into_iter()
            .map(|(name, schema)| {
                let value = if schema["default"].is_null() { sample(&schema) } else { schema["default"].clone() };
                (name, value)
            })
            .collect();
        Answer::Accept(Value::Object(content))
    }
}

/// Returns something that a schema takes.
fn sample(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "integer" | "number" => json!(5),
        "boolean" => json!(true),
        "array" => json!([]),
        "object" => arguments(schema),
        _ => json!("text"),
    }
}

fn arguments(schema: &Value) -> Value {
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    fields.iter().map(|(name, schema)| (name.clone(), sample(schema))).collect::<Map<_, _>>().into()
}

/// Returns what a tool is given. One that asks for a schema gets that of another, as it was listed.
fn given(tool: &Tool, all: &[Tool]) -> Value {
    let other = all.iter().find(|other| other.name != tool.name);
    match other.filter(|_| tool.input_schema["properties"]["schema"]["type"] == "object") {
        Some(other) => json!({"schema": *other.input_schema}),
        None => arguments(&tool.input_schema),
    }
}

fn main() {
    let url = std::env::args().next_back().unwrap();
    // Some scenarios say which calls they want.
    let context: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|context| serde_json::from_str(&context).ok())
        .unwrap_or_default();
    let mut environment = Environment::new(|name| std::env::var_os(name), || 0);
    environment.elicit = Some(Arc::new(Yes));
    let settings = SourceSettings::new("s", SourceKind::McpHttp(McpHttpSettings { url, headers: Vec::new() }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sources = Sources::open(vec![settings], environment);
        let catalog = sources.catalog(Duration::from_secs(20)).await;
        say(&format!("{:?}", catalog.sources()));
        let wanted = context["toolCalls"].as_array().cloned().unwrap_or_else(|| {
            catalog
                .tools()
                .iter()
                .map(|tool| json!({"name": tool.name, "arguments": given(tool, catalog.tools())}))
                .collect()
        });
        for call in wanted {
            let tool = call["name"].as_str().unwrap().to_owned();
            let mut args = call["arguments"].clone();
            // What is null is what a script leaves out: the schemas take no null.
            args.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            let request = CallRequest { source: "s".into(), tool, args, key: None, timeout: None };
            say(&format!("{call}: {:?}", sources.call(request).await));
        }
        sources.close().await;
    });
}

fn say(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}
