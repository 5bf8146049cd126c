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
