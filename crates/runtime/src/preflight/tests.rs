//! A table of scripts with the findings that they must have, a good third of which must have none.

use std::sync::{Arc, OnceLock};

use refrain_catalog::{SourceStatus, Status as Health, Tool};
use refrain_engine::{Delivery, Outcome, source};
use serde_json::json;

use super::*;

fn tool(source: &str, name: &str, schema: serde_json::Value) -> Tool {
    let mut tool = Tool::new(source, name);
    tool.input_schema = Arc::new(schema);
    tool
}

fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let mut then = tool("my-src", "then", json!({"type": "object"}));
        then.ident = "then_".into();
        let tools = vec![
            tool(
                "github",
                "list_issues",
                json!({
                    "type": "object", "required": ["owner", "repo"], "additionalProperties": false,
                    "properties": {
                        "owner": {"type": "string"}, "repo": {"type": "string"},
                        "state": {"enum": ["open", "closed"]}, "per_page": {"type": "integer", "maximum": 100},
                        "labels": {"type": "array", "items": {"type": "string"}},
                    },
                }),
            ),
            tool(
                "github",
                "create_issue",
                json!({
                    "type": "object", "required": ["title", "place"],
                    "$defs": {"place": {"type": "object", "required": ["repo"], "properties": {"repo": {"type": "string"}}}},
                    "properties": {
                        "title": {"type": "string"}, "place": {"$ref": "#/$defs/place"},
                        "who": {"anyOf": [{"type": "string"}, {"type": "array"}]},
                    },
                }),
            ),
            tool("my-src", "list-items", json!({"type": "object"})),
            then,
            tool("fares", "quote_fare", json!({"type": "object", "properties": {"from": {"type": "string"}}})),
            tool("mail", "send", json!({"type": "object", "required": ["to"], "properties": {"to": {"type": "string"}}})),
            // A schema that makes no validator accepts anything.
            tool("odd", "broken", json!({"type": "object", "required": ["x"], "properties": {"x": {"type": "nonsense"}}})),
        ];
        let sources = [
            ("github", Health::Ready),
            ("my-src", Health::Ready),
            ("fares", Health::Ready),
            ("mail", Health::Degraded),
            ("odd", Health::Ready),
            ("slack", Health::Failed),
            ("jira", Health::Connecting),
        ];
        let sources = sources.map(|(name, status)| SourceStatus {
            name: name.into(),
            r#type: "mcp".into(),
            status,
            reason: (status == Health::Failed).then(|| "it crashed".into()),
            since_ms: 0,
            tools: 0,
        });
        Catalog::new(tools, sources.into())
    })
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(Some(std::env::temp_dir().join("refrain-runtime-tests"))).unwrap())
}

fn globals() -> &'static [String] {
    static GLOBALS: OnceLock<Vec<String>> = OnceLock::new();
    GLOBALS.get_or_init(|| {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(globals_of(engine())).unwrap()
    })
}

fn findings(script: &str, dialect: Option<&Dialect>) -> Vec<Finding> {
    let read = source::read(script, &roots(dialect)).unwrap_or_else(|error| panic!("{script}: {error}"));
    check(&read.facts, catalog(), globals(), dialect)
}

/// Each line of `expect` is `!` or `?` for certain or suspected, the kind, the place, and words that the message holds.
fn expect(script: &str, dialect: Option<&Dialect>, expect: &[&str]) {
    let found = findings(script, dialect);
    let all: Vec<String> = found
        .iter()
        .map(|finding| {
            let mark = if finding.certainty == Certainty::Certain { '!' } else { '?' };
            let Position { line, column } = finding.position;
            format!("{mark} {} {line}:{column} {}", finding.kind.as_str(), finding.message)
        })
        .collect();
    let fits = |(found, expected): (&String, &&str)| {
        let mut parts = expected.splitn(4, ' ');
        let head: Vec<&str> = parts.by_ref().take(3).collect();
        found.starts_with(&format!("{} ", head.join(" "))) && parts.next().is_none_or(|words| found.contains(words))
    };
    assert!(
        all.len() == expect.len() && all.iter().zip(expect).all(fits),
        "{script}\n\nfound\n{}\n\nexpected\n{}",
        all.join("\n"),
        expect.join("\n")
    );
}

/// Scripts and their findings.
type Table = &'static [(&'static str, &'static [&'static str])];

fn check_all(table: &[(&str, &[&str])]) {
    for (script, findings) in table {
        expect(script, None, findings);
    }
}

