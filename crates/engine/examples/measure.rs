//! Prints what the sandbox costs on this machine: `cargo run --release -p refrain-engine --example measure`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and prints"
)]

use std::time::{Duration, Instant};

use refrain_engine::{
    Delivery, Engine, Limits, Outcome, Sandbox, Snapshot, Start, Status,
    source::{self, Roots},
};

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

    let prepared = source::prepare("return 1+1").unwrap();
    let ran = median(200, || {
        let mut sandbox = engine.sandbox(Limits::default()).unwrap();
        runtime.block_on(sandbox.start(&prepared.javascript, &start));
    });
    print("  of which without preparing the source", ran);

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
    let script = script_of_100_lines();
    let facts = source::read(&script, &Roots::default()).unwrap().facts;
    let told =
        format!("{} lines, {} B, with {} uses of names", script.lines().count(), script.len(), facts.globals.len());
    println!("{:<44} {told} and {} of tools", "a script to read", facts.tools.len());
    print(
        "reading it: parse, form, types, facts, map",
        median(200, || drop(source::read(&script, &Roots::default()).unwrap())),
    );
}

/// Ten lines as models write them, ten times.
fn script_of_100_lines() -> String {
    let part = r#"interface Row# { id: number; title: string; labels?: string[] }
const rows#: Row#[] = await tools.github.list_issues({ owner: "acme", repo: "web", state: "open", per_page: 100 });
const open# = rows#.filter((row) => row.labels?.includes("bug") && row.title.length > 3);
const full# = await Promise.all(open#.map(async (row) => {
  try { return await tools.github.get_issue({ owner: "acme", repo: "web", id: row.id }); }
  catch (error) { return { id: row.id, error: String(error) }; }
}));
const by# = new Map<string, number>();
for (const one of full# as any[]) by#.set(one.user ?? "nobody", (by#.get(one.user) ?? 0) + 1);
console.log(`part #: ${full#.length} of ${rows#.length}`, JSON.stringify([...by#]));
"#;
    (0..10).map(|index| part.replace('#', &index.to_string())).collect()
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
