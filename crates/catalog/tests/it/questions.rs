//! What servers ask of us: questions to a person, samples, folders; and what they offer beside tools.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use refrain_catalog::{Answer, Elicit, Question, Sources};
use serde_json::{Value, json};

use crate::{
    scripted::{Scripted, tool},
    support::{LONG, call, environment},
};

/// Somebody who gives one answer, and remembers what was asked.
struct Person {
    answer: Answer,
    takes: std::time::Duration,
    asked: Mutex<Vec<Question>>,
}

#[async_trait]
impl Elicit for Person {
    async fn elicit(&self, question: Question) -> Answer {
        self.asked.lock().unwrap().push(question);
        tokio::time::sleep(self.takes).await;
        self.answer.clone()
    }
}

fn asks(method: &str, params: &Value) -> Scripted {
    Scripted::stdio(json!({"tools": [tool("confirm_and_run", json!([]))], "on": [
        {"when": "tools/call:confirm_and_run", "do": [
            {"request": method, "params": params},
            {"reply_after_answer": {"content": [{"type": "text", "text": "answer was $ACTION"}]}},
        ]},
    ]}))
}

fn go_on() -> Value {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    json!({"message": "Go on?", "requestedSchema": schema})
}

/// Case server-to-client-01.
#[tokio::test]
async fn a_question_that_nobody_can_be_asked_is_declined_at_once_and_was_not_offered() {
    let server = asks("elicitation/create", &go_on());
    let sources = server.open();
    assert_eq!(call(&sources, "s", "confirm_and_run", Value::Null).await, r#""answer was decline""#);
    let offered = |message: &Value| !message["params"]["capabilities"]["elicitation"].is_null();
    assert_eq!(server.count(offered), 0);
    sources.close().await;
}

#[tokio::test]
async fn a_question_goes_to_whoever_can_be_asked_and_that_time_is_not_the_calls() {
    for (answer, said) in
        [(Answer::Accept(json!({"ok": true})), "accept"), (Answer::Decline, "decline"), (Answer::Cancel, "cancel")]
    {
        let mut server = asks("elicitation/create", &go_on());
        server.settings.call_total_timeout = std::time::Duration::from_millis(1000);
        let takes = std::time::Duration::from_millis(1500);
        let person = Arc::new(Person { answer, takes, asked: Mutex::default() });
        let mut environment = environment();
        environment.elicit = Some(Arc::clone(&person) as Arc<dyn Elicit>);
        let sources = Sources::open(vec![server.settings.clone()], environment);
        assert_eq!(call(&sources, "s", "confirm_and_run", Value::Null).await, format!("\"answer was {said}\""));
        let asked = person.asked.lock().unwrap().remove(0);
        assert_eq!((asked.source.as_str(), asked.tool.as_deref()), ("s", Some("s.confirm_and_run")));
        assert_eq!((asked.message.as_str(), &asked.schema["properties"]["ok"]["type"]), ("Go on?", &json!("boolean")));
        let offered = |message: &Value| message["params"]["capabilities"]["elicitation"]["form"].is_object();
        assert_eq!(server.count(offered), 1);
        sources.close().await;
    }
}

#[tokio::test]
async fn samples_are_refused_and_folders_are_none() {
    let params = json!({"messages": [], "maxTokens": 5});
    let server = asks("sampling/createMessage", &params);
    let sources = server.open();
    let said = call(&sources, "s", "confirm_and_run", Value::Null).await;
    assert!(said.contains("sampling is not offered: this client calls no model"), "{said}");
    sources.close().await;
    let server = asks("something/else", &json!({}));
    let sources = server.open();
    let said = call(&sources, "s", "confirm_and_run", Value::Null).await;
    assert!(said.contains("-32601"), "{said}");
    sources.close().await;
}

#[tokio::test]
async fn resources_and_prompts_are_tools_unless_the_server_has_such_tools() {
    let resource = |uri: &str| json!({"uri": uri, "name": uri});
    let script = |tools: Value| {
        json!({"tools": tools, "capabilities": {"tools": {}, "resources": {}, "prompts": {}}, "on": [
            {"when": "resources/list", "nth": 1, "do": [{"reply": {"resources": [resource("a:1")], "nextCursor": "2"}}]},
            {"when": "resources/list", "nth": 2, "do": [{"reply": {"resources": [resource("a:2")]}}]},
            {"when": "resources/read", "do": [{"reply": {"contents": [{"uri": "a:1", "text": "one"}]}}]},
            {"when": "prompts/list", "do": [{"reply": {"prompts": [{"name": "greet"}]}}]},
            {"when": "prompts/get", "do": [{"reply": {"messages": [
                {"role": "user", "content": {"type": "text", "text": "hello"}}], "_meta": {"x": 1}}}]},
        ]})
    };
    let server = Scripted::stdio(script(json!([])));
    let sources = server.open();
    let catalog = sources.catalog(LONG).await;
    let shown: Vec<String> = catalog
        .tools()
        .iter()
        .map(|tool| format!("{} {} {}", tool.path(), tool.effect.as_str(), tool.replay.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            "s.get_prompt read safe",
            "s.list_prompts read safe",
            "s.list_resources read safe",
            "s.read_resource read safe"
        ]
    );
    let check = async |tool: &str, args: Value, expect: Value| {
        let got = call(&sources, "s", tool, args).await;
        assert_eq!(serde_json::from_str::<Value>(&got).unwrap_or_default(), expect, "{tool}: {got}");
    };
    let listed = json!({"resources": [resource("a:1"), resource("a:2")], "resourceTemplates": []});
    check("list_resources", Value::Null, listed).await;
    check("read_resource", json!({"uri": "a:1"}), json!([{"uri": "a:1", "text": "one"}])).await;
    check("list_prompts", Value::Null, json!([{"name": "greet"}])).await;
    let messages = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]});
    check("get_prompt", json!({"name": "greet"}), messages).await;
    let wrong = call(&sources, "s", "read_resource", json!({})).await;
    assert!(wrong.starts_with("invalid_arguments"), "{wrong}");
    sources.close().await;

    // A tool of the server's own comes first.
    let server = Scripted::stdio(script(json!([tool("read_resource", json!([{"text": "mine"}]))])));
    let sources = server.open();
    assert_eq!(sources.catalog(LONG).await.tools().len(), 4);
    assert_eq!(call(&sources, "s", "read_resource", Value::Null).await, r#""mine""#);
    sources.close().await;
}
