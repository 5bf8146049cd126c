//! `run_code` over a real client, a real engine and real programs.

use refrain_runtime::LimitSettings;
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::support::{Session, eventually, settings, taken, tools};

#[tokio::test]
async fn a_script_is_answered_with_its_report_and_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(settings(tools(folder.path()))).await;
    let code = "const all: string[] = await Promise.all(['x', 'y'].map((a) => tools.sh.echo({ a })));
        text('two calls'); console.warn('careful');
        return { all };";
    let (text, report, failed) = session.run(code).await;
    assert!(!failed, "{text}");
    assert!(text.starts_with(r#"{"all":["x","y"]}"#), "{text}");
    assert!(text.contains("text:\ntwo calls") && text.contains("warn: careful"), "{text}");
    assert_eq!(report["status"], "completed");
    assert_eq!(report["result"], json!({"all": ["x", "y"]}));
    assert_eq!(report["text"], "two calls");
    assert_eq!(report["calls"][1]["args"], json!({"a": "y"}));
    assert_eq!(report["usage"]["calls"], 2);
    assert!(report["run_id"].is_string() && report.get("error").is_none(), "{report:#}");
    session.end().await;
}

#[tokio::test]
async fn a_script_that_fails_is_a_result_with_the_reason_and_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(settings(tools(folder.path()))).await;
    let check = async |code: &str, kind: &str, told: &[&str]| {
        let (text, report, failed) = session.run(code).await;
        assert!(failed, "{code}: {text}");
        assert_eq!(report["error"]["kind"], kind, "{code}: {report:#}");
        for told in told {
            assert!(text.contains(told), "{code}: `{told}` is not in:\n{text}");
        }
    };
    check("const a = 1;\nreturn (;", "syntax", &["failed (syntax)", "No call was made."]).await;
    check("\nthrow new TypeError('on line two')", "script", &["on line two", "2"]).await;
    check(
        "await tools.sh.echo({a: 'x'});\nawait tools.sh.fail({});",
        "tool",
        &["broken", "calls finished (1):\n  1 `sh.echo` {\"a\":\"x\"}", "calls failed (1):\n  2 `sh.fail`"],
    )
    .await;
    check("await tools.sh.ehco({})", "preflight", &["`echo`", "nothing has run"]).await;
    check("await tools.sh['eh' + 'co']({})", "tool", &["unknown_tool", "`echo`"]).await;
    check("await new Promise(() => {})", "stalled", &["failed (stalled)"]).await;
    let (text, report, failed) =
        taken(session.call("run_code", json!({"code": "for (;;) {}", "timeout_ms": 50})).await.unwrap());
    assert!(failed && report["error"]["kind"] == "timeout", "{text}");
    let (text, _, failed) = session.run("return 1").await;
    assert!(!failed && text == "1", "the server lives on: {text}");
    session.end().await;
}

#[tokio::test]
async fn bad_arguments_are_a_result_that_names_the_key() {
    let session = Session::start(settings(Vec::new())).await;
    for (tool, arguments, told) in [
        ("run_code", json!({}), "`code` is missing"),
        ("run_code", json!({"code": 5}), "`code` is `5`"),
        ("run_code", json!({"code": "return 1", "language": "cobol"}), "`language` is `\"cobol\"`"),
        ("run_code", json!({"code": "return 1", "timeout": 5}), "`\"timeout\"` is no argument"),
        ("run_code", json!({"code": "return 1", "timeout_ms": 1.5}), "`timeout_ms` is `1.5`"),
        ("search_tools", json!({"q": "x"}), "`query` is missing"),
        ("search_tools", json!({"query": "x", "limit": 0}), "`limit` is `0`"),
        ("describe_tools", json!({"names": "sh.echo"}), "`names` is `\"sh.echo\"`"),
    ] {
        let (text, content, failed) = taken(session.call(tool, arguments.clone()).await.unwrap());
        assert!(failed && content == Value::Null, "{tool} {arguments}");
        assert!(text.contains(told), "{tool} {arguments}: {text}");
    }
    let error = session.call("sh.echo", json!({})).await.unwrap_err();
    let ServiceError::McpError(error) = error else { panic!("{error}") };
    assert!(error.message.contains("no tool `sh.echo`; there are `run_code`"), "{}", error.message);
    session.end().await;
}

