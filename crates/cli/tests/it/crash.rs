//! A run that was killed goes on where it was, and a finished call never runs again.
//!
//! The tool appends a line to a file each time it runs, and so counts for itself. At one call it opens a gate and
//! stays: the test then knows that exactly this call is in flight, and kills.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::place::{Done, Place, Running, root, run_id, until};

const CALLS: usize = 40;

/// Appends its line; at the call that has the gate, waits the first time it gets there.
const TOOL: &str = r#"
echo "$1" >> lines
if [ "$1" = "$(cat gate)" ] && [ ! -e reached ]; then
    echo $$ > reached
    sleep 600
fi
echo "done $1"
"#;

const SCRIPT: &str = "let finished = 0;
let interrupted = 0;
for (let n = 1; n <= 40; n++) {
  try {
    const said = await tools.log.append({ line: n });
    if (said.trim() === `done ${n}`) finished += 1;
  } catch (error) {
    if (error.code !== 'interrupted') throw error;
    interrupted += 1;
  }
}
return { finished, interrupted };
";

fn place(replay: &str, gate: usize) -> Place {
    let place = Place::with_config(&format!(
        r#"
        [sources.log]
        type = "command"

        [sources.log.tools.append]
        description = "Appends a line to a file."
        command = ["sh", "tool.sh", "{{line}}"]
        input = {{ type = "object", properties = {{ line = {{ type = "integer" }} }}, required = ["line"] }}
        output = {{ format = "text" }}
        effect = "write"
        replay = "{replay}"
        timeout_ms = 600000
        "#
    ));
    place.write("tool.sh", TOOL);
    place.write("script.ts", SCRIPT);
    place.write("gate", &gate.to_string());
    place
}

/// Starts the script and waits until its tool stands at the gate.
fn start(place: &Place) -> Running {
    let running = Running::start(&mut place.refrain(&["run", "script.ts", "--output", "json"]));
    if !until(|| place.read("reached").ends_with('\n')) {
        running.signal("KILL");
        panic!("the tool never stood at the gate\n{}", running.end());
    }
    running
}

/// Runs into the gate and is killed there; returns the run's id, which it said before.
fn killed(place: &Place) -> String {
    let running = start(place);
    running.signal("KILL");
    let done = running.end();
    run_id(&done.stderr).unwrap_or_else(|| panic!("no run id on stderr\n{done}"))
}

fn resume(place: &Place, id: &str) -> Done {
    place.run(&["runs", "resume", id, "--output", "json"])
}

/// How often the tool ran for each line.
fn lines(place: &Place) -> BTreeMap<usize, usize> {
    let mut times = BTreeMap::new();
    for line in place.read("lines").lines() {
        *times.entry(line.parse().unwrap()).or_default() += 1;
    }
    times
}

/// Every call once, and the one at the gate as often as said.
fn once_each_but(gate: usize, times: usize) -> BTreeMap<usize, usize> {
    (1..=CALLS).map(|line| (line, if line == gate { times } else { 1 })).collect()
}

fn statuses(report: &Value) -> Vec<&str> {
    report["calls"].as_array().unwrap().iter().map(|call| call["status"].as_str().unwrap()).collect()
}

#[test]
fn after_a_kill_only_the_safe_call_in_flight_runs_again() {
    for gate in [1, 20, CALLS] {
        let place = place("safe", gate);
        let id = killed(&place);
        let report = resume(&place, &id).expect(0).json();
        assert_eq!(report["run_id"], id.as_str());
        assert_eq!(report["status"], "completed");
        assert_eq!(report["result"], json!({ "finished": CALLS, "interrupted": 0 }), "gate {gate}");
        assert_eq!(statuses(&report), vec!["ok"; CALLS], "gate {gate}");
        assert_eq!(lines(&place), once_each_but(gate, 2), "gate {gate}");
    }
}

