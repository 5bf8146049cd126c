//! Describing tools by name, and the calls that are shown as examples.

use refrain_catalog::{Catalog, Tool};

use crate::support::real_tools;

fn catalog() -> Catalog {
    let tools = vec![
        Tool::new("git", "list_commits"),
        Tool::new("git", "list-tags"),
        Tool::new("my-src", "a.b"),
        Tool::new("odd", "what?"),
    ];
    Catalog::new(tools, Vec::new())
}

/// The paths that a selection gives, and its errors.
fn selected(catalog: &Catalog, names: &[&str]) -> Vec<String> {
    let asked = catalog.select(names.iter().copied());
    asked.into_iter().map(|one| one.found.map_or_else(|error| error.to_string(), Tool::path)).collect()
}

#[test]
fn a_wrong_name_is_answered_with_the_nearest_and_takes_no_other_along() {
    assert_eq!(
        selected(
            &catalog(),
            &["git.list_comits", "gitListCommits", "nope.*", r#"tools["my-src"]["a.b"]"#, "odd.what?"]
        ),
        [
            "unknown tool `git.list_comits`; did you mean `list_commits` or `list-tags`?",
            "git.list_commits",
            "no tool fits `nope.*`; `github.*` means every tool of `github`, `*.list_*` those that list",
            "my-src.a.b",
            "odd.what?",
        ]
    );
}

#[test]
fn patterns_fit_names_and_identifiers_and_give_each_tool_once() {
    let catalog = catalog();
    for (pattern, expect) in [
        ("git.*", &["git.list-tags", "git.list_commits"][..]),
        ("tools.git.*", &["git.list-tags", "git.list_commits"]),
        ("*.list_*", &["git.list-tags", "git.list_commits"]),
        ("my_src.*", &["my-src.a.b"]),
        ("*.a?b", &["my-src.a.b"]),
        ("*", &["git.list-tags", "git.list_commits", "my-src.a.b", "odd.what?"]),
    ] {
        assert_eq!(selected(&catalog, &[pattern]), expect, "{pattern}");
    }
    assert_eq!(selected(&catalog, &["git.list-tags", "git.*"]), ["git.list-tags", "git.list_commits"]);
}

#[test]
fn a_pattern_that_fits_too_many_gives_some_and_says_so() {
    let catalog = Catalog::new((0..500).map(|n| Tool::new("s", format!("t{n:03}"))).collect(), Vec::new());
    let all = selected(&catalog, &["s.*"]);
    assert_eq!(all.len(), 201);
    assert_eq!(all[200], "`s.*` fits 500 tools, of which 200 are here; write a narrower pattern");
    // Names without end are not looked at without end.
    assert_eq!(selected(&catalog, &vec!["s.t000"; 5_000]).len(), 1_000);
}

#[test]
fn nearly_every_real_tool_has_an_example_and_each_passes_the_check() {
    let catalog = Catalog::new(real_tools(), Vec::new());
    let mut without = Vec::new();
    for tool in catalog.tools() {
        let described = catalog.description_of(tool, None);
        match described.example {
            Some(example) => {
                assert!(example.starts_with(&format!("await {}(", described.call)), "{example}");
                assert!(example.len() < 2_000, "{example}");
            }
            None => without.push(tool.path()),
        }
    }
    assert!(without.len() * 100 < catalog.tools().len(), "{without:?}");
}

#[test]
fn an_example_shows_what_has_to_be_there_and_no_more() {
    let catalog = Catalog::new(real_tools(), Vec::new());
    let mut shown = String::new();
    for path in [
        "github.create_issue",
        "filesystem.edit_file",
        "maps.maps_geocode",
        "git.git_status",
        "calendar.create-event",
        "atlassian.jira_get_issue",
    ] {
        let tool = catalog.find(path).unwrap();
        shown += &catalog.description_of(tool, None).example.unwrap();
        shown.push('\n');
    }
    insta::assert_snapshot!(shown, @r#"
    await tools.github.create_issue({ owner: "owner", repo: "repo", title: "title" })
    await tools.filesystem.edit_file({ path: "path", edits: [{ oldText: "oldText", newText: "newText" }] })
    await tools.maps.maps_geocode({ address: "address" })
    await tools.git.git_status({ repo_path: "repo_path" })
    await tools.calendar["create-event"]({ calendarId: "calendarId", summary: "summary", start: "start", end: "end" })
    await tools.atlassian.jira_get_issue({ issue_key: "PROJ-123" })
    "#);
}
