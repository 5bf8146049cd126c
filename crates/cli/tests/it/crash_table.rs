//! The table of crashes, from real processes: an MCP server that counts its calls and holds back the answers of some, a script that
//! lists issues and looks up eighteen of them, SIGKILL in the middle, and a new process that goes on.
//!
//! `cargo test -p refrain-cli --test it crash_table -- --nocapture` prints it as `docs/durability.md` has it.

#![expect(clippy::print_stdout, reason = "the table is for the documentation")]

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::place::{Place, Running, run_id, until};

const ISSUES: usize = 18;

/// A server over standard input and output. The effect of a call is a line in a file; while there is a file `hold`, the answers of the
/// calls that it names never come.
const SERVER: &str = r#"
const fs = require("fs");
const read = (file) => { try { return fs.readFileSync(file, "utf8") } catch { return "" } };
const annotations = { readOnlyHint: true };
const tools = [
  { name: "list_issues", annotations, inputSchema: { type: "object", properties: {} } },
  { name: "get_issue", annotations, inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] } },
];
const call = ({ name, arguments: args, _meta }) => {
  if (name === "list_issues") return Array.from({ length: 18 }, (_, n) => ({ number: n + 1 }));
  fs.appendFileSync("lines", `${args.number} ${_meta?.["refrain/idempotencyKey"] ?? "-"}\n`);
  if (read("hold").split(" ").includes(String(args.number))) { fs.appendFileSync("held", `${args.number}\n`); return undefined }
  return { number: args.number, hours: args.number * (Number(read("factor")) || 1) };
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  let result = {};
  if (method === "initialize") result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "issues", version: "1" } };
  if (method === "tools/list") result = { tools };
  if (method === "tools/call") {
    const value = call(params);
    if (value === undefined) return;
    result = { content: [{ type: "text", text: JSON.stringify(value) }] };
  }
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
});
"#;

const ONE_BY_ONE: &str = "const issues = await tools.issues.list_issues({}); let hours = 0, interrupted = 0;
for (const { number } of issues) {
  try { hours += (await tools.issues.get_issue({ number })).hours } catch (error) { if (error.code !== 'interrupted') throw error; interrupted += 1 }
}
return { hours, interrupted };";

const SIDE_BY_SIDE: &str = "const issues = await tools.issues.list_issues({});
const all = await Promise.all(issues.map(({ number }) => tools.issues.get_issue({ number })));
return { hours: all.reduce((sum, it) => sum + it.hours, 0), interrupted: 0 };";

/// One line of the table.
struct Row {
    trial: &'static str,
    policy: &'static str,
    /// Finished calls that were made again.
    again: usize,
    /// Calls that the server saw more than once.
    twice: usize,
    outcome: String,
}

fn config(replay: &str, more: &str) -> String {
    format!(
        "[sources.issues]\ntype = \"mcp\"\ncommand = [\"node\", \"server.js\"]\n\n[sources.issues.tools.get_issue]\nreplay = \"{replay}\"\n\n[sources.issues.tools.list_issues]\nreplay = \"safe\"\n\n{more}"
    )
}

/// Runs a script into a kill while the answers of `hold` are out, then resumes it after `between`.
fn trial(replay: &str, script: &str, hold: &[usize], between: impl Fn(&Place)) -> (Value, usize, usize, Vec<String>) {
    let place = Place::with_config(&config(replay, ""));
    place.write("server.js", SERVER);
    place.write("script.ts", script);
    place.write("hold", &hold.iter().map(usize::to_string).collect::<Vec<_>>().join(" "));
    let running = Running::start(&mut place.refrain(&["run", "script.ts", "--output", "json"]));
    if !until(|| place.path().join("held").exists() && place.read("held").lines().count() == hold.len()) {
        running.signal("KILL");
        panic!("the server held nothing back\n{}", running.end());
    }
    let finished = |id: &str| -> Vec<usize> {
        let shown = place.run(&["runs", "show", id, "--output", "json"]).expect(0).json();
        let mut asked: BTreeMap<u64, usize> = BTreeMap::new();
        let mut done = Vec::new();
        for record in shown["journal"].as_array().unwrap() {
            for call in record["calls"].as_array().into_iter().flatten() {
                if let Some(number) = call["args"]["number"].as_u64() {
                    asked.insert(call["call"].as_u64().unwrap(), usize::try_from(number).unwrap());
                }
            }
            if record["kind"] == "answered" {
                done.extend(asked.get(&record["call"].as_u64().unwrap()));
            }
        }
        done
    };
    // Side by side, all others have to be in the journal.
    let running = running;
    let id = {
        let mut id = None;
        assert!(until(|| {
            let list = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
            id = list["runs"][0]["run_id"].as_str().map(str::to_owned);
            let before = if script == SIDE_BY_SIDE { ISSUES - hold.len() } else { hold[0] - 1 };
            id.as_deref().is_some_and(|id| finished(id).len() == before)
        }));
        id.unwrap()
    };
    running.signal("KILL");
    assert_eq!(run_id(&running.end().stderr).as_deref(), Some(&*id));
    let done = finished(&id);
    place.write("hold", "");
    between(&place);
    let report = place.run(&["runs", "resume", &id, "--output", "json"]).expect(0).json();
    let mut times: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in place.read("lines").lines() {
        let (number, key) = line.split_once(' ').unwrap();
        times.entry(number.parse().unwrap()).or_default().push(key.to_owned());
    }
    assert_eq!(times.len(), ISSUES);
    let again = done.iter().filter(|number| times[number].len() > 1).count();
    let twice: Vec<&Vec<String>> = times.values().filter(|keys| keys.len() > 1).collect();
    let keys = twice.iter().flat_map(|keys| keys.iter().cloned()).collect();
    (report["result"].clone(), again, twice.len(), keys)
}

