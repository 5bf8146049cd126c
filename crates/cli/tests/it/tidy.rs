//! The rules of the project that no compiler keeps. `ARCHITECTURE.md` gives the reasons.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml_edit::{Document, Item, TableLike};

use crate::place::root;

/// Each crate and the workspace crates that it may depend on: arrows point down only.
const MAY_USE: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("journal", &[]),
    ("catalog", &[]),
    ("runtime", &["engine", "journal", "catalog"]),
    ("server", &["runtime"]),
    ("cli", &["runtime", "server"]),
];

/// Crates from outside that are kept in their place, and the only crates that may name them.
const KEPT_IN: &[(&str, &[&str])] = &[
    ("axum", &["server"]),
    ("clap", &["cli"]),
    ("jsonschema", &["catalog"]),
    ("oxc", &["engine"]),
    ("oxc_sourcemap", &["engine"]),
    ("reqwest", &["catalog"]),
    ("rmcp", &["catalog", "server"]),
    ("rquickjs-sys", &["engine"]),
    ("rusqlite", &["journal"]),
    ("toml_edit", &["cli"]),
    ("wasmtime", &["engine"]),
];

/// All that `engine` is built from. Nothing here opens a socket, waits, or is there to read a clock.
const ENGINE_IS: &[&str] = &[
    "oxc",
    "oxc_sourcemap",
    "rquickjs-sys",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
    "wasm-encoder",
    "wasmparser",
    "wasmtime",
    "zstd",
];

/// The most packages that `Cargo.lock` may hold. Each is code that somebody has to trust and everybody has to build.
const MOST_PACKAGES: usize = 440;

#[test]
fn the_six_crates_depend_downwards_only() {
    let expected: BTreeSet<_> = MAY_USE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(crates(), expected, "the folders of crates/");
    for (name, may_use) in MAY_USE {
        for (section, dependency) in dependencies(name) {
            let Some(used) = dependency.strip_prefix("refrain-") else {
                continue;
            };
            // A crate may reach its own test helpers, which are behind a feature.
            let itself = used == *name && section == "dev-dependencies";
            assert!(may_use.contains(&used) || itself, "`{name}` must not depend on `{used}` ([{section}])");
        }
    }
}

#[test]
fn foreign_crates_stay_where_they_belong() {
    for name in crates() {
        for (section, dependency) in dependencies(&name) {
            if let Some((_, homes)) = KEPT_IN.iter().find(|(kept, _)| *kept == dependency) {
                assert!(
                    homes.contains(&name.as_str()),
                    "`{dependency}` belongs to {homes:?}, not `{name}` ([{section}])"
                );
            }
        }
    }
}

#[test]
fn the_engine_is_built_from_a_short_list() {
    for (section, dependency) in dependencies("engine") {
        let listed = ENGINE_IS.contains(&dependency.as_str());
        assert!(listed || section == "dev-dependencies", "`engine` gained `{dependency}` ([{section}])");
    }
}

#[test]
fn every_crate_has_the_licence_and_the_lints_of_the_workspace() {
    let workspace = manifest(&root().join("Cargo.toml"));
    let package = workspace["workspace"]["package"].as_table_like().unwrap();
    assert_eq!(package.get("license").and_then(Item::as_str), Some("Apache-2.0"));
    assert!(text(&root().join("LICENSE")).contains("Apache License"));
    for name in crates() {
        let manifest = manifest(&root().join("crates").join(&name).join("Cargo.toml"));
        let inherits = |item: Option<&Item>| item.and_then(|item| item.get("workspace")).and_then(Item::as_bool);
        assert_eq!(inherits(manifest["package"].get("license")), Some(true), "licence of `{name}`");
        assert_eq!(inherits(manifest.get("lints")), Some(true), "lints of `{name}`");
    }
}

#[test]
fn the_lock_file_stays_small_and_names_one_registry() {
    let lock = text(&root().join("Cargo.lock"));
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    assert!(packages <= MOST_PACKAGES, "{packages} packages in Cargo.lock, {MOST_PACKAGES} allowed: what can go?");
    for source in lock.lines().filter_map(|line| line.strip_prefix("source = ")) {
        assert_eq!(source, "\"registry+https://github.com/rust-lang/crates.io-index\"");
    }
}

#[test]
fn no_file_names_this_machine_or_a_package_host() {
    // In two halves, so that this file does not find itself.
    let forbidden = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
        concat!("/wo", "rk/main"),
        concat!("/wo", "rk/shared"),
        concat!("../sh", "ared/"),
        concat!("registry.np", "mjs.org"),
        concat!("pypi", ".org"),
        concat!("pythonhosted", ".org"),
        concat!("index.crates", ".io"),
        concat!("static.crates", ".io"),
        concat!("\"resol", "ved\": \"http"),
    ];
    for (path, text) in texts() {
        for (n, line) in text.lines().enumerate() {
            for word in forbidden {
                assert!(!line.contains(word), "{path}:{}: `{word}`", n + 1);
            }
        }
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let files = files();
    let mains = files.iter().filter(|path| path.ends_with("tests/it/main.rs"));
    for main in mains {
        let listed = text(main);
        for file in files.iter().filter(|path| path.parent() == main.parent() && *path != main) {
            let module = file.file_stem().unwrap().to_str().unwrap();
            let is_rust = file.extension().is_some_and(|extension| extension == "rs");
            assert!(!is_rust || listed.contains(&format!("mod {module};")), "{} is never compiled", file.display());
        }
    }
    for name in crates() {
        let tests = root().join("crates").join(&name).join("tests");
        let entries = std::fs::read_dir(&tests).into_iter().flatten().map(|entry| entry.unwrap().path());
        let more: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
        assert!(more.is_empty(), "{more:?}: a crate has one test binary, so make these modules of tests/it/main.rs");
    }
}

