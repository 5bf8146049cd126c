//! A server whose scripts compute goes on hearing its client.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::place::Place;

/// Pings that must be answered while the scripts compute. Were each heard only after some sixty slices, they would take longer
/// than the scripts may.
const PINGS: u64 = 60;
const LOOPS: u64 = 4;

/// Case timeouts-cancel-06, with more loops than it asks for.
#[test]
fn a_client_is_heard_while_more_scripts_compute_than_there_are_cores() {
    let place = Place::new();
    let mut server = place.refrain(&["serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    let mut answer = || loop {
        let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if let Some(id) = message["id"].as_u64() {
            return id;
        }
    };
    let us =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    say(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": us}));
    assert_eq!(answer(), 0);
    say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let run = |code: &str| json!({"name": "run_code", "arguments": {"code": code, "timeout_ms": 12_000}});
    // The engine is there once one script has run.
    say(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": run("return 1")}));
    assert_eq!(answer(), 1);
    for id in 2..2 + LOOPS {
        say(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": run("for (;;);")}));
    }
    for id in 100..100 + PINGS {
        say(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        assert_eq!(answer(), id, "a script ended before its client was heard");
    }
    let mut ended: Vec<u64> = (0..LOOPS).map(|_| answer()).collect();
    ended.sort_unstable();
    assert_eq!(ended, (2..2 + LOOPS).collect::<Vec<_>>());
    drop(input);
    assert!(server.wait().unwrap().success());
}
