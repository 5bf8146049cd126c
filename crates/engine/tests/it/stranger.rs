//! What strangers may send, tried in one step each: the property tests here and the fuzz targets in `fuzz/` share these functions.
//!
//! Each takes any bytes at all and panics only when the engine does what it must not.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use refrain_engine::{Delivery, Engine, Limits, Outcome, Sandbox, Snapshot, Start, Status, Stop, source};
use sha2::{Digest, Sha256};

/// Small, so that nothing runs long.
fn limits() -> Limits {
    Limits { memory_bytes: 16 << 20, fuel: 200_000_000, calls: 50, ..Limits::default() }
}

const WAITING: &str = "const all = []; for (let i = 0; i < 3; i++) all.push(await tools.x.get({ i })); return all";

/// Bytes before the page numbers of a stored snapshot, and those of its checksum.
const HEADER: usize = 72;
const CHECKSUM: usize = 32;

fn start() -> Start {
    Start { clock_ms: 1_700_000_000_000, seed: 42, facts: r#"{"args":{},"tools":{"x":["get"]}}"#.into() }
}

/// Polls until it is done. A sandbox gives way at ticks, and nobody ticks for ever, so this ends.
pub(crate) fn block<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

fn waiting(engine: &Engine) -> Sandbox {
    let mut sandbox = engine.sandbox(limits()).expect("a sandbox can be made");
    let prepared = source::prepare(WAITING).expect("it is a program");
    block(sandbox.start(&prepared.javascript, &start()));
    sandbox
}

/// Reads any text as a script; if it is one, runs it, and answers its calls with their own arguments.
pub(crate) fn script(engine: &Engine, text: &str) {
    let Ok(script) = source::read(text, &source::Roots::default()) else { return };
    let mut sandbox = engine.sandbox(limits()).expect("a sandbox can be made");
    let mut turn = block(sandbox.start(&script.prepared.javascript, &start()));
    let mut calls = Vec::new();
    for _ in 0..limits().calls {
        calls.append(&mut turn.calls);
        let (Status::Waiting, Some(call)) = (&turn.status, calls.pop()) else { break };
        let delivery = Delivery { call: call.call, clock_ms: 0, outcome: Outcome::Value(call.args) };
        turn = block(sandbox.feed(&delivery));
    }
    if let Status::Stopped(Stop::Fault(what), _) = &turn.status {
        panic!("the guest broke: {what}\n{text}");
    }
}

/// Delivers a JSON text so that it comes to life when touched, and as text that the guest parses; a script must see no difference.
pub(crate) fn value(engine: &Engine, json: &str) {
    const LOOK: &str = "const look = (x) => x !== null && typeof x === 'object' ? [Array.isArray(x), Object.keys(x).map((k) => [k, look(x[k])]), Object.keys(x).length] : [typeof x, Object.is(x, -0), x];
        return [look(v[0]), JSON.stringify(v)]";
    if serde_json::from_str::<serde::de::IgnoredAny>(json).is_err() {
        return;
    }
    // Below a kilobyte nothing sleeps.
    let padded = format!("[{json},\"{}\"]", "p".repeat(1100));
    let see = |read: &str, result: String| {
        let text = format!("const v = {read};\n{LOOK}");
        let prepared = source::prepare(&text).expect("it is a program");
        let mut sandbox = engine.sandbox(limits()).expect("a sandbox can be made");
        block(sandbox.start(&prepared.javascript, &start()));
        let turn = block(sandbox.feed(&Delivery { call: 1, clock_ms: 0, outcome: Outcome::Value(result) }));
        match turn.status {
            Status::Returned(seen) => seen,
            // Memory and stack may run out in one way of reading before they do in the other.
            Status::Threw(_) | Status::Stopped(Stop::Memory | Stop::Stack | Stop::Limit { .. }, _) => None,
            other => panic!("{other:?} of {json}"),
        }
    };
    let text = serde_json::to_string(&padded).expect("a text has a JSON form");
    if let (Some(lazy), Some(plain)) =
        (see("await tools.x.get({})", padded), see("JSON.parse(await tools.x.get({}))", text))
    {
        assert_eq!(lazy, plain, "{json}");
    }
}

/// Uses one sandbox in any order: each step is a byte that says what is done, and the text up to the next zero byte is what with.
pub(crate) fn misuse(engine: &Engine, steps: &[u8]) {
    let mut sandbox = engine.sandbox(limits()).expect("a sandbox can be made");
    for step in steps.split(|byte| *byte == 0).take(12) {
        let Some((what, rest)) = step.split_first() else { continue };
        let text = String::from_utf8_lossy(rest).into_owned();
        let call = u32::from(what >> 4);
        let feed = |outcome| Delivery { call, clock_ms: i64::from(*what) - 9, outcome };
        match what % 6 {
            0 => drop(block(sandbox.start(&text, &start()))),
            1 => drop(block(
                sandbox.start("(async () => { for (;;) await tools.x.get({}) })", &Start { facts: text, ..start() }),
            )),
            2 => drop(block(sandbox.feed(&feed(Outcome::Value(text))))),
            3 => drop(block(sandbox.feed(&feed(Outcome::Failure(text))))),
            4 => sandbox = sandbox.save().restore(engine, limits()).expect("what was just saved can be brought back"),
            _ => sandbox = waiting(engine),
        }
    }
    drop(sandbox.save().to_bytes());
}

/// The pages in a snapshot's stored form, unpacked.
pub(crate) fn pages(bytes: &[u8]) -> Vec<u8> {
    let count = u32::from_le_bytes(bytes[68..HEADER].try_into().expect("four bytes")) as usize;
    let packed = &bytes[HEADER + 4 * count..bytes.len() - CHECKSUM];
    zstd::bulk::decompress(packed, count * 512).expect("the engine packed it")
}

/// A snapshot, changed in its header and page numbers and in its unpacked pages, with a checksum that fits.
pub(crate) fn forged(engine: &Engine, change: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>)) -> Vec<u8> {
    let bytes = waiting(engine).save().to_bytes();
    let mut data = pages(&bytes);
    let count = data.len() / 512;
    let mut head = bytes[..HEADER + 4 * count].to_vec();
    change(&mut head, &mut data);
    head.extend(zstd::bulk::compress(&data, 1).expect("memory suffices"));
    signed(head)
}

