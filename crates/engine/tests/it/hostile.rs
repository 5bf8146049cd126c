//! Scripts that try to do harm: `tests/hostile/*.js`, one harm a file.
//!
//! The first line of each says what it tries, and how the test sees that it failed. What is expected is one of these, or several
//! with `|` between them: `returns JSON`, `returns nothing`, `threw`, `threw NAME`, `refused` (before it runs), `stalled`, and
//! `stopped` by `memory`, `stack`, `limit`, `limit:SETTING`, or `asked` for a script that never ends by itself, which the fuel ends
//! here, where time may decide nothing.
//!
//! Beside each script runs a neighbour that keeps a secret, and before each one died that kept another. Nothing that a hostile
//! script says, and nothing in its memory, may hold either, or a path or setting of this machine.

use std::{collections::VecDeque, fs, path::PathBuf};

use refrain_engine::{Delivery, Limits, Outcome, Output, Sandbox, Start, Status, Stop, source};

use crate::{block, engine, start, stranger::pages};

/// Every class of harm, each with a test below.
const CLASSES: [&str; 14] = [
    "constructors",
    "floods",
    "forging",
    "getters",
    "huge",
    "lazy",
    "pollution",
    "promises",
    "proxies",
    "recursion",
    "regexes",
    "species",
    "stacks",
    "thenables",
];

/// Fuel is the deadline here, so that no expectation depends on the machine.
fn limits() -> Limits {
    Limits {
        memory_bytes: 64 << 20,
        fuel: 8_000_000_000,
        output_bytes: 64 << 10,
        result_bytes: 8 << 20,
        ..Limits::default()
    }
}

/// What one run may have the host keep at a time, in bytes.
const MOST_KEPT: usize = 64 << 20;
/// What a hostile script must not find. The second half of each is added where it is used, so that no script holds it whole.
const OF_THE_LIVING: &str = "canary-of-a-neighbour-";
const OF_THE_DEAD: &str = "canary-of-one-that-died-";
const SECOND_HALF: &str = "5f0e77c1";

struct Hostile {
    name: String,
    text: String,
    expected: String,
}

/// The scripts of one class, by name.
fn corpus(class: &str) -> Vec<Hostile> {
    let mut all: Vec<Hostile> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            if !name.starts_with(&format!("{class}-")) {
                return None;
            }
            let text = fs::read_to_string(&path).unwrap();
            let first = text.lines().next().unwrap_or_default();
            let expected = first
                .strip_prefix("// harm: ")
                .and_then(|rest| rest.rsplit_once("; expect: "))
                .unwrap_or_else(|| panic!("`{name}` does not say its harm and what is expected"))
                .1
                .to_owned();
            Some(Hostile { name, text, expected })
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile"))
}

/// What became of a hostile script.
struct Ran {
    /// In the words of the expectations.
    outcome: String,
    /// Everything that it said and sent.
    said: String,
    calls: usize,
    /// The most that the host had to keep of one turn, in bytes.
    kept: usize,
    /// Bytes of what it logged and told the model.
    told: usize,
    /// Images that are none, and that whoever shows them would have to notice.
    broken_images: usize,
    /// The stored form of its memory, when it got as far as to have one.
    snapshot: Option<Vec<u8>>,
}

/// What a call is answered with: its own arguments, or the text that they hold as `json` and nothing else.
fn answer(args: String) -> String {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Given {
        json: String,
    }
    serde_json::from_str(&args).map_or(args, |given: Given| given.json)
}

