//! What a client is told before it runs anything.

use refrain_runtime::{Effect, demo};
use serde_json::json;

use crate::support::{Session, command, settings, taken, tools};

#[tokio::test]
async fn the_tool_list_is_the_golden_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(Vec::new());
    settings.sources = vec![demo::source(folder.path().to_owned())];
    let session = Session::start(settings).await;
    let list = session.client.list_all_tools().await.unwrap();
    insta::assert_snapshot!("tools", serde_json::to_string_pretty(&list).unwrap());
    session.end().await;
}

#[tokio::test]
async fn the_list_is_the_same_byte_for_byte_in_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut lists = Vec::new();
    for reverse in [false, true] {
        let mut tools = tools(folder.path());
        if reverse {
            tools.reverse();
        }
        let session = Session::start(settings(tools)).await;
        lists.push(serde_json::to_string(&session.client.list_all_tools().await.unwrap()).unwrap());
        session.end().await;
    }
    assert_eq!(lists[0], lists[1]);
}

#[tokio::test]
async fn annotations_follow_from_what_the_tools_may_do() {
    for (effect, read_only) in [(Effect::Read, true), (Effect::Write, false), (Effect::Destructive, false)] {
        let session = Session::start(settings(vec![command("one", effect, &["true"])])).await;
        let list = session.client.list_all_tools().await.unwrap();
        let annotations = list[0].annotations.as_ref().unwrap();
        assert_eq!(annotations.read_only_hint, Some(read_only), "{effect:?}");
        assert_eq!(annotations.destructive_hint, Some(!read_only), "{effect:?}");
        assert_eq!(annotations.open_world_hint, Some(true));
        session.end().await;
    }
}

#[tokio::test]
async fn what_search_and_describe_print_runs_as_printed() {
    let session = Session::start(settings(vec![command("say-it", Effect::Read, &["printf", "%s", "{a}"])])).await;
    let (_, found, failed) = taken(session.call("search_tools", json!({"query": "say it"})).await.unwrap());
    assert!(!failed);
    let call = found["tools"][0]["call"].as_str().unwrap();
    assert_eq!(call, r#"tools.sh["say-it"]"#);
    let (text, described, failed) =
        taken(session.call("describe_tools", json!({"names": ["sh.say-it", "sh.sayit"]})).await.unwrap());
    assert!(!failed, "{text}");
    assert_eq!(described["tools"][0]["call"], call);
    assert_eq!(described["tools"][0]["input_schema"]["properties"]["a"]["type"], "string");
    assert!(described["tools"][1]["error"].as_str().unwrap().contains("`say-it`"), "{described:#}");
    assert!(text.contains("effect: read"), "{text}");
    let (text, _, failed) = session.run(&format!("return await {call}({{ a: 'hi' }})")).await;
    assert!(!failed && text == "\"hi\"", "{text}");
    session.end().await;
}
