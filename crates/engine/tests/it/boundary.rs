//! The boundary used wrongly: calls out of order, texts that are none, snapshots that nobody took. Nothing of it may panic, hang or
//! reach another sandbox; what comes of it otherwise is the caller's own.

use crate::{
    begin, block, engine, start,
    stranger::{self, signed},
    value,
};
use refrain_engine::{Call, Delivery, Limits, Outcome, Sandbox, Snapshot, Start, Status, Stop, Turn, source};

const WAITING: &str = "const all = []; for (let i = 0; i < 3; i++) all.push(await tools.x.get({ i })); return all";

fn fault(turn: &Turn) -> bool {
    matches!(turn.status, Status::Stopped(Stop::Fault(_), _))
}

fn sandbox() -> Sandbox {
    engine().sandbox(Limits::default()).unwrap()
}

fn fail(call: u32, json: &str) -> Delivery {
    Delivery { call, clock_ms: 0, outcome: Outcome::Failure(json.into()) }
}

/// Starts `javascript` as it is, without preparing it.
fn start_raw(javascript: &str, facts: &str, limits: Limits) -> Turn {
    let mut sandbox = engine().sandbox(limits).unwrap();
    block(sandbox.start(javascript, &Start { facts: facts.into(), ..start() }))
}

#[test]
fn a_result_before_the_start_is_a_fault_of_the_caller() {
    let mut sandbox = sandbox();
    assert!(fault(&block(sandbox.feed(&value(1, "1")))));
}

#[test]
fn a_second_start_is_a_fault_of_the_caller_and_the_first_goes_on() {
    let (mut sandbox, _) = begin("return (await tools.x.get({})) + 1", Limits::default());
    let prepared = source::prepare("return 'second'").unwrap();
    assert!(fault(&block(sandbox.start(&prepared.javascript, &start()))));
    assert!(matches!(block(sandbox.feed(&value(1, "1"))).status, Status::Returned(Some(json)) if json == "2"));
}

#[test]
fn a_call_that_is_not_out_cannot_be_answered_and_the_script_goes_on() {
    let (mut sandbox, _) = begin(WAITING, Limits::default());
    block(sandbox.feed(&value(1, "1")));
    for call in [0, 1, 3, 4, u32::MAX] {
        assert!(fault(&block(sandbox.feed(&value(call, "5")))), "{call}");
        assert!(fault(&block(sandbox.feed(&fail(call, "{}")))), "{call}");
    }
    block(sandbox.feed(&value(2, "2")));
    assert!(matches!(block(sandbox.feed(&value(3, "3"))).status, Status::Returned(Some(json)) if json == "[1,2,3]"));
}

#[test]
fn a_script_that_is_over_takes_no_result() {
    for script in ["tools.x.get({}); return 1", "tools.x.get({}); throw 1", "tools.x.get({}); exit()"] {
        let (mut sandbox, _) = begin(script, Limits::default());
        assert!(fault(&block(sandbox.feed(&value(1, "1")))), "{script}");
    }
}

#[test]
fn a_stopped_sandbox_that_is_fed_all_the_same_comes_back() {
    let limits = Limits { fuel: 100_000_000, memory_bytes: 16 << 20, calls: 5, ..Limits::default() };
    for script in [
        "tools.x.get({}); for (;;) {}",
        "tools.x.get({}); const all = []; for (;;) all.push(new Array(1000).fill(1))",
        "for (;;) tools.x.get({})",
        "tools.x.get({}).then(() => { for (;;) {} }); for (;;) {}",
    ] {
        let (mut sandbox, turn) = begin(script, limits);
        assert!(matches!(turn.status, Status::Stopped(..)), "{script}");
        for call in 1..=3 {
            block(sandbox.feed(&value(call, "[1]")));
        }
        sandbox.save().to_bytes();
    }
}

