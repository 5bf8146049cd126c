//! Prints what the sandbox costs on this machine: `cargo run --release -p refrain-engine --example measure`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and prints"
)]

use std::time::{Duration, Instant};

use refrain_engine::{Delivery, Engine, Limits, Outcome, Sandbox, Snapshot, Start, Status, source};

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let cache = std::env::temp_dir().join("refrain-measure");
    let began = Instant::now();
    let engine = Engine::new(Some(cache.clone())).unwrap();
    print("engine, compiled or from the cache", began.elapsed());
    let began = Instant::now();
    drop(Engine::new(Some(cache)).unwrap());
    print("engine, from the cache", began.elapsed());

    let start = Start { clock_ms: 0, seed: 1, facts: r#"{"args":{},"tools":{"x":["get"]}}"#.into() };
    let begin = |script: &str| -> Sandbox {
        let mut sandbox = engine.sandbox(Limits::default()).unwrap();
        let turn = runtime.block_on(sandbox.start(&source::prepare(script).unwrap().javascript, &start));
        assert!(matches!(turn.status, Status::Waiting | Status::Returned(_)), "{turn:?}");
        sandbox
    };
    print("sandbox made and dropped", median(200, || drop(engine.sandbox(Limits::default()).unwrap())));
    print("`return 1+1` in a fresh sandbox", median(200, || drop(begin("return 1+1"))));

    let mut sandbox = begin("for (;;) await tools.x.get({ id: 1 })");
    let mut call = 0;
    let trip = median(900, || {
        call += 1;
        let turn = runtime.block_on(sandbox.feed(&Delivery {
            call,
            clock_ms: 0,
            outcome: Outcome::Value("{\"id\":1}".into()),
        }));
        assert!(matches!(turn.status, Status::Waiting));
    });
    print("one call's round trip", trip);

    let all =
        "const r = await Promise.all(Array.from({ length: 200 }, (_, id) => tools.x.get({ id }))); return r.length";
    print(
        "200 calls in Promise.all",
        median(50, || {
            let mut sandbox = begin(all);
            for call in 1..=200 {
                runtime.block_on(sandbox.feed(&Delivery {
                    call,
                    clock_ms: 0,
                    outcome: Outcome::Value("{\"id\":1}".into()),
                }));
            }
        }),
    );

    let waiting = begin("const a = { b: [1, 2, 3] }; await tools.x.get({ id: 1 }); return a");
    let bytes = waiting.save().to_bytes();
    println!("{:<44} {} B raw, {} B stored", "snapshot of a small script", waiting.save().raw_bytes(), bytes.len());
    print("snapshot, out", median(100, || drop(waiting.save().to_bytes())));
    print(
        "snapshot, in",
        median(100, || {
            drop(Snapshot::from_bytes(&engine, &bytes).unwrap().restore(&engine, Limits::default()).unwrap())
        }),
    );

    let rows: Vec<String> = (0..20_000)
        .map(|i| format!(r#"{{"id":{i},"name":"name {i}","state":"{}","a":{i}.5,"b":true,"c":null,"d":"some text here {i}","e":{i},"f":"x","g":[1,2],"owner":"o{}","note":"a longer note that pads the row to its size, number {i}","url":"https://example.invalid/items/{i}"}}"#, ["open", "closed"][i % 2], i % 50))
        .collect();
    let big = format!("[{}]", rows.join(","));
    let script = "const rows = await tools.x.get({}); const by = {}; for (const r of rows) if (r.state === 'open') by[r.owner] = (by[r.owner] ?? 0) + r.a; return Object.entries(by).slice(0, 20)";
    println!("{:<44} {} B", "large result", big.len());
    print(
        "large result, filtered and grouped",
        median(10, || {
            let mut sandbox = begin(script);
            let turn = runtime.block_on(sandbox.feed(&Delivery {
                call: 1,
                clock_ms: 0,
                outcome: Outcome::Value(big.clone()),
            }));
            assert!(matches!(turn.status, Status::Returned(_)), "{turn:?}");
        }),
    );
    let hundred: String =
        (0..100).map(|i| format!("const a{i}: number = Math.max({i}, 2) + [1, 2].length;\n")).collect();
    print("prepare a script of 100 lines", median(100, || drop(source::prepare(&hundred).unwrap())));
}

fn median(times: usize, mut work: impl FnMut()) -> Duration {
    let mut all: Vec<Duration> = (0..times)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        })
        .collect();
    all.sort_unstable();
    all[times / 2]
}

fn print(what: &str, took: Duration) {
    println!("{what:<44} {:.3} ms", took.as_secs_f64() * 1000.0);
}
