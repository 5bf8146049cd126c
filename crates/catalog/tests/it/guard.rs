//! Real processes, really killed.

use std::{
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Command, Stdio},
};

use crate::support::{alive, eventually, fixture};

#[test]
fn children_and_their_children_end_when_their_parent_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let mut parent =
        Command::new(fixture()).args(["parent", file.to_str().unwrap()]).stdin(Stdio::null()).spawn().unwrap();
    eventually("the server is up", || file.exists());
    let pids: Vec<u32> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(pids.len() == 2 && pids.iter().all(|pid| alive(*pid)), "{pids:?}");
    // A Ctrl-C at a terminal goes to the whole group of the parent, and must not reach the guard.
    let guard = guard_of(parent.id());
    assert_eq!(stat(guard, GROUP), guard);
    // SIGKILL: the parent gets no chance to do anything.
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("the server and its child are gone", || !pids.iter().any(|pid| alive(*pid)));
    eventually("the guard is gone", || !alive(guard));
}

/// Fields of `/proc/PID/stat` after the name.
const PARENT: usize = 1;
const GROUP: usize = 2;

fn stat(pid: u32, field: usize) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.split_whitespace().nth(field).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn guard_of(parent: u32) -> u32 {
    let is_guard = |pid: &u32| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        stat(*pid, PARENT) == parent && command.ends_with(b"\0guard\0")
    };
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.into_iter().find(is_guard).unwrap()
}

#[test]
fn the_guard_kills_what_is_on_its_list_and_nothing_else() {
    let start = || Command::new(fixture()).arg("sleep").process_group(0).spawn().unwrap();
    // Kills go by number, so the one that is to live comes first: it would be hit before the other.
    let (mut released, mut listed) = (start(), start());
    let lines = format!("+{}\n+{}\n+0\n+1\n+-1\n-\n?\n\u{e9}5\n-{}\n", listed.id(), released.id(), released.id());
    refrain_catalog::guard_main(lines.as_bytes());
    eventually("the listed one is gone", || listed.try_wait().unwrap().is_some());
    // A process that was hit by the guard would have died of another signal.
    Command::new("kill").args(["-TERM", &released.id().to_string()]).status().unwrap();
    assert_eq!(released.wait().unwrap().signal(), Some(15));
}

#[tokio::test]
async fn without_its_guard_no_child_is_started() {
    let mut environment = crate::support::environment();
    environment.guard = Some(vec!["refrain-no-such-guard".into()]);
    let sources = refrain_catalog::Sources::open(vec![crate::support::mcp("s", "plain")], environment);
    let catalog = sources.catalog(crate::support::LONG).await;
    insta::assert_snapshot!(catalog.sources()[0].reason.as_deref().unwrap_or_default(), @"the guard process `refrain-no-such-guard` does not start: No such file or directory (os error 2); reinstall the program");
    sources.close().await;
}
