//! What programs read: listings, declarations and the state of sources, in the shapes that are promised.

use serde_json::{Value, json};

use crate::place::Place;

const BROKEN: &str =
    "[sources.broken]\ntype = \"mcp\"\ncommand = [\"no-such-program-anywhere\"]\nconnect_timeout_ms = 5000\n";

#[track_caller]
fn has_keys(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "`{key}` is missing in {value:#}");
    }
}

#[test]
fn runs_are_listed_newest_first_and_shown_by_the_start_of_their_id() {
    let place = Place::new();
    let ids: Vec<_> =
        (1..=3).map(|n| place.report(&format!("return {n}"), &[]).1["run_id"].as_str().unwrap().to_owned()).collect();
    let listed = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
    assert_eq!(listed["next_cursor"], Value::Null, "{listed:#}");
    let runs = listed["runs"].as_array().unwrap();
    let listed_ids: Vec<_> = runs.iter().map(|run| run["run_id"].as_str().unwrap()).collect();
    assert_eq!(listed_ids, ids.iter().rev().collect::<Vec<_>>());
    assert!(runs.iter().all(|run| run["status"] == "completed"), "{listed:#}");

    let shown = place.run(&["runs", "show", &ids[1], "--output", "json"]).expect(0).json();
    assert_eq!(shown["run_id"], ids[1].as_str(), "{shown:#}");
    assert_eq!(shown["status"], "completed", "{shown:#}");
    place.run(&["runs", "show", "ffffffff", "--output", "json"]).expect(1);
}

