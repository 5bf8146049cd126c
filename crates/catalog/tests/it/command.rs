//! Command tools, with real programs.

use std::time::Duration;

use refrain_catalog::{
    CallRequest, CommandSettings, CommandToolSettings, ErrorCode, Output, OutputFormat, SourceKind, SourceSettings,
    Sources,
};
use serde_json::{Value, json};

use crate::support::{LONG, alive, call, environment, eventually, guarded, request};

fn settings(name: &str, command: &[&str]) -> CommandToolSettings {
    CommandToolSettings {
        name: name.into(),
        command: command.iter().map(|part| (*part).to_owned()).collect(),
        input: Some(json!({"properties": {
            "a": {"type": "string"}, "n": {"type": "integer", "default": 7}, "list": {"type": "array"}
        }})),
        ..CommandToolSettings::default()
    }
}

fn source(tools: Vec<CommandToolSettings>) -> SourceSettings {
    let tools = tools.into_iter().map(|tool| tool.check().unwrap()).collect();
    SourceSettings::new("s", SourceKind::Command(CommandSettings { tools, ..CommandSettings::default() }))
}

#[tokio::test]
async fn arguments_reach_the_program_one_by_one_and_no_shell_reads_them() {
    let lines = Output { format: OutputFormat::Lines, separator: "\u{1}".into(), ..Output::default() };
    let show = CommandToolSettings {
        output: lines,
        ..settings("show", &["printf", "%s\u{1}", "n={n}", "a={a}", "--", "{a}", "{list}"])
    };
    let sources = Sources::open(vec![source(vec![show])], environment());
    let check = async |args: Value, expect: &str| assert_eq!(call(&sources, "s", "show", args).await, expect);
    check(json!({}), r#"["n=7","--"]"#).await;
    check(json!({"a": "$(id); `id` | cat > x & \n\"'*"}), &{
        let hostile = "$(id); `id` | cat > x & \n\"'*";
        json!(["n=7", format!("a={hostile}"), "--", hostile]).to_string()
    })
    .await;
    check(json!({"a": "-o", "list": ["x y", "-z", 3]}), r#"["n=7","a=-o","--","-o","x y","-z","3"]"#).await;
    check(json!({"n": 5.0}), r#"["n=5","--"]"#).await;
    sources.close().await;
}

#[tokio::test]
async fn an_argument_that_would_be_an_option_or_is_unknown_is_refused_before_anything_runs() {
    let sources = Sources::open(vec![source(vec![settings("show", &["printf", "%s", "{a}"])])], environment());
    insta::assert_snapshot!(call(&sources, "s", "show", json!({"a": "-v"})).await, @r"
invalid_arguments: invalid arguments for `s.show`
- `args.a`: begins with `-` and would be read as an option
");
    insta::assert_snapshot!(call(&sources, "s", "show", json!({"b": 1})).await, @r"
invalid_arguments: invalid arguments for `s.show`
- `args.b`: expected no such key, got 1
signature: tools.s.show(args?: { a?: string; n?: number; list?: unknown[] }): Promise<string>
");
    sources.close().await;
}

#[tokio::test]
async fn the_key_of_a_call_is_in_the_environment_and_where_the_template_wants_it() {
    let show = "printf '%s|%s|%s' \"${{REFRAIN_IDEMPOTENCY_KEY-none}}\" \"$#\" \"$1\"";
    let key = "--key={idempotency_key}";
    let mut settings = source(vec![settings("show", &["sh", "-c", show, "sh", key])]);
    let SourceKind::Command(command) = &mut settings.kind else { unreachable!() };
    // Neither our own variable nor one of the settings is taken for the key of a call.
    command.env = vec![("REFRAIN_IDEMPOTENCY_KEY".to_owned(), "of the settings".to_owned())];
    let sources = Sources::open(vec![settings], environment());
    let said = async |key: Option<&str>| {
        let request = CallRequest { key: key.map(str::to_owned), ..request("s", "show", json!({})) };
        sources.call(request).await.unwrap().value.get().to_owned()
    };
    assert_eq!(said(Some("run/1")).await, r#""run/1|1|--key=run/1""#);
    assert_eq!(said(None).await, r#""none|0|""#);
    sources.close().await;
}

#[tokio::test]
async fn only_exit_code_75_says_that_the_same_may_work_later() {
    let sources =
        Sources::open(vec![source(vec![settings("end", &["sh", "-c", "exit $1", "sh", "{a}"])])], environment());
    for (code, retryable) in [("75", true), ("1", false), ("74", false), ("127", false)] {
        let error = sources.call(request("s", "end", json!({ "a": code }))).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::ToolError, retryable), "{code}");
    }
    sources.close().await;
}

#[tokio::test]
async fn input_is_passed_and_a_program_need_not_read_it() {
    let with =
        |name: &str, program: &str| CommandToolSettings { stdin: Some("<{a}>".into()), ..settings(name, &[program]) };
    let sources = Sources::open(vec![source(vec![with("cat", "cat"), with("deaf", "true")])], environment());
    let long = "x".repeat(1 << 20);
    assert_eq!(call(&sources, "s", "cat", json!({"a": long})).await, format!("\"<{long}>\""));
    assert_eq!(call(&sources, "s", "deaf", json!({"a": long})).await, r#""""#);
    assert_eq!(call(&sources, "s", "cat", json!({})).await, r#""""#);
    sources.close().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_before_anybody_calls() {
    let status = async |programs: &[&str]| {
        let tools = programs.iter().map(|program| settings(program, &[program])).collect();
        let sources = Sources::open(vec![source(tools)], environment());
        let catalog = sources.catalog(Duration::from_secs(600)).await;
        let status = &catalog.sources()[0];
        let told = format!("{} {} {}", status.status.as_str(), status.tools, status.reason.clone().unwrap_or_default());
        sources.close().await;
        told
    };
    assert_eq!(status(&["sh", "true"]).await, "ready 2 ");
    insta::assert_snapshot!(status(&["sh", "refrain-none"]).await, @"degraded 2 cannot start `refrain-none`: not found; install what is missing, or give its full path in `command`");
    insta::assert_snapshot!(status(&["refrain-none", "/none/sh"]).await, @"failed 0 cannot start `/none/sh`, `refrain-none`: not found; install what is missing, or give its full path in `command`");
}

/// Text stays text: without a schema nothing says that a number is meant.
#[tokio::test]
async fn what_a_program_prints_has_a_type_where_the_settings_say_how_it_is_read() {
    let with = |name: &str, format: OutputFormat, pattern: Option<&str>| CommandToolSettings {
        output: Output { format, pattern: pattern.map(str::to_owned), ..Output::default() },
        ..settings(name, &["printf", "12 a\\n34\\n"])
    };
    let tools = vec![
        with("a-text", OutputFormat::Text, None),
        with("b-lines", OutputFormat::Lines, None),
        with("c-json", OutputFormat::Json, None),
        with("d-rows", OutputFormat::Lines, Some(r"^(?<size>\d+)(.*)$")),
        with("e-some", OutputFormat::Lines, Some(r"^(?<size>\d+)( (?<name>.*))?$")),
        with("f-else", OutputFormat::Lines, Some(r"^(?<size>\d+)$|^(?<all>.*)$")),
    ];
    let sources = Sources::open(vec![source(tools)], environment());
    let catalog = sources.catalog(Duration::from_secs(600)).await;
    let types: Vec<String> = catalog.tools().iter().map(|tool| catalog.description_of(tool, None).output).collect();
    insta::assert_snapshot!(types.join("\n"), @"
    string
    string[]
    unknown
    { size: string }[]
    { size?: string; name?: string }[]
    { size?: string; all?: string }[]
    ");
    for (tool, value) in [
        ("a-text", json!("12 a\n34")),
        ("b-lines", json!(["12 a", "34"])),
        ("d-rows", json!([{"size": "12"}, {"size": "34"}])),
        ("e-some", json!([{"size": "12", "name": "a"}, {"size": "34"}])),
        ("f-else", json!([{"all": "12 a"}, {"size": "34"}])),
    ] {
        let output = sources.call(request("s", tool, json!({}))).await.unwrap();
        assert_eq!(
            (serde_json::from_str::<Value>(output.value.get()).unwrap(), output.notes),
            (value, vec![]),
            "{tool}"
        );
    }
    sources.close().await;
}

#[tokio::test]
async fn a_failure_tells_how_the_program_ended_its_words_and_the_hint() {
    let fail = CommandToolSettings {
        hints: vec![("disk".into(), "make room".into()), ("net".into(), "never shown".into())],
        ..settings("fail", &["sh", "-c", "echo out; echo no disk >&2; exit 9"])
    };
    let sources = Sources::open(
        vec![source(vec![
            fail,
            settings("killed", &["sh", "-c", "kill -9 $$"]),
            settings("missing", &["refrain-no-such-program"]),
        ])],
        environment(),
    );
    insta::assert_snapshot!(call(&sources, "s", "fail", json!({})).await, @r"
tool_error: `s.fail`: `sh` ended with exit status: 9: no disk
hint: make room
");
    insta::assert_snapshot!(call(&sources, "s", "killed", json!({})).await, @"tool_error: `s.killed`: `sh` ended with signal: 9 (SIGKILL)");
    insta::assert_snapshot!(call(&sources, "s", "missing", json!({})).await, @"tool_error: `s.missing`: cannot start `refrain-no-such-program`: not found; install it, or give its full path in `command`");
    let error = sources.call(request("s", "fail", json!({}))).await.unwrap_err();
    assert_eq!(error.data, Some(json!({"exit": 9, "stderr": "no disk"})));
    sources.close().await;
}

#[tokio::test]
async fn endless_output_is_cut_off_and_the_program_killed() {
    let sources = Sources::open(vec![source(vec![settings("yes", &["yes"])])], environment());
    insta::assert_snapshot!(call(&sources, "s", "yes", json!({})).await, @"result_too_large: `s.yes` printed more than 16 MiB; ask for less");
    sources.close().await;
}

/// A program that writes the ids of itself and of a child to a file, and then does nothing.
fn stuck(file: &str) -> CommandToolSettings {
    settings(
        "stuck",
        &["sh", "-c", &format!("sleep 600 & echo $$ $! > '{file}.part'; mv '{file}.part' '{file}'; wait")],
    )
}

fn pids(file: &std::path::Path) -> Vec<u32> {
    eventually("the program runs", || file.exists());
    let text = std::fs::read_to_string(file).unwrap();
    text.split_whitespace().map(|id| id.parse().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_waited_for_any_more_ends_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let sources = Sources::open(vec![source(vec![stuck(file.to_str().unwrap())])], guarded());
    let sources = std::sync::Arc::new(sources);
    let task = tokio::spawn({
        let sources = std::sync::Arc::clone(&sources);
        async move { sources.call(request("s", "stuck", json!({}))).await }
    });
    let pids = tokio::task::block_in_place(|| pids(&file));
    assert!(pids.iter().all(|pid| alive(*pid)));
    task.abort();
    let _ = task.await;
    eventually("the program and its child are gone", || !pids.iter().any(|pid| alive(*pid)));
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_stopped_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let tool = CommandToolSettings { timeout: Some(Duration::from_millis(300)), ..stuck(file.to_str().unwrap()) };
    let sources = Sources::open(vec![source(vec![tool])], guarded());
    insta::assert_snapshot!(call(&sources, "s", "stuck", json!({})).await, @"timeout: `s.stuck` did not end within 300 ms and was stopped");
    if file.exists() {
        let pids = pids(&file);
        eventually("the program and its child are gone", || !pids.iter().any(|pid| alive(*pid)));
    }
    sources.close().await;
}

#[tokio::test]
async fn a_child_left_behind_with_the_output_open_does_not_hold_the_result_back() {
    let tool = settings("leave", &["sh", "-c", "sleep 600 & echo $!"]);
    let sources = Sources::open(vec![source(vec![tool])], environment());
    let mut leave = request("s", "leave", json!({}));
    leave.timeout = Some(LONG);
    let pid: String = serde_json::from_str(sources.call(leave).await.unwrap().value.get()).unwrap();
    eventually("what was left behind is gone", || !alive(pid.parse().unwrap()));
    sources.close().await;
}

#[tokio::test]
async fn only_so_many_calls_are_made_at_one_time() {
    let folder = tempfile::tempdir().unwrap();
    // Fails when it meets another of its kind.
    let script = format!("mkdir '{0}/lock' && sleep 0.02 && rmdir '{0}/lock'", folder.path().display());
    let mut source = source(vec![settings("alone", &["sh", "-c", &script])]);
    source.max_in_flight = 1;
    let sources = Sources::open(vec![source], environment());
    let calls = (0..8).map(|_| call(&sources, "s", "alone", json!({})));
    let outcomes = futures_util::future::join_all(calls).await;
    assert!(outcomes.iter().all(|outcome| outcome == "\"\""), "{outcomes:?}");
    sources.close().await;
}

#[test]
fn every_fault_of_the_settings_is_told_at_once() {
    let tool = CommandToolSettings {
        name: String::new(),
        command: vec!["git".into(), "--skip={ofset}".into()],
        input: Some(json!({"properties": {"offset": {"type": "banana"}}})),
        output: Output { pattern: Some("(".into()), ..Output::default() },
        output_schema: Some(json!({"type": 5})),
        ..CommandToolSettings::default()
    };
    let faults = tool.check().unwrap_err();
    let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
    assert_eq!(keys, ["name", "input", "output_schema", "command", "output.pattern"]);
}
