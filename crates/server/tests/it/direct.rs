//! Tools of sources that are offered by themselves.

use std::sync::Arc;

use refrain_runtime::{
    CommandSettings, CommandToolSettings, Effect, Expose, Output, OutputFormat, Runtime, Settings, SourceKind,
    SourceSettings,
};
use serde_json::{Value, json};

use crate::support::{Session, command, settings, taken};

fn source(name: &str, expose: Expose, tools: Vec<CommandToolSettings>) -> SourceSettings {
    let tools = tools.into_iter().map(|tool| tool.check().unwrap()).collect();
    let kind = SourceKind::Command(CommandSettings { tools, ..CommandSettings::default() });
    SourceSettings { expose, ..SourceSettings::new(name, kind) }
}

fn host(sources: Vec<SourceSettings>) -> Settings {
    let mut settings = settings(Vec::new());
    settings.sources = sources;
    settings
}

fn json_tool() -> CommandToolSettings {
    CommandToolSettings {
        output: Output { format: OutputFormat::Json, ..Output::default() },
        output_schema: Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})),
        ..command("count", Effect::Read, &["printf", "{{\"n\": 3}}"])
    }
}

async fn names(session: &Session) -> Vec<String> {
    let list = session.client.list_all_tools().await.unwrap();
    list.iter().map(|tool| tool.name.to_string()).filter(|name| name.contains("__")).collect()
}

#[tokio::test]
async fn a_source_is_offered_to_scripts_by_itself_or_both() {
    let echo = || vec![command("echo", Effect::Read, &["printf", "%s", "{a}"])];
    let sources = vec![
        source("code", Expose::Code, echo()),
        source("my-direct", Expose::Direct, vec![json_tool(), command("drop", Effect::Destructive, &["true"])]),
        source("both", Expose::Both, echo()),
    ];
    let session = Session::start(host(sources)).await;
    assert_eq!(names(&session).await, ["both__echo", "my_direct__count", "my_direct__drop"]);
    let list = session.client.list_all_tools().await.unwrap();
    let count = list.iter().find(|tool| tool.name == "my_direct__count").unwrap();
    let hints = count.annotations.clone().unwrap();
    assert_eq!((hints.read_only_hint, hints.destructive_hint), (Some(true), Some(false)));
    assert_eq!(count.output_schema.as_ref().unwrap()["required"], json!(["n"]));
    assert_eq!(count.input_schema["type"], "object");
    let prompt = list[0].description.clone().unwrap();
    assert!(prompt.contains("both") && !prompt.contains("my_direct"), "{prompt}");

    let (text, content, failed) = taken(session.call("my_direct__count", json!({})).await.unwrap());
    assert_eq!((text.as_str(), &content, failed), (r#"{"n":3}"#, &json!({"n": 3}), false));
    let (text, content, failed) = taken(session.call("both__echo", json!({"a": "x"})).await.unwrap());
    assert_eq!((text.as_str(), &content, failed), ("x", &Value::Null, false));
    let (text, _, failed) = taken(session.call("both__echo", json!({"b": 1})).await.unwrap());
    assert!(failed && text.contains("`args.b`"), "{text}");
    // The policy is asked as always: nobody here can agree.
    let (text, _, failed) = taken(session.call("my_direct__drop", json!({})).await.unwrap());
    assert!(failed && text.contains("it is destructive, and nobody here can be asked"), "{text}");
    // Not for scripts, nor found by them.
    let (text, _, failed) = session.run("return await tools['my-direct'].count({})").await;
    assert!(failed && text.contains("my-direct"), "{text}");
    let (_, found, _) = taken(session.call("search_tools", json!({"query": "count"})).await.unwrap());
    assert_eq!(found["tools"], json!([]));
    let (_, found, _) = session.run("return await tools.both.echo({ a: 'y' })").await;
    assert_eq!(found["result"], "y");
    assert!(session.call("my_direct__nope", json!({})).await.is_err());
    session.end().await;
}

#[tokio::test]
async fn few_tools_are_offered_by_themselves_as_well_where_that_is_left_open() {
    let tools = |many: usize| (0..many).map(|n| command(&format!("t{n}"), Effect::Read, &["true"])).collect();
    let few = Session::start(host(vec![source("s", Expose::Auto, tools(3))])).await;
    assert_eq!(names(&few).await.len(), 3);
    few.end().await;
    let many = Session::start(host(vec![source("s", Expose::Auto, tools(400))])).await;
    assert_eq!(names(&many).await.len(), 0);
    many.end().await;
}

#[tokio::test]
async fn names_are_such_as_every_client_takes_and_no_two_are_alike() {
    let long = "x".repeat(90);
    let tools = vec![
        command(&format!("{long}a"), Effect::Read, &["printf", "a"]),
        command(&format!("{long}b"), Effect::Read, &["printf", "b"]),
        command("größe", Effect::Read, &["printf", "c"]),
    ];
    let session = Session::start(host(vec![source("s", Expose::Direct, tools)])).await;
    let list: Vec<_> = names(&session).await;
    assert_eq!(list.len(), 3);
    let mut given = Vec::new();
    for name in list {
        assert!(name.len() <= 64 && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_'), "{name}");
        let name: &'static str = Box::leak(name.into_boxed_str());
        given.push(taken(session.call(name, json!({})).await.unwrap()).0);
    }
    given.sort();
    assert_eq!(given, ["a", "b", "c"]);
    session.end().await;
}

/// The runtime is one, so what is called by itself is in the journal like everything else.
#[tokio::test]
async fn a_call_by_itself_is_a_run() {
    let echo = vec![command("echo", Effect::Read, &["printf", "%s", "{a}"])];
    let runtime = Arc::new(Runtime::new(host(vec![source("s", Expose::Both, echo)])));
    let session = Session::over(Arc::clone(&runtime)).await;
    taken(session.call("s__echo", json!({"a": "x"})).await.unwrap());
    let run = runtime.runs(1, None).await.unwrap().runs.remove(0);
    let detail = runtime.show(run.run_id).await.unwrap();
    assert_eq!(detail.journal[0].fields["origin"]["direct"], true, "{:?}", detail.journal[0]);
    assert_eq!(detail.report.unwrap().calls[0].tool, "s.echo");
    session.end().await;
}
