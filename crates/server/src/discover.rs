//! Answers of `search_tools` and `describe_tools`: which tools there are, and everything about some of them.
//!
//! Both answer from the catalog as it is now. A name that leads to no tool is an entry with the reason, and the other names
//! are answered all the same.

use serde_json::{Value, json};

use refrain_runtime::{Catalog, Description, Dialect, NO_APPROVAL, Query, Status};

use crate::{
    arguments::{DEFAULT_OUTPUT_TOKENS, DescribeTools, MOST_NAMES, SearchTools},
    cut::{Budget, Measure, cut},
};

/// An answer, once for a program and once for a model.
pub(crate) struct Answer {
    pub(crate) content: Value,
    pub(crate) text: String,
}

/// Finds tools by words, best first.
pub(crate) fn search(catalog: &Catalog, dialect: Option<&Dialect>, asked: &SearchTools) -> Answer {
    let query =
        Query { words: &asked.query, limit: asked.limit, skip: asked.skip, namespace: asked.namespace.as_deref() };
    let mut found = catalog.find_tools(&query);
    for hit in &mut found.hits {
        if let Ok(tool) = catalog.resolve(&hit.source, &hit.name) {
            hit.call = catalog.call_in(tool, dialect);
            hit.signature = catalog.signature_in(tool, dialect);
        }
    }
    let next = found.next(&query).map(|next| next.to_string());
    let note = found.note();
    let mut parts: Vec<String> = found
        .hits
        .iter()
        .map(|hit| match hit.summary.as_str() {
            "" => hit.signature.clone(),
            summary => format!("{}\n  {summary}", hit.signature),
        })
        .collect();
    parts.extend(note.as_ref().map(|note| format!("Note: {note}. There are {} tools.", catalog.tools().len())));
    if let Some(next) = &next {
        parts.push(format!("{} of {}; more with `cursor: \"{next}\"`.", found.hits.len(), found.total));
    }
    parts.extend(unknown_sources(catalog));
    let tools: Vec<Value> = found
        .hits
        .into_iter()
        .map(|hit| json!({"path": hit.path, "call": hit.call, "signature": hit.signature, "description": hit.summary}))
        .collect();
    let mut content = json!({ "tools": tools, "next_cursor": next });
    if let Some(note) = note {
        content["note"] = note.into();
    }
    Answer { content, text: parts.join("\n\n") }
}

/// Gives everything about each tool that is named, of patterns no more than so many names could give.
pub(crate) fn describe(catalog: &Catalog, dialect: Option<&Dialect>, asked: &DescribeTools) -> Answer {
    let mut selected = catalog.select(asked.names.iter().map(String::as_str));
    let left_out = selected.len().saturating_sub(MOST_NAMES);
    selected.truncate(MOST_NAMES);
    let room = Budget::of_tokens(DEFAULT_OUTPUT_TOKENS).bytes / selected.len().max(1);
    let (mut tools, mut parts) = (Vec::new(), Vec::new());
    for one in selected {
        match one.found {
            Ok(tool) => {
                let entry = entry(one.name, &catalog.description_of(tool, dialect), room);
                parts.push(told(&entry));
                tools.push(entry);
            }
            Err(error) => {
                parts.push(format!("`{}`: {error}", one.name));
                tools.push(json!({"name": one.name, "error": error.to_string()}));
            }
        }
    }
    if left_out > 0 {
        let error = format!("{left_out} more fit and are left out; ask for fewer, or find them with `search_tools`");
        parts.push(error.clone());
        tools.push(json!({"name": asked.names.join(", "), "error": error}));
    }
    Answer { content: json!({ "tools": tools }), text: parts.join("\n\n") }
}

/// One tool as structured content. Schemas that do not fit are left out with a note; the signature is never long.
fn entry(name: &str, found: &Description, room: usize) -> Value {
    let tool = &found.tool;
    let mut notes = tool.notes.clone();
    let mut schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()].map(|schema| {
        let schema = schema?;
        let bytes = schema.to_string().len();
        // A third for each, and one for the description.
        (bytes <= room / 3).then_some(schema).or_else(|| {
            notes.push(format!("a schema of {bytes} bytes is left out; the signature has its types"));
            None
        })
    });
    let [input, output] = [schemas[0].take(), schemas[1].take()];
    let whole = format!("`refrain tools show {} --output json` has the whole", found.path);
    json!({
        "name": name,
        "path": found.path,
        "call": found.call,
        "signature": found.signature,
        "description": cut(&tool.description, room / 3, Measure::InJson, &whole),
        "effect": tool.effect.as_str(),
        "replay": tool.replay.as_str(),
        "approval": tool.approval.map_or(NO_APPROVAL, |approval| approval.as_str()),
        "example": found.example.as_ref().filter(|example| example.len() <= room / 3),
        "input_schema": input.map(|schema| Value::clone(schema)),
        "output_schema": output.map(|schema| Value::clone(schema)),
        "notes": notes,
    })
}

