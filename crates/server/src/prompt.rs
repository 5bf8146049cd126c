//! What a model is told of `run_code`: how to write a script, and which tools there are.
//!
//! The text is a function of the catalog, the dialect and the budget and of nothing else, so equal catalogs give equal bytes. Where all
//! tools fit with their declarations, they are there. Else each namespace has the most telling form that there is room for:
//! one line a tool with its types, one line a tool without, or one line for all of it. Forms are raised one after another,
//! those of small namespaces first, so that a large one takes no room from what fits beside it. What even one line a namespace
//! does not fit is counted: no catalog makes a long prompt.

use std::fmt::Write as _;

use refrain_runtime::{Catalog, Dialect, Status, Tool};

const GUIDE: &str = "\
Runs a script in a sandbox whose only powers are the tools below, and gives back what the script returns.

The script is TypeScript (or JavaScript), the body of an async function: `await` and `return` work at the top level. \
Beside the language and `tools` it has: `text(...values)`, said before the result; `image(block)`; `console`, captured and shown apart; \
`await searchTools(words)` and `await describeTools(names)`; `await parallel(items, work, { concurrency })` for settled results; \
`await sleep(ms)`; `store(key, value)` and `load(key)`; `progress(fraction, message)`; `exit()`; `args`, empty here; timers, `URL`, \
`TextEncoder`, `structuredClone`, `AbortController`, `crypto.randomUUID`. What is stored is there for later scripts of the same `session`. Dates are in UTC and no method \
knows locales. `fetch`, `import`, `require`, `process`, files and network do not exist.

- Return only what is needed. Filter and aggregate in the script; nothing else reaches you.
- Fan out with `Promise.all`. Calls that do not need each other need not wait for each other.
- A failed call rejects with a `ToolError` (`code`, `message`, `tool`, `retryable`). Catch it per call where one failure \
must not lose the rest.
- A script that fails reports which calls have happened. Do not repeat those that change something.";

/// Returns the description of `run_code`, in so many tokens of four bytes.
pub(crate) fn description(catalog: &Catalog, dialect: Option<&Dialect>, tokens: usize) -> String {
    within(catalog, dialect, tokens.saturating_mul(4))
}

fn within(catalog: &Catalog, dialect: Option<&Dialect>, bytes: usize) -> String {
    let guide = guide(dialect);
    let mut end = String::new();
    let pending = pending(catalog);
    if !pending.is_empty() {
        end = format!("\n\nSources whose tools are not known now: {pending}.");
    }
    if catalog.tools().is_empty() {
        return format!("{guide}\n\nThere are no tools now.{end}");
    }
    let room = bytes.saturating_sub(guide.len() + end.len() + 2);
    let shown = Shown { catalog, dialect };
    // The declarations are of our own names.
    let whole = (!shown.is_flat()).then(|| format!("The tools:\n\n```ts\n{}```", catalog.tool_declarations()));
    let tools = whole.filter(|whole| whole.len() <= room).unwrap_or_else(|| mixed(shown, room));
    format!("{guide}\n\n{tools}{end}")
}

/// The guide, with the name that the tools have.
fn guide(dialect: Option<&Dialect>) -> String {
    let Some(dialect) = dialect else { return GUIDE.to_owned() };
    let mut guide = GUIDE.replace("`tools`", &format!("`{}`", dialect.root));
    let members = dialect.members.iter().map(|(name, is)| (format!("{}.{name}", dialect.root), is));
    let globals = dialect.globals.iter().map(|(name, is)| ((*name).to_owned(), is));
    let aliases: Vec<String> = members
        .chain(globals)
        .map(|(name, is)| match *is {
            "searchTools" => format!("`{name}` is `searchTools`"),
            _ => format!("`await {name}([names])` gives types and descriptions by name"),
        })
        .chain(dialect.list.map(|list| format!("`{list}` lists all tools as `{{ name, description }}`")))
        .collect();
    if !aliases.is_empty() {
        guide.push_str(&format!("\n- {}.", aliases.join("; ")));
    }
    guide
}