#[test]
fn facts_that_are_none_begin_no_run() {
    let deep = "[".repeat(100_000);
    for facts in [
        "",
        "{",
        "nul",
        "\0",
        "{\"tools\":",
        "{}}",
        &deep,
        "null",
        "1",
        "\"\\ud800\"",
        "{\"tools\":5,\"args\":1}",
        "{\"args\":1}",
    ] {
        let turn = start_raw("(async () => 1)", facts, Limits::default());
        assert!(fault(&turn) || matches!(turn.status, Status::Returned(_)), "{facts:.20}: {:?}", turn.status);
    }
}

#[test]
fn what_is_no_program_starts_as_an_error_of_the_script() {
    let deep = format!("(async () => {}1{})", "[".repeat(200_000), "]".repeat(200_000));
    for javascript in [
        "",
        ")",
        "1",
        "null",
        "(async () => {",
        "(() => { throw 1 })",
        "({ then() {} })",
        "\0",
        "(() => 5)",
        "(class {})",
        "({}).x",
        &deep,
        "\u{feff}",
        "\u{2028}",
    ] {
        let turn = start_raw(javascript, &start().facts, Limits::default());
        assert!(
            matches!(turn.status, Status::Threw(_) | Status::Stalled | Status::Returned(_)),
            "{javascript:.30}: {:?}",
            turn.status
        );
    }
}

