//! Runs that wait, through the command: answered, brought on, given up, carried elsewhere.

use serde_json::{Value, json};

use crate::place::{Place, Running, run_id, until};

fn place(more: &str) -> Place {
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
        replay = "keyed"
        retry = {{ attempts = 3, backoff_ms = 1 }}

        {more}
        "#
    ));
    place.write("tool.sh", "echo \"$1 $REFRAIN_IDEMPOTENCY_KEY\" >> lines\n[ ! -e fails ] || exit 75\necho done\n");
    place
}

fn kinds(report: &Value) -> Vec<(&str, u64)> {
    let waiting = report["waiting"].as_array().unwrap();
    waiting.iter().map(|it| (it["kind"].as_str().unwrap(), it["call"].as_u64().unwrap_or(0))).collect()
}

#[test]
fn a_question_parks_the_run_with_3_and_its_answer_brings_it_on() {
    let place = place("");
    let script = "await tools.log.append({ line: 1 }); const ok = await ask('Go on?', { schema: { type: 'boolean' } });
        if (ok) await tools.log.append({ line: 2 }); return ok";
    let (code, report) = place.report(script, &[]);
    assert_eq!((code, &report["status"], kinds(&report)), (Some(3), &json!("parked"), vec![("question", 2)]));
    let id = report["run_id"].as_str().unwrap();
    let next = report["waiting"][0]["next"].as_str().unwrap();
    assert_eq!(next, format!("refrain runs answer {id} 2 VALUE"));
    let list = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
    assert_eq!(list["runs"][0]["status"], "parked");
    let shown = place.run(&["runs", "show", id]).expect(0);
    assert!(shown.stdout.contains("Go on?") && shown.stderr.contains("next: `refrain runs answer"), "{shown}");
    let wrong = place.run(&["runs", "answer", id, "2", "perhaps"]).expect(1);
    assert!(wrong.stderr.contains("takes no such answer for call 2") && wrong.stderr.contains("boolean"), "{wrong}");
    place.run(&["runs", "answer", id, "2"]).expect(2);
    let done = place.run(&["runs", "answer", id, "2", "true", "--by", "ann", "--output", "json"]).expect(0).json();
    assert_eq!((&done["status"], &done["result"]), (&json!("completed"), &json!(true)));
    assert_eq!(place.read("lines").lines().count(), 2);
}

#[test]
fn a_sleep_that_is_long_holds_no_process_and_all_that_is_due_goes_on() {
    let place = place("[runs]\npark_after_ms = 100");
    let (code, report) = place.report("await sleep(1500); await tools.log.append({ line: 1 }); return 'woke'", &[]);
    assert_eq!((code, kinds(&report)), (Some(3), vec![("timer", 1)]));
    let id = report["run_id"].as_str().unwrap().to_owned();
    let (_, asks) = place.report("return await ask('Sure?')", &[]);
    assert!(until(|| {
        let all = place.run(&["runs", "resume", "--all", "--output", "json"]).expect(0).json();
        all["runs"].as_array().unwrap().iter().any(|run| run["run_id"] == id.as_str() && run["status"] == "completed")
    }));
    let shown = place.run(&["runs", "show", asks["run_id"].as_str().unwrap(), "--output", "json"]).expect(0).json();
    assert_eq!(shown["status"], "parked", "nobody has answered");
    assert_eq!(place.run(&["runs", "resume", "--all", "--output", "json"]).expect(0).json()["runs"], json!([]));
}

#[test]
fn a_call_that_says_that_it_may_work_later_is_made_again_with_its_key() {
    let place = place("");
    place.write("fails", "");
    let (code, report) = place.report("await tools.log.append({ line: 1 })", &[]);
    assert_eq!((code, &report["error"]["kind"]), (Some(1), &json!("tool")), "{report:#}");
    let id = report["run_id"].as_str().unwrap();
    let line = format!("1 {id}/1");
    assert_eq!(place.read("lines").lines().collect::<Vec<_>>(), [&line, &line, &line]);
    let shown = place.run(&["runs", "show", id]).expect(0).stdout;
    assert!(shown.contains("attempt 2: tool_error"), "{shown}");
}

