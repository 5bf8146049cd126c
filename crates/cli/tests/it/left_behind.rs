//! A server that was killed, and the next one under the same settings.

use std::{
    io::{BufRead as _, BufReader, Lines, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::place::{Place, until};

struct Server {
    process: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start(place: &Place) -> Self {
        let mut process = place
            .refrain(&["serve"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut server = Self { process, input, lines: BufReader::new(output).lines() };
        let us =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        server.say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": us}));
        server.lines.next().unwrap().unwrap();
        server.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn run(&mut self, code: &str) {
        let params = json!({"name": "run_code", "arguments": {"code": code}});
        self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    }
}

fn states(place: &Place) -> Vec<String> {
    let list = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
    let runs = list["runs"].as_array().unwrap();
    runs.iter().map(|run| run["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_server_goes_on_with_what_the_one_before_left_behind() {
    let place = Place::with_config(
        r#"
        [sources.log]
        type = "command"

        [sources.log.tools.append]
        command = ["sh", "tool.sh", "{line}"]
        input = { type = "object", properties = { line = { type = "integer" } }, required = ["line"] }
        output = { format = "text" }
        replay = "keyed"

        [runs]
        park_after_ms = 500
        "#,
    );
    place.write("tool.sh", "echo \"$1\" >> lines\nif [ -e hold ] && [ \"$1\" = 2 ]; then : > reached; sleep 600; fi\n");
    place.write("hold", "");
    let mut server = Server::start(&place);
    server.run("await sleep(1000); await tools.log.append({ line: 9 }); return 'woke'");
    let parked = server.lines.next().unwrap().unwrap();
    assert!(parked.contains("goes on by itself at"), "{parked}");
    server.run("for (let line = 1; line <= 3; line++) await tools.log.append({ line }); return 'all'");
    assert!(until(|| place.path().join("reached").exists()));
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    std::fs::remove_file(place.path().join("hold")).unwrap();
    // What the command line started is not a server's to go on with.
    let (_, asks) = place.report("await sleep(600); return 1", &[]);
    assert_eq!(states(&place), ["parked", "running", "parked"]);

    let next = Server::start(&place);
    assert!(until(|| states(&place)[1..] == ["completed", "completed"]));
    let mut lines: Vec<String> = place.read("lines").lines().map(str::to_owned).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["1", "2", "2", "3", "9"], "the call that was out is made again, and no other");
    let shown = place.run(&["runs", "show", asks["run_id"].as_str().unwrap(), "--output", "json"]).expect(0).json();
    assert_eq!(shown["status"], "parked");
    drop(next.input);
    drop(next.lines);
    let mut process = next.process;
    assert!(process.wait().unwrap().success());
}

/// Three writes wait, the server is killed, and a person decides later, one by one, in another process.
#[test]
fn what_waits_for_agreement_outlives_its_server_and_each_write_is_made_once() {
    let place = Place::with_config(
        r#"
        [sources.log]
        type = "command"

        [sources.log.tools.append]
        command = ["sh", "-c", "echo $1 >> lines", "sh", "{line}"]
        input = { type = "object", properties = { line = { type = "integer" } }, required = ["line"] }

        [[policy.rules]]
        tools = "log.*"
        when = "args.line > 0"
        outcome = "ask"
        "#,
    );
    let mut server = Server::start(&place);
    server.run(
        "const all = await Promise.allSettled([1, 2, 3].map((line) => tools.log.append({ line })));
         return all.map((it) => it.reason?.message ?? 'made')",
    );
    let parked = server.lines.next().unwrap().unwrap();
    assert!(parked.contains("refrain approvals approve "), "{parked}");
    server.process.kill().unwrap();
    server.process.wait().unwrap();

    let listed = place.run(&["approvals", "list", "--output", "json"]).expect(0).json();
    let ids: Vec<String> =
        listed["approvals"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 3, "{listed:#}");
    assert!(listed["approvals"][0]["why"].as_str().unwrap().starts_with("rule 1 (refrain.toml:"), "{listed:#}");
    let shown = place.run(&["approvals", "show", &ids[1]]).expect(0);
    assert!(shown.stdout.contains("tool      log.append") && shown.stdout.contains(r#"{"line": 2}"#), "{shown}");
    place.run(&["approvals", "approve", &ids[2], "--by", "ann"]).expect(3);
    place.run(&["approvals", "reject", &ids[0], "--message", "not that one", "--by", "bo"]).expect(3);
    let done = place.run(&["approvals", "approve", &ids[1], "--by", "ann", "--output", "json"]).expect(0).json();
    assert_eq!(done["result"], json!(["`log.append` was not called: not that one", "made", "made"]));
    assert_eq!(place.read("lines"), "3\n2\n");
    // A second word about any of them changes nothing.
    for id in &ids {
        let late = place.run(&["approvals", "approve", id]).expect(1);
        assert!(late.stderr.contains("waits for no approval"), "{late}");
    }
    assert_eq!(place.read("lines"), "3\n2\n");
    let run = ids[0].split('/').next().unwrap();
    let journal = place.run(&["runs", "show", run, "--output", "json"]).expect(0).json();
    let by = |kind: &str| -> Vec<&str> {
        let records = journal["journal"].as_array().unwrap().iter().filter(|record| record["kind"] == kind);
        records.filter_map(|record| record["by"].as_str()).collect()
    };
    assert_eq!((by("decided"), by("answered")), (vec!["ann", "ann"], vec!["bo"]), "{journal:#}");
    assert!(place.run(&["approvals", "list"]).expect(0).stderr.contains("no call waits for approval"));
}

#[test]
fn a_server_by_http_is_opened_to_others_only_with_tokens() {
    let place = Place::with_config("[[serve.tokens]]\ntoken = \"env:MCP_TOKEN\"\n");
    let unset = place.run(&["serve", "--http", "0.0.0.0:0"]).expect(2);
    assert!(
        unset.stderr.contains("`serve.tokens.1.token` cannot be read: the variable `MCP_TOKEN` is not set"),
        "{unset}"
    );
    // Nobody else needs it.
    place.run(&["tools", "list"]).expect(0);
    let open = Place::with_config("").run(&["serve", "--http", "0.0.0.0:0"]).expect(2);
    assert!(open.stderr.contains("everybody would be let in: there are no tokens"), "{open}");
    let odd = place.run(&["serve", "--http", "8900"]).expect(2);
    assert!(odd.stderr.contains("write it as `127.0.0.1:8900`") || odd.stderr.contains("MCP_TOKEN"), "{odd}");
    let mut command = place.refrain(&["serve", "--http", "127.0.0.1:0"]);
    command.env("MCP_TOKEN", "sk-0123456789abcdef").stderr(Stdio::piped()).stdout(Stdio::null());
    let mut process = command.spawn().unwrap();
    let mut said = BufReader::new(process.stderr.take().unwrap()).lines();
    let at = said.find_map(|line| line.unwrap().strip_prefix("serving MCP at ").map(str::to_owned)).unwrap();
    let client = |header: &str| {
        Place::with_config(&format!("[sources.far]\ntype = \"mcp\"\nurl = \"{at}\"\n{header}\n"))
            .run(&["tools", "list", "--output", "json"])
            .json()
    };
    let denied = client("");
    assert!(denied["sources"][0]["reason"].as_str().unwrap().contains("401"), "{denied:#}");
    let known = client("headers = { Authorization = \"Bearer sk-0123456789abcdef\" }");
    assert!(known["tools"].as_array().unwrap().iter().any(|tool| tool["path"] == "far.run_code"), "{known:#}");
    process.kill().unwrap();
    process.wait().unwrap();
}
