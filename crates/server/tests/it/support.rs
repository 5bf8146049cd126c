//! What the tests share: a runtime over command tools, and a client on the other end of two pipes.

use std::{path::Path, sync::Arc};

use refrain_runtime::{
    CommandSettings, CommandToolSettings, Effect, Environment, Replay, Runtime, Settings, SourceKind, SourceSettings,
};
use refrain_server::{Relay, ServeError};
use rmcp::{
    RoleClient, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitationCapability,
        FormElicitationCapability, Implementation,
    },
    service::{RunningService, ServiceError},
};
use serde_json::{Value, json};
use tokio::{io::DuplexStream, task::JoinHandle};

pub(crate) fn command(name: &str, effect: Effect, command: &[&str]) -> CommandToolSettings {
    CommandToolSettings {
        name: name.into(),
        description: format!("Does {name}. It is a test."),
        command: command.iter().map(|part| (*part).to_owned()).collect(),
        input: Some(json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false})),
        effect: Some(effect),
        replay: Some(if effect == Effect::Read { Replay::Safe } else { Replay::Unsafe }),
        ..CommandToolSettings::default()
    }
}

/// Tools that every machine has: one that answers, one that fails, and one that writes and waits until `gate` is there.
pub(crate) fn tools(folder: &Path) -> Vec<CommandToolSettings> {
    let waits =
        "echo x >> began; while [ -e began ] && [ ! -e gate ]; do sleep 0.01; done; echo x >> done; echo through";
    vec![
        command("echo", Effect::Read, &["printf", "%s", "{a}"]),
        command("fail", Effect::Read, &["sh", "-c", "echo broken >&2; exit 3"]),
        command("wait", Effect::Write, &["sh", "-c", &format!("cd '{}' && {waits}", folder.display())]),
    ]
}

pub(crate) fn settings(tools: Vec<CommandToolSettings>) -> Settings {
    let mut settings = Settings::new(Environment::new(|name| std::env::var_os(name), || 0));
    let tools = tools.into_iter().map(|tool| tool.check().unwrap()).collect();
    let kind = SourceKind::Command(CommandSettings { tools, ..CommandSettings::default() });
    settings.sources.push(SourceSettings::new("sh", kind));
    // Compiling the engine takes a second or more, and every test needs it.
    settings.cache = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine"));
    settings
}

/// A served runtime and its client.
pub(crate) struct Session {
    pub(crate) client: RunningService<RoleClient, ()>,
    pub(crate) server: JoinHandle<Result<(), ServeError>>,
}

impl Session {
    pub(crate) async fn over(runtime: Arc<Runtime>) -> Self {
        let (server, (read, write)) = serve(runtime);
        Self { client: ().serve((read, write)).await.unwrap(), server }
    }

    pub(crate) async fn start(settings: Settings) -> Self {
        Self::over(Arc::new(Runtime::new(settings))).await
    }

    pub(crate) async fn call(&self, name: &'static str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        let arguments = arguments.as_object().unwrap().clone();
        self.client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments)).await
    }

    /// Runs a script and returns text, structured content and whether it failed.
    pub(crate) async fn run(&self, code: &str) -> (String, Value, bool) {
        taken(self.call("run_code", json!({ "code": code })).await.unwrap())
    }

    pub(crate) async fn end(self) {
        self.client.cancel().await.unwrap();
        self.server.await.unwrap().unwrap();
    }
}

/// Serves `runtime` on two pipes and returns the client's ends.
pub(crate) fn serve(runtime: Arc<Runtime>) -> (JoinHandle<Result<(), ServeError>>, (DuplexStream, DuplexStream)) {
    serve_with(runtime, Relay::new())
}

pub(crate) fn serve_with(
    runtime: Arc<Runtime>,
    relay: Arc<Relay>,
) -> (JoinHandle<Result<(), ServeError>>, (DuplexStream, DuplexStream)) {
    let (client_write, server_read) = tokio::io::duplex(64 * 1024);
    let (server_write, client_read) = tokio::io::duplex(64 * 1024);
    (tokio::spawn(refrain_server::serve(runtime, relay, server_read, server_write)), (client_read, client_write))
}

pub(crate) fn taken(result: CallToolResult) -> (String, Value, bool) {
    let text = result.content[0].as_text().unwrap().text.clone();
    (text, result.structured_content.unwrap_or_default(), result.is_error.unwrap_or_default())
}

/// Who a client is that has somebody to ask by form, or nobody.
pub(crate) fn client_that_asks(asks: bool) -> ClientConfig {
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation =
        asks.then(|| ElicitationCapability::new().with_form(FormElicitationCapability::default()));
    ClientConfig::new(capabilities, Implementation::new("test", "1"))
}

/// Waits until `holds`. No limit of its own: a test that hangs is stopped by whoever runs it.
pub(crate) async fn eventually(mut holds: impl FnMut() -> bool) {
    while !holds() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
