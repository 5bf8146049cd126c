//! The server as its clients see it.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod calls;
mod discovery;
mod hangup;
mod relay;
mod support;

#[test]
fn no_test_file_is_forgotten() {
    let main = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Anything else is what an editor or a tool leaves behind.
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || main.contains(&format!("mod {module};")), "{name} is not in main.rs");
    }
}