/// Shapes that models write, none of which is wrong.
#[test]
fn correct_scripts_have_no_findings() {
    let scripts = [
        "return 1 + 1",
        "const o = await tools.github.list_issues({ owner: 'acme', repo: 'web' });\nreturn o.length",
        "async () => {\n  const repo = { owner: 'acme', repo: 'web' };\n  return await tools.github.list_issues({ ...repo, state: 'open' });\n}",
        "const { github } = tools;\nreturn github.list_issues({ owner: 'a', repo: 'b', per_page: 20, labels: ['bug'] })",
        "const list = tools.github.list_issues;\nconst [a, b] = await Promise.all([list({ owner: 'a', repo: 'b' }), list({ owner: 'a', repo: 'c' })]);\nreturn a.length + b.length",
        "const ids = Array.from({ length: 200 }, (_, i) => i);\nconst out = await Promise.all(ids.map((id) => tools.fares.quote_fare({ from: String(id) })));\nreturn out.length",
        "const r = await Promise.all([1, 2].map(async (id) => (await tools.fares.quote_fare({ id })).id));\nreturn r",
        "let saved = 0;\ntry {\n  await tools.fares.quote_fare({ from: 'x' });\n} catch (e) {\n  saved = e.message.includes('not found') ? 1 : -1;\n} finally {\n  saved += 10;\n}\nreturn saved",
        "const p = tools.fares.quote_fare({});\nconst q = await p;\nreturn q.amount",
        "const a = tools.fares.quote_fare({}), b = tools.fares.quote_fare({});\nreturn [await a, await b]",
        "return tools['my-src']['list-items']()",
        "return tools.my_src.list_items({ any: 1 })",
        "return await tools.mcp__github__list_issues({ owner: 'a', repo: 'b' })",
        "interface Row { id: number }\nconst rows = (await tools.fares.quote_fare()) as Row[];\nreturn rows[0]!.id",
        "const out = [];\nfor await (const page of pages()) out.push(page);\nasync function* pages() { yield await tools.fares.quote_fare({}) }\nreturn out",
        "const t0 = Date.now();\nawait new Promise((r) => setTimeout(r, 150));\nreturn Date.now() - t0 >= 140",
        "console.log('x', Math.max(1, 2), JSON.stringify({}), new Map(), new URL('https://a.example'));\ntext('done', structuredClone([1]));\nreturn new TextEncoder().encode('x').length",
        "store('a', 1);\nawait sleep(10);\nconst ok = await ask('sure?');\nprogress(0.5, 'half');\nconst rows = await parallel([1], (it) => tools.fares.quote_fare({ it }), { concurrency: 2 });\nif (!ok) exit();\nreturn load('a') + rows.length + args.n",
        "const hits = await searchTools('issues', { limit: 5 });\nconst docs = await describeTools(hits.map((hit) => hit.path));\nreturn docs",
        "if (typeof process !== 'undefined') { text('node') }\nreturn typeof window",
        "class Failure extends Error { constructor(m: string) { super(m); this.name = 'Failure' } }\ntry { throw new Failure('x') } catch (e) { return e instanceof ToolError ? 1 : e.name }",
        "const issues = await tools.github.list_issues({ owner: args.owner, repo: args.repo, state: args.state });\nconst by = {};\nfor (const i of issues) (by[i.user] ??= []).push(i.id);\nreturn by",
        "const extra = args.extra;\nreturn await tools.github.list_issues({ owner: 'a', repo: 'b', extra })",
        "return await tools.github.list_issues(args)",
        "return await tools.github.list_issues({ owner: 'a', repo: 'b', state: undefined, note: undefined })",
        "return await tools.github.create_issue({ title: `x ${args.n}`, place: { ...args.place }, who: ['a'] })",
        "return await tools.odd.broken({ y: 1 })",
        "return await tools.odd.broken({ y: args.n })",
        "const results = await Promise.allSettled([tools.fares.quote_fare({}), tools.fares.quote_fare({})]);\nreturn results.map((r) => r.status)",
        "const queue = [];\nfor (const from of ['a', 'b']) queue.push(tools.fares.quote_fare({ from }));\nreturn (await Promise.all(queue)).length",
        "const cache = new Map();\nconst get = (from) => cache.get(from) ?? cache.set(from, tools.fares.quote_fare({ from })).get(from);\nreturn await get('x')",
        "return Object.keys(tools).concat(Object.keys(tools.github))",
        "const name = args.tool;\nreturn await tools.github[name]({})",
        "export default async function main() {\n  const r = await tools.fares.quote_fare({ from: 'OSL' });\n  return helper(r);\n}\nfunction helper(r) { return r.amount }",
        "Here you go:\n```ts\nconst r = await tools.fares.quote_fare({});\nreturn r\n```",
        "const kinds = [function () {}, async () => {}];\nreturn kinds.map((k) => { try { return new k.constructor('return 1')() } catch { return 0 } })",
    ];
    assert!(scripts.len() >= 30);
    for script in scripts {
        expect(script, None, &[]);
    }
}