#[test]
fn lints_are_expected_with_a_reason_and_no_test_is_ignored() {
    let forbidden = [concat!("#[al", "low("), concat!("#![al", "low("), concat!("#[ig", "nore")];
    for (path, text) in texts().into_iter().filter(|(path, _)| path.ends_with(".rs")) {
        for word in forbidden {
            assert!(!text.contains(word), "{path}: `{word}`");
        }
    }
}

#[test]
fn time_is_read_in_one_place() {
    let exception = "clippy::disallowed_methods";
    for (path, text) in texts() {
        let in_a_crate = path.starts_with("crates/") && path.contains("/src/");
        let allowed = path == "crates/runtime/src/clock.rs" || path.starts_with("crates/cli/src/");
        assert!(!in_a_crate || allowed || !text.contains(exception), "{path} makes an exception of its own");
    }
}

#[test]
fn the_architecture_names_every_crate_and_only_tests_that_exist() {
    let page = text(&root().join("ARCHITECTURE.md"));
    for name in crates() {
        assert!(page.contains(&format!("`{name}`")), "ARCHITECTURE.md does not mention `{name}`");
    }
    let rust: String = texts().into_iter().filter(|(path, _)| path.ends_with(".rs")).map(|(_, text)| text).collect();
    let (_, holds) = page.split_once("## What holds").unwrap();
    let (table, _) = holds.split_once("\n## ").unwrap();
    let rows: Vec<_> = table.lines().filter(|line| line.starts_with('|')).skip(2).collect();
    assert!(!rows.is_empty(), "the table of invariants is gone");
    for row in rows {
        let cell = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap();
        let tests: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "no test holds: {row}");
        for test in tests {
            assert!(rust.contains(&format!("fn {test}(")), "`{test}`, which ARCHITECTURE.md names, does not exist");
        }
    }
}

#[test]
fn unsafe_code_is_in_one_test() {
    let allowed = |text: &str| text.contains(concat!("unsafe", "_code"));
    let places: Vec<String> = texts()
        .into_iter()
        .filter(|(path, text)| path.ends_with(".rs") && !path.ends_with("tidy.rs") && allowed(text))
        .map(|(path, _)| path)
        .collect();
    assert!(
        matches!(&places[..], [one] if one.ends_with("crates/journal/tests/it/power_loss.rs")),
        "the lint on unsafe code is switched off in {places:?}"
    );
}

#[test]
fn what_is_said_to_prove_durability_exists() {
    let page = text(&root().join("docs/durability.md"));
    let rust: String = texts().into_iter().filter(|(path, _)| path.ends_with(".rs")).map(|(_, text)| text).collect();
    // Names of tests are long and have several words; files and settings have a dot or are short.
    let is_test = |word: &&str| {
        word.matches('_').count() >= 3 && word.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    };
    let named: BTreeSet<&str> = page.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() > 50, "{named:?}");
    for test in named {
        assert!(rust.contains(&format!("fn {test}(")), "`{test}`, which docs/durability.md names, does not exist");
    }
}

fn crates() -> BTreeSet<String> {
    let folders = std::fs::read_dir(root().join("crates")).unwrap();
    folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Every dependency of a crate with the section that names it, those for one platform included.
fn dependencies(name: &str) -> Vec<(String, String)> {
    fn collect(table: &dyn TableLike, found: &mut Vec<(String, String)>) {
        for (section, item) in table.iter() {
            let Some(inner) = item.as_table_like() else {
                continue;
            };
            match section {
                "dependencies" | "dev-dependencies" | "build-dependencies" => {
                    for (dependency, how) in inner.iter() {
                        let renamed = how.get("package").and_then(Item::as_str);
                        found.push((section.to_owned(), renamed.unwrap_or(dependency).to_owned()));
                    }
                }
                "target" => {
                    for (_, platform) in inner.iter() {
                        collect(platform.as_table_like().unwrap(), found);
                    }
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    collect(manifest(&root().join("crates").join(name).join("Cargo.toml")).as_table(), &mut found);
    found
}

fn manifest(path: &Path) -> Document<String> {
    Document::parse(text(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of the project that hold text: path from the root, and the text.
fn texts() -> Vec<(String, String)> {
    let relative = |path: &Path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    files().iter().filter_map(|path| Some((relative(path), std::fs::read_to_string(path).ok()?))).collect()
}

/// The files of the project. What is built or brought is left out, as `.gitignore` does.
fn files() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_symlink() || [".git", ".refrain", ".tools", "node_modules"].contains(&name) {
                continue;
            }
            // Cargo marks its folders, wherever they are.
            if path.is_dir() && !path.join("CACHEDIR.TAG").exists() {
                walk(&path, found);
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(root(), &mut found);
    found
}