const RIGHT: usize = ISSUES * (ISSUES + 1) / 2;

fn outcome(result: &Value) -> String {
    match (result["hours"].as_u64(), result["interrupted"].as_u64()) {
        (Some(hours), Some(0)) if hours == RIGHT as u64 => "correct".to_owned(),
        (Some(_), Some(0)) => "wrong total: the data changed meanwhile".to_owned(),
        (_, Some(n)) => format!("{n} interrupted, told to the script, which went on"),
        _ => panic!("{result}"),
    }
}

#[test]
fn a_crash_repeats_nothing_that_was_finished() {
    let mut rows: Vec<Row> = Vec::new();
    for gate in [2, 9, ISSUES] {
        let (result, again, twice, _) = trial("safe", ONE_BY_ONE, &[gate], |_| {});
        rows.push(Row { trial: "crash", policy: "safe", again, twice, outcome: outcome(&result) });
    }
    let (result, again, twice, keys) = trial("keyed", ONE_BY_ONE, &[9], |_| {});
    assert!(keys.len() == 2 && keys[0] == keys[1] && keys[0] != "-", "{keys:?}");
    rows.push(Row {
        trial: "crash",
        policy: "keyed",
        again,
        twice,
        outcome: format!("{}, the same key", outcome(&result)),
    });
    let (result, again, twice, _) = trial("unsafe", ONE_BY_ONE, &[9], |_| {});
    assert_eq!(result, json!({ "hours": RIGHT - 9, "interrupted": 1 }));
    rows.push(Row { trial: "default", policy: "unsafe", again, twice, outcome: outcome(&result) });
    let (result, again, twice, _) = trial("safe", SIDE_BY_SIDE, &[3, 4, 9, 12, 18], |_| {});
    assert_eq!(twice, 5);
    rows.push(Row { trial: "parallel, 5 out", policy: "safe", again, twice, outcome: outcome(&result) });
    let raised =
        |place: &Place| place.write("refrain.toml", &config("safe", "[limits]\ntimeout_ms = 120000\ncalls = 5000\n"));
    let (result, again, twice, _) = trial("safe", ONE_BY_ONE, &[9], raised);
    rows.push(Row { trial: "limits raised", policy: "safe", again, twice, outcome: outcome(&result) });
    let (result, again, twice, _) = trial("safe", ONE_BY_ONE, &[9], |place| place.write("factor", "2"));
    assert_ne!(result["hours"], json!(RIGHT));
    rows.push(Row { trial: "data changed", policy: "safe", again, twice, outcome: outcome(&result) });

    println!(
        "| trial | policy | finished calls made again | calls that the server saw twice | outcome |\n|---|---|---|---|---|"
    );
    for Row { trial, policy, again, twice, outcome } in &rows {
        println!("| {trial} | {policy} | {again} of {ISSUES} | {twice} | {outcome} |");
    }
    for row in &rows {
        assert_eq!(row.again, 0, "{}", row.trial);
        let most = match (row.policy, row.trial) {
            ("unsafe", _) => 0,
            (_, "parallel, 5 out") => 5,
            _ => 1,
        };
        assert_eq!(row.twice, most, "{}", row.trial);
        let is_right = row.outcome.starts_with("correct");
        assert_eq!(is_right, !["default", "data changed"].contains(&row.trial), "{}: {}", row.trial, row.outcome);
    }
}
