//! The same tools under the names that other systems taught models.

use refrain_runtime::{DIALECTS, Dialect};
use serde_json::{Value, json};

use crate::{
    fake::Fake,
    host::{Host, texts, value},
};

/// Two sources with a tool of one name between them, and names that are no identifiers.
fn host(dialect: &str) -> Host {
    let sources = [
        ("github", vec![Fake::echo("list_issues").described("Lists the issues of a repository."), Fake::echo("get")]),
        ("my-src", vec![Fake::echo("list-items"), Fake::echo("get"), Fake::echo("then")]),
    ];
    Host::with(sources, |settings| settings.dialect = Some(Dialect::find(dialect).unwrap()))
}

async fn paths(host: &Host, script: &str) -> Vec<String> {
    let report = host.run(script).await;
    assert!(report.error.is_none(), "{script}: {:?}", report.error);
    report.calls.into_iter().map(|call| call.tool).collect()
}

#[tokio::test]
async fn our_own_tools_are_reached_by_every_name_they_have() {
    let host = host("refrain");
    let script = "
        await tools.github.list_issues({});
        await tools['my-src']['list-items']({});
        await tools.my_src.list_items({});
        await tools.my_src['list-items']({});
        await tools.mcp__github__list_issues({});
        await tools['mcp__my-src__list-items']({});
        await tools.mcp__my_src__list_items({});
        await tools.my_src.then_({});
    ";
    let items = "my-src.list-items";
    assert_eq!(
        paths(&host, script).await,
        ["github.list_issues", items, items, items, "github.list_issues", items, items, "my-src.then"]
    );
}

#[tokio::test]
async fn a_namespace_can_be_awaited_listed_and_spread() {
    let found = host("refrain")
        .value(
            "const src = await tools.my_src;
             const { list_issues } = tools.github;
             return [src === tools.my_src, Object.keys(tools), Object.keys({ ...tools.github }), 'get' in tools.github,
                     (await list_issues({ a: 1 })).a, typeof tools.github.list_issues, tools.github.list_issues.name]",
        )
        .await;
    assert_eq!(found[0], true);
    let mut names: Vec<&str> = found[1].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["github", "my-src", "my_src"]);
    assert_eq!(found[2], json!(["get", "list_issues"]));
    assert_eq!(found.as_array().unwrap()[3..], [json!(true), json!(1), json!("function"), json!("list_issues")]);
}

#[tokio::test]
async fn codemode_holds_every_tool_flat() {
    for dialect in ["cloudflare", "ordering"] {
        let host = host(dialect);
        let script = "
            await codemode.list_issues({});
            await codemode.githubListIssues({});
            await codemode['list-items']({});
            await codemode.list_items({});
            await codemode.githubGet({});
            await codemode.mySrcGet({});
        ";
        let items = "my-src.list-items";
        assert_eq!(
            paths(&host, script).await,
            ["github.list_issues", "github.list_issues", items, items, "github.get", "my-src.get"],
            "{dialect}"
        );
    }
}

#[tokio::test]
async fn pi_lists_its_tools_and_describes_one_or_a_namespace() {
    let host = host("pi");
    let found = host
        .value(
            "return {
               names: ALL_TOOLS.map((tool) => tool.name),
               about: ALL_TOOLS.find((tool) => tool.name === 'mcp__github__list_issues').description,
               every: await Promise.all(ALL_TOOLS.map(async ({ name }) => (await tools[name]({ name })).name)),
               hits: (await searchTools('issues of a repository')).map((hit) => hit.path),
               one: await describeTool('mcp__github__list_issues'),
               path: (await describeTool('github.list_issues')).path,
               all: (await describeNamespace('github')).map((tool) => tool.path),
             }",
        )
        .await;
    let names = json!([
        "mcp__github__get",
        "mcp__github__list_issues",
        "mcp__my_src__get",
        "mcp__my_src__list_items",
        "mcp__my_src__then_"
    ]);
    assert_eq!((&found["names"], &found["every"]), (&names, &names));
    assert_eq!(found["about"], "Lists the issues of a repository.");
    assert_eq!(found["hits"], json!(["github.list_issues"]));
    assert_eq!((&found["one"]["path"], &found["path"]), (&json!("github.list_issues"), &json!("github.list_issues")));
    assert!(texts(&found["one"]).contains("Promise<"), "a signature: {}", found["one"]);
    assert_eq!(found["all"], json!(["github.get", "github.list_issues"]));
}