/// `body` with the checksum that a snapshot of these bytes would have.
pub(crate) fn signed(mut body: Vec<u8>) -> Vec<u8> {
    let checksum = Sha256::digest(&body);
    body.extend_from_slice(&checksum);
    body
}

/// Brings a snapshot back if it can be, runs what is in it, and says how that ended. Whatever happens happens in there.
pub(crate) fn revive(engine: &Engine, bytes: &[u8]) -> Option<String> {
    let mut sandbox = Snapshot::from_bytes(engine, bytes).ok()?.restore(engine, limits()).ok()?;
    let mut last = String::new();
    for call in 1..=3 {
        let delivery = Delivery { call, clock_ms: 0, outcome: Outcome::Value(r#"{"a":[1,"text"]}"#.into()) };
        let turn = block(sandbox.feed(&delivery));
        last = format!("{:?}", turn.status);
        if !matches!(turn.status, Status::Waiting) {
            break;
        }
    }
    drop(sandbox.save().to_bytes());
    Some(last)
}

/// Brings a snapshot back whose bytes are changed as `changes` say: a place in three bytes and a value in one.
pub(crate) fn snapshot(engine: &Engine, changes: &[u8]) {
    let bytes = forged(engine, |head, data| {
        for change in changes.chunks_exact(4) {
            let at = usize::from(change[0]) << 16 | usize::from(change[1]) << 8 | usize::from(change[2]);
            // Not the number of calls, which overflows (boundary.rs has a test of that).
            let at = at % (head.len() + data.len());
            match at.checked_sub(head.len()) {
                Some(inside) => data[inside] = change[3],
                None if (56..60).contains(&at) => {}
                None => head[at] = change[3],
            }
        }
    });
    revive(engine, &bytes);
    // The same bytes as they come, with and without a checksum that fits.
    revive(engine, changes);
    revive(engine, &signed(changes.to_vec()));
}
