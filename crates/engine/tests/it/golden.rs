//! Determinism, by the checklist: B1 to B12, X4, X34 and X35 of the list of what a durable run must show.
//!
//! The files below `tests/vectors` hold what this engine answers; a change of any answer is a change of behaviour, and wants a new
//! fingerprint. The maths vectors were compared with another engine by hand: all are within two units in the last place of it,
//! but for one fault that has its own test.

use std::process::Command;

use refrain_engine::{Delivery, Limits, Outcome, Output, Sandbox, Snapshot, Status, Stop};

use crate::{begin, block, engine, finish, returned, value};

/// Runs a script of `tests/vectors/golden`. What it must return is its last line, behind `// = `.
fn golden(file: &str) {
    let path = format!("{}/tests/vectors/golden/{file}.js", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let (script, expected) = text.trim_end().rsplit_once("\n// = ").unwrap();
    assert_eq!(returned(script), expected, "{file}");
}

fn feed(sandbox: &mut Sandbox, call: u32, clock_ms: i64, json: &str) -> Status {
    block(sandbox.feed(&Delivery { call, clock_ms, outcome: Outcome::Value(json.into()) })).status
}

fn logs(output: &[Output]) -> Vec<&str> {
    output
        .iter()
        .filter_map(|one| match one {
            Output::Log { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn b1_the_clock_is_that_of_the_start_and_then_of_each_result_and_stands_still_between() {
    let script = "const seen = [];
        const look = () => { const a = [Date.now(), +new Date(), Math.round(performance.now())]; for (let i = 0; i < 1e5; i++); seen.push([...a, a[0] === Date.now()]) };
        look(); await tools.x.get({}); look(); await tools.x.get({}); look(); return seen";
    let (mut sandbox, _) = begin(script, Limits::default());
    feed(&mut sandbox, 1, 1_700_000_000_250, "1");
    let Status::Returned(Some(json)) = feed(&mut sandbox, 2, 1_700_000_060_000, "1") else { panic!() };
    assert_eq!(
        json,
        "[[1700000000000,1700000000000,0,true],[1700000000250,1700000000250,250,true],[1700000060000,1700000060000,60000,true]]"
    );
}

/// That time never runs backwards is the host's to keep, which has the journal; the engine shows what it is told, whatever that is.
#[test]
fn b2_any_clock_is_shown_as_told_and_harms_nothing() {
    for clock_ms in [1_699_996_400_000, 0, -1, i64::MIN, i64::MAX, 8_640_000_000_000_001] {
        let (mut sandbox, _) = begin(
            "await tools.x.get({}); return [typeof Date.now(), String(new Date()).length > 0]",
            Limits::default(),
        );
        let status = feed(&mut sandbox, 1, clock_ms, "1");
        assert!(
            matches!(&status, Status::Returned(Some(json)) if json == r#"["number",true]"#),
            "{clock_ms}: {status:?}"
        );
    }
}

#[test]
fn b3_random_numbers_are_the_same_on_every_attempt_and_across_a_snapshot() {
    let script = "const a = [Math.random()]; await tools.x.get({}); a.push(Math.random()); await tools.x.get({}); a.push(Math.random()); return a";
    let run = |put_away: bool| {
        let (mut sandbox, _) = begin(script, Limits::default());
        feed(&mut sandbox, 1, 0, "1");
        if put_away {
            let bytes = sandbox.save().to_bytes();
            sandbox = Snapshot::from_bytes(&engine(), &bytes).unwrap().restore(&engine(), Limits::default()).unwrap();
        }
        match feed(&mut sandbox, 2, 0, "1") {
            Status::Returned(Some(json)) => json,
            other => panic!("{other:?}"),
        }
    };
    let first = run(false);
    assert_eq!(first, run(false));
    assert_eq!(first, run(true));
}

#[test]
fn b4_dates_are_those_of_utc() {
    golden("dates");
}

#[test]
fn b5_no_text_depends_on_a_locale() {
    golden("locale");
}

#[test]
fn b4_b5_neither_depends_on_the_environment_of_the_process() {
    for (zone, language) in [("America/New_York", "tr_TR.UTF-8"), ("Asia/Tokyo", "de_DE.UTF-8")] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "golden::b4_dates_are_those_of_utc", "golden::b5_no_text_depends_on_a_locale"])
            .args(["golden::b7_the_order_of_keys_and_of_sorting_is_fixed", "golden::numbers_print_the_same"])
            .env("TZ", zone)
            .env("LANG", language)
            .env("LC_ALL", language)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("4 passed"), "{zone}: {said}");
    }
}

#[test]
fn b6_weak_references_are_absent() {
    assert_eq!(returned("return [typeof WeakRef, typeof FinalizationRegistry]"), r#"["undefined","undefined"]"#);
}

#[test]
fn b7_the_order_of_keys_and_of_sorting_is_fixed() {
    golden("keys");
    golden("sort");
}

#[test]
fn b8_stacks_and_messages_are_fixed_and_hold_nothing_of_the_host() {
    golden("stacks");
}

#[test]
fn numbers_print_the_same() {
    golden("numbers");
}

#[test]
fn b9_memory_and_stack_run_out_at_the_same_point_on_every_attempt() {
    let memory = || {
        let limits = Limits { memory_bytes: 24 << 20, output_bytes: 16 << 20, ..Limits::default() };
        let (_, turn) =
            begin("const all = []; for (let i = 0; ; i++) { all.push({ i }, 'text ' + i); console.log(i) }", limits);
        let Status::Stopped(Stop::Memory, frames) = turn.status else { panic!("{:?}", turn.status) };
        (turn.output, frames)
    };
    let first = memory();
    assert!(first.0.len() > 1000);
    assert_eq!(first, memory());

    let depth = "let n = 0; const f = () => { n++; f() }; try { f() } catch {} const a = n; n = 0; const g = (...x) => { n++; [1].map(() => g(...x, 1)) }; try { g() } catch {} return [a, n]";
    assert_eq!(returned(depth), returned(depth));
}

#[test]
fn b10_without_any_setting_there_is_a_limit_of_memory() {
    let (_, turn) = begin("const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))", Limits::default());
    assert!(matches!(turn.status, Status::Stopped(Stop::Memory, _)), "{:?}", turn.status);
}

#[test]
fn b11_text_does_not_become_code_and_nothing_of_the_host_is_reachable() {
    assert_eq!(
        returned(
            "const all = [];
             for (const go of [() => eval('1'), () => (() => {}).constructor('return 1')(), () => tools.x.get.constructor('return 1'), () => setTimeout('1')])
               { try { all.push(typeof go()) } catch (error) { all.push('refused') } }
             return [all, typeof process, typeof require, typeof globalThis.native]"
        ),
        r#"[["refused","refused","refused","refused"],"undefined","undefined","undefined"]"#
    );
}

#[test]
fn b12_patched_built_ins_change_nothing_and_an_error_class_can_name_itself() {
    let turn = finish(
        "for (const patch of [() => { Object.prototype.toJSON = () => 'forged' }, () => { Promise.prototype.then = null }, () => { Array.prototype.push = null }])
           { try { patch(); console.log('patched') } catch (error) { console.log(error.name) } }
         class E extends Error { constructor() { super(); this.name = 'E' } }
         const got = await tools.x.get({ a: [1] });
         return [got, new E().name, String(new E())]",
    );
    assert_eq!(logs(&turn.output), ["TypeError"; 3]);
    assert!(matches!(turn.status, Status::Returned(Some(json)) if json == r#"[{"a":[1]},"E","E"]"#));
}

#[test]
fn x4_maths_gives_the_same_bits_everywhere() {
    let got: serde_json::Value = serde_json::from_str(&returned(include_str!("../vectors/maths.js"))).unwrap();
    let expected: serde_json::Value = serde_json::from_str(include_str!("../vectors/maths.json")).unwrap();
    let all = expected.as_object().unwrap();
    assert!(all.len() >= 14 && all.values().all(|vectors| vectors.as_array().unwrap().len() == 50));
    for (name, vectors) in all {
        for (i, vector) in vectors.as_array().unwrap().iter().enumerate() {
            assert_eq!(&got[name][i], vector, "{name}, the inputs and the result");
        }
    }
}

#[test]
fn the_area_cosine_below_one_is_no_number() {
    assert_eq!(
        returned("return [0.5, -462513.9, -Infinity, NaN].map((x) => Number.isNaN(Math.acosh(x)))"),
        "[true,true,true,true]"
    );
}

#[test]
fn x34_fuel_runs_out_at_the_same_point_on_every_attempt() {
    let limits = Limits { fuel: 200_000_000, output_bytes: 16 << 20, ..Limits::default() };
    let run = || {
        let (_, turn) = begin("for (let i = 0; ; i++) { console.log(i); 'a'.repeat(i % 5000).split('') }", limits);
        let Status::Stopped(stop, frames) = turn.status else { panic!("{:?}", turn.status) };
        assert_eq!(stop, Stop::Limit { setting: "fuel", value: 200_000_000 });
        (turn.output, frames)
    };
    let first = run();
    assert!(first.0.len() > 100);
    assert_eq!(first, run());
}

#[test]
fn x35_a_result_too_large_for_the_memory_stops_the_run_on_every_attempt_alike() {
    let limits = Limits { memory_bytes: 8 << 20, ..Limits::default() };
    let large = format!("[{}1]", r#"{"name":"a row of some length","n":[1,2,3]},"#.repeat(100_000));
    for json in [large.clone(), serde_json::to_string(&large).unwrap()] {
        for touch in ["got.length", "JSON.stringify(got).length"] {
            let run = || {
                let script = format!(
                    "console.log('before'); const got = await tools.x.get({{}}); console.log('after'); return {touch}"
                );
                let (mut sandbox, turn) = begin(&script, limits);
                let after = block(sandbox.feed(&value(1, &json)));
                assert!(matches!(after.status, Status::Stopped(Stop::Memory, _)), "{:?}", after.status);
                (turn.output, after.output)
            };
            assert_eq!(run(), run());
        }
    }
}