#[test]
fn unknown_names_are_found() {
    check_all(NAMES);
}

const NAMES: Table = &[
    (
        "const fs = require('fs');\nreturn fs.readFileSync('/etc/hostname', 'utf8')",
        &["! unknown_global 1:12 no module loader"],
    ),
    (
        "const r = await fetch('https://a.example');\nreturn r.json()",
        &["! unknown_global 1:17 the tools are the only way out, like `await tools."],
    ),
    ("return process.env.HOME", &["! unknown_global 1:8 `args`"]),
    ("return Buffer.from('x').toString('base64')", &["! unknown_global 1:8 `Uint8Array`"]),
    ("document.title = 'x'; return 1", &["! unknown_global 1:1 no browser"]),
    ("localStorage.setItem('a', 1); return 1", &["! unknown_global 1:1 `store(key, value)`"]),
    ("alert('x')", &["! unknown_global 1:1 `text(…)`"]),
    ("print('x')", &["! unknown_global 1:1 `console.log(…)`"]),
    ("module.exports = 1; return __dirname", &["! unknown_global 1:1 module", "! unknown_global 1:28 no folder"]),
    ("const result = 1;\nreturn reslt", &["! unknown_global 2:8 did you mean `result`?"]),
    ("consol.log(1); return 1", &["! unknown_global 1:1 did you mean `console`?"]),
    ("return serachTools('x')", &["! unknown_global 1:8 did you mean `searchTools`?"]),
    (
        "return await github.list_issues({ owner: 'a', repo: 'b' })",
        &["! unknown_global 1:14 it is a source, so write `tools.github.<tool>(args)`"],
    ),
    (
        "return await list_issues({ owner: 'a', repo: 'b' })",
        &["! unknown_global 1:14 `await tools.github.list_issues(args)`"],
    ),
    ("return await codemode.list({})", &["! unknown_global 1:14 `await tools.<source>.<tool>(args)`"]),
    ("return xyzzy", &["! unknown_global 1:8 `xyzzy` is not defined"]),
    ("declare const db: any;\nreturn db.query('x')", &["! unknown_global 2:8 `db` is not defined"]),
    ("async () => {\n  const data = await fetch('x');\n  return data;\n}", &["! unknown_global 2:22 `fetch`"]),
    ("async function main() { return fetch('x') }\nmain();", &["! unknown_global 1:32 `fetch`"]),
    // What may not happen, or may be caught.
    (
        "const out = [];\nfor (const u of ['a']) {\n  try { const r = await fetch(u); out.push((await r.text()).slice(0, 20)) } catch (e) { out.push('blocked') }\n}\nreturn out",
        &["? unknown_global 3:25 `fetch`"],
    ),
    ("if (args.n) return fetch('x');\nreturn 1", &["? unknown_global 1:20 `fetch`"]),
    ("if (typeof fetch === 'function') return fetch('x');\nreturn 1", &["? unknown_global 1:41 `fetch`"]),
    ("if (args.n) return 1;\nreturn xyzzy", &["? unknown_global 2:8 `xyzzy`"]),
    ("total = 1;\nreturn total", &["? unknown_global 1:1 write `let total = …`"]),
    ("const f = () => xyzzy;\nreturn 1", &["? unknown_global 1:17 `xyzzy`"]),
    ("globalThis.fetch = async () => 1;\nreturn fetch()", &["? unknown_global 2:8 `fetch`"]),
    ("if (args.n) exit();\nreturn xyzzy", &["? unknown_global 2:8 `xyzzy`"]),
    ("try { xyzzy() } catch {}\nreturn xyzzy", &["! unknown_global 2:8 `xyzzy`"]),
];

#[test]
fn unknown_tools_are_found() {
    check_all(TOOLS);
}

