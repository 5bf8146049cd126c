//! Every limit ends the run, and no script catches it.

use refrain_engine::{Limits, Output, Status, Stop, Stopper, source::prepare};

use crate::{begin, block, engine, start, value};

/// Starts `script`, asks it to stop after a moment, and returns why and where it stopped.
fn stopped(script: &str) -> (Stop, Option<u32>) {
    let (stop, line, _) = ended(script, Limits::default(), |stopper| {
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            stopper.stop();
        });
    });
    (stop, line)
}

/// Starts `script` and returns at which limit and where it stopped.
fn ended(script: &str, limits: Limits, before: impl FnOnce(Stopper)) -> (Stop, Option<u32>, Vec<Output>) {
    let prepared = prepare(script).unwrap();
    let mut sandbox = engine().sandbox(limits).unwrap();
    before(sandbox.stopper());
    let turn = block(sandbox.start(&prepared.javascript, &start()));
    match turn.status {
        Status::Stopped(stop, frames) => {
            (stop, frames.first().and_then(|frame| prepared.map.original(frame)).map(|p| p.line), turn.output)
        }
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn an_endless_loop_stops_when_asked_and_tells_its_line() {
    for (script, line) in [
        ("const a = 1;\n\nfor (;;) {}", 3),
        ("let n: number = 0;\nwhile (true) {\n  n += 1; }", 3),
        ("let n = 0;\ndo n++\n; while (1)", 2),
        ("const spin = () => {\n  while (true) {}\n};\ntry { spin() } catch {} finally { spin() }", 2),
        ("await null;\nconst f = async () => { for (;;) await null };\nawait f()", 2),
    ] {
        let (stop, at) = stopped(script);
        assert_eq!(stop, Stop::Asked, "{script}");
        // Between two jobs of a microtask flood no frame is active.
        assert!(at == Some(line) || (script.contains("await") && at.is_none()), "{script}: {at:?}");
    }
}

#[test]
fn one_long_built_in_stops_when_asked() {
    for script in [
        "[].concat(...Array(10).fill(new Array(1e8)))",
        "new Array(2**32-1).join(',')",
        "Array.prototype.reverse.call({length: 2**40})",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "3n ** 4000000n",
    ] {
        let (stop, _) = stopped(script);
        assert!(matches!(stop, Stop::Asked | Stop::Memory), "{script}: {stop:?}");
    }
}

#[test]
fn running_out_of_memory_cannot_be_caught() {
    let limits = Limits { memory_bytes: 32 << 20, ..Limits::default() };
    let script =
        "const all = [];\ntry {\n  for (;;) all.push(new Array(1000).fill(all.length));\n} catch {}\nreturn 'caught'";
    let (stop, line, _) = ended(script, limits, drop);
    assert_eq!((stop, line), (Stop::Memory, Some(3)));
}

#[test]
fn the_fuel_limit_cannot_be_caught() {
    let limits = Limits { fuel: 50_000_000, ..Limits::default() };
    let (stop, line, output) = ended("console.log('kept');\ntry {\n  for (;;) {}\n} catch {}", limits, drop);
    assert_eq!((stop, line), (Stop::Limit { setting: "fuel", value: 50_000_000 }, Some(3)));
    assert_eq!(output.len(), 1);
}

#[test]
fn floods_of_calls_arguments_and_results_stop_at_their_limits() {
    let limits =
        Limits { calls: 10, argument_bytes: 1000, output_bytes: 1000, result_bytes: 1000, ..Limits::default() };
    for (script, setting) in [
        ("for (;;) tools.x.get({})", "calls"),
        ("tools.x.get({ a: 'a'.repeat(2000) })", "argument_bytes"),
        ("return 'a'.repeat(2000)", "result_bytes"),
    ] {
        let (stop, ..) = ended(script, limits, drop);
        assert!(matches!(stop, Stop::Limit { setting: at, .. } if at == setting), "{script}: {stop:?}");
    }
}

#[test]
fn recursion_is_a_range_error_that_a_script_can_catch() {
    let deep = "const f = (n) => f(n + 1) + 1;\n";
    let (_, turn) = begin(&format!("{deep}try {{ f(0) }} catch (e) {{ return e.name }}"), Limits::default());
    assert!(matches!(turn.status, Status::Returned(Some(json)) if json == "\"RangeError\""));
    let (_, turn) = begin(&format!("{deep}f(0)"), Limits::default());
    let Status::Threw(thrown) = turn.status else { panic!("{:?}", turn.status) };
    assert!(thrown.overflow);
    for script in [
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)",
        "JSON.parse('['.repeat(1e5))",
        "'('.repeat(1e5); new RegExp('('.repeat(1e5) + ')'.repeat(1e5))",
    ] {
        let (_, turn) = begin(script, Limits::default());
        assert!(matches!(turn.status, Status::Threw(_)), "{script}: {:?}", turn.status);
    }
}

#[test]
fn output_past_its_limit_is_dropped_and_the_script_goes_on() {
    let limits = Limits { output_bytes: 1000, ..Limits::default() };
    for (script, first) in [
        ("for (let i = 0; i < 1e4; i++) console.log('x'.repeat(9)); return 'end'", 9),
        ("text('wide '.repeat(6e6)); console.log('small'); return 'end'", 1000),
    ] {
        let (_, turn) = begin(script, limits);
        assert!(matches!(turn.status, Status::Returned(Some(json)) if json == "\"end\""), "{script}");
        let bytes: usize = turn
            .output
            .iter()
            .map(|o| match o {
                Output::Log { text, .. } | Output::Text(text) => text.len(),
                Output::Cut { .. } => 0,
                other => panic!("{other:?}"),
            })
            .sum();
        assert!(bytes <= 1000, "{script}: {bytes}");
        let (Output::Log { text, .. } | Output::Text(text)) = &turn.output[0] else { panic!("{script}") };
        assert_eq!(text.len(), first, "{script}");
        assert_eq!(turn.output.iter().filter(|o| matches!(o, Output::Cut { .. })).count(), 1, "{script}");
    }
}

#[test]
fn more_sandboxes_than_the_pool_has_and_larger_ones_work_alike() {
    let script = "const all = 'x'.repeat(1000); return (await tools.x.get({ all })).length";
    let small = Limits::default();
    let large = Limits { memory_bytes: 1 << 30, ..small };
    let mut waiting: Vec<_> = (0..600).map(|n| begin(script, if n % 100 == 0 { large } else { small })).collect();
    for (n, (sandbox, turn)) in waiting.iter_mut().enumerate() {
        assert!(matches!(turn.status, Status::Waiting), "{n}: {:?}", turn.status);
        let end = block(sandbox.feed(&value(1, &format!("[{}]", ["1"].repeat(n + 1).join(",")))));
        assert!(matches!(&end.status, Status::Returned(Some(json)) if *json == (n + 1).to_string()), "{n}: {end:?}");
    }
    let fuel: std::collections::BTreeSet<_> = (0..2)
        .map(|n| {
            let (sandbox, _) = begin("return 1+1", if n == 0 { small } else { large });
            sandbox.fuel_used()
        })
        .collect();
    assert_eq!(fuel.len(), 1, "a run costs the same wherever its memory lies");
    let grown = "let all = ''; for (let i = 0; i < 40; i++) all += String.fromCharCode(65 + i).repeat(1e7); return all.indexOf('h')";
    let (_, turn) = begin(grown, large);
    assert!(matches!(&turn.status, Status::Returned(Some(json)) if json == "390000000"), "{turn:?}");
}

#[test]
fn what_a_stopped_run_computed_is_told_without_the_look_at_its_stack() {
    let limits = Limits { fuel: 50_000_000, ..Limits::default() };
    let (sandbox, turn) = begin("for (;;) {}", limits);
    assert!(matches!(&turn.status, Status::Stopped(Stop::Limit { setting: "fuel", .. }, _)), "{turn:?}");
    assert_eq!(sandbox.fuel_used(), limits.fuel);
}

#[test]
fn empty_outputs_reach_their_limit_too() {
    let (_, turn) = begin(
        "for (let i = 0; i < 100_000; i++) text(''); return 1",
        Limits { output_bytes: 32 << 10, ..Limits::default() },
    );
    // The line that is cut and the word about it come on top.
    assert!(turn.output.len() <= (1 << 10) + 2, "{} outputs are kept", turn.output.len());
    assert_eq!(turn.output.last(), Some(&Output::Cut { images: false }));
}

#[test]
fn an_exception_with_a_huge_message_keeps_its_name_and_line() {
    let (_, turn) = begin("\nthrow new RangeError('x'.repeat(2e6))", Limits::default());
    let Status::Threw(thrown) = turn.status else { panic!("{:?}", turn.status) };
    assert_eq!(thrown.name.as_deref(), Some("RangeError"));
    assert!(thrown.message.ends_with("... (2000000 characters)") && thrown.message.len() < 20_000);
    assert!(!thrown.frames.is_empty());
}

#[test]
fn reading_a_wide_result_costs_by_its_width() {
    let fuel = |count: usize| {
        let script = "const all = await tools.x.get({}); let sum = 0;\nfor (let i = 0; i < all.n; i++) sum += all['k' + i];\nreturn sum";
        let (mut sandbox, _) = begin(script, Limits::default());
        let fields: Vec<String> = (0..count).map(|i| format!(r#""k{i}":1"#)).collect();
        let turn = block(sandbox.feed(&value(1, &format!(r#"{{"n":{count},{}}}"#, fields.join(",")))));
        assert!(matches!(&turn.status, Status::Returned(Some(json)) if *json == count.to_string()), "{turn:?}");
        sandbox.fuel_used()
    };
    let (few, many) = (fuel(1_000), fuel(8_000));
    assert!(many < few * 16, "eight times as much cost {few} and {many}");
}

#[test]
fn catching_rejections_costs_by_their_number() {
    let fuel = |count: usize| {
        let script =
            format!("for (let i = 0; i < {count}; i++) try {{ await (async () => {{ throw 1 }})() }} catch {{}}");
        let (sandbox, turn) = begin(&script, Limits::default());
        assert!(matches!(turn.status, Status::Returned(None)), "{turn:?}");
        sandbox.fuel_used()
    };
    let (few, many) = (fuel(2_000), fuel(32_000));
    assert!(many < few * 24, "sixteen times as many cost {few} and {many}");
}
