//! Prints how long after its deadline a script is stopped, for scripts that do not want to be:
//! `cargo run --release -p refrain-engine --example stopping`.
//!
//! Beside each of them another sandbox runs `return 1+1` again and again on the same thread; the longest that one of those took is the
//! second figure, with a slice of 10 ms.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and prints"
)]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use refrain_engine::{Delivery, Engine, Limits, Outcome, Sandbox, Start, Status, Turn, source};

const DEADLINE: Duration = Duration::from_millis(150);
const SLICE: Duration = Duration::from_millis(10);

/// A name, and a script that has much to do. A call is answered with fifty thousand rows.
const SCRIPTS: &[(&str, &str)] = &[
    ("spinning", "for (;;) {}"),
    ("spinning on the frozen clock", "const end = Date.now() + 1000; while (Date.now() < end) {}"),
    ("a flood of microtasks", "for (;;) await null"),
    ("a power of BigInt", "let n = 0n; for (;;) n += 3n ** 400000n"),
    ("a BigInt as text", "for (;;) String(3n ** 400000n)"),
    (
        "JSON.parse of 50 MB",
        "const text = '[' + '{\"a\":[1,2,3],\"b\":\"text\"},'.repeat(2e6) + '1]'; for (;;) JSON.parse(text)",
    ),
    ("JSON.parse of 50 MB of one array", "const text = '[' + '1,'.repeat(25e6) + '1]'; for (;;) JSON.parse(text)"),
    ("JSON.stringify", "const a = Array.from({ length: 1e6 }, (_, i) => ({ i })); for (;;) JSON.stringify(a)"),
    ("a regular expression, nested plus", "/^(a+)+$/.test('a'.repeat(40) + 'b')"),
    ("a regular expression, alternation", "/^(a|a)*$/.test('a'.repeat(40) + 'b')"),
    ("a regular expression, look-behind", "/(?<=x(a+)+)b/.test('a'.repeat(40) + 'b')"),
    ("replacing in a large text", "const s = 'ab'.repeat(1e7); for (;;) s.replaceAll('a', 'c')"),
    (
        "a sort with a slow comparator",
        "Array.from({ length: 1e6 }, (_, i) => i).sort((a, b) => { for (let i = 0; i < 1e4; i++); return b - a })",
    ),
    (
        "a sort of a large array",
        "const a = Array.from({ length: 3e6 }, () => Math.random()); for (;;) a.slice().sort()",
    ),
    ("concat of large arrays", "[].concat(...Array(10).fill(new Array(1e8)))"),
    ("join of an endless array", "new Array(2**32-1).join(',')"),
    ("reverse of an endless array-like", "Array.prototype.reverse.call({ length: 2**40 })"),
    ("fill of an endless array-like", "Array.prototype.fill.call({ length: 2**40 }, 0)"),
    ("indexOf in an endless array", "new Array(2**32-1).indexOf(1)"),
    ("includes in an endless array-like", "Array.prototype.includes.call({ length: 2**50 }, 1)"),
    ("every of an endless array-like", "Array.prototype.every.call({ length: 2**50 }, () => true)"),
    ("copyWithin of large bytes", "const a = new Uint8Array(1e8); for (;;) a.copyWithin(1, 0)"),
    ("repeat and search", "const s = 'a'.repeat(5e7); for (;;) s.indexOf('b'.repeat(1000))"),
    ("a normal form", "const s = '\\u0344'.repeat(1e6); for (;;) s.normalize('NFD')"),
    (
        "collecting garbage",
        "const a = []; for (let i = 0; i < 5e5; i++) a.push({ a }); for (;;) { for (let i = 0; i < 1e4; i++) ({ x: {} }); a.push(a.shift()) }",
    ),
    ("a large result, by its parts", "const rows = await tools.x.get({}); for (;;) JSON.stringify(rows)"),
    (
        "a deep flat",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; for (;;) { try { a.flat(Infinity) } catch {} }",
    ),
];