/// A catalog under the names that scripts have for it.
#[derive(Clone, Copy)]
struct Shown<'a> {
    catalog: &'a Catalog,
    dialect: Option<&'a Dialect>,
}

impl Shown<'_> {
    fn is_flat(self) -> bool {
        self.dialect.is_some_and(|dialect| dialect.flat)
    }

    /// How a namespace is told: as it is written in a script, where it can be.
    fn namespace(self, source: &str) -> String {
        if self.is_flat() { format!("`{source}`") } else { self.catalog.source_call(source) }
    }
}

/// What is told of the tools of one namespace, from the least to the most.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// How many there are.
    Count,
    /// A line for each.
    Index,
    /// A line for each, with its types.
    Signatures,
}

/// One namespace and what is told of it.
struct Namespace<'a> {
    shown: Shown<'a>,
    tools: &'a [Tool],
    form: Form,
    text: String,
}

impl<'a> Namespace<'a> {
    fn new(shown: Shown<'a>, tools: &'a [Tool]) -> Self {
        let mut this = Self { shown, tools, form: Form::Count, text: String::new() };
        this.text = this.told(Form::Count);
        this
    }

    fn told(&self, form: Form) -> String {
        let Shown { catalog, dialect } = self.shown;
        let line = |head: String, between: &str, tool: &Tool| match summary(&tool.description) {
            "" => format!("\n{head}"),
            summary => format!("\n{head}{between}{summary}"),
        };
        let each = |line: &dyn Fn(&Tool) -> String| self.tools.iter().map(line).collect::<String>();
        match form {
            Form::Count => {
                let source = self.tools.first().map_or("", |tool| &tool.source);
                let plural = if self.tools.len() == 1 { "" } else { "s" };
                format!("\n{}: {} tool{plural}", self.shown.namespace(source), self.tools.len())
            }
            Form::Index => each(&|tool| line(catalog.call_in(tool, dialect), ": ", tool)),
            Form::Signatures => each(&|tool| line(catalog.signature_in(tool, dialect), " // ", tool)),
        }
    }
}

