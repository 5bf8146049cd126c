//! The demo source on repositories made for it.

use std::{path::Path, process::Command};

use refrain_catalog::{Sources, demo};
use serde_json::{Value, json};

use crate::support::{LONG, call, environment};

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "Ann <b> \"q\""), ("GIT_AUTHOR_EMAIL", "ann@example.org")])
        .envs([("GIT_COMMITTER_NAME", "C"), ("GIT_COMMITTER_EMAIL", "c@example.org")])
        .envs([("GIT_AUTHOR_DATE", "2026-01-02T03:04:05+02:00"), ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")])
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    folder
}

fn commit(folder: &Path, subject: &str) -> String {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", subject]);
    git(folder, &["rev-parse", "HEAD"])
}

async fn ask(folder: &Path, tool: &str, args: Value) -> String {
    let sources = Sources::open(vec![demo::source(folder.to_owned())], environment());
    let value = call(&sources, "demo", tool, args).await;
    sources.close().await;
    value
}

async fn ask_value(folder: &Path, tool: &str, args: Value) -> Value {
    let text = ask(folder, tool, args).await;
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

#[tokio::test]
async fn commits_come_newest_first_in_pages_whatever_their_text() {
    let folder = repository();
    let hostile = "tab\there \u{1f} \"quotes\" \\ é -o";
    let first = commit(folder.path(), hostile);
    let second = commit(folder.path(), "two\n\nwith a body");
    let third = commit(folder.path(), "three");
    let commits = ask_value(folder.path(), "list_commits", json!({})).await;
    let row = |sha: &str, subject: &str| {
        json!({"sha": sha, "author": "Ann b \"q", "email": "ann@example.org",
               "date": "2026-01-02T03:04:05+02:00", "subject": subject})
    };
    assert_eq!(commits, json!([row(&third, "three"), row(&second, "two"), row(&first, hostile)]));
    let page = ask_value(folder.path(), "list_commits", json!({"limit": 1, "offset": 1})).await;
    assert_eq!(page, json!([row(&second, "two")]));
    assert_eq!(ask(folder.path(), "list_commits", json!({"offset": 3})).await, "[]");
    // From a folder further down the same repository is found.
    let below = folder.path().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(ask_value(&below, "list_commits", json!({})).await, commits);
}

#[tokio::test]
async fn files_of_a_commit_have_their_own_names_and_counts() {
    let folder = repository();
    let path = |name: &str| folder.path().join(name);
    let names = ["plain.txt", "tab\tname", "line\nbreak", "é \"quoted\"", "10\t2\tx", "=> {a}"];
    for name in names {
        std::fs::write(path(name), "1\n2\n").unwrap();
    }
    std::fs::write(path("binary"), [0, 159, 146, 150]).unwrap();
    let first = commit(folder.path(), "first");
    let mut files = ask_value(folder.path(), "commit_files", json!({"sha": first})).await;
    let files = files.as_array_mut().unwrap();
    let seen = |name: &str| files.iter().find(|file| file["path"] == name).cloned();
    for name in names {
        assert_eq!(seen(name), Some(json!({"added": 2, "deleted": 0, "path": name})));
    }
    assert_eq!(seen("binary"), Some(json!({"added": null, "deleted": null, "path": "binary"})));
    assert_eq!(files.len(), 7);
    // A rename is a file deleted and a file added.
    std::fs::rename(path("plain.txt"), path("other.txt")).unwrap();
    let second = commit(folder.path(), "second");
    let files = ask_value(folder.path(), "commit_files", json!({"sha": &second[..10]})).await;
    assert_eq!(
        files,
        json!([{"added": 2, "deleted": 0, "path": "other.txt"}, {"added": 0, "deleted": 2, "path": "plain.txt"}])
    );
}

#[tokio::test]
async fn a_merge_changes_no_files_and_an_empty_commit_neither() {
    let folder = repository();
    commit(folder.path(), "base");
    git(folder.path(), &["checkout", "-q", "-b", "side"]);
    std::fs::write(folder.path().join("a"), "1\n").unwrap();
    commit(folder.path(), "side");
    git(folder.path(), &["checkout", "-q", "main"]);
    let empty = commit(folder.path(), "empty");
    git(folder.path(), &["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    let merge = git(folder.path(), &["rev-parse", "HEAD"]);
    assert_eq!(ask(folder.path(), "commit_files", json!({"sha": merge})).await, "[]");
    assert_eq!(ask(folder.path(), "commit_files", json!({"sha": empty})).await, "[]");
}

#[tokio::test]
async fn the_users_own_git_settings_change_no_value() {
    let folder = repository();
    std::fs::write(folder.path().join("é"), "1\n").unwrap();
    let sha = commit(folder.path(), "one");
    let before = (
        ask(folder.path(), "list_commits", json!({})).await,
        ask(folder.path(), "commit_files", json!({"sha": sha})).await,
    );
    for setting in
        ["color.ui=always", "log.showSignature=true", "log.showRoot=false", "log.date=relative", "log.decorate=full"]
    {
        let (key, value) = setting.split_once('=').unwrap();
        git(folder.path(), &["config", key, value]);
    }
    let after = (
        ask(folder.path(), "list_commits", json!({})).await,
        ask(folder.path(), "commit_files", json!({"sha": sha})).await,
    );
    assert_eq!(after, before);
}

#[tokio::test]
async fn authors_are_counted_and_named_as_in_the_commits() {
    let folder = repository();
    commit(folder.path(), "one");
    commit(folder.path(), "two");
    std::fs::write(folder.path().join(".mailmap"), "Anna <anna@example.org> <ann@example.org>\n").unwrap();
    let authors = ask_value(folder.path(), "list_authors", json!({})).await;
    assert_eq!(authors, json!([{"commits": 2, "name": "Anna", "email": "anna@example.org"}]));
    let commits = ask_value(folder.path(), "list_commits", json!({})).await;
    assert_eq!((&commits[0]["author"], &commits[0]["email"]), (&json!("Anna"), &json!("anna@example.org")));
}

#[tokio::test]
async fn what_cannot_be_answered_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_owned();
    let mut seen = String::new();
    let note = async |what: &str, tool: &str, args: Value| {
        let text = ask(&place, tool, args).await;
        let line = format!("{what}: {text}\n");
        line
    };
    seen += &note("no repository", "list_commits", json!({})).await;
    git(folder.path(), &["init", "-q", "-b", "main"]);
    seen += &note("empty", "list_commits", json!({})).await;
    seen += &note("empty", "list_authors", json!({})).await;
    commit(folder.path(), "one");
    seen += &note("unknown", "commit_files", json!({"sha": "0123456789012345678901234567890123456789"})).await;
    seen += &note("unknown short", "commit_files", json!({"sha": "abcdef"})).await;
    seen += &note("an option", "commit_files", json!({"sha": "--output=x"})).await;
    seen += &note("too many", "list_commits", json!({"limit": 1001})).await;
    insta::assert_snapshot!(seen, @r#"
no repository: tool_error: `demo.list_commits`: `git` ended with exit status: 128: fatal: not a git repository (or any of the parent directories): .git
hint: run it inside a Git repository
empty: tool_error: `demo.list_commits`: `git` ended with exit status: 128: fatal: your current branch 'main' does not have any commits yet
hint: the repository has no commits yet
empty: tool_error: `demo.list_authors`: `git` ended with exit status: 128: fatal: bad revision 'HEAD'
hint: the repository has no commits yet
unknown: tool_error: `demo.commit_files`: `git` ended with exit status: 128: fatal: bad object 0123456789012345678901234567890123456789
hint: the repository has no such commit
unknown short: tool_error: `demo.commit_files`: `git` ended with exit status: 128: fatal: bad revision 'abcdef'
hint: the repository has no such commit
an option: invalid_arguments: invalid arguments for `demo.commit_files`
- `args.sha`: expected text that matches `^[0-9a-fA-F]{4,64}$`, got "--output=x"
signature: tools.demo.commit_files(args: { sha: string }): Promise<{ path: string; added: number | null; deleted: number | null }[]>
too many: invalid_arguments: invalid arguments for `demo.list_commits`
- `args.limit`: expected at most 1000, got 1001
signature: tools.demo.list_commits(args?: { limit?: number; offset?: number }): Promise<{ sha: string; author: string; email: string; date: string; subject: string }[]>
"#);
}

#[tokio::test]
async fn values_fit_the_declared_schemas() {
    let folder = repository();
    std::fs::write(folder.path().join("b"), [0, 1]).unwrap();
    let sha = commit(folder.path(), "one");
    let sources = Sources::open(vec![demo::source(folder.path().to_owned())], environment());
    let catalog = sources.catalog(LONG).await;
    for (tool, args) in
        [("list_commits", json!({})), ("commit_files", json!({"sha": sha})), ("list_authors", json!({}))]
    {
        let schema = catalog.resolve("demo", tool).unwrap().output_schema.clone().unwrap();
        let value: Value = serde_json::from_str(&call(&sources, "demo", tool, args).await).unwrap();
        let mut checker = refrain_catalog::Tool::new("s", "t");
        checker.input_schema = std::sync::Arc::new(json!({"type": "object", "properties": {"value": *schema}}));
        checker.check_args(&json!({"value": value})).unwrap();
        assert_eq!(value.as_array().unwrap().len(), 1);
    }
    sources.close().await;
}
