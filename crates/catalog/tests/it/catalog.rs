//! Order, names, fingerprints and search.

use refrain_catalog::{Catalog, SourceStatus, Status, Unresolved};
use serde_json::json;

use crate::support::{catalog, ready, tool};

fn sample() -> Catalog {
    let any = || json!({"type": "object"});
    let mut dotted = tool("my.src", "a.b", any(), None);
    dotted.ident = "a_b".into();
    let mut dash = tool("my-src", "list-items", any(), None);
    dash.ident = "list_items".into();
    let mut then = tool("git", "then", any(), None);
    then.ident = "then_".into();
    let mut commits = tool("git", "list_commits", json!({"properties": {"since": {}}}), None);
    commits.description = "Lists commits. Newest first.".into();
    let mut create = tool("github", "createIssue", json!({"properties": {"title": {}, "repository": {}}}), None);
    create.description = "Opens a ticket in a repository".into();
    let down = SourceStatus { status: Status::Failed, reason: Some("no such program".into()), ..ready("jira") };
    let waiting = SourceStatus { status: Status::Connecting, ..ready("slow") };
    Catalog::new(
        vec![then, dotted, commits, dash, create, tool("git", "list_authors", any(), None)],
        vec![ready("my-src"), down, ready("github"), ready("git"), ready("my.src"), waiting],
    )
}

#[test]
fn tools_are_in_order_and_the_call_expression_is_as_it_is_typed() {
    let calls: Vec<String> = sample().tools().iter().map(|tool| tool.call_expression()).collect();
    insta::assert_snapshot!(calls.join("\n"), @r#"
tools.git.list_authors
tools.git.list_commits
tools.git.then_
tools.github.createIssue
tools["my-src"]["list-items"]
tools["my.src"]["a.b"]
"#);
}

#[test]
fn names_and_identifiers_lead_to_the_tool() {
    let catalog = sample();
    let check = |source: &str, tool: &str, expect: &str| {
        assert_eq!(catalog.resolve(source, tool).unwrap().path(), expect);
    };
    check("git", "list_commits", "git.list_commits");
    check("my-src", "list-items", "my-src.list-items");
    check("my_src", "list_items", "my-src.list-items");
    check("my_src_2", "a.b", "my.src.a.b");
    check("git", "then_", "git.then");
    let find = |path: &str, expect: &str| assert_eq!(catalog.find(path).unwrap().path(), expect, "{path}");
    find("git.list_commits", "git.list_commits");
    find("my.src.a.b", "my.src.a.b");
    find("tools.git.list_commits", "git.list_commits");
    find(r#"tools["my-src"]["list-items"]"#, "my-src.list-items");
    find("createIssue", "github.createIssue");
}

#[test]
fn a_wrong_name_gets_the_nearest_and_a_source_that_is_down_its_reason() {
    let catalog = sample();
    let messages: Vec<String> = [
        ("git", "listCommits"),
        ("git", "zzz"),
        ("gti", "list_commits"),
        ("zzz", "x"),
        ("jira", "create"),
        ("slow", "x"),
        ("my_src", "x"),
    ]
    .into_iter()
    .map(|(source, tool)| catalog.resolve(source, tool).unwrap_err().to_string())
    .collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
unknown tool `git.listCommits`; did you mean `list_commits` or `list_authors`?
unknown tool `git.zzz`; source `git` has `list_authors`, `list_commits`, `then`
no source `gti`; did you mean `git`?
no source `zzz`; there are `git`, `github`, `jira`, `my-src`, `my.src`, `slow`
source `jira` is down: no such program
source `slow` is down: it has not listed its tools yet
unknown tool `my-src.x`; source `my-src` has `list-items`
");
    let find = |path: &str| catalog.find(path).unwrap_err().to_string();
    insta::assert_snapshot!([find("git.nope"), find("create_issue"), find("")].join("\n"), @r"
unknown tool `git.nope`; source `git` has `list_authors`, `list_commits`, `then`
unknown tool `create_issue`; did you mean `createIssue` or `github.createIssue`?
unknown tool ``
");
    assert!(matches!(catalog.resolve("jira", "create"), Err(Unresolved::SourceDown { .. })));
    insta::assert_snapshot!(Catalog::default().find("a.b").unwrap_err().to_string(), @"no source `a`; no sources are configured");
}

#[test]
fn a_catalog_survives_json_and_its_fingerprint_sees_tools_and_nothing_else() {
    let catalog = sample();
    let text = serde_json::to_string(&catalog).unwrap();
    let back: Catalog = serde_json::from_str(&text).unwrap();
    assert_eq!(back, catalog);
    assert_eq!(back.source_ident("my-src"), "my_src");
    assert_eq!(back.fingerprint(), catalog.fingerprint());
    // Health, and the order of tools and keys, are not what a run depends on.
    let mut tools = catalog.tools().to_vec();
    tools.reverse();
    assert_eq!(Catalog::new(tools.clone(), Vec::new()).fingerprint(), catalog.fingerprint());
    let print = |text: &str| {
        let schema = serde_json::from_str(text).unwrap();
        crate::support::catalog(vec![tool("s", "t", schema, None)]).fingerprint()
    };
    assert_eq!(print(r#"{"a":1,"b":{"c":[1],"d":2}}"#), print(r#"{"b":{"d":2,"c":[1]},"a":1}"#));
    assert_ne!(print(r#"{"a":1}"#), print(r#"{"a":2}"#));
    tools[0].description.push('.');
    assert_ne!(Catalog::new(tools, Vec::new()).fingerprint(), catalog.fingerprint());
}

#[test]
fn a_stored_tool_from_this_release_can_still_be_read() {
    let stored = r#"{"source":"git","name":"log","ident":"log","description":"Lists.","input_schema":{"type":"object"},"output_schema":{"type":"array"},"effect":"read","replay":"safe","timeout_ms":5,"notes":["n"]}"#;
    let tool: refrain_catalog::Tool = serde_json::from_str(stored).unwrap();
    assert_eq!(serde_json::to_string(&tool).unwrap(), stored);
}

#[test]
fn search_puts_exact_names_first_forgives_slips_and_orders_ties() {
    let catalog = sample();
    let check = |query: &str, expect: &[&str]| {
        let found: Vec<String> = catalog.search(query, 3).into_iter().map(|hit| hit.path).collect();
        assert_eq!(found, expect, "{query}");
    };
    check("list_authors", &["git.list_authors", "git.list_commits", "my-src.list-items"]);
    check("comits", &["git.list_commits"]);
    check("create an issue", &["github.createIssue"]);
    check("ticket", &["github.createIssue"]);
    check("title", &["github.createIssue"]);
    check("git", &["git.list_authors", "git.list_commits", "git.then"]);
    check("zebra", &[]);
    check("", &[]);
    let hit = &catalog.search("commits", 1)[0];
    insta::assert_snapshot!(format!("{}\n{}\n{}", hit.call, hit.signature, hit.summary), @r"
tools.git.list_commits
tools.git.list_commits(args?: { since?: unknown }): Promise<unknown>
Lists commits.
");
    assert!(self::catalog(Vec::new()).search("x", 5).is_empty());
}
