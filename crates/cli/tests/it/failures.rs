//! Each way for a script to fail ends with its own kind, the right line, exit code 1, and no panic.

use serde_json::{Value, json};

use crate::place::Place;

/// Runs a script that must fail; returns the report.
#[track_caller]
fn fails(script: &str, more: &[&str]) -> Value {
    let place = Place::new();
    place.write("script.ts", script);
    let done = place.run(&[&["run", "script.ts", "--output", "json"], more].concat()).expect(1);
    let report = done.json();
    assert_eq!(report["status"], "failed", "{report:#}");
    assert!(report.get("result").is_none(), "a failed run has no result: {report:#}");
    assert!(!report["error"]["message"].as_str().unwrap().is_empty(), "{report:#}");
    report
}

#[test]
fn a_sum_is_completed_and_nothing_else_is_said() {
    let (code, report) = Place::new().report("return 1+1", &[]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["status"], "completed");
    assert_eq!(report["result"], 2);
    assert_eq!(report["calls"], json!([]));
    assert!(report.get("error").is_none(), "{report:#}");
    assert!(report["run_id"].is_string(), "{report:#}");
}

#[test]
fn a_script_comes_from_stdin_as_well() {
    let place = Place::new();
    place.write("script.ts", "return 1+1");
    let file = std::fs::File::open(place.path().join("script.ts")).unwrap();
    let done =
        crate::place::Running::start(place.refrain(&["run", "-", "--output", "json"]).stdin(file)).end().expect(0);
    assert_eq!(done.json()["result"], 2);
}

#[test]
fn a_syntax_error_is_told_before_anything_is_stored() {
    let report = fails("const a = 1;\nconst b = ;\nreturn a", &[]);
    assert_eq!(report["error"]["kind"], "syntax", "{report:#}");
    assert_eq!(report["error"]["line"], 2, "{report:#}");
    assert_eq!(report["run_id"], Value::Null, "{report:#}");
}

#[test]
fn an_error_thrown_on_line_seven_is_reported_on_line_seven() {
    let script = "interface Issue {\n  id: number;\n}\nconst issue: Issue = { id: 1 };\n\n\
                  function check(it: Issue): void {\n  throw new Error(`bad issue ${it.id}`);\n}\ncheck(issue);\n";
    let report = fails(script, &[]);
    assert_eq!(report["error"]["kind"], "script", "{report:#}");
    assert_eq!(report["error"]["line"], 7, "{report:#}");
    assert!(report["error"]["message"].as_str().unwrap().contains("bad issue 1"), "{report:#}");
}

#[test]
fn a_tool_that_does_not_exist_is_answered_with_the_nearest_name() {
    // Found before it runs where the text shows it, and when it is called where it does not.
    for (name, kind, code) in
        [(".list_comits", "preflight", None), ("['list_' + 'comits']", "tool", Some("unknown_tool"))]
    {
        let report = fails(&format!("const n = 1;\n\nreturn await tools.demo{name}({{}});"), &[]);
        assert_eq!(report["error"]["kind"], kind, "{report:#}");
        assert_eq!(report["error"]["code"].as_str(), code, "{report:#}");
        assert_eq!(report["error"]["line"], 3, "{report:#}");
        assert!(report["error"]["message"].as_str().unwrap().contains("list_commits"), "{report:#}");
    }
}

#[test]
fn an_endless_loop_ends_at_its_deadline() {
    let report = fails("let n = 0;\nfor (;;) { n += 1 }", &["--timeout-ms", "500"]);
    assert_eq!(report["error"]["kind"], "timeout", "{report:#}");
    a_line_if_any(&report, 2);
}

#[test]
fn filling_the_memory_cannot_be_caught() {
    let report = fails(
        "const all = [];\ntry {\n  for (;;) all.push(new Array(10000).fill(all.length));\n} catch {}\nreturn 'caught';",
        &[],
    );
    assert_eq!(report["error"]["kind"], "out_of_memory", "{report:#}");
    a_line_if_any(&report, 3);
}

#[test]
fn a_script_that_waits_for_nothing_is_told_so() {
    let report = fails("await new Promise(() => {});", &[]);
    assert_eq!(report["error"]["kind"], "stalled", "{report:#}");
}

/// Whoever stops a script from outside may not know where it was; a wrong line is worse than none.
#[track_caller]
fn a_line_if_any(report: &Value, line: u32) {
    if !report["error"]["line"].is_null() {
        assert_eq!(report["error"]["line"], line, "{report:#}");
    }
}
