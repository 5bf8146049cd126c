//! What the README prints, run as printed.

use serde_json::{Value, json};

use crate::place::{Place, root};

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

/// The fenced blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let text = readme();
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_commands_for_tools_run_as_printed() {
    let place = Place::new();
    crate::demo::repository(&place);
    let lines: Vec<String> = blocks("sh").iter().flat_map(|block| block.lines()).map(str::to_owned).collect();
    let commands: Vec<Vec<&str>> =
        lines.iter().filter_map(|line| line.strip_prefix("refrain ")).map(|line| line.split(' ').collect()).collect();
    assert!(commands.len() >= 3, "{lines:?}");
    for command in commands {
        place.run(&command).expect(0);
    }
    let called = place.run(&["tools", "call", "demo.list_commits", "limit=3", "--output", "json"]).expect(0).json();
    assert_eq!(called["calls"][0]["args"], json!({"limit": 3}), "{called:#}");
}

/// The other sources of the example need a network.
#[test]
fn the_example_of_a_command_tool_gives_what_is_said() {
    let toml = blocks("toml").into_iter().find(|toml| toml.contains("[sources.disk]")).unwrap();
    let own = &toml[toml.find("[sources.disk]").unwrap()..];
    let place = Place::with_config(own);
    place.write("sizes.ts", &blocks("ts")[0]);
    let sizes = place.run(&["run", "sizes.ts", "--output", "json"]).expect(0).json();
    let folders: Vec<&Value> = sizes["result"].as_array().unwrap().iter().map(|size| &size["folder"]).collect();
    assert_eq!(folders, [".", ".."], "{sizes:#}");
    assert!(sizes["result"][0]["kilobytes"].is_string(), "{sizes:#}");
    let shown = place.run(&["tools", "show", "disk.usage", "--output", "json"]).expect(0).json();
    let output = shown["output"].as_str().unwrap();
    assert!(readme().contains(&format!("`{output}`")), "{output}");
}

#[test]
fn the_example_of_rules_decides_as_it_says() {
    let rules = blocks("toml").into_iter().find(|toml| toml.contains("[[policy.rules]]")).unwrap();
    let tools = "[sources.github]\ntype = \"command\"\n[sources.github.tools.delete_repo]\ncommand = [\"false\"]\n\
                 [sources.github.tools.push]\ncommand = [\"true\"]\n";
    let place = Place::with_config(&format!("{rules}\n{tools}"));
    let outcome = |words: &[&str]| {
        let told = place.run(&[&["policy", "test"], words, &["--output", "json"]].concat()).expect(0).json();
        told["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(outcome(&["github.delete_repo", "repo=any"]), "deny");
    assert_eq!(outcome(&["github.push", "repo=prod"]), "ask");
    assert_eq!(outcome(&["github.push", "repo=test"]), "allow");
    assert_eq!(outcome(&["github.push", "repo=test", "--calls", "21"]), "ask");
}

/// When this changes, so do the README and the declarations of `ask`.
#[test]
fn what_is_stored_is_there_for_the_next_run_of_the_session() {
    let place = Place::new();
    let script = "store('a', { b: 1 }); return [load('a'), load('c') === undefined];";
    let (code, report) = place.report(script, &["--session", "s"]);
    assert_eq!((code, &report["result"]), (Some(0), &json!([{"b": 1}, true])), "{report:#}");
    let (_, later) = place.report("return load('a')", &["--session", "s"]);
    assert_eq!(later["result"], json!({"b": 1}), "{later:#}");
    let (_, alone) = place.report("return load('a') === undefined", &[]);
    assert_eq!(alone["result"], json!(true), "{alone:#}");
}
