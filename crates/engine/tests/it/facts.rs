//! What is known of a script before it runs.

use refrain_engine::source::{Facts, Fate, Literal, Reach, Roots, ToolUse, read};

fn facts(script: &str) -> Facts {
    read(script, &Roots::default()).unwrap_or_else(|error| panic!("{script}: {error}")).facts
}

/// `name@line:column`, `?` where it may not happen, `=` where it is assigned, `!` where the script looks first.
fn globals(script: &str, expect: &str) {
    let facts = facts(script);
    let known =
        ["tools", "Promise", "console", "undefined", "JSON", "Object", "Array", "exit", "globalThis", "Function"];
    let found: Vec<String> = facts
        .globals
        .iter()
        .filter(|used| !known.contains(&used.name.as_str()))
        .map(|used| {
            let sure = if used.reach == Reach::Sure { "" } else { "?" };
            let (assigned, guarded) = (if used.assigned { "=" } else { "" }, if used.guarded { "!" } else { "" });
            format!("{}@{}:{}{sure}{assigned}{guarded}", used.name, used.position.line, used.position.column)
        })
        .collect();
    assert_eq!(found.join(" "), expect, "{script}");
}

fn shown(used: &ToolUse) -> String {
    let sure = if used.reach == Reach::Sure { "" } else { "?" };
    let call = match used.call.as_ref().map(|call| &call.fate) {
        None => "no call".into(),
        Some(Fate::Awaited) => "awaited".into(),
        Some(Fate::Kept) => "kept".into(),
        Some(Fate::Dropped) => "dropped".into(),
        Some(Fate::InForEach) => "in forEach".into(),
        Some(Fate::Misused { how, position }) => format!("{how} on {}:{}", position.line, position.column),
    };
    format!("{}@{}:{}{sure} {call}", used.names.join("."), used.position.line, used.position.column)
}

/// `source.tool@line:column`, `?` where it may not happen, and what becomes of the call.
fn uses(script: &str, expect: &[&str]) {
    let found: Vec<String> = facts(script).tools.iter().map(shown).collect();
    assert_eq!(found, expect, "{script}");
}

/// What the first call of `script` is given.
fn argument(value: &str, expect: &str) {
    fn show(value: &Literal) -> String {
        match value {
            Literal::Unknown => "_".into(),
            Literal::Undefined => "undefined".into(),
            Literal::Null => "null".into(),
            Literal::Bool(it) => it.to_string(),
            Literal::Number(it) => it.to_string(),
            Literal::BigInt => "bigint".into(),
            Literal::Text(it) => format!("{it:?}"),
            Literal::SomeText => "text".into(),
            Literal::Array { items, open } => {
                let items: Vec<String> = items.iter().map(show).collect();
                format!("[{}{}]", items.join(" "), if *open { " …" } else { "" })
            }
            Literal::Object { fields, open } => {
                let fields: Vec<String> =
                    fields.iter().map(|field| format!("{}:{}", field.name, show(&field.value))).collect();
                format!("{{{}{}}}", fields.join(" "), if *open { " …" } else { "" })
            }
        }
    }
    let facts = facts(&format!("const k = 'a', o = {{}};\nawait tools.a.b({value})"));
    let call = facts.tools[0].call.as_ref().unwrap();
    assert_eq!(show(&call.argument.value), expect, "{value}");
}

#[test]
fn names_that_a_script_does_not_declare_are_found_with_their_places() {
    globals("const fs = require('fs');\nreturn fs.readFileSync(path)", "require@1:12 path@2:24");
    globals("const a = 1;\nreturn [a, b, a.c, { d: 1 }.d, { e }]", "b@2:12 e@2:34");
    globals("function f(x) { return x + y }\nreturn f(1)", "y@1:28");
    globals("type A = Missing; let a: typeof gone; const b = 1 as unknown as Other; return b", "");
    globals("return f(1); function f(x) { return arguments.length + x }", "");
    globals("declare const fetch: any;\nreturn fetch('x')", "fetch@2:8");
    globals("total = 1; return total", "total@1:1=! total@1:19!");
}