/// A line or more for each namespace.
fn mixed(shown: Shown, room: usize) -> String {
    let by_source = shown.catalog.tools().chunk_by(|a, b| a.source == b.source);
    let mut spaces: Vec<Namespace> = by_source.map(|tools| Namespace::new(shown, tools)).collect();
    let counts: usize = spaces.iter().map(|space| space.text.len()).sum();
    let mut left = room.saturating_sub(HEADINGS.iter().map(|(_, heading)| heading.len() + 2).sum());
    if counts > left {
        return cut(&spaces, room);
    }
    left -= counts;
    for form in [Form::Index, Form::Signatures] {
        // The small first; `sort_by_key` keeps the order of those that are alike.
        let mut order: Vec<(usize, String)> = Vec::new();
        for (at, space) in spaces.iter().enumerate() {
            // What has not got one form will not get the next.
            let raised = form == Form::Index || space.form == Form::Index;
            // No line is shorter than this, so a text that cannot fit is not made.
            const SHORTEST: usize = "\ntools.x".len();
            if raised && space.tools.len() * SHORTEST <= left + space.text.len() {
                order.push((at, space.told(form)));
            }
        }
        order.sort_by_key(|(_, text)| text.len());
        for (at, text) in order {
            let space = &mut spaces[at];
            let available = left + space.text.len();
            if text.len() <= available {
                left = available - text.len();
                (space.form, space.text) = (form, text);
            }
        }
    }
    let parts = HEADINGS.iter().filter_map(|(form, heading)| {
        let own: String = spaces.iter().filter(|space| space.form == *form).map(|space| space.text.as_str()).collect();
        (!own.is_empty()).then(|| format!("{heading}\n{own}"))
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

const HEADINGS: [(Form, &str); 3] = [
    (Form::Signatures, "Tools, each with its types:"),
    (Form::Index, "Tools, each without its types, which `describe_tools` and `search_tools` give:"),
    (
        Form::Count,
        "Namespaces whose tools are too many to list. Find them with `search_tools`, or `searchTools` in a script: hits carry \
         their types. `describe_tools` takes `\"namespace.*\"`:",
    ),
];

/// One line for each namespace, as many as fit.
fn cut(spaces: &[Namespace], room: usize) -> String {
    let mut text = format!("{}\n", HEADINGS[2].1);
    for (at, space) in spaces.iter().enumerate() {
        let more = format!("\nand {} more namespaces", spaces.len() - at);
        if text.len() + space.text.len() + more.len() > room {
            return text + &more;
        }
        let _ = write!(text, "{}", space.text);
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

    /// The default.
    const TOKENS: usize = 3_000;

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
        within(catalog, None, bytes).strip_prefix(GUIDE).unwrap().trim_start().to_owned()
    }

    #[test]
    fn a_small_catalog_is_declared_in_full() {
        let text = description(&catalog(1, 1), None, TOKENS);
        assert!(text.contains("declare const tools"), "{text}");
        assert!(text.contains("tool_0("), "{text}");
    }

    #[test]
    fn each_form_gives_way_to_a_shorter_one() {
        let two = catalog(2, 2);
        let forms = [620, 440, 340].map(|room| tools_part(&two, GUIDE.len() + room));
        insta::assert_snapshot!(forms.join("\n\n----\n\n"), @"
        Tools, each with its types:

        tools.s0.tool_0(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 0.
        tools.s0.tool_1(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 1.

        Tools, each without its types, which `describe_tools` and `search_tools` give:

        tools.s1.tool_0: Does the thing 0.
        tools.s1.tool_1: Does the thing 1.

        ----

        Tools, each without its types, which `describe_tools` and `search_tools` give:

        tools.s0.tool_0: Does the thing 0.
        tools.s0.tool_1: Does the thing 1.
        tools.s1.tool_0: Does the thing 0.
        tools.s1.tool_1: Does the thing 1.

        ----

        Namespaces whose tools are too many to list. Find them with `search_tools`, or `searchTools` in a script: hits carry their types. `describe_tools` takes `\"namespace.*\"`:

        tools.s0: 2 tools
        tools.s1: 2 tools
        ");
    }

    #[test]
    fn a_small_namespace_keeps_its_types_beside_a_large_one() {
        let mut tools = catalog(1, 2_500).tools().to_vec();
        let mut small = Tool::new("z", "one");
        small.description = "Does one thing.".into();
        tools.push(small);
        insta::assert_snapshot!(tools_part(&Catalog::new(tools, Vec::new()), TOKENS * 4), @r#"
        Tools, each with its types:

        tools.z.one(args?: { [key: string]: unknown }): Promise<unknown> // Does one thing.

        Namespaces whose tools are too many to list. Find them with `search_tools`, or `searchTools` in a script: hits carry their types. `describe_tools` takes `"namespace.*"`:

        tools.s0: 2500 tools
        "#);
    }

    #[test]
    fn a_large_namespace_takes_no_room_from_a_small_one() {
        let mut tools: Vec<Tool> = (0..40).map(|n| Tool::new("a", format!("tool_{n}"))).collect();
        tools.extend((0..30).map(|n| Tool::new("z", format!("tool_{n}"))));
        let catalog = Catalog::new(tools, Vec::new());
        let listed = |text: &str, tool: &str| text.contains(&format!("\n{tool}"));
        let mut told_apart = 0;
        for room in (300..2_000).step_by(10) {
            let text = tools_part(&catalog, GUIDE.len() + room);
            let (large, small) = (listed(&text, "tools.a.tool_0"), listed(&text, "tools.z.tool_0"));
            assert!(small || !large, "{room}: {text}");
            told_apart += usize::from(small && !large);
        }
        assert!(told_apart > 0);
    }

    #[test]
    fn a_flat_dialect_is_shown_its_own_names() {
        let two = catalog(2, 2);
        let text = |room: usize| {
            let dialect = Dialect::find("cloudflare").ok();
            let text = within(&two, dialect, guide(dialect).len() + room);
            text.strip_prefix(&guide(dialect)).unwrap().trim_start().to_owned()
        };
        assert!(guide(Dialect::find("cloudflare").ok()).contains("Beside the language and `codemode` it has"));
        let last = |name: &str| guide(Dialect::find(name).ok()).lines().last().unwrap_or_default().to_owned();
        assert_eq!(last("polylane"), "- `await tools.__describe([names])` gives types and descriptions by name.");
        assert_eq!(last("opencode"), "- `search` is `searchTools`.");
        assert_eq!(last("pi"), "- `ALL_TOOLS` lists all tools as `{ name, description }`.");
        insta::assert_snapshot!(text(2_000) + "\n\n" + &text(340), @"
        Tools, each with its types:

        codemode.s0Tool0(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 0.
        codemode.s0Tool1(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 1.
        codemode.s1Tool0(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 0.
        codemode.s1Tool1(args?: { [key: string]: unknown }): Promise<unknown> // Does the thing 1.

        Namespaces whose tools are too many to list. Find them with `search_tools`, or `searchTools` in a script: hits carry their types. `describe_tools` takes `\"namespace.*\"`:

        `s0`: 2 tools
        `s1`: 2 tools
        ");
    }

    /// Case discovery-05.
    #[test]
    fn four_hundred_tools_of_eight_servers_stay_under_the_budget_and_every_server_is_named() {
        let tools = || {
            (0..400).map(|n| {
                let mut tool = Tool::new(format!("server{}", n % 8), format!("{:x<40}", format!("tool{n}")));
                tool.description = format!("{n} {}", "does a thing of some kind ".repeat(24));
                tool
            })
        };
        let text = description(&Catalog::new(tools().collect(), Vec::new()), None, TOKENS);
        assert!(text.len() <= 12_000, "{}", text.len());
        for n in 0..8 {
            assert!(text.contains(&format!("tools.server{n}")), "{text}");
        }
        assert!(text.contains("50 tools") && text.contains("`search_tools`"), "{text}");
        assert_eq!(text, description(&Catalog::new(tools().rev().collect(), Vec::new()), None, TOKENS));
    }

    /// The real tools of the catalog's tests, cut to 300.
    #[test]
    fn three_hundred_real_tools_are_all_listed_in_13_000_tokens() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalog/tests/tools");
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        let mut tools = Vec::new();
        for file in files {
            let listed: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            for one in listed["tools"].as_array().unwrap() {
                let mut tool = Tool::new(listed["source"].as_str().unwrap(), one["name"].as_str().unwrap());
                tool.description = one["description"].as_str().unwrap_or_default().into();
                tool.input_schema = std::sync::Arc::new(one["inputSchema"].clone());
                tools.push(tool);
            }
        }
        let catalog = Catalog::new(tools.into_iter().take(300).collect(), Vec::new());
        let text = description(&catalog, None, 13_000);
        assert!(text.len() <= 13_000 * 4, "{}", text.len());
        for tool in catalog.tools() {
            assert!(text.contains(&tool.call_expression()), "{}", tool.path());
        }
    }

    #[test]
    fn no_catalog_makes_a_prompt_over_the_budget() {
        for (sources, each) in [(0, 0), (1, 1), (1, 60), (3, 100), (1, 2_500), (2_000, 2)] {
            let text = description(&catalog(sources, each), None, TOKENS);
            assert!(text.len() <= TOKENS * 4, "{sources} × {each}: {}", text.len());
        }
        assert!(description(&catalog(1, 2_500), None, TOKENS).len() <= 1_100 * 4);
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
        let one = description(&Catalog::new(tools, vec![status(Status::Ready, 1)]), None, TOKENS);
        assert_eq!(one, description(&Catalog::new(turned, vec![status(Status::Degraded, 2)]), None, TOKENS));
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
