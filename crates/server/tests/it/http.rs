//! The same server by HTTP: many clients, sessions of older revisions, none of the newest, and who is let in.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use refrain_runtime::{
    Effect, McpHttpSettings, Origin, RunRequest, RunState, Runtime, Settings, SourceKind, SourceSettings,
};
use refrain_server::{HttpSettings, Scope, ServeError, Token, serve_http};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

use crate::support::{command, eventually, settings, tools};

struct Site {
    at: SocketAddr,
    ends: oneshot::Sender<()>,
    served: JoinHandle<Result<(), ServeError>>,
}

impl Site {
    async fn of(runtime: Arc<Runtime>, http: HttpSettings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let (ends, ended) = oneshot::channel();
        let ended = async move { drop(ended.await) };
        Self { at, ends, served: tokio::spawn(serve_http(runtime, listener, http, ended)) }
    }

    async fn end(self) {
        self.ends.send(()).unwrap();
        self.served.await.unwrap().unwrap();
    }

    /// Sends one request as it is written, and returns the status and all that comes back.
    async fn raw(&self, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        let body = body.to_string();
        let mut text = String::from("POST /mcp HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str(&format!("Host: {}\r\n", self.at));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!(
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    /// A client: another Refrain, whose source this server is.
    fn client(&self, headers: &[(&str, &str)]) -> Runtime {
        let mut settings = settings(Vec::new());
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let kind = SourceKind::McpHttp(McpHttpSettings { url: format!("http://{}/mcp", self.at), headers });
        settings.sources = vec![SourceSettings::new("far", kind)];
        Runtime::new(settings)
    }
}

/// What `run_code` gives a client for a script.
async fn run(client: &Runtime, arguments: Value) -> Value {
    let script = format!("return await tools.far.run_code({arguments})");
    let report = client.run(RunRequest::new(script, Origin::default()), &|_| {}).await.unwrap();
    let result = report.result.unwrap_or_else(|| panic!("{:?}", report.error));
    result.parse().unwrap()
}

fn host() -> Settings {
    settings(vec![
        command("get", Effect::Read, &["printf", "%s", "{a}"]),
        command("put", Effect::Write, &["printf", "%s", "{a}"]),
        command("drop", Effect::Destructive, &["printf", "dropped"]),
    ])
}

fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}
    }})
}

#[tokio::test]
async fn several_clients_run_scripts_and_a_write_is_asked_for() {
    let site = Site::of(Arc::new(Runtime::new(host())), HttpSettings::default()).await;
    let (one, two) = (site.client(&[]), site.client(&[]));
    let code = json!({ "code": "return await tools.sh.get({ a: 'x' })" });
    let (first, second) = tokio::join!(run(&one, code.clone()), run(&two, code));
    assert_eq!((&first["result"], &second["result"]), (&json!("x"), &json!("x")));
    let asked = run(&one, json!({ "code": "return await tools.sh.put({ a: 'x' })" })).await;
    assert_eq!((asked["status"].as_str(), asked["waiting"][0]["kind"].as_str()), (Some("parked"), Some("approval")));
    assert_eq!(asked["waiting"][0]["why"], "no rule allows it");
    let denied = run(&one, json!({ "code": "return await tools.sh.drop({}).catch((e) => e.code)" })).await;
    assert_eq!(denied["result"], "denied", "nobody can be asked here");
    one.close().await;
    two.close().await;
    site.end().await;
}

#[tokio::test]
async fn who_has_no_token_a_foreign_host_or_a_foreign_page_is_not_let_in() {
    let token = |secret: &str, scopes: &[Scope]| Token { secret: secret.into(), scopes: scopes.to_vec() };
    let http = HttpSettings {
        tokens: vec![token("sk-0123456789abcdef", &[Scope::Run]), token("sk-approves-only-01", &[Scope::Approve])],
        hosts: vec!["mcp.example.com".into()],
        origins: vec!["https://app.example.com:443".into()],
    };
    let runtime = Arc::new(Runtime::new(host()));
    let site = Site::of(Arc::clone(&runtime), http).await;
    let good = ("Authorization", "Bearer sk-0123456789abcdef");
    let hello = initialize("2025-06-18");
    for (headers, expected) in [
        (vec![], 401),
        (vec![("Authorization", "Bearer sk-0123456789abcdeX")], 401),
        (vec![("Authorization", "Basic sk-0123456789abcdef")], 401),
        (vec![("Authorization", "Bearer ")], 401),
        (vec![("Authorization", "Bearer sk-approves-only-01")], 403),
        (vec![good], 200),
        (vec![good, ("Host", "evil.example.com")], 403),
        (vec![good, ("Host", "mcp.example.com")], 200),
        (vec![good, ("Origin", "https://evil.example.com")], 403),
        (vec![good, ("Origin", "https://app.example.com")], 200),
    ] {
        let (status, answer) = site.raw(&headers, &hello).await;
        assert_eq!(status, expected, "{headers:?}: {answer}");
        assert!(!answer.contains("sk-0123456789"), "{answer}");
    }
    let client = site.client(&[good]);
    assert_eq!(run(&client, json!({ "code": "return 1" })).await["result"], 1);
    client.close().await;
    site.end().await;
    // Where there are no tokens a page of a browser still is none of this machine's.
    let site = Site::of(runtime, HttpSettings::default()).await;
    assert_eq!(site.raw(&[("Origin", "http://localhost:3000")], &hello).await.0, 403);
    assert_eq!(site.raw(&[("Host", "evil.example.com")], &hello).await.0, 403);
    assert_eq!(site.raw(&[], &hello).await.0, 200);
    site.end().await;
}

