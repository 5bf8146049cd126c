//! An MCP server that does what a script says, over standard streams or HTTP: the other side of the tests of misbehaviour.
//!
//! The script is JSON in a file. `tools` (or `tool_pages` with `cursors`) are offered, each with its `behaviour`. `on` is a list of
//! rules, `{"when": EVENT, "nth": N, "do": [ACTION, …]}`; events are `start`, `http`, the name of a method, and
//! `tools/call:NAME`. `answers` names the events that over HTTP are answered by a stream. What the server received is written
//! to the script's file with `.log` behind its name, a line each, and `{"start": true}` for every start.
//!
//! The protocol is written out by hand here, so that the tests do not compare a library with itself.
#![expect(clippy::unwrap_used, reason = "a panic is how a fixture fails")]
#![expect(clippy::exit, clippy::disallowed_methods, reason = "it crashes on demand, and shows the environment it got")]

mod http;
mod play;
mod stdio;

use std::sync::Arc;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["stdio", file] => stdio::serve(Arc::new(play::Server::new(file))),
        ["http", file] => http::serve(Arc::new(play::Server::new(file))),
        other => panic!("no such transport: {other:?}"),
    }
}