const TOOLS: Table = &[
    (
        "return await tools.github.list_isues({ owner: 'a', repo: 'b' })",
        &["! unknown_tool 1:27 did you mean `list_issues`?"],
    ),
    ("return await tools.gihub.list_issues({})", &["! unknown_tool 1:26 did you mean `github`?"]),
    (
        "return await tools['github']['nope']({})",
        &["! unknown_tool 1:30 source `github` has `create_issue`, `list_issues`"],
    ),
    ("const { github: g } = tools;\nreturn g.listIssue({})", &["! unknown_tool 2:10 did you mean `list_issues`?"]),
    (
        "return await tools.list_issues({ owner: 'a', repo: 'b' })",
        &["! unknown_tool 1:20 `await tools.github.list_issues(args)`"],
    ),
    ("return await tools.github({ owner: 'a' })", &["! unknown_tool 1:20 is a source and not a tool"]),
    ("return await tools.mcp__github__nope({})", &["! unknown_tool 1:20 unknown tool `github.nope`"]),
    ("return await tools.quote_far({})", &["! unknown_tool 1:20 did you mean `tools.fares.quote_fare`?"]),
    (
        "return await tools['my-src'].then({})",
        &["! unknown_tool 1:30 this tool is called as `await tools[\"my-src\"].then_(args)`"],
    ),
    ("return await tools['my-src'].then_({})", &[]),
    ("return await tools.github.then((tools) => tools)", &["! unknown_tool 1:27 `github.then`"]),
    ("return typeof tools['my-src'].then + typeof await tools['my-src']", &[]),
    // What is asked for and is not there is true all the same.
    ("if (tools.gihub) return 1;\nreturn 2", &["? unknown_tool 1:11 ask with `\"gihub\" in tools`"]),
    ("return tools.github && !tools.fares ? 1 : 'gihub' in tools", &[]),
    // Down, not quite well, caught, not surely called.
    ("return await tools.slack.post({ text: 'x' })", &["? source_down 1:26 it crashed"]),
    ("return await tools.jira.search({})", &["? source_down 1:25 `jira` is down"]),
    ("return await tools.mail.fetch({})", &["? unknown_tool 1:25 unknown tool `mail.fetch`"]),
    ("try { return await tools.github.nope({}) } catch { return 0 }", &["? unknown_tool 1:33 `github.nope`"]),
    ("return await tools.github.nope({}).catch(() => 0)", &["? unknown_tool 1:27 `github.nope`"]),
    ("return [1].map(tools.github.nope)", &["? unknown_tool 1:29 `github.nope`"]),
    ("return Promise.all([1].map((x) => tools.github.nope({ x })))", &["? unknown_tool 1:48 `github.nope`"]),
    ("const r = tools.github.nope({});\nreturn 1", &["? unknown_tool 1:24 `github.nope`"]),
];

#[test]
fn arguments_that_contradict_the_schema_are_found() {
    check_all(ARGUMENTS);
}

const ARGUMENTS: Table = &[
    ("return await tools.github.list_issues({ owner: 'a' })", &["! invalid_arguments 1:39 repo"]),
    ("return await tools.github.list_issues()", &["! invalid_arguments 1:27 owner"]),
    ("return await tools.github.list_issues('acme/web')", &["! invalid_arguments 1:39 an object"]),
    (
        "return await tools.github.list_issues({\n  owner: 'a',\n  repo: 'b',\n  state: 'opened',\n})",
        &["! invalid_arguments 4:3 signature: tools.github.list_issues"],
    ),
    (
        "return await tools.github.list_issues({ owner: 'a', repo: 'b', per_page: '20' })",
        &["! invalid_arguments 1:64 integer"],
    ),
    (
        "return await tools.github.list_issues({ owner: 'a', repo: 'b', per_page: 200 })",
        &["! invalid_arguments 1:64 100"],
    ),
    (
        "return await tools.github.list_issues({ owner: 'a', repo: 'b', page: 2 })",
        &["! invalid_arguments 1:64 did you mean `per_page`?"],
    ),
    // Known in part.
    (
        "return await tools.github.list_issues({ owner: args.o, per_page: 1 })",
        &["! invalid_arguments 1:39 `args.repo` is missing"],
    ),
    (
        "return await tools.github.list_issues({ owner: args.o, repo: 'b', State: 'open' })",
        &["! invalid_arguments 1:67 did you mean `state`?"],
    ),
    (
        "return await tools.github.list_issues({ ...args, per_page: 'x' })",
        &["! invalid_arguments 1:50 must be of type integer, and is \"x\""],
    ),
    (
        "return await tools.github.list_issues({ owner: args.o, repo: `b${args.n}`, state: 'all' })",
        &["! invalid_arguments 1:76 must be \"open\" or \"closed\", and is \"all\""],
    ),
    (
        "return await tools.github.list_issues({ owner: args.o, repo: args.r, labels: [args.a, 1] })",
        &["! invalid_arguments 1:70 `args.labels[…]` must be of type string"],
    ),
    (
        "return await tools.github.create_issue({ title: args.t, place: { owner: 'a' } })",
        &["! invalid_arguments 1:57 `args.place.repo` is missing"],
    ),
    (
        "return await tools.github.create_issue({ title: args.t, place: args.p, who: 1 })",
        &["! invalid_arguments 1:72 `args.who` must be of type string"],
    ),
    (
        "return await tools.github.create_issue({ title: `x${1}`, place: 'web' })",
        &["! invalid_arguments 1:58 must be of type object"],
    ),
    ("return await tools.fares.quote_fare({ from: 1n })", &["! invalid_arguments 1:39 BigInt"]),
    // Not surely sent, or not surely fatal.
    ("return await tools.fares.quote_fare({ frm: 'x' })", &["? invalid_arguments 1:39 did you mean `from`?"]),
    ("return await tools.fares.quote_fare({ From: args.a })", &["? invalid_arguments 1:39 did you mean `from`?"]),
    ("return await tools.fares.quote_fare({ from: 'x', form: 'y', other: 1 })", &[]),
    ("if (args.n) await tools.github.list_issues({});\nreturn 1", &["? invalid_arguments 1:44 owner"]),
    ("try { await tools.github.list_issues({}) } catch {}\nreturn 1", &["? invalid_arguments 1:38 owner"]),
    (
        "return await tools.fares.quote_fare({ from: 'OSL' }, { to: 'BGO' })",
        &["? invalid_arguments 1:37 takes one object"],
    ),
];

