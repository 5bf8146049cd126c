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

/// A server that lists one tool, `ping`, and answers whatever it is asked.
pub(crate) const SERVER: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
    *'"tools/list"'*) result='{"tools":[{"name":"ping","inputSchema":{"type":"object"}}]}';;
    *) result='{"content":[{"type":"text","text":"pong"}]}';;
  esac
  if [ -n "$id" ]; then printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"; fi
done"#;

/// A source that hangs, beside one that answers.
fn with_stuck(limit_ms: u32) -> Place {
    let place = Place::with_config(&format!(
        "[sources.s]\ntype = \"mcp\"\ncommand = [\"sh\", \"server.sh\"]\nconnect_timeout_ms = 120000\n\
         [sources.stuck]\ntype = \"mcp\"\ncommand = [\"sleep\", \"600\"]\nconnect_timeout_ms = {limit_ms}\n\
         [sources.bad]\ntype = \"mcp\"\ncommand = [\"no-such-program-anywhere\"]\n"
    ));
    place.write("server.sh", SERVER);
    place
}

/// They would wait for ten minutes, and the test gives up after two.
#[test]
fn what_names_its_source_waits_for_no_other() {
    let place = with_stuck(600_000);
    let called = place.run(&["tools", "call", "s.ping"]).expect(0);
    assert!(called.stdout.contains("pong") && !called.stderr.contains("stuck"), "{called}");
    for path in ["s.ping", "s.*", "tools.s.ping"] {
        let shown = place.run(&["tools", "show", path]).expect(0);
        assert!(shown.stdout.contains("tools.s.ping"), "{shown}");
    }
    for path in ["bad.*", "bad.x"] {
        let shown = place.run(&["tools", "show", path]).expect(1);
        assert!(shown.stderr.contains("source `bad` is down: cannot start `no-such-program-anywhere`"), "{shown}");
    }
}

#[test]
fn who_waits_for_all_sources_says_for_which() {
    let place = with_stuck(2500);
    for args in [&["tools", "list"][..], &["tools", "show", "ping"], &["types"], &["tools", "search", "ping"]] {
        let done = place.run(args).expect(0);
        let first = done.stderr.lines().next().unwrap_or_default();
        // On a slow machine the other one is late as well.
        assert!(first.starts_with("waiting for ") && first.ends_with("`stuck` (`connect_timeout_ms` 2500)"), "{done}");
        assert!(done.stdout.contains("ping"), "{done}");
    }
    let found = place.run(&["tools", "search", "ping", "--namespace", "bad", "--output", "json"]).expect(0).json();
    assert_eq!((&found["tools"], &found["sources"][0]["status"]), (&json!([]), &json!("failed")), "{found:#}");
}

/// Case mcp-lifecycle-03: the model that calls a tool of it is told since when, and what limits it.
#[test]
fn a_source_that_has_not_answered_is_told_with_its_limit() {
    let place = with_stuck(600_000);
    let (_, report) = place.report("const name = ['st', 'uck'].join(''); return await tools[name].x({})", &[]);
    let said = report.to_string();
    assert!(said.contains("it has not answered yet and may take 600000 ms (`connect_timeout_ms`)"), "{report:#}");
}

#[test]
fn doctor_looks_for_the_programs_of_commands() {
    let tool = |name: &str, program: &str| format!("[sources.{name}.tools.t]\ncommand = [{program:?}]\n");
    let place = Place::with_config(&format!(
        "[sources.a]\ntype = \"command\"\n{}[sources.b]\ntype = \"command\"\n{}",
        tool("a", "no-such-program-anywhere"),
        tool("b", "sh")
    ));
    let said = place.run(&["doctor"]).expect(1);
    let told = "FAIL  source `a`: cannot start `no-such-program-anywhere`: not found; install what is missing";
    assert!(said.stdout.contains(told) && said.stdout.contains("ok    source `b`: 1 tool"), "{said}");
}