#[test]
fn a_name_that_is_looked_at_first_is_guarded() {
    globals("if (typeof fetch === 'function') return await fetch('x')", "fetch@1:47?!");
    globals("return typeof process", "");
    globals("return typeof (process)", "");
}

#[test]
fn only_what_runs_on_every_way_through_is_sure() {
    for (script, expect) in [
        ("x()", "x@1:1"),
        ("{ x() }", "x@1:3"),
        ("const a = 1, b = [x];", "x@1:19"),
        ("if (x) { y() } else { z() }", "x@1:5 y@1:10? z@1:23?"),
        ("return x ? y : z", "x@1:8 y@1:12? z@1:16?"),
        ("return x && y", "x@1:8 y@1:13?"),
        ("return x ?? y", "x@1:8 y@1:13?"),
        ("for (const a of x) y(a)", "x@1:17 y@1:20?"),
        ("for (let i = x; i < y; i++) z()", "x@1:14? y@1:21? z@1:29?"),
        ("while (x) y()", "x@1:8 y@1:11?"),
        ("do { x() } while (y)", "x@1:6? y@1:19?"),
        ("switch (x) { case y: z() }", "x@1:9 y@1:19? z@1:22?"),
        ("try { x() } catch { y() } finally { z() }", "x@1:7? y@1:21? z@1:37?"),
        ("label: { if (args.n) break label; x() }", "args@1:14? x@1:35?"),
        ("let a; a ||= x; a = y;", "x@1:14? y@1:21"),
        ("const { a = x } = y;", "x@1:13? y@1:19"),
        ("args?.[x]", "args@1:1? x@1:8?"),
        ("class A { static a = x; b = y }", "x@1:22? y@1:29?"),
        ("const f = (a = x) => y; return f", "x@1:16? y@1:22?"),
        ("if (args.n) return 1; x()", "args@1:5 x@1:23?"),
        ("return x(); y()", "x@1:8 y@1:13?"),
        ("if (args.n) throw new Error(''); x()", "args@1:5 Error@1:23? x@1:34"),
        ("const f = () => { return 1 }; f(); x()", "x@1:36"),
        ("if (args.n) exit(); x()", "args@1:5? x@1:21?"),
        ("globalThis.x = 1; x()", "x@1:19?"),
        ("this.x = 1; x()", "x@1:13?"),
        ("function f() { this.a = 1 }; x(f)", "x@1:30"),
        ("new Function('x = 1')(); x()", "x@1:26?"),
    ] {
        globals(script, expect);
    }
}

#[test]
fn a_function_that_is_surely_called_and_awaited_is_part_of_the_way() {
    for (script, expect) in [
        ("async () => { x() }", "x@1:15"),
        ("export default async function f() { x() }", "x@1:37"),
        ("export default async () => x", "x@1:28"),
        ("async function main() { x() }", "x@1:25"),
        ("async function main() { x() }\nawait main();", "x@1:25"),
        ("async function main() { x() }\nreturn main();", "x@1:25"),
        ("async function main() { x() }\nmain();", "x@1:25"),
        ("async function main() { x() }\nmain();\nreturn 1", "x@1:25?"),
        ("async function main() { x() }\nawait main().catch(() => 0);", "x@1:25?"),
        ("async function main() { x() }\nif (args.n) await main();", "x@1:25? args@2:5"),
        ("async function main() { x() }\ntry { await main() } catch {}", "x@1:25?"),
        ("const main = async () => { x() };\nawait main();", "x@1:28"),
        ("let main = async () => { x() };\nmain = 1;\nawait main();", "x@1:26?"),
        ("(async () => { x() })();", "x@1:16"),
        ("(async () => { x() })();\nreturn 1", "x@1:16?"),
        ("async function a() { x() }\nasync function b() { await a() }\nawait b();", "x@1:22"),
        ("async function a() { if (args.n) return; x() }\nawait a();", "args@1:26 x@1:42?"),
        ("async function a() { await a(); x() }\nreturn 1", "x@1:33?"),
        ("function* f() { x() }\nreturn f()", "x@1:17?"),
        ("return [1].map(() => x)", "x@1:22?"),
    ] {
        globals(script, expect);
    }
}

