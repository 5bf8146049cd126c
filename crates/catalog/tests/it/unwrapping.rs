//! From the envelope of the protocol to a value: the cases of the classes `result-unwrapping` and `output-schema`, over a real
//! connection.

use serde_json::{Value, json};

use crate::{
    scripted::{Scripted, tool},
    support::{LONG, call},
};

fn gives(name: &str, result: Value) -> Value {
    tool(name, json!([{ "result": result }]))
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

#[tokio::test]
async fn each_envelope_gives_the_value_in_it() {
    let payload = r#"{"ok":false,"problem":{"kind":"EMPTY_LABEL"},"data":{},"json":null,"content":[],"result":{}}"#;
    let picture = json!([{"type": "text", "text": "1 image"}, {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}]);
    let cases = [
        // result-unwrapping-01
        (
            "list_parcels",
            text("[\n  {\"open\": true},\n  {\"open\": false}\n]"),
            "[\n  {\"open\": true},\n  {\"open\": false}\n]",
        ),
        // result-unwrapping-06
        ("only_structured", json!({"content": [], "structuredContent": {"a": 1}}), r#"{"a":1}"#),
        (
            "null_structured",
            json!({"content": [{"type": "text", "text": "hello"}], "structuredContent": null}),
            r#""hello""#,
        ),
        ("no_content", json!({"content": []}), "null"),
        ("structured_list", json!({"content": [], "structuredContent": [1, "b"]}), r#"[1,"b"]"#),
        // result-unwrapping-07: only the protocol's envelope is opened.
        ("add_shelf", text(payload), payload),
        ("plain_text", text("12 parcels"), r#""12 parcels""#),
        (
            "linked",
            json!({"content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]}),
            r#"{"type":"resource_link","uri":"file:///a","name":"a"}"#,
        ),
        (
            "embedded",
            json!({"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}]}),
            r#"{"type":"resource","resource":{"uri":"file:///a","text":"x"}}"#,
        ),
    ];
    let mut tools: Vec<Value> = cases.iter().map(|(name, result, _)| gives(name, result.clone())).collect();
    // result-unwrapping-03: blocks stay blocks, for `image()` and for the answer of `run_code`.
    tools.push(gives("screenshot", json!({ "content": picture })));
    let server = Scripted::stdio(json!({ "tools": tools }));
    let sources = server.open();
    for (name, _, expect) in &cases {
        assert_eq!(call(&sources, "s", name, json!({})).await, *expect, "{name}");
    }
    let given: Value = serde_json::from_str(&call(&sources, "s", "screenshot", json!({})).await).unwrap();
    assert_eq!(given, picture);
    sources.close().await;
}

/// Beside output-schema-05, which is about a validator that makes code from text: ours makes none.
#[tokio::test]
async fn a_schema_of_results_is_believed_less_than_the_results() {
    let declared = |mut tool: Value, properties: Value, required: Value| {
        tool["outputSchema"] = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        tool
    };
    let failed = json!({
        "isError": true,
        "content": [{"type": "text", "text": "directory /srv/x is not readable"}],
        "structuredContent": {"error": "EACCES"},
    });
    let user = json!({"content": [], "structuredContent": {"name": "Ada", "bio": null}});
    let string = json!({"type": "string"});
    let server = Scripted::stdio(json!({"tools": [
        declared(gives("pack", failed), json!({"files": {"type": "integer"}}), json!(["files"])),
        declared(gives("get_user", user), json!({"name": string, "bio": string}), json!(["name", "bio"])),
    ]}));
    let sources = server.open();
    // output-schema-01: the failure is told, and not that it does not fit.
    let told = call(&sources, "s", "pack", json!({})).await;
    assert_eq!(told, "tool_error: `s.pack`: directory /srv/x is not readable");
    // output-schema-03
    let told = call(&sources, "s", "get_user", json!({})).await;
    assert!(told.starts_with(r#"{"name":"Ada","bio":null}"#), "{told}");
    assert!(told.contains("`s.get_user`") && told.contains("`result.bio`"), "{told}");
    sources.close().await;
}

#[tokio::test]
async fn a_source_may_give_the_whole_answer() {
    let whole = json!({"content": [{"type": "text", "text": "[1]"}], "structuredContent": {"n": 1}, "isError": false});
    let mut server = Scripted::stdio(json!({"tools": [gives("t", whole.clone())]}));
    server.settings.raw_results = true;
    let sources = server.open();
    let signature = sources.catalog(LONG).await.resolve("s", "t").unwrap().signature();
    assert!(signature.contains("content: {") && signature.contains("isError?: boolean"), "{signature}");
    let given: Value = serde_json::from_str(&call(&sources, "s", "t", json!({})).await).unwrap();
    assert_eq!(given, whole);
    sources.close().await;
}

fn echoing(name: &str, schema: Value) -> Value {
    json!({"name": name, "inputSchema": schema, "behaviour": [{"echo": true}]})
}

/// Case schema-shape-01: a tool whose arguments are alternatives hides no other, and is there itself.
#[tokio::test]
async fn arguments_that_are_alternatives_are_taken() {
    let one_of = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key]});
    let server = Scripted::http(json!({"tools": [
        echoing("plain", json!({"type": "object", "properties": {"a": {"type": "string"}}})),
        echoing("union_root", json!({"anyOf": [one_of("id"), one_of("slug")]})),
    ]}));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "plain", json!({"a": "x"})).await, r#"{"a":"x"}"#);
    assert_eq!(call(&sources, "s", "union_root", json!({"slug": "x"})).await, r#"{"slug":"x"}"#);
    let told = call(&sources, "s", "union_root", json!({"id": 1})).await;
    assert!(told.starts_with("invalid_arguments"), "{told}");
    sources.close().await;
}

/// Case schema-shape-05: a schema that declares nothing takes any object, and that is said.
#[tokio::test]
async fn a_schema_that_declares_nothing_takes_anything() {
    let server = Scripted::stdio(json!({"tools": [
        echoing("bare", json!({})),
        echoing("marker", json!({"$schema": "http://json-schema.org/draft-07/schema#"})),
        echoing("fine", json!({"type": "object", "properties": {}})),
    ]}));
    let sources = server.open();
    let catalog = sources.catalog(LONG).await;
    let noted = |name: &str| !catalog.resolve("s", name).unwrap().notes.is_empty();
    assert_eq!(["bare", "marker", "fine"].map(noted), [true, true, false]);
    for name in ["bare", "marker"] {
        assert_eq!(call(&sources, "s", name, json!({"x": 1})).await, r#"{"x":1}"#);
    }
    sources.close().await;
}