#[tokio::test]
async fn every_revision_is_answered_and_only_those_with_sessions_keep_a_store() {
    let site = Site::of(Arc::new(Runtime::new(host())), HttpSettings::default()).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let (status, answer) = site.raw(&[], &initialize(version)).await;
        assert_eq!(status, 200, "{version}: {answer}");
        assert!(answer.contains(&format!("\"protocolVersion\":\"{version}\"")), "{version}: {answer}");
        let session = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().trim().to_owned();
        let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", version)];
        let call = |id: u32, code: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "run_code", "arguments": {"code": code}}});
        site.raw(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        let (_, kept) = site.raw(&headers, &call(2, "store('n', 7)")).await;
        assert!(!kept.contains("store_not_kept"), "{version}: {kept}");
        let (_, found) = site.raw(&headers, &call(3, "return load('n') + 1")).await;
        assert!(found.contains("\"result\":8"), "{version}: {found}");
    }
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "run_code", "arguments": {"code": "store('n', 7); return load('n')"}, "_meta": meta
    }});
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "run_code")];
    let (status, answer) = site.raw(&headers, &call).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("\"result\":7") && answer.contains("store_not_kept"), "{answer}");
    assert!(!answer.to_lowercase().contains("mcp-session-id"), "{answer}");
    site.end().await;
}

#[tokio::test]
async fn a_client_that_goes_away_takes_no_run_along() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = settings(tools(folder.path()));
    host.policy = Arc::new(refrain_runtime::Policy {
        rules: vec![refrain_runtime::Rule {
            tools: refrain_runtime::Glob::new("*"),
            effect: None,
            when: None,
            outcome: refrain_runtime::Permission::Allow,
            place: "refrain.toml:1".into(),
        }],
        ..refrain_runtime::Policy::default()
    });
    let runtime = Arc::new(Runtime::new(host));
    let site = Site::of(Arc::clone(&runtime), HttpSettings::default()).await;
    let client = site.client(&[]);
    let gone = run(&client, json!({ "code": "return await tools.sh.wait({})" }));
    let began = folder.path().join("began");
    tokio::select! {
        answer = gone => panic!("it ended: {answer}"),
        () = eventually(|| began.exists()) => {}
    }
    client.close().await;
    assert_eq!(runtime.runs(1, None).await.unwrap().runs[0].status, RunState::Running);
    std::fs::write(folder.path().join("gate"), "").unwrap();
    loop {
        let run = runtime.runs(1, None).await.unwrap().runs.remove(0);
        if run.status.is_over() {
            assert_eq!(run.status, RunState::Completed);
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    site.end().await;
}

#[tokio::test]
async fn what_is_no_request_breaks_nothing() {
    let site = Site::of(Arc::new(Runtime::new(settings(tools(Path::new("."))))), HttpSettings::default()).await;
    for body in [json!(null), json!([]), json!({}), json!("x"), json!({"jsonrpc": "2.0", "id": 1, "method": "nope"})] {
        let (status, answer) = site.raw(&[], &body).await;
        assert!((400..500).contains(&status) || answer.contains("\"error\""), "{body}: {status} {answer}");
    }
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let (status, answer) = site.raw(&[("Mcp-Session-Id", "none"), ("MCP-Protocol-Version", "2025-06-18")], &list).await;
    assert_eq!(status, 404, "a session that is not there: {answer}");
    let mut stream = TcpStream::connect(site.at).await.unwrap();
    stream.write_all(b"\x00\x01\x02 nonsense\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let client = site.client(&[]);
    assert_eq!(run(&client, json!({ "code": "return 1" })).await["result"], 1);
    client.close().await;
    site.end().await;
}
