//! The engine through its public interface.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod boundary;
mod determinism;
mod facts;
mod forms;
mod globals;
mod golden;
mod hostile;
mod lazy;
mod limits;
mod script;
mod snapshot;
mod stranger;
mod syntax;
mod values;

use std::sync::OnceLock;

use refrain_engine::{Delivery, Engine, Limits, Outcome, Sandbox, Start, Status, Turn, source};

/// One engine for all tests: compiling the module is the expensive part.
fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE
        .get_or_init(|| {
            let engine = Engine::new(Some(std::env::temp_dir().join("refrain-engine-tests"))).unwrap();
            let ticker = engine.clone();
            std::thread::spawn(move || {
                loop {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    ticker.tick();
                }
            });
            engine
        })
        .clone()
}

fn start() -> Start {
    Start {
        clock_ms: 1_700_000_000_000,
        seed: 42,
        facts: r#"{"args":{"n":3},"tools":{"x":["get","put"],"my-src":["a b"]}}"#.into(),
    }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Starts `script` in a fresh sandbox.
fn begin(script: &str, limits: Limits) -> (Sandbox, Turn) {
    let prepared = source::prepare(script).unwrap();
    let mut sandbox = engine().sandbox(limits).unwrap();
    let turn = block(sandbox.start(&prepared.javascript, &start()));
    (sandbox, turn)
}

fn value(call: u32, json: &str) -> Delivery {
    Delivery { call, clock_ms: 1_700_000_000_000 + i64::from(call), outcome: Outcome::Value(json.into()) }
}

/// Runs `script` to its end; every call is answered with its own arguments.
fn finish(script: &str) -> Turn {
    let (mut sandbox, mut turn) = begin(script, Limits::default());
    let mut calls = std::collections::VecDeque::from(std::mem::take(&mut turn.calls));
    let mut output = std::mem::take(&mut turn.output);
    while let (Status::Waiting, Some(call)) = (&turn.status, calls.pop_front()) {
        turn = block(sandbox.feed(&value(call.call, &call.args)));
        calls.extend(turn.calls.drain(..));
        output.append(&mut turn.output);
    }
    turn.output = output;
    turn
}

/// The JSON that `script` returns.
fn returned(script: &str) -> String {
    match finish(script).status {
        Status::Returned(Some(json)) => json,
        other => panic!("{other:?}"),
    }
}
