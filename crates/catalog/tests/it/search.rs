//! Search: over real tools with real questions, and where it is easy to be wrong.

use std::path::Path;

use refrain_catalog::{Catalog, Found, Query, Tool};
use serde::Deserialize;
use serde_json::Value;

use crate::support::real_tools;

#[derive(Deserialize)]
struct Asked {
    task: String,
    query: String,
    tools: Vec<String>,
}

fn asked() -> Vec<Asked> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/queries.jsonl");
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn find(catalog: &Catalog, words: &str) -> Found {
    catalog.find_tools(&Query { words, limit: 5, skip: 0, namespace: None })
}

fn paths(found: &Found) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.path.as_str()).collect()
}

/// Which of the frozen queries find a right tool among the first five, and a line for each that does not.
fn recall(catalog: &Catalog, words: impl Fn(&Asked) -> &str) -> (f64, String) {
    let asked = asked();
    let mut missed = String::new();
    let mut right = 0;
    for one in &asked {
        let found = find(catalog, words(one));
        if found.hits.iter().any(|hit| one.tools.contains(&hit.path)) {
            right += 1;
        } else {
            missed += &format!("\n{}: found {:?}, wanted {:?}", words(one), paths(&found), one.tools);
        }
    }
    (f64::from(right) / asked.len() as f64, missed)
}

/// The gate. The queries are frozen; see the note beside them.
#[test]
#[expect(clippy::print_stdout, reason = "what is missed is worth a look while the gate holds, too")]
fn at_least_85_of_100_frozen_queries_find_a_right_tool_among_five() {
    let tools = real_tools();
    assert!(tools.len() >= 300, "{} tools", tools.len());
    let catalog = Catalog::new(tools, Vec::new());
    for one in asked() {
        for path in &one.tools {
            assert!(catalog.tools().iter().any(|tool| tool.path() == *path), "`{path}` of `{}`", one.query);
        }
    }
    assert!(asked().len() >= 100);
    let (recall_of_queries, missed) = recall(&catalog, |one| &one.query);
    println!("recall@5 of the queries: {recall_of_queries:.3}{missed}");
    // The sentences that the queries were made from, as a person would type them. Harder, and told only.
    println!("recall@5 of the tasks: {:.3}", recall(&catalog, |one| &one.task).0);
    assert!(recall_of_queries >= 0.85, "recall@5 {recall_of_queries:.3}{missed}");
}

/// The catalog of the cases of the class `discovery`.
fn shops() -> Catalog {
    let tools = [
        ("billing", "create_invoice", "Issue an invoice to a customer."),
        ("music", "playlist_open", "Open a playlist by id."),
        ("stock", "list_bins", "List storage bins."),
        ("weather", "forecast", "Forecast for a place."),
        ("crm", "open_case", "Open a case for a customer."),
        ("files", "get_PDFs", "Fetch documents for a set of ids."),
    ];
    let tools = tools.map(|(source, name, description)| {
        let mut tool = Tool::new(source, name);
        tool.description = description.into();
        tool
    });
    Catalog::new(tools.to_vec(), Vec::new())
}

/// Case discovery-01.
#[test]
fn another_form_of_a_word_finds_it_and_a_part_of_another_word_does_not() {
    let shops = shops();
    for (query, first) in
        [("invoicing customers", "billing.create_invoice"), ("list", "stock.list_bins"), ("pdf", "files.get_PDFs")]
    {
        assert_eq!(paths(&find(&shops, query)).first(), Some(&first), "{query}");
    }
    assert!(!paths(&find(&shops, "list")).contains(&"music.playlist_open"));
}

/// Case discovery-03.
#[test]
fn a_question_with_no_answer_finds_nothing_and_says_which_words_were_of_no_use() {
    let found = find(&shops(), "glacier seismology");
    assert_eq!((found.hits.len(), found.total), (0, 0));
    assert_eq!(found.note().unwrap(), "no tool fits: nothing matches `glacier`, `seismology`; try other words");
    let half = find(&shops(), "Glacier FORECAST");
    assert_eq!(paths(&half), ["weather.forecast"]);
    assert_eq!(half.note().unwrap(), "nothing matches `glacier`");
    assert_eq!(find(&shops(), "forecast").note(), None);
    assert_eq!(find(&shops(), " ?! ").note().unwrap(), "no tool fits; try other words");
}