/// Kills the process that drives a run while its script computes, so that nothing is written meanwhile.
#[test]
fn a_run_that_ends_its_process_again_and_again_parks_and_can_still_be_tried() {
    let place = place("[runs]\nmax_restarts = 2\n[limits]\ntimeout_ms = 600000");
    place.write("spin.ts", "await tools.log.append({ line: 1 }); console.log('spins'); for (;;);");
    let running = Running::start(&mut place.refrain(&["run", "spin.ts"]));
    // Its answer is in the journal, and it computes.
    assert!(until(|| {
        let list = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
        list["runs"][0]["records"].as_u64().unwrap_or(0) >= 3
    }));
    running.signal("KILL");
    let id = run_id(&running.end().stderr).unwrap();
    let owner = |id: &str| {
        let shown = place.run(&["runs", "show", id, "--output", "json"]).expect(0).json();
        shown["owner"].is_object()
    };
    for _ in 0..1 {
        let running = Running::start(&mut place.refrain(&["runs", "resume", &id]));
        assert!(until(|| owner(&id)));
        running.signal("KILL");
        running.end();
    }
    let parked = place.run(&["runs", "resume", &id, "--output", "json"]).expect(3).json();
    assert_eq!(kinds(&parked), [("restarts", 0)]);
    // Whoever asks for it by name gets another try.
    let running = Running::start(&mut place.refrain(&["runs", "resume", &id]));
    assert!(until(|| owner(&id)));
    running.signal("KILL");
    running.end();
    let report = place.run(&["runs", "cancel", &id, "--output", "json"]).expect(1).json();
    assert_eq!(report["status"], "cancelled");
    assert_eq!(place.read("lines").lines().count(), 1);
}

#[test]
fn a_run_is_carried_elsewhere_and_goes_on_there() {
    let place = place("");
    let script = "await tools.log.append({ line: 1 }); const name = await ask('Who?'); await tools.log.append({ line: 2 }); return name";
    let (_, report) = place.report(script, &[]);
    let id = report["run_id"].as_str().unwrap();
    place.run(&["runs", "export", id, "--out", "run.jsonl"]).expect(0);
    let again = place.run(&["runs", "export", id, "--out", "run.jsonl"]).expect(1);
    assert!(again.stderr.contains("--force"), "{again}");
    let file = place.read("run.jsonl");
    assert_eq!(place.run(&["runs", "export", id]).expect(0).stdout.trim_end(), file.trim_end());
    let elsewhere = self::place("");
    elsewhere.write("run.jsonl", &file);
    let imported = elsewhere.run(&["runs", "import", "run.jsonl", "--output", "json"]).expect(0).json();
    assert_eq!(imported["run_id"], id);
    elsewhere.run(&["runs", "import", "run.jsonl"]).expect(0);
    let done = elsewhere.run(&["runs", "answer", id, "2", "Bo", "--output", "json"]).expect(0).json();
    assert_eq!(done["result"], "Bo");
    assert_eq!(elsewhere.read("lines"), format!("2 {id}/3\n"), "what was finished there is not made again here");
    let late = place.run(&["runs", "import", "run.jsonl"]).expect(0);
    assert!(late.stdout.contains(id), "it is here as it was");
    let cut = &file[..file.len() / 2];
    elsewhere.write("cut.jsonl", cut);
    let refused = elsewhere.run(&["runs", "import", "cut.jsonl"]).expect(1);
    let told = "error: `cut.jsonl`: this is not the whole of an exported run: ";
    assert!(refused.stderr.contains(told) && refused.stderr.contains("; export it once more"), "{refused}");
    elsewhere.write("changed.jsonl", &file.replacen("\"question\":", "\"Question\":", 1));
    let refused = elsewhere.run(&["runs", "import", "changed.jsonl", "--journal", "sqlite:other.db"]).expect(1);
    assert!(refused.stderr.contains(": its checksum does not fit; export it once more"), "{refused}");
}
