//! Every tool can be called, whatever it and its source are called, and the server gets its own spelling.
//!
//! Cases of the class `tool-naming`, each in every dialect: what discovery prints is written into the next script as it is.

use refrain_runtime::{DIALECTS, Dialect};
use serde_json::{Value, json};

use crate::{
    fake::Fake,
    host::{Host, value},
};

type Sources = Vec<(&'static str, Vec<String>)>;

fn host(sources: &Sources, dialect: &'static Dialect) -> Host {
    let fakes = sources.iter().map(|(source, tools)| {
        let fakes = tools.iter().map(|tool| {
            let reached = json!(format!("{source} reached {tool}"));
            Fake::value(tool, reached).safe()
        });
        (*source, fakes.collect::<Vec<_>>())
    });
    Host::with(fakes, |settings| settings.dialect = Some(dialect))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What the texts of discovery call every tool, by path, runs as printed and reaches that tool and no other.
async fn all_are_reached(sources: &Sources) {
    let mut wrong = String::new();
    for dialect in DIALECTS {
        let host = host(sources, dialect);
        let total: usize = sources.iter().map(|(_, tools)| tools.len()).sum();
        let described = host.value("return await describeTools('*')").await;
        let described = described.as_array().unwrap();
        assert_eq!(described.len(), total, "{}: {described:#?}", dialect.name);
        let calls: Vec<(&str, &str)> =
            described.iter().map(|tool| (tool["path"].as_str().unwrap(), tool["call"].as_str().unwrap())).collect();
        // By original names, which resolve in our own dialect wherever a tools object may have such a key.
        let lines: String = calls.iter().map(|(_, call)| format!("out.push(await {call}({{}}));\n")).collect();
        let report = host.run(&format!("const out = [];\n{lines}return out;")).await;
        let reached: Vec<Value> = serde_json::from_value(value(&report).unwrap_or(json!([]))).unwrap();
        if reached.len() != total {
            wrong += &format!("\n{}: {:?}", dialect.name, report.error);
        }
        for ((path, call), reached) in calls.iter().zip(&reached) {
            let expected = sources.iter().find_map(|(source, tools)| {
                let tool = tools.iter().find(|tool| format!("{source}.{tool}") == *path)?;
                Some(format!("{source} reached {tool}"))
            });
            if reached.as_str() != expected.as_deref() {
                wrong += &format!("\n{}: `{call}` of `{path}`: {reached}", dialect.name);
            }
        }
        // What search prints is the same.
        for (path, call) in &calls {
            let found = host.value(&format!("return await searchTools({})", json!(path))).await;
            let hit = found.as_array().unwrap().iter().find(|hit| hit["path"] == *path);
            if hit.is_none_or(|hit| hit["call"] != *call || !hit["signature"].as_str().unwrap().starts_with(call)) {
                wrong += &format!("\n{}: searching `{path}` gives {hit:?}", dialect.name);
            }
        }
        let called: Vec<String> = host.seen().calls.iter().map(|(name, _)| name.clone()).collect();
        let own: Vec<&String> = sources.iter().flat_map(|(_, tools)| tools).collect();
        assert!(called.iter().all(|name| own.contains(&name)), "{}: {called:?}", dialect.name);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Case tool-naming-01.
#[tokio::test]
async fn names_that_differ_only_in_a_separator_or_in_case_stay_apart() {
    all_are_reached(&vec![
        (
            "fake",
            names(&["get-user", "get_user", "get.user", "get/user", "Get_User", "GET_USER", "get user", "getUser"]),
        ),
        ("fa-ke", names(&["get-user", "get_user"])),
        ("Fake", names(&["get-user"])),
    ])
    .await;
}

/// Case tool-naming-01: the clash is told, once for each tool that had to give way, and the names are those of every start.
#[tokio::test]
async fn a_clash_of_names_is_told_and_settled_alike_at_every_start() {
    let mut seen = Vec::new();
    for order in [["get-user", "get_user", "get.user"], ["get.user", "get_user", "get-user"]] {
        let host = host(&vec![("fake", names(&order))], Dialect::find("refrain").unwrap());
        seen.push(host.value("return (await describeTools('*')).map((tool) => [tool.path, tool.notes])").await);
    }
    let note = |ident: &str| json!([format!("its identifier is `{ident}`, since `get_user` is another tool's")]);
    let expected =
        json!([["fake.get-user", note("get_user_2")], ["fake.get.user", note("get_user_3")], ["fake.get_user", []],]);
    assert_eq!(seen, [expected.clone(), expected]);
}

/// Case tool-naming-03.
#[tokio::test]
async fn names_that_are_reserved_words_or_belong_to_every_object_are_called_like_others() {
    all_are_reached(&vec![
        ("fake", names(&["delete", "typeof", "class", "await", "default", "return", "new", "function", "let", "null"])),
        ("delete", names(&["in", "of", "this"])),
        (
            "odd",
            names(&[
                "then",
                "then_",
                "__proto__",
                "constructor",
                "toString",
                "valueOf",
                "toJSON",
                "prototype",
                "name",
                "length",
            ]),
        ),
    ])
    .await;
}

/// Case tool-naming-05.
#[tokio::test]
async fn long_names_with_one_beginning_stay_apart() {
    let long = "export_quarterly_regional_inventory_quarterly_regional_inventory_quarterly_regional_inventory_";
    let mut tools = names(&["a", "b"]);
    tools[0] = format!("{long}summary");
    tools[1] = format!("{long}details");
    tools.push("n".repeat(128));
    tools.push(format!("{}-", "n".repeat(127)));
    tools.push(format!("{}.", "n".repeat(127)));
    all_are_reached(&vec![("fake", tools)]).await;
}

/// Cases tool-naming-09 and tool-naming-12.
#[tokio::test]
async fn sources_are_reached_whatever_they_are_called() {
    all_are_reached(&vec![
        ("maps.eu", names(&["route.plan", "eu.route"])),
        ("maps", names(&["maps", "eu"])),
        ("Depot", names(&["ping"])),
        ("-Depot", names(&["ping"])),
        ("9Depot", names(&["ping"])),
        ("then", names(&["ping"])),
        ("__proto__", names(&["ping", "__proto__"])),
        ("constructor", names(&["ping", "constructor"])),
        ("💥", names(&["💥", "数据", "données", "9lives"])),
        ("数据", names(&["ping"])),
        ("a b", names(&["\"quoted\"", "back\\slash", "new\nline", "`tick`", "${x}"])),
        ("tools", names(&["tools", "tools.tools"])),
    ])
    .await;
}

/// Case tool-naming-07. What no tool is called and the prototype of every object has is an unknown tool like any other, but for the
/// few names under which the language and printers look for something else.
#[tokio::test]
async fn a_name_that_only_the_prototype_has_is_never_taken_for_a_tool() {
    let script = "const out = [];
        for (const n of ['constructor', 'toString', 'valueOf', '__proto__', 'isPrototypeOf', '__defineGetter__']) {
          try { await tools[n]({ a: 1 }); out.push('called'); } catch (e) { out.push(e.code ?? e.name); }
        }
        return out;";
    for dialect in ["polylane", "pi"] {
        let host = host(&vec![("fake", names(&["ping"]))], Dialect::find(dialect).unwrap());
        let (none, unknown) = ("TypeError", "unknown_tool");
        assert_eq!(host.value(script).await, json!([unknown, unknown, unknown, unknown, none, unknown]), "{dialect}");
        assert_eq!(host.seen().calls.len(), 0);
    }
}

/// Each tool is there under the server's own spelling, beside its identifier.
#[tokio::test]
async fn both_original_names_always_resolve() {
    let sources: Sources = vec![
        ("maps.eu", names(&["route.plan", "a-b", "a_b", "__proto__", "数据"])),
        ("-Depot", names(&["9x", "delete"])),
        ("__proto__", names(&["ping"])),
    ];
    let host = host(&sources, Dialect::find("refrain").unwrap());
    for (source, tools) in &sources {
        for tool in tools {
            let script = format!("return await tools[{}][{}]({{}})", json!(source), json!(tool));
            assert_eq!(host.value(&script).await, json!(format!("{source} reached {tool}")), "{script}");
        }
    }
}