/// Nothing that is added changes what is not about it, or goes where it should not.
#[test]
fn what_is_added_is_checked_and_the_file_keeps_its_line_ends() {
    let place = Place::with_config("# by hand\r\n[limits]\r\ncalls = 5\r\n");
    let refused = place.run(&["sources", "add", "a\nb", "--", "x"]).expect(2);
    assert!(refused.stderr.contains(r#"the name "a\nb" has a control character"#), "{refused}");
    let told = place.run(&["sources", "add", "web", "--url", "https://u:hunter2hunter2@h.example/"]).expect(0);
    assert!(told.stderr.contains("the name and password in the address stand in the file"), "{told}");
    assert!(told.stderr.contains("Authorization = \"env:NAME\"") && !told.stderr.contains("hunter2"), "{told}");
    let text = place.read("refrain.toml");
    assert!(text.starts_with("# by hand\r\n[limits]\r\n") && text.contains("[sources.web]\r\n"), "{text:?}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    place.run(&["sources", "remove", "web"]).expect(0);
    assert_eq!(place.read("refrain.toml"), "# by hand\r\n[limits]\r\ncalls = 5\r\n");
    let lost = place.run(&["sources", "add", "a", "--config", "nodir/x.toml", "--", "x"]).expect(1);
    assert!(lost.stderr.contains("there is no folder `nodir`; make it, or correct `--config`"), "{lost}");
    let read = place.run(&["tools", "list", "--config", "nodir/x.toml"]).expect(2);
    assert!(read.stderr.contains("nodir/x.toml: there is no folder `nodir`; correct the path"), "{read}");
}

#[test]
fn keys_that_are_misspelt_are_told_beside_a_misspelt_type() {
    let config = "[sources.s]\ntyp = \"mcp\"\ncomand = [\"x\"]\n[sources.t]\ntype = \"mpc\"\nulr = \"x\"\n[sources.u]\nurl = \"x\"\n";
    let said = Place::with_config(config).run(&["tools", "list"]).expect(2).stderr;
    let faults: Vec<&str> = said.lines().collect();
    assert_eq!(
        faults,
        [
            "error: refrain.toml:2: unknown key `sources.s.typ`; did you mean `type`?",
            "error: refrain.toml:3: unknown key `sources.s.comand`; did you mean `command`?",
            "error: refrain.toml:5: `sources.t.type` is \"mpc\"; write one of `mcp`, `command`, `demo`",
            "error: refrain.toml:6: unknown key `sources.t.ulr`; did you mean `url`?",
            "error: refrain.toml:7: `sources.u` has no `type`; write `type = \"mcp\"` for an MCP server, `type = \"command\"` for programs",
        ]
    );
}

/// The server is sent what its schema lists.
#[test]
fn a_call_by_hand_reads_values_of_a_list_as_they_are_listed() {
    let place = with_stuck(600_000);
    place.write("server.sh", &SERVER.replace(r#"{"type":"object"}"#, r#"{"properties":{"k":{"enum":[1,2]}}}"#));
    let called = place.run(&["tools", "call", "s.ping", "k=1", "--output", "json"]).expect(0).json();
    assert_eq!(called["calls"][0]["args"], json!({"k": 1}), "{called:#}");
}

/// Each of them would be noticed only when it is too late.
#[test]
fn settings_of_tools_that_do_nothing_are_told_by_doctor_list_and_show() {
    let place = Place::with_config(
        r#"
        [sources.shop]
        type = "command"

        [sources.shop.tools.buy]
        command = ["echo"]
        reconcile = "shop.sell"

        [sources.shop.tools.sell]
        command = ["echo"]
        reconcile = "stock.look"
        retry = { attempts = 2 }

        [sources.stock]
        type = "command"

        [sources.stock.tools.look]
        command = ["echo"]
        replay = "safe"
        reconcile = "stock.lok"
        "#,
    );
    let buy = "its `reconcile` has no effect, since `shop.sell` is not declared safe to repeat";
    let sell = "its `retry` has no effect, since a call may not be repeated";
    let look = "its `reconcile` has no effect: unknown tool `stock.lok`; did you mean `look`?";
    let doctor = place.run(&["doctor"]).expect(0);
    for told in [format!("`buy`: {buy}"), format!("`sell`: {sell}"), format!("`look`: {look}")] {
        assert!(doctor.stdout.contains(&told), "{told}\n{doctor}");
    }
    let listed = place.run(&["tools", "list", "--output", "json"]).expect(0).json();
    for (at, (path, told)) in [("shop.buy", buy), ("shop.sell", sell), ("stock.look", look)].into_iter().enumerate() {
        let tool = &listed["tools"][at];
        assert_eq!(tool["path"], path);
        // That a tool of another source is there is known even where only its own source is asked for.
        let shown = place.run(&["tools", "show", path, "--output", "json"]).expect(0).json();
        for notes in [&tool["notes"], &shown["notes"]] {
            let notes = notes.as_array().unwrap();
            assert!(notes.len() == 1 && notes[0].as_str().unwrap().starts_with(told), "{path}: {notes:?}");
        }
        let shown = place.run(&["tools", "show", path]).expect(0);
        assert!(shown.stdout.contains(&format!("note      {told}")), "{shown}");
    }
}