#[test]
fn calls_that_nobody_waits_for_are_found() {
    check_all(PROMISES);
}

const PROMISES: Table = &[
    (
        "const q = tools.fares.quote_fare({ from: 'OSL', to: 'BGO' });\nreturn { price: q.amount ?? null }",
        &[
            "? not_awaited 1:23 `fares.quote_fare` gives a promise that is not awaited, and `.amount` is read from it on line 2; write `await tools.fares.quote_fare(…)`",
        ],
    ),
    (
        "tools.mail.send({ to: 'a' });\ntools.mail.send({ to: 'b' });\nreturn 'queued'",
        &["? not_awaited 1:12 `mail.send`", "? not_awaited 2:12 its errors are lost"],
    ),
    ("for (const to of ['a']) tools.mail.send({ to });\nreturn 1", &["? not_awaited 1:36 not awaited"]),
    ("['a'].forEach(async (to) => { await tools.mail.send({ to }) });\nreturn 1", &["? not_awaited 1:48 `forEach`"]),
    ("return tools.fares.quote_fare({}).items.length", &["? not_awaited 1:20 `.items` is read from it"]),
    (
        "const rows = tools.github.list_issues({ owner: 'a', repo: 'b' });\nreturn rows.map((r) => r.id)",
        &["? not_awaited 1:27 `.map` is read from it on line 2"],
    ),
    ("const { amount } = tools.fares.quote_fare({});\nreturn amount", &["? not_awaited 1:32 taken apart"]),
    (
        "const rows = tools.fares.quote_fare({});\nfor (const r of rows) text(r);\nreturn 1",
        &["? not_awaited 1:26 `for … of`"],
    ),
    (
        "const unused = tools.my_src.list_items();\nreturn 1",
        &["? not_awaited 1:29 write `await tools.my_src.list_items(…)`"],
    ),
    (
        "return `${tools['my-src']['list-items']()}`",
        &["? not_awaited 1:27 `await tools[\"my-src\"][\"list-items\"](…)`"],
    ),
];

#[test]
fn a_program_that_is_never_called_is_found() {
    check_all(&[
        (
            "const SIZES = Object.freeze([1]);\nasync function main() { return SIZES }",
            &["? never_called 2:16 `return main()`"],
        ),
        ("const run = async () => 1;\nlet n = 0;\nn = 1;", &["? never_called 1:7 `run` is declared"]),
        ("const unused = () => 1;\nreturn 1", &[]),
    ]);
}

#[test]
fn several_findings_come_with_the_certain_ones_first() {
    let script = "tools.mail.send({ to: 'a' });\nconst r = await tools.github.nope({});\nreturn [r, xyzzy]";
    check_all(&[(
        script,
        &["! unknown_tool 2:30 `github.nope`", "! unknown_global 3:12 `xyzzy`", "? not_awaited 1:12 `mail.send`"],
    )]);
    let found = findings(script, None);
    let error = refusal(script, &found).unwrap();
    assert_eq!((error.line, error.column, error.tool.as_deref()), (Some(2), Some(30), Some("github.nope")));
    assert!(
        error.message.contains("line 3: `xyzzy`") && error.message.contains("nothing has run"),
        "{}",
        error.message
    );
    assert!(error.frame.unwrap().contains("> 2 | const r"));
    let note = Note::from(&found[2]);
    assert_eq!((note.kind.as_str(), note.line, note.tool.as_deref()), ("not_awaited", Some(1), Some("mail.send")));
    assert!(refusal("", &found[2..]).is_none());
}

