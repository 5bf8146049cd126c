//! The example gives the same table as the same question answered by plain `git` in a shell.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::place::{Place, root};

/// Makes the place a repository with what trips up readers of Git: merges, renames, binary files, odd names, one author
/// under two addresses and one under two names, and a commit that touches more files than the example pairs up.
pub(crate) fn repository(place: &Place) {
    let script = r#"
set -eu
git init -q -b main .
git config user.name 'Ann Author'; git config user.email ann@example.com
stamp=1700000000
commit() { # author, subject
    stamp=$((stamp + 60))
    GIT_AUTHOR_DATE="$stamp +0000" GIT_COMMITTER_DATE="$stamp +0000" git commit -q --allow-empty --author="$1" -m "$2"
}
ann='Ann Author <ann@example.com>'; bob='Bob "the Builder" O'\''Neil <bob@example.com>'; zoe='Zoë Ångström <zoe@example.com>'

printf 'one\ntwo\n' > readme.md; printf 'x\n' > 'with space'; printf 'x\n' > '-dash'; printf 'x\n' > 'größe.txt'
printf 'x\n' > 'quo"te\back'; printf 'x\n' > 'tab	name'; printf '\000\001\002' > image.bin; mkdir -p deep/er; printf 'x\n' > deep/er/file
git add . ; commit "$ann" 'first: "quoted" and	tabbed'
for n in 1 2 3; do printf '%s\n' "$n" >> readme.md; printf '%s\n' "$n" >> 'tab	name'; git add .; commit "$bob" "bob $n"; done
printf '\000\003' > image.bin; printf '2\n' >> readme.md; git add .; commit "$zoe" 'binary'
printf '%s <bob@example.com> <robert@example.com>\n' "${bob% <*}" > .mailmap; git add .; commit 'Robert <robert@example.com>' 'mapped to bob'
printf '\000\004' > image.bin; printf '3\n' >> deep/er/file; git add .; commit 'Ann Author <ann@elsewhere.example>' 'another address'

git checkout -q -b side HEAD~2; printf 'side\n' > side.txt; printf 'x\n' >> 'with space'; git add .; commit "$zoe" 'on the side'
git checkout -q main; printf 'y\n' >> '-dash'; git add .; commit "$ann" 'meanwhile'
stamp=$((stamp + 60)); GIT_AUTHOR_DATE="$stamp +0000" GIT_COMMITTER_DATE="$stamp +0000" git merge -q --no-ff -m 'merge side' side

git mv readme.md README.md; commit "$bob" 'rename'
git rm -q 'quo"te\back'; commit "$bob" 'remove'
n=0; while [ $n -lt 60 ]; do echo $n > "many-$n"; n=$((n + 1)); done; git add .; commit "$ann" 'sixty files'
printf 'z\n' >> README.md; printf 'z\n' >> 'größe.txt'; git add .; commit "$zoe" ''"'"'; $(touch pwned) `touch pwned`'
commit "$bob" 'nothing at all'
"#;
    let output = place.command("sh").args(["-c", script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Compares the example with the shell in the repository at `at`, field by field.
#[track_caller]
fn the_same_in(place: &Place, at: &Path, commits: u32) {
    let example = root().join("examples/churn.ts");
    let journal = format!("sqlite:{}", place.path().join("journal.db").display());
    let mut refrain = place.refrain(&["run"]);
    refrain.arg(&example).args(["--output", "json", "--journal", &journal, "--arg", &format!("commits:={commits}")]);
    let done = crate::place::Running::start(refrain.current_dir(at)).end().expect(0);
    let report = done.json();

    let mut shell = place.command(root().join("scripts/churn.sh"));
    let output = shell.arg(commits.to_string()).current_dir(at).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success());
    let expected: Value = serde_json::from_slice(&output.stdout).unwrap();

    for field in ["commits", "files", "together", "authors"] {
        let (ours, theirs) = (&report["result"][field], &expected[field]);
        if let (Some(ours), Some(theirs)) = (ours.as_array(), theirs.as_array()) {
            for (n, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                assert_eq!(ours, theirs, "{field}, row {n}");
            }
        }
        assert_eq!(ours, theirs, "{field}");
    }
    assert_eq!(report["result"].as_object().unwrap().len(), 4);
}

#[test]
fn the_example_agrees_with_plain_git_on_merges_renames_and_odd_names() {
    let place = Place::new();
    repository(&place);
    for commits in [200, 5, 1] {
        the_same_in(&place, &place.path(), commits);
    }
}

#[test]
fn the_example_works_in_a_shallow_clone_and_in_a_folder_below() {
    let place = Place::new();
    repository(&place);
    let origin = format!("file://{}", place.path().display());
    let output = place.command("git").args(["clone", "-q", "--depth", "3", &origin, "shallow"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    the_same_in(&place, &place.path().join("shallow"), 200);
    the_same_in(&place, &place.path().join("deep"), 200);
}

#[test]
fn the_example_agrees_with_plain_git_on_this_checkout() {
    let place = Place::new();
    let has_commits = place.command("git").args(["rev-parse", "-q", "--verify", "HEAD"]).current_dir(root()).output();
    // An unpacked archive of the project is no repository, and then there is nothing to compare.
    if has_commits.is_ok_and(|output| output.status.success()) {
        the_same_in(&place, root(), 200);
    }
}

#[test]
fn a_folder_that_is_no_repository_is_told_as_a_tool_error() {
    let place = Place::new();
    let (code, report) = place.report("return await tools.demo.list_authors({});", &[]);
    assert_eq!(code, Some(1), "{report:#}");
    assert_eq!(report["error"]["kind"], "tool", "{report:#}");
    assert_eq!(report["error"]["code"], "tool_error", "{report:#}");
    assert_eq!(report["error"]["tool"], "demo.list_authors", "{report:#}");
}

#[test]
fn the_text_output_ends_with_one_line_about_the_run() {
    let place = Place::new();
    repository(&place);
    let example = root().join("examples/churn.ts").display().to_string();
    let done = place.run(&["run", &example]).expect(0);
    let id = crate::place::run_id(&done.stderr).expect("the run id is on stderr");
    let said = format!("{}{}", done.stdout, done.stderr);
    let last = said.lines().rfind(|line| line.contains(&id)).unwrap();
    assert!(last.contains("calls") && last.contains("bytes"), "{last}");
    assert!(said.contains("Ann Author"), "the result is printed: {said}");
}