#[test]
fn tools_are_found_under_every_plain_name() {
    uses("await tools.github.list({})", &["github.list@1:20 awaited"]);
    uses("await tools['my-src'][\"a b\"]({})", &["my-src.a b@1:23 awaited"]);
    uses("await tools[`x`].get()", &["x.get@1:18 awaited"]);
    uses("await (tools as any).x!.get()", &["x.get@1:25 awaited"]);
    uses("const { github } = tools;\nawait github.list()", &["github.list@2:14 awaited"]);
    uses(
        "const { github: { list, get: take } } = tools;\nawait list();\nawait take()",
        &["github.list@2:7 awaited", "github.get@3:7 awaited"],
    );
    uses("const t = tools.github;\nconst list = t.list;\nawait list()", &["github.list@3:7 awaited"]);
    uses("const t = tools;\nconst u = t;\nawait u.a.b()", &["a.b@3:11 awaited"]);
    uses("const { 'my-src': m } = tools;\nawait m.x()", &["my-src.x@2:9 awaited"]);
    uses("async () => { const { a } = tools; return a.b() }", &["a.b@1:45 awaited"]);
    uses("await tools.a?.b?.()", &["a.b@1:16? awaited"]);
    uses("return [1].map(tools.a.b)", &["a.b@1:24 no call"]);
    uses("await tools.mcp__a__b({})", &["mcp__a__b@1:13 awaited"]);
    // What cannot be followed is left out.
    uses("let t = tools.a;\nt = tools.b;\nawait t.c()", &[]);
    uses("await tools[args.n].b()", &[]);
    uses("const { a = {} } = tools;\nawait a.b()", &[]);
    uses("function f(tools) { return tools.a.b() }\nreturn f", &[]);
    uses("return Object.keys(tools.a)", &[]);
}

#[test]
fn other_roots_are_followed_when_they_are_named() {
    let roots = Roots { nested: vec!["api".into()].into(), flat: vec!["codemode".into()].into() };
    let facts = read("await codemode.getCart();\nawait api.a.b();\nawait tools.x.y()", &roots).unwrap().facts;
    let found: Vec<String> = facts.tools.iter().map(|used| format!("{} {}", used.root, used.names.join("."))).collect();
    assert_eq!(found, ["codemode getCart", "api a.b"]);
}

#[test]
fn what_becomes_of_a_promise_is_told() {
    for (script, expect) in [
        ("tools.a.b();\nreturn 1", "dropped"),
        ("void tools.a.b();", "dropped"),
        ("tools.a.b(), 1", "dropped"),
        ("const p = tools.a.b();\nreturn 1", "dropped"),
        ("return tools.a.b()", "awaited"),
        ("tools.a.b()", "awaited"),
        ("const p = tools.a.b();\nreturn (await p).x", "kept"),
        ("const p = tools.a.b();\nconst q = p;\nreturn 1", "kept"),
        ("const p = tools.a.b();\nconst r = p.amount;\nawait p;", "kept"),
        ("let p = null;\np = tools.a.b();\nawait p", "kept"),
        ("const all = [tools.a.b()];\nreturn Promise.all(all)", "kept"),
        ("tools.a.b().then((r) => r);\nreturn 1", "kept"),
        ("return { a: tools.a.b() }", "it is returned inside an object or array on 1:1"),
        ("async () => { return [{ a: tools.a.b() }] }", "it is returned inside an object or array on 1:15"),
        ("const p = tools.a.b();\nreturn { p }", "it is returned inside an object or array on 2:1"),
        ("const f = () => { return [tools.a.b()] };\nreturn Promise.all(f())", "kept"),
        ("const o = { a: tools.a.b() };\nreturn o", "kept"),
        ("const r = await (args.n ? tools.a.b() : 1);", "awaited"),
        ("const r = await (tools.a.b() ?? 1);", "awaited"),
        ("const q = tools.a.b({ from: 1 });\nreturn { price: q.amount ?? null }", "`.amount` is read from it on 2:17"),
        ("const q = tools.a.b();\nfor (const r of q) {}", "`for … of` goes over it on 2:17"),
        ("const q = tools.a.b();\nreturn `${q}`", "it is put into a text on 2:11"),
        ("const q = tools.a.b();\nreturn { ...q }", "it is spread on 2:10"),
        ("const q = tools.a.b();\nreturn q[0]", "an element is read from it on 2:8"),
        ("return tools.a.b().length", "`.length` is read from it on 1:8"),
        ("return tools.a.b().map((r) => r.id)", "`.map` is read from it on 1:8"),
        ("const { id } = tools.a.b();", "it is taken apart on 1:7"),
        ("return JSON.stringify(tools.a.b())", "`JSON.stringify` looks into it on 1:8"),
        ("if (tools.a.b()) return 1", "it is a condition, and always true on 1:5"),
        ("return tools.a.b() || []", "`||` always takes it for true on 1:8"),
        ("return 1 + tools.a.b()", "`+` is applied to it on 1:8"),
    ] {
        let facts = facts(script);
        let told = shown(&facts.tools[0]);
        assert_eq!(told.split_once(' ').unwrap().1, expect, "{script}");
    }
    uses("[1].forEach(async (id) => { await tools.a.b({ id }) })", &["a.b@1:43? in forEach"]);
    uses("[1].forEach((id) => tools.a.b({ id }))", &["a.b@1:29? in forEach"]);
    uses("await Promise.all([1].map(async (id) => { await tools.a.b({ id }) }))", &["a.b@1:57? awaited"]);
}