#[test]
fn a_slip_or_a_beginning_finds_the_word() {
    let shops = shops();
    for (query, first) in [
        ("forcast", "weather.forecast"),
        ("invioce", "billing.create_invoice"),
        ("fore", "weather.forecast"),
        ("storag", "stock.list_bins"),
        ("remake invoice", "billing.create_invoice"),
    ] {
        assert_eq!(paths(&find(&shops, query)).first(), Some(&first), "{query}");
    }
    assert_eq!(paths(&find(&shops, "xyz")), Vec::<&str>::new());
}

#[test]
fn an_exact_name_comes_first_in_every_spelling() {
    let mut tools = vec![Tool::new("a", "get"), Tool::new("b-c", "get-all"), Tool::new("z", "get_get_get")];
    tools[2].description = "get ".repeat(50);
    let catalog = Catalog::new(tools, Vec::new());
    for (query, first) in [
        ("get", "a.get"),
        ("a.get", "a.get"),
        ("tools.a.get", "a.get"),
        ("b-c.get-all", "b-c.get-all"),
        ("get_all", "b-c.get-all"),
        ("getAll", "b-c.get-all"),
        (r#"tools["b-c"]["get-all"]"#, "b-c.get-all"),
    ] {
        assert_eq!(paths(&find(&catalog, query)).first(), Some(&first), "{query}");
    }
}

#[test]
fn ties_are_broken_by_path_and_pages_follow_one_another() {
    let tools = (0..30).rev().map(|n| Tool::new(format!("s{}", n % 3), format!("job_{n:02}"))).collect();
    let catalog = Catalog::new(tools, Vec::new());
    let page = |skip, limit| catalog.find_tools(&Query { words: "job", limit, skip, namespace: None });
    let whole = page(0, 100);
    assert!(whole.hits.is_sorted_by_key(|hit| &hit.path), "{:?}", paths(&whole));
    let (mut skip, mut pages) = (0, Vec::new());
    loop {
        let found = page(skip, 7);
        let next = found.next(&Query { words: "job", limit: 7, skip, namespace: None });
        pages.extend(found.hits);
        match next {
            Some(next) => skip = next,
            None => break,
        }
    }
    assert_eq!(pages, whole.hits);
    assert_eq!(pages.len(), 30);
}

#[test]
fn a_namespace_is_a_filter_in_each_of_its_spellings() {
    let catalog =
        Catalog::new(vec![Tool::new("my-src", "get"), Tool::new("my", "get"), Tool::new("other", "get")], Vec::new());
    let within = |namespace| catalog.find_tools(&Query { words: "get", limit: 9, skip: 0, namespace: Some(namespace) });
    for namespace in ["my-src", "my_src", "tools.my_src", "mcp__my_src__"] {
        assert_eq!(paths(&within(namespace)), ["my-src.get"], "{namespace}");
    }
    let none = within("othr");
    assert_eq!(none.hits, []);
    assert_eq!(none.note().unwrap(), "no source `othr`; did you mean `other`?");
}

#[test]
fn what_strangers_send_is_bounded() {
    let mut tool = Tool::new("s".repeat(5_000), "é́".repeat(5_000));
    tool.description = "word ".repeat(200_000) + &"x".repeat(1_000_000);
    let keys: serde_json::Map<String, Value> = (0..5_000).map(|n| (format!("key{n}"), Value::Null)).collect();
    tool.input_schema = std::sync::Arc::new(serde_json::json!({ "properties": keys }));
    let catalog = Catalog::new(vec![tool], Vec::new());
    assert_eq!(find(&catalog, "word").hits.len(), 1);
    assert_eq!(find(&catalog, &"word zzz ".repeat(50_000)).hits.len(), 1);
    assert_eq!(find(&catalog, &"w".repeat(1_000_000)).hits.len(), 0);
    assert_eq!(find(&Catalog::default(), "word").hits.len(), 0);
}
