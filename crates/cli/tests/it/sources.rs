//! `sources add` and `sources remove`, and what commands tell of sources that are not well.

use serde_json::json;

use crate::place::{Place, Running};

/// Case cli-config-06.
#[test]
fn eight_commands_at_once_add_eight_sources_and_lose_none() {
    let place = Place::with_config("# hand-written comment\n[sources.first] # the oldest\ntype = \"demo\"\n");
    let running: Vec<Running> = (0..8)
        .map(|at| {
            let mut command = place.command(env!("CARGO_BIN_EXE_refrain"));
            command.args(["sources", "add", &format!("s{at}"), "--", "node", &format!("srv{at}.js")]);
            Running::start(&mut command)
        })
        .collect();
    for each in running {
        each.end().expect(0);
    }
    let text = std::fs::read_to_string(place.path().join("refrain.toml")).unwrap();
    assert!(text.starts_with("# hand-written comment\n[sources.first] # the oldest\n"), "{text}");
    for at in 0..8 {
        assert!(
            text.contains(&format!("[sources.s{at}]\ntype = \"mcp\"\ncommand = [\"node\", \"srv{at}.js\"]\n")),
            "{text}"
        );
    }
    let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("part")), "{left:?}");
}

#[test]
fn a_source_is_added_to_the_nearest_file_used_and_removed_again() {
    let place = Place::with_config("[limits]\ncalls = 5\n");
    let added = place.run(&[
        "sources",
        "add",
        "web",
        "--url",
        "https://host.example/mcp",
        "--header",
        "Authorization=Bearer env:TOKEN",
        "--output",
        "json",
    ]);
    let added = added.expect(0).json();
    assert_eq!((&added["added"], &added["file"]), (&json!("web"), &json!("refrain.toml")), "{added:#}");
    let shown = place.run(&["config", "show"]).expect(0).stdout;
    assert!(shown.contains("Bearer env:TOKEN") && shown.contains("https://host.example/mcp"), "{shown}");
    let twice = place.run(&["sources", "add", "web", "--", "x"]).expect(1);
    assert!(twice.stderr.contains("there is a source `web` already"), "{twice}");
    let wrong = place.run(&["sources", "remove", "wep"]).expect(1);
    assert!(wrong.stderr.contains("did you mean `web`?"), "{wrong}");
    let neither = place.run(&["sources", "add", "x"]).expect(2);
    assert!(neither.stdout.is_empty(), "{neither}");
    let nameless = place.run(&["sources", "add", "x", "--url", "https://h", "--header", "secret"]).expect(2);
    assert!(!nameless.stderr.contains("secret"), "{nameless}");
    place.run(&["sources", "remove", "web"]).expect(0);
    assert_eq!(std::fs::read_to_string(place.path().join("refrain.toml")).unwrap(), "[limits]\ncalls = 5\n");
}

#[test]
fn doctor_tells_why_a_server_is_down_with_its_last_lines_and_without_its_secret() {
    let server = "echo \"using $TOKEN\" >&2; exit 4";
    let config = format!(
        "[sources.s]\ntype = \"mcp\"\ncommand = [\"sh\", \"-c\", {server:?}]\nenv = {{ TOKEN = \"file:key\" }}\n"
    );
    let place = Place::with_config(&config);
    place.write("key", "hunter2hunter2\n");
    let said = place.run(&["doctor"]).expect(1);
    assert!(said.stdout.contains("FAIL  source `s`: `sh` ended with exit status: 4"), "{said}");
    assert!(said.stdout.contains("using ***") && !said.stdout.contains("hunter2"), "{said}");
    for args in [&["tools", "list"][..], &["config", "show"], &["tools", "call", "s.x"]] {
        let said = place.run(args);
        assert!(!said.stdout.contains("hunter2") && !said.stderr.contains("hunter2"), "{said}");
    }
}

/// Case mcp-lifecycle-03, and the cold start of a script: a source that hangs is not waited for by who does not need it.
#[test]
fn a_script_does_not_wait_for_a_source_that_hangs_and_that_it_does_not_name() {
    let config = "[sources.stuck]\ntype = \"mcp\"\ncommand = [\"sleep\", \"600\"]\nconnect_timeout_ms = 600000\n\
                  [sources.crash]\ntype = \"mcp\"\ncommand = [\"false\"]\n[sources.demo]\ntype = \"demo\"\n";
    let place = Place::with_config(config);
    crate::demo::repository(&place);
    let (code, report) = place.report("return (await tools.demo.list_authors({})).length", &[]);
    assert_eq!((code, &report["result"]), (Some(0), &json!(4)), "{report:#}");
}

/// Case cli-config-03.
#[test]
fn a_run_that_failed_does_not_end_with_zero() {
    let config = "[sources.s]\ntype = \"command\"\n[sources.s.tools.fail]\ncommand = [\"sh\", \"-c\", \"echo nope >&2; exit 1\"]\n";
    let place = Place::with_config(config);
    let code = |script: &str, more: &[&str]| {
        place.write("script.ts", script);
        place.run(&[&["run", "script.ts"], more].concat())
    };
    let failed = code("await tools.s.fail({});\nreturn 1;", &[]).expect(1);
    assert!(failed.stderr.contains("nope") || failed.stdout.contains("nope"), "{failed}");
    code("return (;", &[]).expect(1);
    code("while (true) {}", &["--timeout-ms", "500"]).expect(1);
    code("return 1;", &[]).expect(0);
}