/// Runs a script to its end.
fn run(text: &str, limits: Limits, with: impl FnOnce(&Sandbox)) -> Ran {
    let mut ran = Ran {
        outcome: "refused".into(),
        said: String::new(),
        calls: 0,
        kept: 0,
        told: 0,
        broken_images: 0,
        snapshot: None,
    };
    let prepared = match source::prepare(text) {
        Ok(prepared) => prepared,
        Err(error) => return Ran { said: error.message, ..ran },
    };
    let mut sandbox = engine().sandbox(limits).unwrap();
    with(&sandbox);
    let mut turn = block(sandbox.start(&prepared.javascript, &start()));
    let mut calls = VecDeque::new();
    loop {
        ran.calls += turn.calls.len();
        let arguments: usize = turn.calls.iter().map(|call| call.args.len()).sum();
        ran.broken_images += turn.output.iter().filter(|output| is_broken_image(output)).count();
        ran.told += turn.output.iter().map(told).sum::<usize>();
        ran.kept = ran.kept.max(arguments + size_of_val(turn.output.as_slice()));
        ran.said.push_str(&format!("{turn:?}"));
        calls.extend(turn.calls.drain(..));
        let (Status::Waiting, Some(call)) = (&turn.status, calls.pop_front()) else { break };
        let clock_ms = start().clock_ms + i64::from(call.call);
        turn = block(sandbox.feed(&Delivery { call: call.call, clock_ms, outcome: Outcome::Value(answer(call.args)) }));
    }
    ran.snapshot = Some(sandbox.save().to_bytes());
    ran.outcome = match turn.status {
        Status::Returned(None) => "returns nothing".into(),
        Status::Returned(Some(json)) => format!("returns {json}"),
        Status::Threw(thrown) => format!("threw {}", thrown.name.unwrap_or_default()),
        Status::Stalled => "stalled".into(),
        Status::Waiting => "waits for ever".into(),
        Status::Stopped(stop, _) => match stop {
            Stop::Memory => "stopped memory".into(),
            Stop::Stack => "stopped stack".into(),
            Stop::Asked | Stop::Limit { setting: "fuel", .. } => "stopped asked".into(),
            Stop::Limit { setting, .. } => format!("stopped limit:{setting}"),
            other => format!("broke the guest: {other:?}"),
        },
    };
    ran
}

fn is_broken_image(output: &Output) -> bool {
    let Output::Image(json) = output else { return false };
    let image: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let is_base64 = |text: &str| {
        let text = text.trim_end_matches('=');
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
    };
    image["type"] != "image" || !image["data"].as_str().is_some_and(is_base64)
}

fn told(output: &Output) -> usize {
    match output {
        Output::Log { text, .. } | Output::Text(text) => text.len(),
        _ => 0, // bounded as well, by other limits
    }
}

fn meets(outcome: &str, expected: &str) -> bool {
    expected.split('|').any(|one| {
        outcome == one
            || (one == "threw" && outcome.starts_with("threw"))
            || (one == "stopped limit" && (outcome.starts_with("stopped limit") || outcome == "stopped asked"))
    })
}

