//! A tool server asks a person in the middle of a call: the client of `run_code` is asked.

use std::sync::Arc;

use async_trait::async_trait;
use refrain_runtime::{
    Answer, CallError, Elicit, Functions, Question, Runtime, SharedFunctions, SourceKind, SourceSettings, Tool,
};
use refrain_server::Relay;
use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction},
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::support::{client_that_asks, serve_with, settings, taken};

/// A source whose tool asks, as a tool server would.
struct Asking(Arc<Relay>);

#[async_trait]
impl Functions for Asking {
    fn tools(&self) -> Vec<Tool> {
        vec![Tool::new("", "confirm")]
    }

    async fn call(&self, _: &str, args: Value) -> Result<Value, CallError> {
        let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
        let question = Question {
            source: "shop".into(),
            tool: Some("shop.confirm".into()),
            message: "Go on?".into(),
            schema,
            url: args.get("url").and_then(Value::as_str).map(str::to_owned),
        };
        Ok(match self.0.elicit(question).await {
            Answer::Accept(fields) => json!({ "accepted": fields }),
            Answer::Decline => json!("declined"),
            Answer::Cancel => json!("put away"),
        })
    }
}

/// A client that may have somebody to ask.
#[derive(Clone)]
struct Client(Option<ElicitationAction>);

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        client_that_asks(self.0.is_some())
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = asked else { unreachable!() };
        assert_eq!(message, "`shop` asks, in a call of `shop.confirm`: Go on?");
        let action = self.0.clone().unwrap();
        let result = ElicitResult::new(action.clone());
        Ok(if action == ElicitationAction::Accept { result.with_content(json!({"ok": true})) } else { result })
    }
}

async fn answered(client: Client, args: Value) -> Value {
    let relay = Relay::new();
    let functions = SharedFunctions(Arc::new(Asking(Arc::clone(&relay))));
    let mut settings = settings(Vec::new());
    settings.sources = vec![SourceSettings::new("shop", SourceKind::Functions(functions))];
    let (server, (read, write)) = serve_with(Arc::new(Runtime::new(settings)), relay);
    let client = client.serve((read, write)).await.unwrap();
    let code = format!("return await tools.shop.confirm({args})");
    let arguments = json!({ "code": code }).as_object().unwrap().clone();
    let answer = client.call_tool(CallToolRequestParams::new("run_code").with_arguments(arguments)).await.unwrap();
    let (text, report, failed) = taken(answer);
    assert!(!failed, "{text}");
    client.cancel().await.unwrap();
    server.await.unwrap().unwrap();
    report["result"].clone()
}

#[tokio::test]
async fn the_client_is_asked_and_its_answer_reaches_the_tool_server() {
    let accepts = Client(Some(ElicitationAction::Accept));
    assert_eq!(answered(accepts.clone(), json!({})).await, json!({"accepted": {"ok": true}}));
    assert_eq!(answered(Client(Some(ElicitationAction::Decline)), json!({})).await, "declined");
    assert_eq!(answered(Client(Some(ElicitationAction::Cancel)), json!({})).await, "put away");
    // A mode that the client does not have.
    assert_eq!(answered(accepts, json!({"url": "https://example.test/pay"})).await, "declined");
}

#[tokio::test]
async fn a_client_that_can_ask_nobody_has_declined() {
    assert_eq!(answered(Client(None), json!({})).await, "declined");
}