#[test]
fn after_a_kill_a_keyed_call_runs_again_with_the_key_that_it_had() {
    let place = place("keyed", 20);
    place.write("tool.sh", &format!("echo \"$1 $2 $REFRAIN_IDEMPOTENCY_KEY\" >> keys\n{TOOL}"));
    let config = place.read("refrain.toml").replace(r#""{line}"]"#, r#""{line}", "--key={idempotency_key}"]"#);
    place.write("refrain.toml", &config);
    let id = killed(&place);
    let report = resume(&place, &id).expect(0).json();
    assert_eq!(report["result"], json!({ "finished": CALLS, "interrupted": 0 }));
    let expected: Vec<String> =
        (1..=20).chain(20..=CALLS).map(|call| format!("{call} --key={id}/{call} {id}/{call}")).collect();
    assert_eq!(place.read("keys").lines().collect::<Vec<_>>(), expected);
}

#[test]
fn after_a_kill_an_unsafe_call_is_interrupted_and_nothing_runs_twice() {
    for gate in [1, 20, CALLS] {
        let place = place("unsafe", gate);
        let id = killed(&place);
        let report = resume(&place, &id).expect(0).json();
        assert_eq!(report["result"], json!({ "finished": CALLS - 1, "interrupted": 1 }), "gate {gate}");
        let mut expected = vec!["ok"; CALLS];
        expected[gate - 1] = "interrupted";
        assert_eq!(statuses(&report), expected, "gate {gate}");
        assert_eq!(lines(&place), once_each_but(gate, 1), "gate {gate}");
    }
}

#[test]
fn an_interrupted_call_that_nobody_catches_fails_the_run() {
    let place = place("unsafe", 20);
    place.write("script.ts", "for (let n = 1; n <= 40; n++)\n  await tools.log.append({ line: n });\nreturn 'all';");
    let id = killed(&place);
    let report = resume(&place, &id).expect(1).json();
    assert_eq!(report["status"], "failed");
    assert_eq!(report["error"]["kind"], "tool", "{report:#}");
    assert_eq!(report["error"]["code"], "interrupted", "{report:#}");
    assert_eq!(report["error"]["call"], 20, "{report:#}");
    assert_eq!(report["error"]["line"], 2, "{report:#}");
    assert_eq!(lines(&place), (1..=20).map(|line| (line, 1)).collect());
}

#[test]
fn a_killed_run_shows_running_without_an_owner_and_its_tool_ends() {
    let place = place("safe", 3);
    let id = killed(&place);
    let listed = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
    assert_eq!(listed["runs"][0]["run_id"], id.as_str(), "{listed:#}");
    assert_eq!(listed["runs"][0]["status"], "running", "{listed:#}");
    assert_eq!(listed["runs"][0].get("owner"), Some(&Value::Null), "{listed:#}");

    let status = format!("/proc/{}/status", place.read("reached").trim());
    // Where nobody waits for orphans, a dead one stays as a zombie.
    let gone = until(|| std::fs::read_to_string(&status).map_or(true, |status| status.contains("State:\tZ")));
    assert!(gone, "the tool of a killed run still runs");
}

#[test]
fn a_run_that_is_alive_is_not_taken_over() {
    let place = place("safe", 3);
    let running = start(&place);
    let listed = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
    assert!(!listed["runs"][0]["owner"].is_null(), "{listed:#}");
    let id = listed["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let refused = resume(&place, &id);
    running.signal("KILL");
    running.end();
    assert_ne!(refused.code, Some(0), "\n{refused}");
    assert_eq!(lines(&place).values().sum::<usize>(), 3);
}

#[test]
fn a_finished_run_is_resumed_to_the_same_report_and_no_call_is_made() {
    let place = place("unsafe", 0);
    let done = place.run(&["run", "script.ts", "--output", "json"]).expect(0);
    let report = done.json();
    let again = resume(&place, report["run_id"].as_str().unwrap()).expect(0).json();
    assert_eq!(again["result"], report["result"]);
    assert_eq!(lines(&place), once_each_but(0, 1));
}

#[test]
fn an_interrupt_stops_with_130_and_the_run_can_be_resumed() {
    let place = place("safe", 7);
    let running = start(&place);
    running.signal("INT");
    let done = running.end().expect(130);
    let id = run_id(&done.stderr).unwrap_or_else(|| panic!("no run id on stderr\n{done}"));
    assert!(done.stderr.contains(&format!("refrain runs resume {id}")), "what to do next is said\n{done}");
    let report = resume(&place, &id).expect(0).json();
    assert_eq!(report["result"], json!({ "finished": CALLS, "interrupted": 0 }));
    assert_eq!(lines(&place), once_each_but(7, 2));
}

#[test]
fn the_example_survives_a_kill_at_any_time() {
    // No gate here: wherever the kill falls, before the first call or after the last, the answer is the same.
    let place = Place::new();
    crate::demo::repository(&place);
    let example = root().join("examples/churn.ts").display().to_string();
    let whole = place.run(&["run", &example, "--output", "json"]).expect(0).json();
    for ms in [20, 60, 120, 240] {
        let running = Running::start(&mut place.refrain(&["run", &example, "--output", "json"]));
        std::thread::sleep(std::time::Duration::from_millis(ms));
        running.signal("KILL");
        let done = running.end();
        // Killed before the run existed: then there is nothing to resume.
        let Some(id) = run_id(&done.stderr) else {
            continue;
        };
        let report = resume(&place, &id).expect(0).json();
        assert_eq!(report["result"], whole["result"], "killed after {ms} ms");
    }
}

/// The call in flight at the kill is not safe: the corrected script is told so and nothing else runs twice.
#[test]
fn a_killed_run_is_amended_and_none_of_its_finished_calls_is_made_again() {
    let gate = 20;
    let place = place("unsafe", gate);
    let id = killed(&place);
    place.write("corrected.ts", &SCRIPT.replace("let n = 1; n <= 40; n++", "let n = 40; n >= 1; n--"));
    let report = place.run(&["amend", &id, "corrected.ts", "--output", "json"]).expect(0).json();
    assert_eq!(report["result"], json!({ "finished": CALLS - 1, "interrupted": 1 }));
    let amends = &report["amends"];
    assert_eq!(
        (&amends["run_id"], &amends["reused"], &amends["ran"]),
        (&json!(id), &json!(gate - 1), &json!(CALLS - gate))
    );
    assert_eq!(lines(&place), once_each_but(gate, 1));
    // The old run is over, and says what became of it.
    let old = place.run(&["runs", "show", &id, "--output", "json"]).expect(0).json();
    assert_eq!(old["status"], "cancelled");
    let told = old["report"]["notes"][0]["message"].as_str().unwrap();
    assert!(told.contains(report["run_id"].as_str().unwrap()), "{told}");
}

#[test]
fn a_run_that_is_alive_is_amended_by_force_and_its_owner_writes_no_more() {
    let place = place("unsafe", 20);
    let running = start(&place);
    let id = place.run(&["runs", "list", "--output", "json"]).expect(0).json()["runs"][0]["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    place.write("corrected.ts", "return await tools.log.append({ line: 1 })");
    let held = place.run(&["amend", &id, "corrected.ts"]).expect(1);
    assert!(held.stderr.contains("amend") && held.stderr.contains("--take"), "{}", held.stderr);
    let report = place.run(&["amend", &id, "corrected.ts", "--take", "--output", "json"]).expect(0).json();
    assert_eq!((statuses(&report), &report["result"]), (vec!["reused"], &json!("done 1")));
    // The tool that stands at the gate is let go, and what it gives is refused.
    let tool = place.read("reached").trim().to_owned();
    std::process::Command::new("kill").arg(&tool).status().unwrap();
    let done = running.end();
    assert_eq!(done.code, Some(1), "{done}");
    assert!(lines(&place)[&1] == 1 && !lines(&place).contains_key(&21), "{:?}", lines(&place));
}

#[test]
fn a_killed_run_is_cancelled_and_cleans_up_and_one_that_is_alive_only_by_force() {
    let place = place("unsafe", 3);
    place.write("script.ts", "try { for (let n = 1; n <= 40; n++) await tools.log.append({ line: n }) } finally { await tools.log.tidy({}); text('tidy') }");
    let tidy = "\n[sources.log.tools.tidy]\ncommand = [\"sh\", \"-c\", \"echo x >> tidied\"]\ncleanup = true\n";
    place.write("refrain.toml", &format!("{}{tidy}", place.read("refrain.toml")));
    let id = killed(&place);
    let done = place.run(&["runs", "cancel", &id, "--reason", "too slow", "--output", "json"]).expect(1);
    let report = done.json();
    assert_eq!((&report["status"], &report["text"]), (&json!("cancelled"), &json!("tidy")), "{report:#}");
    assert_eq!(statuses(&report), ["ok", "ok", "interrupted", "ok"]);
    assert_eq!((place.read("tidied"), lines(&place).len()), ("x\n".to_owned(), 3));
    let shown = place.run(&["runs", "show", &id]).expect(0).stdout;
    assert!(shown.contains("cancelled") && shown.contains("cancelling  too slow"), "{shown}");

    std::fs::remove_file(place.path().join("reached")).unwrap();
    let running = start(&place);
    let list = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
    let id = list["runs"][0]["run_id"].as_str().unwrap();
    assert!(place.run(&["runs", "cancel", id]).expect(1).stderr.contains("--take"));
    place.run(&["runs", "cancel", id, "--take"]).expect(1);
    running.signal("KILL");
    running.end();
    assert_eq!(place.run(&["runs", "show", id, "--output", "json"]).expect(0).json()["status"], "cancelled");
}

/// What fails is journaled as what works is, so a run does not go on without the sources that it needs.
#[test]
fn a_run_waits_for_a_source_that_is_gone_and_goes_on_when_it_is_back() {
    let place = place("safe", 20);
    let id = killed(&place);
    let settings = place.read("refrain.toml");
    for (now, why) in [
        ("", "the settings do not have it any more"),
        (&*settings.replace("\"sh\"", "\"no-such-program\""), "no-such-program"),
    ] {
        place.write("refrain.toml", now);
        let refused = place.run(&["runs", "resume", &id]).expect(1);
        assert!(
            refused.stderr.contains("waits for source `log`") && refused.stderr.contains(why),
            "{}",
            refused.stderr
        );
        assert_eq!(place.run(&["runs", "show", &id, "--output", "json"]).expect(0).json()["status"], "running");
    }
    place.write("refrain.toml", &settings);
    let report = resume(&place, &id).expect(0).json();
    assert_eq!(report["result"], json!({ "finished": CALLS, "interrupted": 0 }));
}

/// Two processes and one run: the one that stood still wakes up and finds that the run is no longer its own.
#[test]
fn an_owner_that_was_stopped_and_wakes_up_writes_nothing_and_its_tool_ends() {
    let gate = 20;
    let place = place("safe", gate);
    let running = start(&place);
    let tool = place.read("reached").trim().to_owned();
    running.signal("STOP");
    let listed = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
    let id = listed["runs"][0]["run_id"].as_str().unwrap().to_owned();
    // It is alive as far as anybody can see, so it is not taken without a word.
    let refused = resume(&place, &id).expect(1);
    assert!(refused.stderr.contains("--take"), "{refused}");
    let report = place.run(&["runs", "resume", &id, "--take", "--output", "json"]).expect(0).json();
    assert_eq!(report["result"], json!({ "finished": CALLS, "interrupted": 0 }));
    // Its tool would go on for ten minutes.
    running.signal("CONT");
    let late = running.end();
    assert_eq!(late.code, Some(1), "{late}");
    assert!(late.stderr.contains("another") || late.stderr.contains("taken"), "{late}");
    assert!(until(|| !std::path::Path::new(&format!("/proc/{tool}")).exists()));
    assert_eq!(lines(&place), once_each_but(gate, 2));
    let shown = place.run(&["runs", "show", &id, "--output", "json"]).expect(0).json();
    assert_eq!(shown["status"], "completed");
}