#[test]
fn each_dialect_has_its_own_names() {
    let dialect = |name: &str| Some(Dialect::find(name).unwrap());
    for name in ["cloudflare", "ordering"] {
        let script = "async () => { const r = await codemode.quote_fare({ from: 'x' }); return codemode.githubListIssues({ owner: 'a', repo: r }) }";
        expect(script, dialect(name), &[]);
        expect(
            "return await codemode.quoteFares({})",
            dialect(name),
            &["? unknown_tool 1:23 unknown tool `quoteFares`"],
        );
        expect(
            "return await tools.fares.quote_fare({})",
            dialect(name),
            &["! unknown_global 1:14 `await codemode.<tool>(args)`"],
        );
        expect(
            "return await codemode.list_issues({ owner: 1 })",
            dialect(name),
            &["! invalid_arguments 1:37 `args.owner`"],
        );
    }
    expect(
        "return await codemode.search('x')",
        dialect("cloudflare"),
        &["? unknown_tool 1:23 looked for with `await searchTools(words)`"],
    );
    expect(
        "return await github.list_issues({ owner: 'a' })",
        dialect("cloudflare"),
        &["! unknown_global 1:14 it is a source, whose tools are called like `await codemode."],
    );
    expect(
        "const all = ALL_TOOLS.filter((t) => t.name);\nreturn tools.mcp__fares__quote_fare({ from: all[0].name })",
        dialect("pi"),
        &[],
    );
    expect("const docs = await tools.__describe(['x']);\nreturn tools.faresQuoteFare(docs)", dialect("polylane"), &[]);
    expect("const hits = await search('x');\nreturn tools.fares.quote_fare(hits[0])", dialect("opencode"), &[]);
    expect("return ALL_TOOLS", None, &["! unknown_global 1:8 `ALL_TOOLS`"]);
    expect("tools.quote_fare({});\nreturn 1", dialect("pi"), &["? not_awaited 1:7 `await tools.quote_fare(…)`"]);
    // With every source ready, a flat name that nobody has is certain.
    let ready = Catalog::new(catalog().tools().to_vec(), Vec::new());
    let read = source::read("return await codemode.quoteFares({})", &roots(dialect("ordering"))).unwrap();
    let found = check(&read.facts, &ready, globals(), dialect("ordering"));
    assert_eq!(found[0].certainty, Certainty::Certain);
}

/// The scripts printed in the documents that started the project, under their dialects, with whatever tools.
#[test]
fn scripts_that_other_systems_print_have_no_findings() {
    let names = [
        "githubApi",
        "vercelListDeployments",
        "someTool",
        "discoverStores",
        "addToCart",
        "getCatalogSet",
        "setFulfillmentContext",
    ];
    let catalog = Catalog::new(names.iter().map(|name| Tool::new("x", *name)).collect(), Vec::new());
    for (dialect, script) in [
        (
            "polylane",
            "// Simplified, modelled on scripts our agent writes.\nasync () => {\n  const { data } = await tools.githubApi({\n    method: \"GET\",\n    params: { owner: \"acme\", per_page: 15 },\n  });\n  const failed = data.workflow_runs.filter((r) => r.conclusion === \"failure\");\n\n  return Promise.all(\n    failed.map(async (run) => {\n      try {\n        const jobs = await tools.githubApi({ run_id: run.id });\n        return { id: run.id, failedJobs: jobs.data.jobs.map((j) => j.name) };\n      } catch (e) {\n        return { id: run.id, error: String(e) };\n      }\n    }),\n  );\n}",
        ),
        (
            "ordering",
            "async () => {\n  await codemode.setFulfillmentContext({\n    mode: \"DELIVERY_BY_MERCHANT\",\n  });\n\n  const discovery = await codemode.discoverStores({\n    location: { latitude: 37.77, longitude: -122.42 },\n    query: \"sushi\",\n    limit: 3,\n  });\n\n  const store = discovery.stores[0];\n  const menu = await codemode.getCatalogSet({ catalogSetId: store.catalogSetId });\n  const firstItem = Object.values(menu.items)[0];\n  const cart = await codemode.addToCart({\n    storeId: store.storeId,\n    item: { itemId: firstItem.itemId, quantity: 1, modifierGroups: null },\n  });\n\n  return { store: store.name, cart };\n}",
        ),
        (
            "polylane",
            "async () => {\n  const items = (await tools.vercelListDeployments({ limit: 10 })).items;\n  return await Promise.all(\n    items.map(async (it) => {\n      try {\n        return { it, data: await tools.someTool(args) };\n      } catch (e) {\n        return { it, error: String(e) };\n      }\n    }),\n  );\n}",
        ),
    ] {
        let dialect = Some(Dialect::find(dialect).unwrap());
        let read = source::read(script, &roots(dialect)).unwrap();
        assert_eq!(check(&read.facts, &catalog, globals(), dialect), [], "{script}");
    }
}

