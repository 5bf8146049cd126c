//! What a model is told of `run_code`: how to write a script, and which tools there are.
//!
//! The text is a function of the catalog and of nothing else, so equal catalogs give equal bytes. It gives as much of each
//! tool as fits the budget: full declarations, else one line with types for each, else one line without, else one for each
//! namespace. The last form is cut to the budget as well, so no catalog makes a long prompt.

use refrain_runtime::{Catalog, Status, Tool};

/// What the description of `run_code` may take, in tokens of four bytes.
const BUDGET_TOKENS: usize = 3_000;

const GUIDE: &str = "\
Runs a script in a sandbox whose only powers are the tools below, and gives back what the script returns.

The script is TypeScript (or JavaScript), the body of an async function: `await` and `return` work at the top level. \
Beside the language and `tools` it has: `text(...values)`, said before the result; `image(block)`; `console`, captured and shown apart; \
`await searchTools(words)` and `await describeTools(names)`; `await parallel(items, work, { concurrency })` for settled results; \
`await sleep(ms)`; `store(key, value)` and `load(key)`; `progress(fraction, message)`; `exit()`; `args`, empty here; timers, `URL`, \
`TextEncoder`, `structuredClone`, `AbortController`, `crypto.randomUUID`. `fetch`, `import`, `require`, `process`, files and network do not exist.

- Return only what is needed. Filter and aggregate in the script; nothing else reaches you.
- Fan out with `Promise.all`. Calls that do not need each other need not wait for each other.
- A failed call rejects with a `ToolError` (`code`, `message`, `tool`, `retryable`). Catch it per call where one failure \
must not lose the rest.
- A script that fails reports which calls have happened. Do not repeat those that change something.";

/// Returns the description of `run_code`.
pub(crate) fn description(catalog: &Catalog) -> String {
    within(catalog, BUDGET_TOKENS * 4)
}

fn within(catalog: &Catalog, bytes: usize) -> String {
    let mut end = String::new();
    let pending = pending(catalog);
    if !pending.is_empty() {
        end = format!("\n\nSources whose tools are not known now: {pending}.");
    }
    if catalog.tools().is_empty() {
        return format!("{GUIDE}\n\nThere are no tools now.{end}");
    }
    let room = bytes.saturating_sub(GUIDE.len() + end.len() + 2);
    let forms: [&dyn Fn() -> String; 3] = [
        &|| format!("The tools:\n\n```ts\n{}```", catalog.tool_declarations()),
        &|| index(catalog, "each with its types", |tool| (tool.signature(), " // ")),
        &|| {
            let more = "each without its types, which `describe_tools` gives";
            index(catalog, more, |tool| (tool.call_expression(), ": "))
        },
    ];
    let tools = first_that_fits(room, &forms).unwrap_or_else(|| namespaces(catalog, room));
    format!("{GUIDE}\n\n{tools}{end}")
}

/// Returns the first of `forms` that is not longer than `room`. Later ones are not made.
fn first_that_fits(room: usize, forms: &[&dyn Fn() -> String]) -> Option<String> {
    forms.iter().map(|form| form()).find(|text| text.len() <= room)
}

/// One line for each tool.
fn index(catalog: &Catalog, what: &str, line: impl Fn(&Tool) -> (String, &'static str)) -> String {
    let mut text = format!("All tools, {what}:\n");
    for tool in catalog.tools() {
        let (head, between) = line(tool);
        text.push('\n');
        text.push_str(&head);
        match summary(&tool.description) {
            "" => {}
            summary => text.extend([between, summary]),
        }
    }
    text
}

/// One line for each namespace, as many as fit.
fn namespaces(catalog: &Catalog, room: usize) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for tool in catalog.tools() {
        match counts.last_mut() {
            Some((source, count)) if *source == tool.source => *count += 1,
            _ => counts.push((&tool.source, 1)),
        }
    }
    let mut text =
        "There are too many tools to list. Find them with `search_tools`, whose hits carry their types. The \
                    namespaces:\n"
            .to_owned();
    for (at, (source, count)) in counts.iter().enumerate() {
        let line = format!("\ntools.{}: {count} tools", catalog.source_ident(source));
        let more = format!("\nand {} more namespaces", counts.len() - at);
        if text.len() + line.len() + more.len() > room {
            return text + &more;
        }
        text.push_str(&line);
    }
    text
}