#[tokio::test]
async fn output_over_the_budget_is_cut_and_says_so() {
    let session = Session::start(settings(Vec::new())).await;
    let code = "return Array.from({length: 5000}, (_, id) => ({ id }))";
    let call = session.call("run_code", json!({"code": code, "max_output_tokens": 500})).await.unwrap();
    let (text, report, failed) = taken(call);
    assert!(!failed);
    assert!(text.starts_with("[cut: ") && text.contains(r#"{"id":4999}]"#), "{text}");
    assert!(text.len() < 2_000 + 600, "{}", text.len());
    let result = report["result"].as_str().unwrap();
    let id = report["run_id"].as_str().unwrap();
    assert!(
        result.starts_with("[cut: ") && result.contains(&format!("`read_artifact` with the id `{id}`")),
        "{result}"
    );
    assert!(report.to_string().len() < 2_000 + 1_200, "{}", report.to_string().len());
    session.end().await;
}

#[tokio::test]
async fn two_scripts_run_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(settings(tools(folder.path()))).await;
    let waits = session.run("return await tools.sh.wait({})");
    let opens = async {
        eventually(|| folder.path().join("began").exists()).await;
        let (text, ..) = session.run("return await tools.sh.echo({ a: 'meanwhile' })").await;
        std::fs::write(folder.path().join("gate"), "").unwrap();
        text
    };
    let ((waited, ..), meanwhile) = tokio::join!(waits, opens);
    assert_eq!(meanwhile, "\"meanwhile\"");
    assert!(waited.contains("through"), "{waited}");
    session.end().await;
}

#[tokio::test]
async fn a_time_limit_can_be_lowered_and_not_raised() {
    let mut settings = settings(Vec::new());
    settings.limits = LimitSettings { timeout_ms: 50, ..LimitSettings::default() };
    let session = Session::start(settings).await;
    let (text, report, _) =
        taken(session.call("run_code", json!({"code": "for (;;) {}", "timeout_ms": 600_000})).await.unwrap());
    assert_eq!(report["error"]["setting"], "timeout_ms", "{text}");
    assert!(text.contains("50 ms"), "{text}");
    session.end().await;
}

#[tokio::test]
async fn a_journal_that_cannot_be_opened_is_told_to_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(Vec::new());
    settings.journal_url = format!("sqlite:{}", folder.path().display());
    let session = Session::start(settings).await;
    let (text, content, failed) = session.run("return 1").await;
    assert!(failed && content == Value::Null, "{text}");
    assert!(text.starts_with("the script could not be run: ") && text.contains("no call was made"), "{text}");
    session.end().await;
}

#[tokio::test]
async fn pictures_reach_the_model_as_blocks_and_never_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(settings(tools(folder.path()))).await;
    let code = "const block = (type, mimeType, data) => ({ type, mimeType, data });
        image(block('image', 'image/png', 'iVBORw0KGgo='));
        image('data:audio/wav;base64,UklGRg==');
        return [{ type: 'text', text: 'a chart' }, block('image', 'image/gif', 'R0lGODlh')]";
    let answer = session.call("run_code", json!({ "code": code })).await.unwrap();
    let blocks = serde_json::to_value(&answer.content).unwrap();
    let found: Vec<_> = blocks.as_array().unwrap()[1..].iter().map(|block| (&block["type"], &block["data"])).collect();
    let expect = [("image", "iVBORw0KGgo="), ("audio", "UklGRg=="), ("image", "R0lGODlh")];
    assert_eq!(
        found,
        expect.map(|(kind, data)| (json!(kind), json!(data))).iter().map(|(a, b)| (a, b)).collect::<Vec<_>>()
    );
    let (text, report, _) = taken(answer);
    let said = format!("{text}{report}");
    assert!(said.contains("a chart") && said.contains("block 3 after this text"), "{said}");
    assert!(!said.contains("R0lGODlh") && !said.contains("iVBORw0KGgo"), "{said}");
    session.end().await;
}
