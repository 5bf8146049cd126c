//! The TypeScript compiler, pinned in `tests/mcp` at the root and brought on first use.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// One thing that the compiler says.
#[derive(Debug)]
pub(crate) struct Diagnostic {
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: usize,
    /// `TS2322` and the like.
    pub(crate) code: String,
    pub(crate) message: String,
}

/// Compiles `files` together with `--strict`, emits nothing, and returns what is wrong.
pub(crate) fn check(files: &[(&str, &str)]) -> Vec<Diagnostic> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("node");
    command.arg(packages().join("node_modules/typescript/bin/tsc"));
    command.args(["--strict", "--noEmit", "--pretty", "false", "--target", "es2022", "--lib", "es2022"]);
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
        command.arg(name);
    }
    let output = command.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let found: Vec<Diagnostic> = said.lines().filter_map(diagnostic).collect();
    // A compiler that did not run must not look like one that found nothing.
    assert!(output.status.success() == found.is_empty(), "tsc: {said}{}", String::from_utf8_lossy(&output.stderr));
    found
}

/// Reads `a.ts(1,2): error TS2322: …`. The lines after it only explain.
fn diagnostic(line: &str) -> Option<Diagnostic> {
    let (place, rest) = line.split_once(": error ")?;
    let (file, at) = place.split_once('(')?;
    let (code, message) = rest.split_once(": ")?;
    let line = at.split_once(',')?.0.parse().ok()?;
    Some(Diagnostic { file: file.to_owned(), line, code: code.to_owned(), message: message.to_owned() })
}

fn packages() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let output = Command::new(root.join("scripts/npm-packages")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    root.join("tests/mcp")
}