/// How `script` ends in the real sandbox. A call of a tool that does not exist, or with arguments that it refuses, is
/// refused as the runtime would.
fn ending(engine: &Engine, catalog: &Catalog, script: &str) -> Status {
    let mut tools = serde_json::Map::new();
    for tool in catalog.tools() {
        let names = tools.entry(tool.source.clone()).or_insert_with(|| json!([]));
        let name = if tool.name == "then" { &tool.ident } else { &tool.name };
        names.as_array_mut().unwrap().push(name.as_str().into());
    }
    let facts = json!({ "args": { "yes": true, "no": false }, "tools": tools, "store": {} }).to_string();
    let start = refrain_engine::Start { clock_ms: 0, seed: 0, facts };
    let prepared = source::prepare(script).unwrap();
    let mut sandbox = engine.sandbox(Limits::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut turn = runtime.block_on(sandbox.start(&prepared.javascript, &start));
    let mut calls = std::collections::VecDeque::from(std::mem::take(&mut turn.calls));
    while let (Status::Waiting, Some(call)) = (&turn.status, calls.pop_front()) {
        let refrain_engine::Target::Tool { source, tool } = &call.target else { continue };
        let refused = catalog.resolve(source, tool).map_err(|error| error.to_string()).and_then(|tool| {
            let args = serde_json::from_str(&call.args).unwrap();
            tool.check_args(&args).map_err(|error| error.message)
        });
        let outcome = match refused {
            Ok(()) => Outcome::Value("{}".into()),
            Err(message) => Outcome::Failure(json!({ "message": message, "code": "invalid_arguments" }).to_string()),
        };
        turn = runtime.block_on(sandbox.feed(&Delivery { call: call.call, clock_ms: 0, outcome }));
        calls.extend(turn.calls.drain(..));
    }
    turn.status
}

#[test]
fn every_script_of_the_tables_that_is_stopped_would_have_failed() {
    let engine = engine();
    let mut stopped = 0;
    for (script, expected) in [NAMES, TOOLS, ARGUMENTS, PROMISES].into_iter().flatten() {
        if expected.iter().any(|finding| finding.starts_with('!')) {
            let status = ending(engine, catalog(), script);
            assert!(matches!(status, Status::Threw(_)), "{script}: {status:?}");
            stopped += 1;
        }
    }
    assert!(stopped > 40);
}

/// Makes scripts of all kinds of control flow around a few faults.
struct Writer {
    seed: u64,
    named: usize,
}

impl Writer {
    fn next(&mut self, below: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % below
    }

    fn name(&mut self) -> String {
        self.named += 1;
        format!("n{}", self.named)
    }

    fn statements(&mut self, depth: u32) -> String {
        (0..1 + self.next(3)).map(|_| self.statement(depth)).collect::<Vec<_>>().join(" ")
    }

    fn value(&mut self) -> String {
        let values = [
            "bad",
            "bad()",
            "await tools.a.nope({})",
            "tools.a.nope({})",
            "await tools.a.get({ id: 'x' })",
            "await tools.a.get({ id: 1 })",
            "await tools.a.get({ ...args })",
            "await tools.a.get({ id: args.yes })",
            "await tools.a.get({ id: 'x' }).catch(() => 0)",
            "typeof bad",
            "await tools.nope()",
            "await tools.b?.get({})",
            "args.yes && bad",
            "args.yes || bad",
            "args.no ? bad : 1",
            "bad ?? 1",
            "[bad].length",
            "() => bad",
            "`${bad}`",
            "await Promise.all([tools.a.nope({})])",
            "await Promise.allSettled([tools.a.nope({})])",
            "await Promise.race([1, tools.a.nope({})])",
            "exit()",
            "(args.yes ? exit : text)('x')",
            "await tools.a.get({ id: 1, more: 2 })",
            "await tools.a.get()",
            "class { static a = bad }",
            "((a = bad) => a)(1)",
        ];
        let value = values[self.next(values.len() as u64) as usize];
        // One `exit` makes everything uncertain, so there are few.
        if value.contains("exit") && self.next(5) > 0 { "1".into() } else { value.to_owned() }
    }

    fn statement(&mut self, depth: u32) -> String {
        let kind = if depth == 0 { self.next(8) } else { self.next(27) };
        match kind {
            0..=2 => format!("({});", self.value()),
            3 => format!("const {} = {};", self.name(), self.value()),
            4 => "await tools.a.get({ id: 1 });".into(),
            5 => ["text('x');", "return 1;", "if (args.yes) return 1;", "throw new Error('x');"][self.next(4) as usize]
                .into(),
            6 => format!("return {};", self.value()),
            7 => format!("const {{ a = {} }} = {{ a: 1 }};", self.value())
                .replace("{ a =", &format!("{{ a: {} =", self.name())),
            8 => format!("if (args.yes) {{ {} }}", self.statements(depth - 1)),
            9 => format!("if (args.no) {{ {} }} else {{ {} }}", self.statements(depth - 1), self.statements(depth - 1)),
            10 => format!("try {{ {} }} catch {{ {} }}", self.statements(depth - 1), self.statements(depth - 1)),
            11 => format!("try {{ {} }} finally {{ {} }}", self.statements(depth - 1), self.statements(depth - 1)),
            12 => format!("for (const i of [1]) {{ {} }}", self.statements(depth - 1)),
            13 => format!("for (const i of []) {{ {} }}", self.statements(depth - 1)),
            14 => format!("while (args.no) {{ {} }}", self.statements(depth - 1)),
            15 => format!("do {{ {} break; }} while (args.yes);", self.statements(depth - 1)),
            16 => format!("{{ {} }}", self.statements(depth - 1)),
            17 => format!("label: {{ if (args.yes) break label; {} }}", self.statements(depth - 1)),
            18 => format!("switch (args.no) {{ case true: {} }}", self.statements(depth - 1)),
            19 => format!("(async () => {{ {} }})();", self.statements(depth - 1)),
            20 => format!("await (async () => {{ {} }})();", self.statements(depth - 1)),
            21 => format!("await (async () => {{ {} }})().catch(() => 0);", self.statements(depth - 1)),
            22..=24 => {
                let (name, body) = (self.name(), self.statements(depth - 1));
                let call = [
                    "await NAME();",
                    "NAME();",
                    "return NAME();",
                    "if (args.no) await NAME();",
                    "",
                    "await NAME().catch(() => 0);",
                ][self.next(6) as usize]
                    .replace("NAME", &name);
                match kind {
                    22 => format!("async function {name}() {{ {body} }} {call}"),
                    23 => format!("const {name} = async () => {{ {body} }}; {call}"),
                    _ => format!("{call} async function {name}() {{ {body} }}"),
                }
            }
            25 => format!("[1].forEach(async () => {{ {} }});", self.statements(depth - 1)),
            _ => ["globalThis.bad = () => 1;", "this.bad = 1;", "new Function('globalThis.bad = 1')();"]
                [self.next(3) as usize]
                .into(),
        }
    }

    fn script(&mut self) -> String {
        let body = self.statements(3);
        match self.next(6) {
            0 => format!("async () => {{ {body} }}"),
            1 => format!("export default async function main() {{ {body} }}"),
            2 => format!("async function main() {{ {body} }}"),
            3 => format!("async function main() {{ {body} }}\nmain();"),
            _ => body,
        }
    }
}

/// What is certain is never wrong, whatever the control flow around it.
#[test]
fn no_script_that_would_have_run_to_its_end_is_stopped() {
    let mut get = tool(
        "a",
        "get",
        json!({"type": "object", "required": ["id"], "properties": {"id": {"type": ["integer", "boolean"]}}}),
    );
    get.output_schema = None;
    let ready = SourceStatus {
        name: "a".into(),
        r#type: "mcp".into(),
        status: Health::Ready,
        reason: None,
        since_ms: 0,
        tools: 1,
    };
    let catalog = Catalog::new(vec![get], vec![ready]);
    let mut writer = Writer { seed: 0x9e37_79b9_7f4a_7c15, named: 0 };
    let (mut stopped, mut passed) = (0, 0);
    for _ in 0..6000 {
        let script = writer.script();
        let Ok(read) = source::read(&script, &Roots::default()) else { continue };
        let found = check(&read.facts, &catalog, globals(), None);
        if found.first().is_none_or(|finding| finding.certainty == Certainty::Suspected) {
            passed += 1;
            continue;
        }
        stopped += 1;
        let status = ending(engine(), &catalog, &script);
        let failed = matches!(status, Status::Threw(_) | Status::Stalled | Status::Stopped(..));
        assert!(failed, "{script}\n{status:?}\n{found:#?}");
    }
    assert!(stopped > 300 && passed > 300, "{stopped} were stopped and {passed} were not");
}

#[test]
fn a_run_waits_for_the_sources_that_its_script_names_and_for_no_others() {
    let enough = |script: &str| {
        let read = source::read(script, &Roots::default()).unwrap_or_else(|error| panic!("{script}: {error}"));
        is_enough(script, &read.facts, catalog(), None)
    };
    for script in [
        "return 1",
        "return await tools.github.list_issues({})",
        "const g = tools.github; return await g.list_issues({})",
        "return await searchTools('issues')",
        "return await tools.slack.post({})",
        "return await tools.mcp__github__list_issues({})",
        "return typeof tools",
        "return Object.keys(tools)",
        "return await tools['git' + 'hub'].list_issues({})",
        "const name = 'x'; return await tools.github[name]({})",
    ] {
        assert!(enough(script), "{script}");
    }
    for script in [
        "return await tools.jira.search({})",
        "await tools.github.list_issues({}); return await tools['jira'].search({})",
        "return await tools.mcp__jira__search({})",
        "return await tools.search({})",
        "const name = 'x'; return await tools.jira[name]({})",
        "const name = 'jira'; return await tools[name].search({})",
    ] {
        assert!(!enough(script), "{script}");
    }
}