/// The same for a model.
fn told(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let mut lines = vec![text("signature").to_owned()];
    lines.push(text("description").to_owned());
    lines.push(format!("effect: {}, replay: {}, approval: {}", text("effect"), text("replay"), text("approval")));
    if !entry["example"].is_null() {
        lines.push(format!("example: {}", text("example")));
    }
    for (key, title) in [("input_schema", "input"), ("output_schema", "output")] {
        if !entry[key].is_null() {
            lines.push(format!("{title}: {}", entry[key]));
        }
    }
    lines.extend(
        entry["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).map(|note| format!("note: {note}")),
    );
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// Says which sources are not working, since a search cannot find what they have.
fn unknown_sources(catalog: &Catalog) -> Option<String> {
    let lines: Vec<String> = catalog
        .sources()
        .iter()
        .filter(|source| matches!(source.status, Status::Connecting | Status::Failed))
        .map(|source| {
            let reason = source.reason.as_deref().unwrap_or("no reason is known");
            let reason = cut(reason, 500, Measure::Plain, "`refrain doctor` has the whole");
            format!("Source `{}` is {}: {reason}", source.name, source.status.as_str())
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use refrain_runtime::{Effect, Replay, SourceStatus, Tool};

    use super::*;

    fn catalog() -> Catalog {
        let mut list = Tool::new("git", "list_commits");
        list.description = "Lists commits. Newest first.".into();
        list.input_schema = Arc::new(json!({"type": "object", "properties": {"limit": {"type": "integer"}}}));
        list.output_schema = Some(Arc::new(json!({"type": "array", "items": {"type": "string"}})));
        list.effect = Effect::Read;
        list.replay = Replay::Safe;
        let mut huge = Tool::new("big", "huge");
        huge.description = "x".repeat(50_000);
        huge.input_schema = Arc::new(json!({"type": "object", "description": "y".repeat(50_000)}));
        let down = SourceStatus {
            name: "far".into(),
            r#type: "mcp".into(),
            status: Status::Failed,
            reason: Some("it ended at once".into()),
            since_ms: 0,
            tools: 0,
        };
        Catalog::new(vec![list, huge], vec![down])
    }

    fn sought(query: &str) -> SearchTools {
        SearchTools { query: query.into(), limit: 5, namespace: None, skip: 0 }
    }

    fn described(names: &[&str]) -> Answer {
        describe(&catalog(), None, &DescribeTools { names: names.iter().map(|name| (*name).to_owned()).collect() })
    }

    #[test]
    fn a_search_gives_the_line_to_type_and_tells_of_sources_that_are_down() {
        let answer = search(&catalog(), None, &sought("commits"));
        insta::assert_snapshot!(answer.text, @"
        tools.git.list_commits(args?: { limit?: number }): Promise<string[]>
          Lists commits.

        Source `far` is failed: it ended at once
        ");
        insta::assert_snapshot!(answer.content, @r#"{"tools":[{"path":"git.list_commits","call":"tools.git.list_commits","signature":"tools.git.list_commits(args?: { limit?: number }): Promise<string[]>","description":"Lists commits."}],"next_cursor":null}"#);
        let none = search(&catalog(), None, &sought("zzz"));
        let note = "no tool fits: nothing matches `zzz`; try other words";
        assert!(none.text.starts_with(&format!("Note: {note}. There are 2 tools.")), "{}", none.text);
        assert_eq!(none.content, json!({"tools": [], "next_cursor": null, "note": note}));
    }

    #[test]
    fn a_wrong_name_is_an_entry_and_the_others_are_answered() {
        let answer = described(&["git.list_commit", "git.list_commits"]);
        insta::assert_snapshot!(answer.text, @r#"
        `git.list_commit`: unknown tool `git.list_commit`; did you mean `list_commits`?

        tools.git.list_commits(args?: { limit?: number }): Promise<string[]>
        Lists commits. Newest first.
        effect: read, replay: safe, approval: none
        example: await tools.git.list_commits({})
        input: {"type":"object","properties":{"limit":{"type":"integer"}}}
        output: {"type":"array","items":{"type":"string"}}
        "#);
        assert!(answer.content["tools"][0]["error"].is_string());
        assert_eq!(answer.content["tools"][1]["path"], "git.list_commits");
    }

    #[test]
    fn a_description_is_bounded() {
        let answer = described(&["big.huge"; 50]);
        let bytes = answer.content.to_string().len();
        assert!(bytes < 40_000 + 50 * 800, "{bytes}");
        assert!(answer.text.contains("note: a schema of 50"), "{}", answer.text);
        let many = Catalog::new((0..120).map(|n| Tool::new("s", format!("t{n}"))).collect(), Vec::new());
        let answer = describe(&many, None, &DescribeTools { names: vec!["s.*".into()] });
        assert_eq!(answer.content["tools"].as_array().unwrap().len(), 51);
        assert!(answer.text.ends_with("70 more fit and are left out; ask for fewer, or find them with `search_tools`"));
    }
}