/// A waiting sandbox that keeps a secret in its arguments, its closures and a result.
fn keeper(canary: &str) -> Sandbox {
    let secret = format!("{canary}{SECOND_HALF}");
    let facts = format!(r#"{{"args":{{"secret":"{secret}"}},"tools":{{"x":["get"]}}}}"#);
    let script = "const kept = args.secret; const got = await tools.x.get({ kept }); const more = kept + kept + got; await tools.x.get({}); return more";
    let mut sandbox = engine().sandbox(Limits::default()).unwrap();
    let prepared = source::prepare(script).unwrap();
    block(sandbox.start(&prepared.javascript, &Start { facts, ..start() }));
    block(sandbox.feed(&Delivery { call: 1, clock_ms: 0, outcome: Outcome::Value(format!("\"{secret}\"")) }));
    sandbox
}

/// The texts that nobody but their owners may hold.
#[expect(clippy::disallowed_methods, reason = "whatever this process was started with is what must not leak")]
fn secrets() -> Vec<String> {
    let mut all = vec![
        format!("{OF_THE_LIVING}{SECOND_HALF}"),
        format!("{OF_THE_DEAD}{SECOND_HALF}"),
        env!("CARGO_MANIFEST_DIR").to_owned(),
        std::env::current_exe().unwrap().display().to_string(),
    ];
    all.extend(std::env::vars().map(|(_, value)| value).filter(|value| value.len() >= 12));
    all
}

/// Runs all scripts of a class and says what is wrong with each, all at once.
fn check(class: &str) {
    let secrets = secrets();
    let mut wrong = Vec::new();
    for hostile in corpus(class) {
        let Hostile { name, text, expected } = &hostile;
        let mut neighbour = keeper(OF_THE_LIVING);
        drop(keeper(OF_THE_DEAD));
        // What is expected never to end need not be waited for.
        let fuel = if expected.contains("stopped asked") { limits().fuel / 5 } else { limits().fuel };
        let ran = run(text, Limits { fuel, ..limits() }, |_| ());

        if !meets(&ran.outcome, expected) {
            wrong.push(format!("{name}: expected {expected}, but {}", cut(&ran.outcome)));
        }
        // Calls that must not be made: after the end, or of a function under the name of a tool.
        let went_on = ran.said.contains(r#"{\"after\":\"exit\"}"#);
        let went_wrong = name == "forging-unlisted-functions.js" && ran.said.contains("Function(");
        if went_on || went_wrong {
            wrong.push(format!("{name}: made a call it must not make"));
        }
        if ran.broken_images > 0 {
            wrong.push(format!("{name}: showed {} images that are none", ran.broken_images));
        }
        if ran.kept > MOST_KEPT {
            wrong.push(format!("{name}: the host has to keep {} bytes", ran.kept));
        }
        if ran.told > limits().output_bytes {
            wrong.push(format!("{name}: told {} bytes", ran.told));
        }
        let memory = ran.snapshot.as_deref().map(pages).unwrap_or_default();
        for secret in secrets.iter().filter(|secret| ran.said.contains(*secret)).chain(found(&memory, &secrets)) {
            wrong.push(format!("{name}: holds {secret:?}"));
        }
        let rest = block(neighbour.feed(&Delivery { call: 2, clock_ms: 0, outcome: Outcome::Value("1".into()) }));
        let whole = format!("{OF_THE_LIVING}{SECOND_HALF}").repeat(3);
        assert!(matches!(rest.status, Status::Returned(Some(json)) if json == format!("\"{whole}\"")), "after {name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Those of `texts` that occur in `memory`. One pass, since there are many megabytes of it.
fn found<'a>(memory: &[u8], texts: &'a [String]) -> Vec<&'a String> {
    let starts: std::collections::HashSet<[u8; 2]> =
        texts.iter().map(|text| [text.as_bytes()[0], text.as_bytes()[1]]).collect();
    let mut may_start = vec![false; 1 << 16];
    for [a, b] in &starts {
        may_start[usize::from(*a) << 8 | usize::from(*b)] = true;
    }
    let mut all = Vec::new();
    for at in 1..memory.len() {
        if may_start[usize::from(memory[at - 1]) << 8 | usize::from(memory[at])] {
            all.extend(texts.iter().filter(|text| memory[at - 1..].starts_with(text.as_bytes())));
        }
    }
    all.dedup();
    all
}

fn cut(text: &str) -> String {
    text.chars().take(300).collect()
}

macro_rules! classes {
    ($($class:ident: $sentence:ident,)*) => {
        $(#[test]
        fn $sentence() {
            check(stringify!($class));
        })*

        #[test]
        fn every_class_has_its_test_and_a_dozen_scripts_and_every_script_its_class() {
            assert_eq!([$(stringify!($class)),*], CLASSES);
            for class in CLASSES {
                let count = corpus(class).len();
                assert!(count >= 12, "{class}: {count}");
            }
            let all: usize = CLASSES.iter().map(|class| corpus(class).len()).sum();
            assert_eq!(all, fs::read_dir(folder()).unwrap().count());
        }
    };
}

classes! {
    constructors: no_constructor_makes_code_from_text,
    floods: floods_end_at_their_limits,
    forging: nothing_of_the_engine_can_be_forged,
    getters: getters_change_nothing_but_what_is_read,
    huge: huge_values_end_at_the_memory_limit,
    lazy: values_that_sleep_cannot_be_told_from_others,
    pollution: no_built_in_can_be_changed,
    promises: floods_of_promises_end,
    proxies: proxies_see_nothing_of_the_engine,
    recursion: recursion_of_any_kind_ends,
    regexes: no_pattern_matches_for_ever,
    species: species_write_where_they_may,
    stacks: stacks_show_nothing_of_the_engine,
    thenables: thenables_settle_once,
}

/// Every script that is expected to be stopped is stopped from outside as well, when nothing else would.
#[test]
fn whatever_does_not_end_by_itself_is_stopped_when_asked() {
    let generous = Limits { fuel: u64::MAX / 2, memory_bytes: 256 << 20, ..limits() };
    for hostile in CLASSES.iter().flat_map(|class| corpus(class)) {
        if !hostile.expected.contains("stopped asked") {
            continue;
        }
        let ran = run(&hostile.text, generous, |sandbox| {
            let stopper = sandbox.stopper();
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(60));
                stopper.stop();
            });
        });
        assert!(meets(&ran.outcome, &hostile.expected), "{}: {}", hostile.name, cut(&ran.outcome));
    }
}