fn main() {
    let engine = Engine::new(Some(std::env::temp_dir().join("refrain-measure"))).unwrap();
    let ticker = engine.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(SLICE);
            ticker.tick();
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rows: Vec<String> =
        (0..50_000).map(|i| format!(r#"{{"id":{i},"name":"name {i}","tags":["a",{i}]}}"#)).collect();
    let large = format!("[{}]", rows.join(","));
    println!("{:<44} {:>14} {:>16}  ended as", "script", "past deadline", "longest `1+1`");
    let mut worst = Duration::ZERO;
    for (name, script) in SCRIPTS {
        let (late, longest, ended) = runtime.block_on(one(&engine, script, &large));
        worst = worst.max(late);
        println!("{name:<44} {:>11.1} ms {:>13.1} ms  {ended}", ms(late), ms(longest));
    }
    println!("{:<44} {:>11.1} ms", "the latest", ms(worst));
    delivery(&engine, &runtime);
}

/// What is done by the host itself, and so is not stopped: a large result on its way in.
fn delivery(engine: &Engine, runtime: &tokio::runtime::Runtime) {
    let rows: Vec<String> =
        (0..700_000).map(|i| format!(r#"{{"id":{i},"name":"name {i}","tags":["a",{i}],"n":{i}.5}}"#)).collect();
    let huge = format!("[{}]", rows.join(","));
    let limits = Limits { memory_bytes: 512 << 20, ..Limits::default() };
    let mut sandbox = begin(engine, runtime, "const got = await tools.x.get({}); return got.length", limits);
    let delivery = Delivery { call: 1, clock_ms: 0, outcome: Outcome::Value(huge) };
    let began = Instant::now();
    let mut feeding = std::pin::pin!(sandbox.feed(&delivery));
    // Until it gives way for the first time nobody else runs on its thread.
    let first = feeding.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert!(first.is_pending(), "a tick comes long before it is done");
    let alone = began.elapsed();
    let turn = runtime.block_on(feeding);
    assert!(matches!(turn.status, Status::Returned(_)), "{:?}", turn.status);
    println!("{:<44} {:>11.1} ms", "a result of 50 MB, until it gives way", ms(alone));
    println!("{:<44} {:>11.1} ms", "the same, delivered and counted", ms(began.elapsed()));
}

fn begin(engine: &Engine, runtime: &tokio::runtime::Runtime, script: &str, limits: Limits) -> Sandbox {
    let mut sandbox = engine.sandbox(limits).unwrap();
    runtime.block_on(sandbox.start(&source::prepare(script).unwrap().javascript, &start()));
    sandbox
}

fn start() -> Start {
    Start { clock_ms: 0, seed: 1, facts: r#"{"args":{},"tools":{"x":["get"]}}"#.into() }
}

/// Runs a script until it is stopped, with a small one beside it.
async fn one(engine: &Engine, script: &str, large: &str) -> (Duration, Duration, String) {
    let limits = Limits { fuel: u64::MAX / 2, memory_bytes: 512 << 20, ..Limits::default() };
    let mut sandbox = engine.sandbox(limits).unwrap();
    let javascript = source::prepare(script).unwrap().javascript;
    let asked: Arc<Mutex<Option<Instant>>> = Arc::default();
    let over = Arc::new(AtomicBool::new(false));
    let stopper = sandbox.stopper();
    let when = asked.clone();
    let timer = std::thread::spawn(move || {
        std::thread::sleep(DEADLINE);
        *when.lock().unwrap() = Some(Instant::now());
        stopper.stop();
    });
    let long = async {
        let mut turn: Turn = sandbox.start(&javascript, &start()).await;
        if matches!(turn.status, Status::Waiting) {
            let delivery = Delivery { call: 1, clock_ms: 0, outcome: Outcome::Value(large.into()) };
            turn = sandbox.feed(&delivery).await;
        }
        let ended = Instant::now();
        over.store(true, Ordering::Relaxed);
        (ended, turn.status)
    };
    let small = async {
        let javascript = source::prepare("return 1+1").unwrap().javascript;
        let mut longest = Duration::ZERO;
        while !over.load(Ordering::Relaxed) {
            let began = Instant::now();
            engine.sandbox(Limits::default()).unwrap().start(&javascript, &start()).await;
            tokio::task::yield_now().await;
            longest = longest.max(began.elapsed());
        }
        longest
    };
    let ((ended, status), longest) = tokio::join!(long, small);
    timer.join().unwrap();
    let asked = asked.lock().unwrap().unwrap();
    let how = format!("{status:?}").chars().take(60).collect();
    (ended.saturating_duration_since(asked), longest, how)
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
