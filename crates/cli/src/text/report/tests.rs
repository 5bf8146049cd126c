use super::*;

/// Renders a report that is given as JSON.
fn check(report: &str) -> String {
    let report: Report = serde_json::from_str(report).unwrap();
    format!("{}--- data\n{}--- talk\n{}", logs(&report), data(&report), talk(&report))
}

#[test]
fn a_completed_run_ends_with_its_figures() {
    insta::assert_snapshot!(check(r#"{
        "run_id": "018bcfe5-6800-7fff-bfff-ffffffffffff", "status": "completed", "result": {"a": 1},
        "text": "found 3", "images": [], "logs": [{"level": "log", "text": "debug"}],
        "notes": [{"kind": "policy", "message": "writes were allowed"}], "calls": [],
        "usage": {"calls": 1, "tool_bytes": 12345, "result_bytes": 7, "active_ms": 1200, "cpu_fuel": 5}
    }"#), @r#"
    [log] debug
    --- data
    found 3
    {"a": 1}
    --- talk
    note: writes were allowed
    run 018bcfe5-6800-7fff-bfff-ffffffffffff: completed, 1 call, 12,345 bytes from tools, 7 bytes returned, 1,200 ms
    "#);
}

#[test]
fn a_failed_run_tells_where_and_what_has_happened_in_the_world() {
    insta::assert_snapshot!(check(r#"{
        "run_id": "018bcfe5-6800-7fff-bfff-ffffffffffff", "status": "failed", "text": "", "images": [], "logs": [],
        "notes": [], "usage": {"calls": 3, "tool_bytes": 2, "result_bytes": 0, "active_ms": 9, "cpu_fuel": 5},
        "calls": [
            {"call": 1, "tool": "log.append", "args": {"line": 1}, "status": "ok", "ms": 3, "bytes": 2},
            {"call": 2, "tool": "log.append", "args": {"line": 2}, "status": "interrupted", "ms": 0, "bytes": 0},
            {"call": 3, "tool": "x.y", "args": {}, "status": "unfinished", "ms": 0, "bytes": 0}
        ],
        "error": {"kind": "tool", "code": "interrupted", "tool": "log.append", "call": 2, "line": 2, "column": 9,
            "message": "`log.append` was in flight when the process ended",
            "frame": "1 | for (;;)\n2 |   await x\n  |         ^", "stack": "at f (2:9)\nat 4:1"}
    }"#), @r#"
    --- data
    --- talk
    error (tool, interrupted, line 2): `log.append` was in flight when the process ended
    1 | for (;;)
    2 |   await x
      |         ^
        at f (2:9)
        at 4:1
    calls: 1 ok, 1 interrupted, 1 unfinished
      1  log.append  ok           2 bytes  3 ms  {"line": 1}
      2  log.append  interrupted  0 bytes  0 ms  {"line": 2}
      3  x.y         unfinished   0 bytes  0 ms  {}
    run 018bcfe5-6800-7fff-bfff-ffffffffffff: failed, 3 calls, 2 bytes from tools, 0 bytes returned, 9 ms
    "#);
}

#[test]
fn a_parked_run_tells_what_it_waits_for_and_what_to_do() {
    insta::assert_snapshot!(check(r#"{
        "run_id": "018bcfe5-6800-7fff-bfff-ffffffffffff", "status": "parked", "text": "", "images": [], "logs": [],
        "notes": [], "usage": {"calls": 0, "tool_bytes": 0, "result_bytes": 0, "active_ms": 0, "cpu_fuel": 0}, "calls": [],
        "waiting": [{"id": "call-1", "kind": "diverged", "call": 1, "expected": "a.b {}", "actual": "a.c {}",
            "next": "refrain runs show 018bcfe5-6800-7fff-bfff-ffffffffffff"}]
    }"#), @r#"
    --- data
    --- talk
    waits (diverged) at call 1
      expected: a.b {}
      actual: a.c {}
      next: `refrain runs show 018bcfe5-6800-7fff-bfff-ffffffffffff`
    run 018bcfe5-6800-7fff-bfff-ffffffffffff: parked, 0 calls, 0 bytes from tools, 0 bytes returned, 0 ms
    "#);
}

#[test]
fn notes_that_say_the_same_are_said_once_with_their_number() {
    let note = |message: &str, line: &str| format!(r#"{{"kind": "tool", "message": "{message}"{line}}}"#);
    let mut all = vec![note("a", r#", "line": 3"#), note("b", ""), note("c", r#", "line": 9"#)];
    all.extend((0..23).map(|n| note("a", &format!(r#", "line": {}"#, n + 4))));
    all.push(note("b", ""));
    all.extend((0..4).map(|n| note(&format!("d {n}"), "")));
    let report = format!(
        r#"{{"run_id": null, "status": "completed", "text": "", "images": [], "logs": [], "calls": [], "notes": [{}],
            "usage": {{"calls": 0, "tool_bytes": 0, "result_bytes": 0, "active_ms": 0, "cpu_fuel": 0}}}}"#,
        all.join(",")
    );
    insta::assert_snapshot!(check(&report), @"
    --- data
    --- talk
    note: a (24 times, first in line 3)
    note: b (2 times)
    note: c (line 9)
    note: d 0
    note: d 1
    note: 2 more notes of the kind `tool`; `--output json` has all of them
    ");
}
