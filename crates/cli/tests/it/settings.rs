//! Settings: where they come from, and what is said about a bad one.

use crate::place::{Place, Running};

/// Runs a script under a bad config; returns what was said.
#[track_caller]
fn refused(config: &str) -> String {
    let place = Place::with_config(config);
    place.write("script.ts", "return 1");
    let done = place.run(&["run", "script.ts"]).expect(2);
    assert!(done.stdout.is_empty(), "\n{done}");
    done.stderr
}

#[test]
fn every_bad_key_is_named_with_file_line_and_the_nearest_key() {
    let said = refused("[limits]\ntimeout_m = 5\nmemory_mb = \"much\"\n\n[jurnal]\nurl = \"memory:\"\n");
    for part in
        ["refrain.toml:2", "timeout_m", "timeout_ms", "refrain.toml:3", "memory_mb", "refrain.toml:5", "journal"]
    {
        assert!(said.contains(part), "`{part}` is missing in:\n{said}");
    }
}

#[test]
fn a_file_that_is_no_toml_is_named_with_its_line() {
    let said = refused("[limits]\ntimeout_ms = = 5\n");
    assert!(said.contains("refrain.toml:2"), "{said}");
}

#[test]
fn a_source_without_its_command_is_named() {
    let said = refused("\n[sources.everything]\ntype = \"mcp\"\n");
    assert!(said.contains("refrain.toml:2") && said.contains("everything") && said.contains("command"), "{said}");
}

#[test]
fn an_unknown_command_or_flag_is_a_usage_error() {
    let place = Place::new();
    place.run(&["rnu"]).expect(2);
    place.run(&["run", "--no-such-flag"]).expect(2);
    let said = place.run(&["run", "missing.ts"]).expect(2).stderr;
    assert!(said.contains("missing.ts"), "{said}");
}

#[test]
fn settings_are_found_upwards_and_paths_are_relative_to_their_file() {
    let place = Place::with_config("[limits]\ntimeout_ms = 1234\n[journal]\nurl = \"sqlite:kept/here.db\"\n");
    let below = place.path().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("script.ts"), "return 1").unwrap();
    Running::start(place.refrain(&["run", "script.ts"]).current_dir(&below)).end().expect(0);
    assert!(place.path().join("kept/here.db").exists());

    let shown =
        Running::start(place.refrain(&["config", "show", "--output", "json"]).current_dir(&below)).end().expect(0);
    let shown = shown.json().to_string();
    assert!(shown.contains("timeout_ms") && shown.contains("1234") && shown.contains("refrain.toml"), "{shown}");
    assert!(shown.contains("memory_mb") && shown.contains("default"), "a default says that it is one: {shown}");
}

#[test]
fn a_run_may_lower_its_time_and_never_raise_it() {
    let place = Place::with_config("[limits]\ntimeout_ms = 300\n");
    let (code, report) = place.report("for (;;) {}", &["--timeout-ms", "600000"]);
    assert_eq!(code, Some(1), "{report:#}");
    assert_eq!(report["error"]["kind"], "timeout", "{report:#}");
}