/// Names of sources that may still bring tools. How they fare is left out: it would change the text with nothing gained.
fn pending(catalog: &Catalog) -> String {
    const SHOWN: usize = 20;
    let mut names: Vec<String> = catalog
        .sources()
        .iter()
        .filter(|source| matches!(source.status, Status::Connecting | Status::Failed))
        .map(|source| format!("`{}`", source.name))
        .collect();
    if names.len() > SHOWN {
        let more = format!("{} more", names.len() - SHOWN);
        names.truncate(SHOWN);
        names.push(more);
    }
    names.join(", ")
}

/// The first sentence of the first line, or the beginning of it.
fn summary(description: &str) -> &str {
    const MOST: usize = 120;
    let line = description.trim().lines().next().unwrap_or_default().trim_end();
    let sentence = line.find(". ").map_or(line, |end| &line[..=end]);
    &sentence[..sentence.floor_char_boundary(MOST)]
}

#[cfg(test)]
mod tests {
    use refrain_runtime::SourceStatus;

    use super::*;

    fn catalog(sources: usize, each: usize) -> Catalog {
        let tools = (0..sources)
            .flat_map(|source| {
                (0..each).map(move |number| {
                    let mut tool = Tool::new(format!("s{source}"), format!("tool_{number}"));
                    tool.description = format!("Does the thing {number}. And more that is not shown.\nNor this.");
                    tool
                })
            })
            .collect();
        Catalog::new(tools, Vec::new())
    }

    fn tools_part(catalog: &Catalog, bytes: usize) -> String {
        within(catalog, bytes).strip_prefix(GUIDE).unwrap().trim_start().to_owned()
    }

    #[test]
    fn a_small_catalog_is_declared_in_full() {
        let text = description(&catalog(1, 1));
        assert!(text.contains("declare const tools"), "{text}");
        assert!(text.contains("tool_0("), "{text}");
    }

    #[test]
    fn each_form_gives_way_to_a_shorter_one() {
        let two = catalog(2, 2);
        insta::assert_snapshot!(tools_part(&two, GUIDE.len() + 500), @"
        All tools, each with its types:

        tools.s0.tool_0(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 0.
        tools.s0.tool_1(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 1.
        tools.s1.tool_0(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 0.
        tools.s1.tool_1(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 1.
        ");
        insta::assert_snapshot!(tools_part(&two, GUIDE.len() + 300), @"
        All tools, each without its types, which `describe_tools` gives:

        tools.s0.tool_0: Does the thing 0.
        tools.s0.tool_1: Does the thing 1.
        tools.s1.tool_0: Does the thing 0.
        tools.s1.tool_1: Does the thing 1.
        ");
        insta::assert_snapshot!(tools_part(&two, GUIDE.len() + 200), @"
        There are too many tools to list. Find them with `search_tools`, whose hits carry their types. The namespaces:

        tools.s0: 2 tools
        tools.s1: 2 tools
        ");
    }

    #[test]
    fn no_catalog_makes_a_prompt_over_the_budget() {
        for (sources, each) in [(0, 0), (1, 1), (1, 60), (3, 100), (1, 2_500), (2_000, 2)] {
            let text = description(&catalog(sources, each));
            assert!(text.len() <= BUDGET_TOKENS * 4, "{sources} × {each}: {}", text.len());
        }
        assert!(description(&catalog(1, 2_500)).len() <= 1_100 * 4);
        assert!(tools_part(&catalog(2_000, 2), 12_000).ends_with("more namespaces"));
    }

    #[test]
    fn the_order_and_health_of_sources_do_not_change_the_text() {
        let tools = catalog(2, 3).tools().to_vec();
        let mut turned = tools.clone();
        turned.reverse();
        let status = |status, since_ms| SourceStatus {
            name: "s0".into(),
            r#type: "mcp".into(),
            status,
            reason: Some(format!("seen at {since_ms}")),
            since_ms,
            tools: 3,
        };
        let one = description(&Catalog::new(tools, vec![status(Status::Ready, 1)]));
        assert_eq!(one, description(&Catalog::new(turned, vec![status(Status::Degraded, 2)])));
    }

    #[test]
    fn sources_that_may_still_bring_tools_are_named() {
        let down = SourceStatus {
            name: "far".into(),
            r#type: "mcp".into(),
            status: Status::Failed,
            reason: None,
            since_ms: 0,
            tools: 0,
        };
        insta::assert_snapshot!(tools_part(&Catalog::new(Vec::new(), vec![down]), 12_000), @"
        There are no tools now.

        Sources whose tools are not known now: `far`.
        ");
    }

    #[test]
    fn a_summary_is_one_short_line() {
        assert_eq!(summary("  One. Two."), "One.");
        assert_eq!(summary("v1.2 is one\ntwo"), "v1.2 is one");
        assert_eq!(summary(""), "");
        assert_eq!(summary(&"ä".repeat(100)).len(), 120);
    }
}