/// The limits are what holds these scripts: with more allowed, they take more.
#[test]
fn with_its_limit_raised_each_flood_goes_further() {
    let raised = Limits { calls: 3_000, argument_bytes: 64 << 20, fuel: limits().fuel / 4, ..limits() };
    let mut shown = 0;
    for hostile in corpus("floods") {
        let Some(setting) = hostile.expected.strip_prefix("stopped limit:") else { continue };
        let held = run(&hostile.text, limits(), |_| ());
        let loose = run(&hostile.text, raised, |_| ());
        let further =
            loose.calls > held.calls || loose.said.len() > 2 * held.said.len() || loose.outcome != held.outcome;
        assert!(
            further,
            "{}: {setting} does not hold it: {} and {}",
            hostile.name,
            cut(&held.outcome),
            cut(&loose.outcome)
        );
        shown += 1;
    }
    assert!(shown >= 7, "{shown}");
}

/// The same for the fuel: what is stopped by it has used all of it, however much that was.
#[test]
fn with_more_fuel_each_endless_script_burns_more() {
    for class in ["regexes", "promises"] {
        for hostile in corpus(class) {
            if hostile.expected != "stopped asked|stopped limit|stopped memory" {
                continue;
            }
            let little = Limits { fuel: 200_000_000, ..limits() };
            let more = Limits { fuel: 600_000_000, ..limits() };
            let (held, loose) = (run(&hostile.text, little, |_| ()), run(&hostile.text, more, |_| ()));
            assert_eq!(
                (held.outcome.as_str(), loose.outcome.as_str()),
                ("stopped asked", "stopped asked"),
                "{}",
                hostile.name
            );
        }
    }
}

/// And for the memory: what is stopped by it, with twice the memory, has grown past the first limit before it is stopped again.
#[test]
fn with_more_memory_each_huge_value_grows_further() {
    let mut shown = 0;
    for hostile in corpus("huge") {
        if !hostile.expected.contains("stopped memory") {
            continue;
        }
        let little = Limits { memory_bytes: 16 << 20, ..limits() };
        let more = Limits { memory_bytes: 48 << 20, ..limits() };
        let (held, loose) = (run(&hostile.text, little, |_| ()), run(&hostile.text, more, |_| ()));
        if held.outcome != "stopped memory" {
            continue;
        }
        let size = |ran: &Ran| u64::from_le_bytes(ran.snapshot.as_ref().unwrap()[40..48].try_into().unwrap());
        assert!(size(&held) <= 16 << 20 && size(&loose) <= 48 << 20, "{}", hostile.name);
        shown += usize::from(size(&loose) > 16 << 20);
    }
    assert!(shown >= 12, "{shown}");
}