#[test]
fn tools_are_listed_with_everything_that_a_program_needs() {
    let listed = Place::new().run(&["tools", "list", "--output", "json"]).expect(0).json();
    let tools = listed["tools"].as_array().unwrap();
    let paths: Vec<_> = tools.iter().map(|tool| tool["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["demo.commit_files", "demo.list_authors", "demo.list_commits"]);
    for tool in tools {
        has_keys(
            tool,
            &[
                "path",
                "source",
                "name",
                "call",
                "description",
                "effect",
                "replay",
                "input_schema",
                "output_schema",
                "notes",
            ],
        );
        assert_eq!(tool["effect"], "read");
        assert_eq!(tool["replay"], "safe");
        assert_eq!(tool["call"], json!(format!("tools.{}", tool["path"].as_str().unwrap())));
    }
    let source = &listed["sources"][0];
    has_keys(source, &["name", "type", "status", "since", "tools"]);
    assert_eq!(source["name"], "demo");
    assert_eq!(source["status"], "ready");
}

/// Case mcp-lifecycle-09.
#[test]
fn a_source_that_is_down_is_listed_with_its_reason_and_hides_nothing() {
    let place = Place::with_config(BROKEN);
    let listed = place.run(&["tools", "list", "--output", "json"]).expect(0).json();
    let broken = listed["sources"].as_array().unwrap().iter().find(|source| source["name"] == "broken").unwrap();
    assert_eq!(broken["status"], "failed", "{listed:#}");
    assert!(broken["reason"].as_str().unwrap().contains("no-such-program-anywhere"), "{listed:#}");
    let (code, report) = place.report("return 1+1", &[]);
    assert_eq!((code, &report["result"]), (Some(0), &json!(2)), "{report:#}");
}

#[test]
fn doctor_fails_when_a_source_is_down_and_names_it() {
    let well = Place::new().run(&["doctor", "--output", "json"]).expect(0);
    well.json();
    let ill = Place::with_config(BROKEN).run(&["doctor", "--output", "json"]).expect(1);
    let said = ill.json().to_string();
    assert!(said.contains("broken") && said.contains("no-such-program-anywhere"), "{said}");
}

#[test]
fn a_tool_is_found_by_words_and_shown_by_its_path() {
    let place = Place::new();
    let found = place.run(&["tools", "search", "list the authors", "--output", "json"]).expect(0).json();
    assert_eq!(found["tools"][0]["path"], "demo.list_authors", "{found:#}");
    let shown = place.run(&["tools", "show", "demo.list_authors", "--output", "json"]).expect(0).json();
    assert_eq!(shown["path"], "demo.list_authors", "{shown:#}");
    has_keys(&shown, &["description", "input_schema", "output_schema", "call"]);
    let missing = place.run(&["tools", "show", "demo.list_autors"]).expect(1);
    assert!(missing.stderr.contains("demo.list_authors"), "the nearest name is told\n{missing}");
}

#[test]
fn the_call_that_a_listing_prints_runs_as_printed() {
    let place = Place::new();
    crate::demo::repository(&place);
    let listed = place.run(&["tools", "list", "--output", "json"]).expect(0).json();
    let tools = listed["tools"].as_array().unwrap();
    let call = tools.iter().find(|tool| tool["path"] == "demo.list_authors").unwrap()["call"].as_str().unwrap();
    let (code, report) = place.report(&format!("return (await {call}({{}})).length"), &[]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["result"], 4, "{report:#}");
    assert_eq!(report["calls"][0]["tool"], "demo.list_authors", "{report:#}");
    has_keys(&report["calls"][0], &["call", "tool", "args", "status", "ms", "bytes"]);
    has_keys(&report, &["run_id", "status", "result", "text", "images", "logs", "notes", "calls", "usage"]);
}

#[test]
fn text_and_logs_are_kept_apart() {
    let script = "text('found', 3, { a: 1 });\nconsole.log('debug', [1, 2]);\nconsole.error('bad');\nreturn null;";
    let (code, report) = Place::new().report(script, &[]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report.get("result"), Some(&Value::Null), "{report:#}");
    let (text, logs) = (report["text"].to_string(), report["logs"].to_string());
    assert!(text.contains("found 3") && !text.contains("debug"), "{report:#}");
    assert!(logs.contains("debug") && logs.contains("bad") && !logs.contains("found"), "{report:#}");
}

#[test]
fn a_script_that_returns_nothing_has_no_result_and_is_told() {
    let (code, report) = Place::new().report("const a = 1;", &[]);
    assert_eq!(code, Some(0), "{report:#}");
    assert!(report.get("result").is_none(), "{report:#}");
    assert!(!report["notes"].as_array().unwrap().is_empty(), "{report:#}");
}

#[test]
fn tools_are_shown_one_by_one_or_by_a_pattern() {
    let place = Place::new();
    let one = place.run(&["tools", "show", "demo.list_commits", "--output", "json"]).expect(0).json();
    has_keys(
        &one,
        &["path", "call", "signature", "input", "output", "effect", "replay", "approval", "example", "input_schema"],
    );
    let (code, report) = place.report(&format!("return typeof {}", one["call"].as_str().unwrap()), &[]);
    assert_eq!((code, &report["result"]), (Some(0), &json!("function")), "{report:#}");
    let all = place.run(&["tools", "show", "demo.*", "--output", "json"]).expect(0).json();
    assert_eq!(all["tools"].as_array().unwrap().len(), 3, "{all:#}");
    assert_eq!(all["tools"][2], one);
    let text = place.run(&["tools", "show", "*.list_commits"]).expect(0).stdout;
    for line in
        ["demo.list_commits", "call      tools.demo.list_commits", "effect    read", "example   await tools.demo."]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    let none = place.run(&["tools", "show", "dmo.*"]).expect(1).stderr;
    assert!(none.contains("no tool fits `dmo.*`"), "{none}");
}

#[test]
fn tools_are_searched_by_page_and_by_namespace() {
    let place = Place::new();
    let search =
        |more: &[&str]| place.run(&[&["tools", "search", "commits", "--output", "json"], more].concat()).expect(0);
    let all = search(&[]).json();
    let total = all["tools"].as_array().unwrap().len();
    assert!(total >= 2, "{all:#}");
    has_keys(&all["tools"][0], &["path", "call", "signature", "summary"]);
    let first = search(&["--limit", "1"]).json();
    assert_eq!(first["next_cursor"], "1");
    let second = search(&["--limit", "1", "--cursor", "1"]).json();
    assert_eq!([&first["tools"][0], &second["tools"][0]], [&all["tools"][0], &all["tools"][1]]);
    assert_eq!(search(&["--namespace", "demo"]).json()["tools"], all["tools"]);
    let none = search(&["--namespace", "dem"]);
    assert!(none.stderr.contains("did you mean `demo`?"), "{none}");
    assert_eq!(none.json()["tools"], json!([]));
    let told = place.run(&["tools", "search", "zebra", "commits"]).expect(0);
    assert!(told.stderr.contains("nothing matches `zebra`") && told.stdout.contains("list_commits"), "{told}");
}

#[test]
fn what_is_listed_is_in_the_dialect_of_the_settings() {
    let place = Place::with_config("[script]\ndialect = \"polylane\"\n[serve]\nprompt_tokens = 900\n");
    crate::demo::repository(&place);
    let calls = [
        place.run(&["tools", "list", "--output", "json"]).expect(0).json()["tools"][1]["call"].clone(),
        place.run(&["tools", "show", "demo.list_authors", "--output", "json"]).expect(0).json()["call"].clone(),
        place.run(&["tools", "search", "authors", "--output", "json"]).expect(0).json()["tools"][0]["call"].clone(),
    ];
    assert!(calls.iter().all(|call| *call == calls[0]), "{calls:?}");
    let (code, report) = place.report(&format!("return (await {}({{}})).length", calls[0].as_str().unwrap()), &[]);
    assert_eq!((code, &report["result"]), (Some(0), &json!(4)), "{report:#}");
    place.run(&["tools", "call", "demo.list_authors"]).expect(0);
    let refused = place.run(&["tools", "call", "demo.list_commits", "limit:=9007199254740993"]).expect(2);
    let told = "an argument would be sent rounded: 9007199254740993 as 9007199254740992";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
}

#[test]
fn a_folder_of_declarations_follows_the_sources() {
    let place = Place::with_config("[sources.one]\ntype = \"demo\"\n[sources.two]\ntype = \"demo\"\n");
    let files = |config: &str| {
        place.write("refrain.toml", config);
        place.run(&["types", "--out", "types", "--output", "json"]).expect(0).json()
    };
    let written = files(&place.read("refrain.toml"));
    assert_eq!(written, json!({ "files": ["refrain.d.ts", "one.d.ts", "two.d.ts"], "removed": [] }));
    place.write("types/mine.d.ts", "export {};");
    let written = files("[sources.two]\ntype = \"demo\"\n");
    assert_eq!(written, json!({ "files": ["refrain.d.ts", "two.d.ts"], "removed": ["one.d.ts"] }));
    assert_eq!(place.read("types/mine.d.ts"), "export {};");
    assert!(place.read("types/two.d.ts").contains("list_commits("), "{}", place.read("types/two.d.ts"));
}

/// A server whose tools have names and descriptions that nobody should have to read.
fn with_odd_names() -> Place {
    let place = Place::with_config("[sources.s]\ntype = \"mcp\"\ncommand = [\"sh\", \"server.sh\"]\n");
    let many: Vec<String> = (0..5000).map(|n| format!("value-{n}")).collect();
    let tools = json!([
        {"name": "e\u{202e}v\u{2028}l", "description": "\u{1b}[31mred\u{2066}", "inputSchema": {
            "type": "object", "properties": {"a": {"enum": ["x\u{202e}y"], "description": "p\u{202d}q"}}}},
        {"name": "  ", "inputSchema": {"type": "object"}},
        {"name": "n".repeat(300), "inputSchema": {"type": "object"}},
        {"name": "many", "inputSchema": {"type": "object", "properties": {"k": {"enum": many}}}},
    ]);
    let ping = r#"[{"name":"ping","inputSchema":{"type":"object"}}]"#;
    place.write("server.sh", &crate::sources::SERVER.replace(ping, &tools.to_string()));
    place
}

#[test]
fn text_for_a_person_has_nothing_in_it_that_cannot_be_seen() {
    let place = with_odd_names();
    let unseen = |c: char| c.is_control() && c != '\n' || "\u{2028}\u{202d}\u{202e}\u{2066}".contains(c);
    for args in
        [&["tools", "list"][..], &["tools", "show", "s.*"], &["tools", "search", "red"], &["doctor"], &["types"]]
    {
        let done = place.run(args).expect(0);
        assert!(!done.stdout.contains(unseen) && !done.stderr.contains(unseen), "{done}");
    }
    let shown = place.run(&["tools", "show", "s.e*"]).expect(0).stdout;
    for line in [
        r"s.e\u{202e}v\u{2028}l",
        r"\u{1b}[31mred\u{2066}",
        r#"call      tools.s["e\u202ev\u2028l"]"#,
        r#"input     { a?: "x\u202ey" }"#,
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // What is printed runs as printed, and reaches the tool by its own name.
    let (code, report) = place.report(r#"return await tools.s["e\u202ev\u2028l"]({ a: "x\u202ey" })"#, &[]);
    assert_eq!((code, &report["result"]), (Some(0), &json!("pong")), "{report:#}");
    assert_eq!(report["calls"][0]["tool"], "s.e\u{202e}v\u{2028}l", "{report:#}");
}

#[test]
fn one_long_name_or_schema_does_not_drown_the_rest() {
    let place = with_odd_names();
    let listed = place.run(&["tools", "list"]).expect(0).stdout;
    let widths: Vec<usize> = listed.lines().map(|line| line.chars().count()).collect();
    assert!(widths.iter().filter(|width| **width > 300).count() == 1, "{listed}");
    assert!(widths.iter().filter(|width| **width < 120).count() == 3, "{listed}");
    let text = place.run(&["tools", "show", "s.many"]).expect(0).stdout;
    assert!(text.len() < 10_000 && text.contains("bytes more; `--output json` has all of it"), "{text}");
    let json = place.run(&["tools", "show", "s.many", "--output", "json"]).expect(0).json();
    assert_eq!(json["input_schema"]["properties"]["k"]["enum"][4999], "value-4999");
    let hint = place.run(&["tools", "show", "s. "]).expect(1).stderr;
    assert!(hint.contains(r#"did you mean `"  "`?"#) && hint.contains("`refrain tools show 's.  '`"), "{hint}");
}
