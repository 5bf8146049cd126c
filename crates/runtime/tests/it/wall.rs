//! The wall from the side of a run: whatever a script does, its run ends in time, as what it is, with what was said before; other runs do
//! not feel it, and nothing of them or of this machine is in any report.

use std::time::Duration;

use refrain_runtime::{ErrorKind, Origin, Report, RunRequest};
use serde_json::json;

use crate::{
    fake::Fake,
    host::{Host, texts, value},
};

fn host(timeout_ms: u64) -> Host {
    Host::with(
        [("fake", vec![Fake::echo("echo").safe(), Fake::echo("write"), Fake::hang("hang").safe()])],
        |settings| {
            settings.limits.timeout_ms = timeout_ms;
            settings.drain = Duration::from_millis(50);
        },
    )
}

fn kind(report: &Report) -> Option<ErrorKind> {
    report.error.as_ref().map(|error| error.kind)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_built_in_ends_at_the_deadline_with_what_was_said_before() {
    let host = host(150);
    for script in [
        "for (;;) {}",
        "const end = Date.now() + 1000; while (Date.now() < end) {}",
        "for (;;) await null",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "let n = 0n; for (;;) n += 3n ** 400000n",
        "Array.prototype.reverse.call({ length: 2**40 })",
        "Array.from({ length: 1e5 }, (_, i) => i).sort((a, b) => { for (let i = 0; i < 1e5; i++); return b - a })",
        "try { await tools.fake.hang({}) } catch { for (;;) {} }",
    ] {
        let report = host.run(&format!("text('said'); console.log('logged');\n{script};\nreturn 'over'")).await;
        assert_eq!(kind(&report), Some(ErrorKind::Timeout), "{script}: {report:?}");
        assert_eq!((report.text.as_str(), report.logs.len()), ("said", 1), "{script}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_runs_end_beside_runs_that_spin() {
    let host = host(3_000);
    let spin = "for (;;) {}";
    let spinning = async { tokio::join!(host.run(spin), host.run(spin), host.run(spin), host.run(spin)) };
    let small = async {
        for n in 0..20 {
            assert_eq!(host.value(&format!("return (await tools.fake.echo({{ n: {n} }})).n + 1")).await, json!(n + 1));
        }
        "all small ones first"
    };
    // Which of them is over first is no matter of luck: the spinning ones have seconds to go.
    tokio::select! {
        biased;
        first = small => assert_eq!(first, "all small ones first"),
        _ = spinning => panic!("twenty small runs took longer than the deadline of those that spin"),
    }
}

#[tokio::test]
async fn a_full_memory_and_a_deep_recursion_are_told_as_such() {
    let host = host(60_000);
    let report = host.run("console.log('logged'); const all = []; try { for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } catch {} return 1").await;
    assert_eq!((kind(&report), report.logs.len()), (Some(ErrorKind::OutOfMemory), 1));
    for script in [
        "const f = () => f() + 1; f()",
        "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); Object.getPrototypeOf(p)",
    ] {
        assert_eq!(kind(&host.run(script).await), Some(ErrorKind::StackOverflow), "{script}");
    }
}

#[tokio::test]
async fn no_tool_hears_of_a_call_that_a_script_makes_up() {
    let host = host(60_000);
    for script in [
        "try { await tools['']['write']({}) } catch {} return 1",
        "const path = 'fake.write'; try { await tools[path]({}) } catch {} return 1",
        "try { await tools.fake['write\\u0000']({}) } catch {} return 1",
        r#"try { await tools['fake","write']({}) } catch {} return 1"#,
        "try { await tools.__proto__.write({}) } catch {} return 1",
        "new Promise(() => exit()); tools.fake.write({})",
        "(async () => exit())(); tools.fake.write({})",
    ] {
        host.run(script).await;
        assert_eq!(host.seen().count("write"), 0, "{script}");
    }
}

#[tokio::test]
async fn no_report_holds_anything_of_this_machine_or_of_another_run() {
    const SECRET: &str = "canary-of-another-run-5f0e77c1";
    let host = host(60_000);
    let mut keeper = RunRequest::new("const kept = args.secret; return kept.length", Origin::default());
    keeper.args.insert("secret".into(), json!(SECRET));
    assert_eq!(value(&host.request(keeper).await), Some(json!(SECRET.len())));

    let folder = env!("CARGO_MANIFEST_DIR");
    for script in [
        "return Object.getOwnPropertyNames(globalThis).map((name) => [name, String(globalThis[name]).slice(0, 200)])",
        "null.x",
        "throw new Error('x', { cause: globalThis })",
        "return await tools.fake.echo({ big: 1n })",
        "return new TextDecoder().decode(new Uint8Array(1 << 20))",
        "return [typeof process, typeof require, new Error('x').stack, (() => {}).constructor.toString()]",
        "for (let i = 0; i < 200; i++) console.log(new Uint8Array(10000).some((x) => x !== 0)); return 1",
        "await tools.fake.nope({})",
        "const f = () => f(); f()",
    ] {
        let said = texts(&host.run(script).await);
        for secret in [SECRET, folder, env!("CARGO_TARGET_TMPDIR"), ".rs:", "wasm"] {
            assert!(!said.to_lowercase().contains(secret), "{script}\n{secret} in {said}");
        }
    }
}