#[test]
fn arguments_are_known_as_far_as_the_text_shows_them() {
    argument("", "undefined");
    argument("{}", "{}");
    argument("{ a: 1, 'b-c': 'x', [`d`]: -2.5, 3: true }", "{a:1 b-c:\"x\" d:-2.5 3:true}");
    argument("{ a: null, b: undefined, c: [1, 'x', , () => 1] }", "{a:null b:undefined c:[1 \"x\" null null]}");
    argument(
        "{ a: `x`, b: `x${k}`, c: 1n, d: k, e() {}, f: () => 1 }",
        "{a:\"x\" b:text c:bigint d:_ e:undefined f:undefined}",
    );
    argument("{ a: 1, ...o, b: 2 }", "{a:_ b:2 …}");
    argument("{ a: 1, [k]: 2 }", "{a:_ …}");
    argument("{ a: 1, a: 2 }", "{a:2}");
    argument("{ get a() { return 1 } }", "{a:_}");
    argument("{ __proto__: o }", "_");
    argument("{ toJSON() { return 1 } }", "_");
    argument("[1, ...k]", "[1 …]");
    argument("({ a: 1 } as any)!", "{a:1}");
    argument("...k", "_");
    argument("k", "_");
}

#[test]
fn the_amount_of_facts_is_bounded() {
    let many = "x(tools.a.b());\n".repeat(5000);
    let facts = facts(&many);
    assert_eq!((facts.globals.len(), facts.tools.len()), (1000, 1000));
    // Names in a deep expression, and a deep literal.
    let deep = format!("return {}1{}", "f(".repeat(20_000), ")".repeat(20_000));
    assert_eq!(read(&deep, &Roots::default()).unwrap().facts.globals.len(), 1000);
    let deep = format!("await tools.a.b({}1{})", "[".repeat(20_000), "]".repeat(20_000));
    assert_eq!(read(&deep, &Roots::default()).unwrap().facts.tools.len(), 1);
}

#[test]
fn a_function_that_nothing_refers_to_is_named() {
    let names = |script: &str| {
        let uncalled = facts(script).uncalled;
        uncalled.iter().map(|it| format!("{}@{}", it.name, it.position.line)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("const a = Object.freeze({});\nasync function main() { return a }"), "main@2");
    assert_eq!(names("let r = 1;\nconst run = async () => r, x = 2;\nr = 2"), "run@2");
    assert_eq!(names("async function main() {}\nawait main();"), "");
    assert_eq!(names("async function main() {}"), "", "it is called for it");
    assert_eq!(names("return (() => { function inner() {} })()"), "");
}