#[test]
fn results_that_are_no_json_reject_the_call_and_nothing_else() {
    let script = "const all = []; for (let i = 0; i < 2; i++) { try { await tools.x.get({}); all.push('value') } catch (error) { all.push(error.name) } } return all";
    let long = format!("[{}", "1,".repeat(2000));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for json in [
        "",
        "{",
        "nul",
        "\0",
        "[1,]",
        "{\"a\":1,}",
        "1 2",
        "'a'",
        "undefined",
        "NaN",
        "\"\n\"",
        "\"\\x\"",
        &long,
        &deep,
    ] {
        for outcome in [Outcome::Value(json.into()), Outcome::Failure(json.into())] {
            let (mut sandbox, _) = begin(script, Limits::default());
            block(sandbox.feed(&Delivery { call: 1, clock_ms: 0, outcome }));
            let turn = block(sandbox.feed(&value(2, "1")));
            let Status::Returned(Some(json_out)) = turn.status else { panic!("{json:.20}: {:?}", turn.status) };
            assert!(json_out.ends_with(r#"Error","value"]"#), "{json:.20}: {json_out}");
        }
    }
}

#[test]
fn odd_results_that_are_json_arrive() {
    let pad = "x".repeat(1100);
    for json in [
        r#""\ud800""#,
        r#""a\u0000b""#,
        "1e999",
        "-0",
        "9007199254740993",
        r#"{"":1,"__proto__":2,"then":3}"#,
        r#""\ud83d\ude00""#,
        " [ ] ",
    ] {
        for json in [json.to_owned(), format!(r#"[{json},"{pad}"]"#)] {
            let (mut sandbox, _) =
                begin("const got = await tools.x.get({}); return JSON.stringify(got).length", Limits::default());
            let turn = block(sandbox.feed(&value(1, &json)));
            assert!(matches!(turn.status, Status::Returned(Some(_))), "{json:.20}: {:?}", turn.status);
        }
    }
}

#[test]
fn failures_of_any_shape_reject_the_call() {
    for json in [
        "null",
        "1",
        "[]",
        "\"text\"",
        "{}",
        r#"{"message":{"toString":1}}"#,
        r#"{"message":null,"code":[],"call":{},"retryable":"no"}"#,
        r#"{"__proto__":1}"#,
    ] {
        let (mut sandbox, _) = begin(
            "try { await tools.x.get({}) } catch (error) { return [error instanceof Error, typeof error.message, typeof error.stack] }",
            Limits::default(),
        );
        let turn = block(sandbox.feed(&fail(1, json)));
        assert!(
            matches!(&turn.status, Status::Returned(Some(told)) if told == r#"[true,"string","string"]"#),
            "{json}: {:?}",
            turn.status
        );
    }
}

#[test]
fn texts_of_a_hundred_megabytes_end_at_the_memory_limit() {
    let small = Limits { memory_bytes: 8 << 20, ..Limits::default() };
    let text = format!("\"{}\"", "t".repeat(100 << 20));
    let stopped = |turn: &Turn| matches!(turn.status, Status::Stopped(Stop::Memory, _));
    assert!(stopped(&start_raw(&text, &start().facts, small)));
    assert!(stopped(&start_raw("(async () => 1)", &format!(r#"{{"args":{text},"tools":{{}}}}"#), small)));
    for outcome in [Outcome::Value(text.clone()), Outcome::Failure(text)] {
        let (mut sandbox, _) = begin(WAITING, small);
        assert!(stopped(&block(sandbox.feed(&Delivery { call: 1, clock_ms: 0, outcome }))));
    }
}

#[test]
fn a_snapshot_of_any_moment_can_be_stored_and_brought_back() {
    let fresh = sandbox();
    let mut over = begin("return 1", Limits::default()).0;
    let mut stopped = begin("for (;;) {}", Limits { fuel: 10_000_000, ..Limits::default() }).0;
    block(over.feed(&value(1, "1")));
    block(stopped.feed(&value(1, "1")));
    for (what, from) in [("fresh", &fresh), ("over", &over), ("stopped", &stopped)] {
        assert!(from.save() == from.save(), "{what}");
        let bytes = from.save().to_bytes();
        let mut back = Snapshot::from_bytes(&engine(), &bytes).unwrap().restore(&engine(), Limits::default()).unwrap();
        let turn = block(back.feed(&value(1, "1")));
        assert!(matches!(turn.status, Status::Stopped(..)), "{what}: {:?}", turn.status);
    }
    // What was never started can be started after it was brought back.
    let mut back = fresh.save().restore(&engine(), Limits::default()).unwrap();
    let prepared = source::prepare("return 1 + 1").unwrap();
    assert!(
        matches!(block(back.start(&prepared.javascript, &start())).status, Status::Returned(Some(json)) if json == "2")
    );
}

/// A small generator, so that a failing seed can be tried again.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_mul(0xD134_2543_DE82_EF95) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    /// Some JSON, nested no deeper than `depth`.
    fn json(&mut self, depth: usize) -> String {
        const LEAVES: [&str; 9] =
            ["null", "true", "-0", "1e21", "12345678901", "\"\"", "\"text\"", "\"\u{e9}\"", "\"\u{1f600}\\u0000\""];
        const KEYS: [&str; 6] = ["a", "b", "10", "", "__proto__", "long key"];
        match self.below(if depth == 0 { 1 } else { 3 }) {
            1 => format!("[{}]", (0..self.below(5)).map(|_| self.json(depth - 1)).collect::<Vec<_>>().join(",")),
            2 => {
                let members =
                    (0..self.below(5)).map(|_| format!("{:?}:{}", KEYS[self.below(KEYS.len())], self.json(depth - 1)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
            _ => LEAVES[self.below(LEAVES.len())].into(),
        }
    }

    /// A script of several steps, each of which waits in some way and leaves something behind.
    fn script(&mut self) -> String {
        const STEPS: [&str; 16] = [
            "seen.set('K' + seen.size, await tools.x.get({ n: N }));",
            "for (const n of [1, 2]) { const got = await tools.x.get({ n }); later.push(() => got.n + N); }",
            "const aK = (async function* () { for (let i = 0; i < 3; i++) yield await tools.x.get({ i }) })(); for await (const v of aK) { seen.set(v, later.length); if (v.i === 1) break }",
            "await Promise.all([1, 2, 3].map(async (n) => { const got = await tools.x.get({ n }); seen.set(got, await tools.x.put({ n })) }));",
            "seen.set('race', await Promise.race([tools.x.get({ a: N }), tools.x.put({ b: 2 })]));",
            "setTimeout(() => later.push(() => 'timer'), N); await tools.x.get({ timers: 1 });",
            "await sleep(N); seen.set('now' + N, Date.now());",
            "seen.set('random', Math.random()); await tools.x.get(Math.random());",
            "const bK = await tools.x.get(large); seen.set('lazy', [bK.length, bK[3].name, bK[7]]); bK[2].more = bK; await tools.x.put({ rows: bK.filter((r) => r.n % 2).map((r) => r.n) }); seen.set(bK[5].name, bK[9].tags);",
            "class CK { #p = N; async get() { const { n } = await tools.x.get({ n: this.#p }); this.#p += n; return this.#p } } seen.set('class', await new CK().get());",
            "try { await tools.x.get(1n) } catch (error) { seen.set(error.code, await tools.x.get({ after: error.name })) }",
            "const deepK = async (n) => n ? (await deepK(n - 1)) + (await tools.x.get({ n })).n : 0; seen.set('deep', await deepK(4));",
            "for (const r of await parallel([1, 2, 3, 4], async (n) => (await tools.x.get({ n })).n, { concurrency: 2 })) seen.set(r, r.value);",
            "const rK = /(\\d+)-(?<x>\\w+)/g; rK.exec('12-ab 34-cd'); await tools.x.get({}); seen.set('regex', rK.exec('12-ab 34-cd')?.groups.x);",
            "const tK = new Uint32Array(N).fill(7); const dK = new DataView(tK.buffer); await tools.x.get({}); seen.set('bytes', dK.getUint32(0) + tK.length); big = big * 3n ** 40n;",
            "const genK = (function* () { let x = 1; for (;;) x += yield x })(); genK.next(); await tools.x.get({}); seen.set('gen', genK.next(N).value); log(`step ${N}`);",
        ];
        let mut body = String::new();
        for k in 0..3 + self.below(4) {
            let step = STEPS[self.below(STEPS.len())];
            let number = (1 + self.below(50)).to_string();
            body += &format!("{{ {} }}\n", step.replace('K', &k.to_string()).replace('N', &number));
        }
        // The replacements above must not meet what stands outside of the steps.
        format!(
            "const seen = new Map(), later = []; let big = 1n; const log = (...all) => console.log(...all);
             const large = Array.from({{ length: 30 }}, (_, n) => ({{ n, name: 'row number ' + n, tags: ['a', n] }}));
             {body}
             return [[...seen.values()].map((v) => JSON.stringify(v)), later.map((f) => f()), String(big)]"
        )
    }
}

/// Everything that can be seen of a run: its turns, its fuel and, in the end, its memory. `put_away` says after how many results the sandbox is
/// saved and brought back from its bytes.
fn play(script: &str, seed: u64, put_away: &dyn Fn(usize) -> bool) -> (Vec<String>, u64, Vec<u8>, usize) {
    let mut order = Random::new(seed);
    let (mut sandbox, mut turn) = begin(script, Limits::default());
    let mut waiting: Vec<Call> = Vec::new();
    let mut turns = Vec::new();
    for fed in 0.. {
        turns.push(format!("{turn:?} {}", sandbox.fuel_used()));
        waiting.append(&mut turn.calls);
        if !matches!(turn.status, Status::Waiting) {
            assert!(matches!(turn.status, Status::Returned(_)), "{script}\n{turn:?}");
            return (turns, sandbox.fuel_used(), sandbox.save().to_bytes(), fed);
        }
        if put_away(fed) {
            let bytes = sandbox.save().to_bytes();
            drop(sandbox);
            sandbox = Snapshot::from_bytes(&engine(), &bytes).unwrap().restore(&engine(), Limits::default()).unwrap();
        }
        let call = waiting.remove(order.below(waiting.len()));
        turn = block(sandbox.feed(&value(call.call, &call.args)));
    }
    unreachable!("the loop has no end of its own")
}

#[test]
fn a_run_put_away_at_any_waiting_point_is_the_same_as_one_that_never_was() {
    for seed in 1..=30 {
        let script = Random::new(seed).script();
        let calm = play(&script, seed, &|_| false);
        assert!(calm == play(&script, seed, &|_| true), "seed {seed}, put away at every point\n{script}");
        for point in 0..calm.3 {
            assert!(calm == play(&script, seed, &|fed| fed == point), "seed {seed}, put away at {point}\n{script}");
        }
    }
}

#[test]
fn a_forged_snapshot_of_the_true_bytes_runs() {
    let alive = stranger::revive(&engine(), &stranger::forged(&engine(), |_, _| ())).unwrap();
    assert!(alive.starts_with("Returned"), "{alive}");
}

#[test]
fn bytes_changed_in_a_snapshots_pages_harm_nobody() {
    let mut outcomes = std::collections::BTreeMap::new();
    for seed in 1..=600 {
        let mut random = Random::new(seed);
        let bytes = stranger::forged(&engine(), |_, data| {
            for _ in 0..1 + random.below(40) {
                let at = random.below(data.len());
                match random.below(4) {
                    0 => data[at] ^= 1 << random.below(8),
                    1 => data[at] = random.below(256) as u8,
                    2 => data[at & !3..][..4].copy_from_slice(&u32::MAX.to_le_bytes()),
                    _ => data[at & !3..][..4].copy_from_slice(&(random.below(1 << 21) as u32).to_le_bytes()),
                }
            }
        });
        let outcome = stranger::revive(&engine(), &bytes).unwrap_or_default();
        *outcomes.entry(outcome.split('(').next().unwrap_or_default().to_owned()).or_insert(0) += 1;
    }
    // The changes reach what matters, or the test shows nothing.
    assert!(outcomes.keys().any(|outcome| outcome == "Stopped"), "{outcomes:?}");
}

#[test]
fn numbers_changed_in_a_snapshots_header_harm_nobody() {
    // The offsets of memory size, fuel, output bytes and the number of pages. The number of calls has its own test.
    for (at, width) in [(40, 8), (48, 8), (60, 8), (68, 4)] {
        for number in [0, 1, 65536, 1 << 20, 1 << 31, u64::from(u32::MAX), 1 << 32, 1 << 40, u64::MAX - 1, u64::MAX] {
            stranger::revive(
                &engine(),
                &stranger::forged(&engine(), |head, _| {
                    head[at..at + width].copy_from_slice(&number.to_le_bytes()[..width])
                }),
            );
        }
    }
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        stranger::revive(
            &engine(),
            &stranger::forged(&engine(), |head, _| {
                let at = 72 + random.below(head.len() - 72);
                head[at] = random.below(256) as u8;
            }),
        );
    }
}

#[test]
fn bytes_that_are_no_snapshot_are_refused_also_with_a_checksum_that_fits() {
    let (sandbox, _) = begin(WAITING, Limits::default());
    let bytes = sandbox.save().to_bytes();
    let body = &bytes[..bytes.len() - 32];
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        let mut changed = body[..random.below(body.len()) + 1].to_vec();
        for _ in 0..random.below(20) {
            let at = random.below(changed.len());
            changed[at] = random.below(256) as u8;
        }
        assert!(Snapshot::from_bytes(&engine(), &changed).is_err());
        stranger::revive(&engine(), &signed(changed));
    }
    assert!(Snapshot::from_bytes(&engine(), &signed(body[..100].to_vec())).is_err());
}

#[test]
fn what_the_fuzz_targets_try_holds_for_some_of_it() {
    for seed in 1..=60 {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..random.below(400)).map(|_| random.below(256) as u8).collect();
        stranger::snapshot(&engine(), &bytes);
        stranger::misuse(&engine(), &bytes);
        stranger::script(&engine(), &String::from_utf8_lossy(&bytes));
        stranger::script(&engine(), &random.script());
        stranger::value(&engine(), &random.json(4));
    }
    stranger::misuse(&engine(), b"\x01{\"tools\":{}}\0\x12[1]\0\x04\0\x22{\"a\":1}\0\x05\0\x14x\0\x12\"a\"");
    stranger::value(&engine(), r#"{"b":[1,2.5,-0,{"10":1,"2":[]}],"a":{"__proto__":{}},"a":"\ud83d\ude00"}"#);
}

#[test]
fn a_forged_number_of_calls_overflows_nothing() {
    stranger::revive(
        &engine(),
        &stranger::forged(&engine(), |head, _| head[56..60].copy_from_slice(&u32::MAX.to_le_bytes())),
    );
}