/// The groups of Pi Durable are prefixes such as `mcp__github__`.
#[tokio::test]
async fn pi_describes_a_namespace_by_its_prefix() {
    let found = host("pi").value("return (await describeNamespace('mcp__github__')).map((tool) => tool.path)").await;
    assert_eq!(found, json!(["github.get", "github.list_issues"]));
}

#[tokio::test]
async fn opencode_groups_by_server_and_searches() {
    let host = host("opencode");
    let script = "const [hit] = await search('list issues'); text(hit.path);
                  await tools.github.list_issues({}); await tools['my-src'].get({})";
    let report = host.run(script).await;
    assert_eq!((report.text.as_str(), report.error), ("github.list_issues", None));
}

#[tokio::test]
async fn polylane_describes_by_the_names_that_were_asked_for() {
    let host = host("polylane");
    let found = host.value("return tools.__describe(['githubListIssues', 'list_items', 'githubGet'])").await;
    let names: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(names, ["githubListIssues", "list_items", "githubGet"]);
}

/// A name that search gives is written into the next script as it is.
#[tokio::test]
async fn the_call_that_search_prints_runs_in_every_dialect() {
    let mut wrong = String::new();
    for dialect in DIALECTS {
        let host = host(dialect.name);
        for path in ["github.list_issues", "my-src.list-items", "my-src.get", "my-src.then"] {
            let found = host.value(&format!("return (await describeTools(['{path}']))[0]")).await;
            let call = found["call"].as_str().unwrap();
            let report = host.run(&format!("return await {call}({{ a: 1 }})")).await;
            let called: Vec<&str> = report.calls.iter().map(|call| call.tool.as_str()).collect();
            if value(&report) != Some(json!({ "a": 1 })) || called != [path] {
                wrong += &format!("\n{}: `{call}`: {:?}", dialect.name, report.error.map(|error| error.message));
            } else if !found["signature"].as_str().unwrap().starts_with(call) {
                wrong += &format!("\n{}: `{call}` is not how `{}` begins", dialect.name, found["signature"]);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn a_flat_name_that_does_not_exist_is_answered_with_the_nearest() {
    let mut wrong = String::new();
    for (dialect, call, near) in [
        ("polylane", "tools.githubListIssue", "githubListIssues"),
        ("cloudflare", "codemode.list_isues", "list_issues"),
        ("ordering", "codemode.githubListissues", "githubListIssues"),
        ("pi", "tools.mcp__github__list_isues", "list_issues"),
        ("pi", "tools.mcp__gihub__list_issues", "list_issues"),
        ("refrain", "tools.mcp__github__list_isues", "list_issues"),
        ("refrain", "tools.mcp__gihub__list_issues", "list_issues"),
    ] {
        let report = host(dialect)
            .run(&format!("try {{ return await {call}({{}}) }} catch (e) {{ return [e.code, e.message] }}"))
            .await;
        let found = value(&report).unwrap_or(Value::Null);
        // What does not lead anywhere is no source of its own.
        let told = found[1].as_str().unwrap_or_default();
        if found[0] != "unknown_tool"
            || !told.contains(&format!("{near}`"))
            || told.contains("source `tools`")
            || told.contains("source `codemode`")
        {
            wrong += &format!("\n{dialect}: {call}: {found} {:?}", report.error);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Where two sources have a tool of one name, the bare name means neither.
#[tokio::test]
async fn a_bare_name_that_two_sources_have_is_answered_with_both() {
    let host = host("polylane");
    let found = host.value("try { return await tools.get({}) } catch (e) { return [e.code, e.message] }").await;
    assert_eq!(found[0], "unknown_tool");
    let told = found[1].as_str().unwrap();
    assert!(told.contains("githubGet") && told.contains("mySrcGet"), "{told}");
}

#[tokio::test]
async fn an_unknown_dialect_is_no_dialect() {
    assert!(Dialect::find("polylan").unwrap_err().contains("`polylane`"));
}
