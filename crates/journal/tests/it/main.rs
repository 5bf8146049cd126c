//! Tests of the journal from outside: the contract on every store, and what only one of them can show.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod memory;
mod open;
mod power_cut;
mod processes;
mod sqlite;

/// A file that is not named above would never run.
#[test]
fn no_test_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || include_str!("main.rs").contains(&format!("\nmod {module};\n")), "{name}");
    }
}
