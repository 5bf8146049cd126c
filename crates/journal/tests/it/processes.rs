//! Owners that are real processes: this test binary, run again as a child.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use refrain_journal::testing::sample;
use refrain_journal::{Flush, Journal, JournalError, PATIENCE, RunState, Seq, SqliteJournal, Take};

const PATH: &str = "REFRAIN_JOURNAL_TEST_PATH";
const ROLE: &str = "REFRAIN_JOURNAL_TEST_ROLE";

fn child(role: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "processes::the_child_does_what_its_role_says", "--nocapture"]);
    command.env(ROLE, role).env(PATH, path).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Does nothing unless it was started by one of the tests below.
#[tokio::test]
async fn the_child_does_what_its_role_says() {
    match std::env::var_os(ROLE).as_ref().and_then(|role| role.to_str()) {
        Some(role @ ("holder" | "parent")) => hold(role, Path::new(&std::env::var_os(PATH).unwrap())).await,
        Some("heir") => drop(std::io::stdin().read(&mut [0])),
        _ => {}
    }
}

/// Creates a run, leaves a child of its own behind if it is a parent, and when it is told to, writes once more.
async fn hold(role: &str, path: &Path) {
    let journal = SqliteJournal::open(path, PATIENCE).await.unwrap();
    let lease = journal.create(sample::run(1), &sample::start("return 1"), &[], Flush::Process).await.unwrap();
    journal.append(&lease, Seq(1), &[sample::asked(1)], Flush::Process).await.unwrap();
    // It lives for as long as the test keeps our standard input open, with whatever it inherited. A parent is told nothing:
    // its child would read it.
    let mut heir =
        (role == "parent").then(|| child("heir", path).stdin(Stdio::inherit()).stdout(Stdio::null()).spawn().unwrap());
    say("held");
    loop {
        let mut byte = [0];
        if std::io::stdin().read(&mut byte).unwrap() == 0 {
            heir.as_mut().map(Child::wait);
            return;
        }
        match journal.append(&lease, Seq(2), &[sample::answered(1, "1")], Flush::Process).await {
            Ok(()) => say("written"),
            Err(JournalError::Conflict { .. }) => say("conflict"),
            Err(other) => say(&other.to_string()),
        }
    }
}

/// Past the test harness, which holds back what `println!` prints.
fn say(word: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nsaid:{word}").unwrap();
    out.flush().unwrap();
}

fn hear(out: &mut BufReader<ChildStdout>) -> String {
    loop {
        let mut line = String::new();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the child ended without a word");
        if let Some((_, word)) = line.trim_end().split_once("said:") {
            return word.to_owned();
        }
    }
}

fn holder(role: &str, path: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut holder = child(role, path).spawn().unwrap();
    let mut out = BufReader::new(holder.stdout.take().unwrap());
    assert_eq!(hear(&mut out), "held");
    (holder, out)
}

#[tokio::test]
async fn a_killed_process_frees_its_run_at_once_and_its_children_do_not_keep_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (mut holder, _out) = holder("parent", &path);
    let journal = SqliteJournal::open(&path, PATIENCE).await.unwrap();
    let error = journal.acquire(sample::run(1), Take::IfFree, 0).await.unwrap_err();
    assert!(matches!(error, JournalError::Held { .. }), "{error:?}");
    assert!(error.to_string().contains(&format!("process {}", holder.id())), "{error}");
    assert!(journal.summary(sample::run(1)).await.unwrap().owner.is_some());

    let keeps_the_heir = holder.stdin.take();
    holder.kill().unwrap();
    holder.wait().unwrap();
    let summary = journal.summary(sample::run(1)).await.unwrap();
    assert_eq!((summary.state, summary.owner), (RunState::Running, None));
    let lease = journal.acquire(sample::run(1), Take::IfFree, 0).await.unwrap();
    journal.append(&lease, Seq(2), &[sample::answered(1, "1")], Flush::Disk).await.unwrap();
    assert_eq!(journal.read(sample::run(1)).await.unwrap().len(), 3);
    drop(keeps_the_heir);
    // The killed one's file is gone; ours is there.
    assert_eq!(std::fs::read_dir(folder.path().join("journal.db.owners")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_process_whose_run_was_taken_writes_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (mut holder, mut out) = holder("holder", &path);
    let mut tell = holder.stdin.take().unwrap();
    let journal = SqliteJournal::open(&path, PATIENCE).await.unwrap();
    let lease = journal.acquire(sample::run(1), Take::ByForce, 0).await.unwrap();
    tell.write_all(b"x").unwrap();
    assert_eq!(hear(&mut out), "conflict");
    assert_eq!(journal.read(sample::run(1)).await.unwrap().len(), 2);
    journal.append(&lease, Seq(2), &[sample::answered(1, "2")], Flush::Process).await.unwrap();
    drop(tell);
    holder.kill().unwrap();
    holder.wait().unwrap();
}
