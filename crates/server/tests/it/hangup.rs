//! Clients that leave, change their mind, or do not speak the protocol.

use std::sync::Arc;

use refrain_runtime::{ReportStatus, RunState, Runtime, Take};
use refrain_server::ServeError;
use rmcp::{
    model::{CallToolRequest, CallToolRequestParams, ClientRequest},
    service::PeerRequestOptions,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::support::{Session, eventually, serve, settings, tools};

#[tokio::test]
async fn a_client_that_hangs_up_in_the_middle_leaves_a_run_that_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(tools(folder.path()));
    settings.journal_url = format!("sqlite:{}", folder.path().join("journal.db").display());
    let runtime = Arc::new(Runtime::new(settings.clone()));
    let session = Session::over(Arc::clone(&runtime)).await;
    let began = folder.path().join("began");
    tokio::select! {
        _ = session.run("await tools.sh.echo({ a: 'x' }); return await tools.sh.wait({})") => panic!("it has to wait"),
        () = eventually(|| began.exists()) => {}
    }
    session.end().await;
    assert_eq!(Arc::strong_count(&runtime), 1, "nothing of the run is left");
    drop(runtime);

    std::fs::write(folder.path().join("gate"), "").unwrap();
    let later = Runtime::new(settings);
    let runs = later.runs(10, None).await.unwrap().runs;
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].status, RunState::Running);
    let report = later.resume(runs[0].run_id, Take::IfFree).await.unwrap();
    // The call that was out writes, so nobody may repeat it: the script is told.
    assert_eq!(report.status, ReportStatus::Failed);
    assert_eq!(report.error.unwrap().code.as_deref(), Some("interrupted"));
    assert_eq!(std::fs::read_to_string(began).unwrap(), "x\n", "it was made once");
}

#[tokio::test]
async fn a_cancelled_request_ends_the_answer_and_not_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Arc::new(Runtime::new(settings(tools(folder.path()))));
    let session = Session::over(Arc::clone(&runtime)).await;
    let arguments = json!({"code": "return await tools.sh.wait({})"}).as_object().unwrap().clone();
    let params = CallToolRequestParams::new("run_code").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let handle = session.client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    eventually(|| folder.path().join("began").exists()).await;
    handle.cancel(Some("no longer needed".into())).await.unwrap();
    let (text, ..) = session.run("return 'still here'").await;
    assert_eq!(text, "\"still here\"");

    std::fs::write(folder.path().join("gate"), "").unwrap();
    loop {
        let runs = runtime.runs(10, None).await.unwrap().runs;
        if runs.iter().all(|run| run.status == RunState::Completed) {
            assert_eq!(runs.len(), 2);
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    session.end().await;
}

#[tokio::test]
async fn a_request_that_is_taken_back_cancels_its_run_where_the_settings_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(tools(folder.path()));
    settings.on_client_cancel = refrain_runtime::OnClientCancel::Cancel;
    let runtime = Arc::new(Runtime::new(settings));
    let session = Session::over(Arc::clone(&runtime)).await;
    let code = "try { await tools.sh.wait({}) } finally { text('cleaned') }";
    let arguments = json!({ "code": code }).as_object().unwrap().clone();
    let params = CallToolRequestParams::new("run_code").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let handle = session.client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    eventually(|| folder.path().join("began").exists()).await;
    handle.cancel(Some("no longer needed".into())).await.unwrap();
    let run = loop {
        let run = runtime.runs(1, None).await.unwrap().runs.remove(0);
        if run.status.is_over() {
            break run;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    assert_eq!(run.status, RunState::Cancelled);
    let report = runtime.show(run.run_id).await.unwrap().report.unwrap();
    assert_eq!(report.text, "cleaned");
    assert!(report.notes[0].message.contains("the client took its request back"), "{:?}", report.notes);
    assert!(!folder.path().join("done").exists(), "its tool ends with it");
    session.end().await;
}

/// Sends lines, closes the stream, and returns the answers and how serving ended.
async fn raw(lines: &[&str]) -> (Vec<Value>, Result<(), ServeError>) {
    let (server, (read, mut write)) = serve(Arc::new(Runtime::new(settings(Vec::new()))));
    for line in lines {
        write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
    drop(write);
    let mut answers = Vec::new();
    let mut lines = BufReader::new(read).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        answers.push(serde_json::from_str(&line).unwrap());
    }
    (answers, server.await.unwrap())
}

fn initialize(version: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"},
    }})
    .to_string()
}

#[tokio::test]
async fn a_client_that_leaves_at_once_is_no_error() {
    let (answers, ended) = raw(&[]).await;
    assert!(answers.is_empty() && ended.is_ok(), "{answers:?} {ended:?}");
}

#[tokio::test]
async fn requests_that_were_sent_before_the_stream_closed_are_answered() {
    let run = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_code", "arguments": {"code": "return 6 * 7"},
    }});
    let (answers, ended) = raw(&[&initialize("2025-06-18"), &run.to_string()]).await;
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "refrain");
    assert_eq!(answers[1]["result"]["structuredContent"]["result"], 42, "{answers:#?}");
}

#[tokio::test]
async fn each_revision_with_a_handshake_gets_itself() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let (answers, _) = raw(&[&initialize(version)]).await;
        assert_eq!(answers[0]["result"]["protocolVersion"], version);
    }
    let (answers, _) = raw(&[&initialize("1999-01-01")]).await;
    assert!(answers[0]["result"]["protocolVersion"].is_string(), "{answers:?}");
}

#[tokio::test]
async fn the_revision_without_a_handshake_is_answered_too() {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
        "name": "run_code", "arguments": {"code": "return 1"},
    }});
    let (answers, ended) = raw(&[&request.to_string()]).await;
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(answers[0]["result"]["structuredContent"]["result"], 1, "{answers:#?}");
}

#[tokio::test]
async fn lines_that_are_no_requests_break_nothing() {
    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}).to_string();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let odd = ["", "not json", "{}", "[]", "null", "{\"jsonrpc\":\"2.0\"", &deep, "\u{0}"];
    let handshake = initialize("2025-11-25");
    let mut lines = vec![handshake.as_str()];
    lines.extend(odd);
    lines.push(&list);
    let (answers, ended) = raw(&lines).await;
    assert!(ended.is_ok(), "{ended:?}");
    let listed = answers.iter().find(|answer| answer["id"] == 7).unwrap();
    assert_eq!(listed["result"]["tools"][0]["name"], "run_code");
}
