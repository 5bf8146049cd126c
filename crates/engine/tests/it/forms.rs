//! The forms that a program may have, what is refused, and that every place is one in the text that was sent.

use refrain_engine::{
    Limits, Status,
    source::{Roots, ScriptOptions, prepare, read},
};

use crate::{begin, returned};

/// `tools.x.get` answers with its arguments.
fn check(script: &str, expect: &str) {
    assert_eq!(returned(script), expect, "{script}");
}

fn returns_nothing(script: &str) {
    let status = begin(script, Limits::default()).1.status;
    assert!(matches!(status, Status::Returned(None)), "{script}: {status:?}");
}

/// The script is refused at `line:column` with a message that holds all of `words`.
fn refused(script: &str, place: &str, words: &[&str]) {
    let error = prepare(script).map(|prepared| prepared.javascript).unwrap_err();
    assert_eq!(format!("{}:{}", error.position.line, error.position.column), place, "{script}: {error}");
    for word in words {
        assert!(error.message.contains(word), "{script}: {error}");
    }
}

#[test]
fn a_function_body_gives_what_it_returns() {
    check("return 1", "1");
    check("#!/usr/bin/env node\nreturn 1", "1");
    check("const o = await tools.x.get({ id: 7 });\nreturn o.id", "7");
    check("if (args.n > 1) return 'early';\n'late'", "\"early\"");
}

#[test]
fn a_whole_program_that_is_one_function_is_called_and_awaited() {
    for script in [
        "async () => { const o = await tools.x.get({ id: 7 }); return o.id }",
        "async () => { const o = await tools.x.get({ id: 7 }); return o.id };",
        "(async () => (await tools.x.get({ id: 7 })).id)",
        "((async () => 7))",
        "() => tools.x.get({ id: 7 }).then((o) => o.id)",
        "(async function () { return (await tools.x.get({ id: 7 })).id });",
        "(async function named() { return 7 })",
        "(function () { return 7 })",
        "async (): Promise<number> => 7",
        "(async () => 7) as () => Promise<number>",
        "// what it does\ntype Id = number;\nasync () => { const id: Id = 7; return id }",
        "'use strict';\nasync () => 7",
    ] {
        check(script, "7");
    }
}

#[test]
fn a_function_is_given_the_globals_that_it_names() {
    check("async (tools) => (await tools.x.get({ id: 7 })).id", "7");
    check("async ({ tools }) => (await tools.x.get({ id: 7 })).id", "7");
    check("export default async function main({ tools: { x }, args = 1 }) { return (await x.get({ id: 7 })).id }", "7");
    check("async (tools, args) => args.n", "3");
    check("export default async function (args: any) { return args.n }", "3");
    check("async function main(tools: any) { return (await tools.x.get({ id: 7 })).id }", "7");
}

#[test]
fn an_export_default_gives_its_value_or_what_its_function_returns() {
    for script in [
        "export default async function report() {\n  const o = await tools.x.get({ id: 7 });\n  return o.id;\n}",
        "export default async function () { return 7 }",
        "export default async () => 7",
        "export default (() => 7);",
        "export default 7;",
        "const main = async () => 7;\nexport default main;",
        "export default main;\nasync function main() { return seven() }\nfunction seven() { return 7 }",
        "const seven = 7;\nexport default seven",
        "export default run();\nasync function run() { return 7 }",
        "export default async function main() { return n }\nconst n = 7;",
        "export interface Row { id: number }\nexport type Id = Row['id'];\nexport default (): Id => 7",
        "import type { Row } from 'rows';\nexport default async () => 7",
    ] {
        check(script, "7");
    }
}

#[test]
fn a_trailing_expression_is_the_result() {
    for script in [
        "const o = await tools.x.get({ id: 7 });\no.id",
        "const o = await tools.x.get({ id: 7 });\no.id;",
        "tools.x.get({ id: 7 }).then((o) => o.id)",
        "(async function () {\n  return (await tools.x.get({ id: 7 })).id;\n})();",
        "(async () => { return 7 })()",
        "(() => 7)();",
        "async function main() { return 7 }\nmain();",
        "async function main() { return 7 }\nawait main();\n// done",
        "const n = 7;\nn as number",
        "let n = 6;\n(n += 1, n)",
        "if (args.n > 5) return 'early';\n7",
        "const n = 7;\nn;;",
    ] {
        check(script, "7");
    }
    check("({ a: 1 })", "{\"a\":1}");
    check("const a = [1];\n`${a.length} rows`", "\"1 rows\"");
}

#[test]
fn what_is_written_for_its_effect_is_no_result() {
    for script in
        ["let n = 0;\nn = 7", "let n = 0;\nn++", "void 7", "const o = { a: 1 };\ndelete o.a", "let n;\n(7, n = 8)"]
    {
        returns_nothing(script);
    }
}

#[test]
fn a_program_that_only_declares_one_function_is_called_and_says_so() {
    for script in [
        "async function main() {\n  return (await tools.x.get({ id: 7 })).id;\n}",
        "const main = async () => 7;",
        "const SEVEN = 7;\ninterface Row { id: number }\nclass Box {}\nfunction run() { return SEVEN }",
        "function helper() { return 7 }\nasync function main() { return helper() }",
        "async function whatever(tools) { return 7 }",
        "function main(n = 7) { return n }",
        "enum N { Seven = 7 }\nconst main = () => N.Seven",
    ] {
        check(script, "7");
        let remarks = read(script, &Roots::default()).unwrap().remarks;
        assert!(remarks.len() == 1 && remarks[0].message.contains("was called"), "{script}: {remarks:?}");
    }
    refused("function a() {}\nfunction b() {}", "1:10", &["`a`, `b`", "never calls it", "return"]);
    refused("async function add(a: number, b: number) { return a + b }", "1:16", &["`add`", "never calls it"]);
    refused("function* main() {}", "1:11", &["`main`"]);
    // It does something already.
    returns_nothing("const x = [1].map(String);\nfunction f() {}");
}

#[test]
fn one_fenced_block_is_the_program_wherever_it_stands() {
    for script in [
        "Here is the script:\n```js\nconst o = await tools.x.get({ id: 7 });\nreturn o.id;\n```\nIt gives the total.",
        "```\nreturn 7\n```",
        "```typescript\nasync () => 7\n```\n",
        "Script\n\n````ts\nreturn 7 // ```\n````",
        "It's like `x`:\n~~~js\nreturn 7\n~~~",
        "1. First:\n   ```js\n   return 7\n   ```",
        "Example:\n```js\nreturn 7\n```",
        "~~~\n7\n~~~",
        "```js\r\nreturn 7\r\n```\r\n",
    ] {
        check(script, "7");
    }
}

#[test]
fn fences_that_belong_to_the_program_are_left_alone() {
    check("const md = `\n~~~js\nx()\n~~~\n`;\nreturn md.length", "15");
    check("/*\n```js\nwrong()\n```\n*/\nreturn 7", "7");
    check("return ['```js', 'x', '```'].length", "3");
    check("// ```\nreturn 7\n// ```", "7");
    // Wrong elsewhere: the comment is not taken for the program.
    refused("/*\n```js\nwrong()\n```\n*/\nreturn 7 +;", "6:11", &["Unexpected token"]);
    refused("const md = `\n~~~\nx()\n~~~\n`;\nreturn md +;", "6:12", &["Unexpected token"]);
}

#[test]
fn markdown_without_one_program_is_refused() {
    refused(
        "One:\n```js\nreturn 1\n```\nor two:\n```js\nreturn 2\n```",
        "6:1",
        &["2 fenced code blocks", "send one block"],
    );
    refused("Here:\n```js\nreturn 1", "2:1", &["not closed", "send it whole"]);
    refused("Here it is:\n```js\n```\n", "1:1", &["empty"]);
    refused("I'll use the `get` tool of `x` for this.", "1:1", &["prose"]);
    refused("Here is how I would do it:\n\nreturn 1", "1:1", &["prose", "fenced code block"]);
    let error = prepare("I'll use the `get` tool").unwrap_err();
    assert!(!error.message.contains("backtick") && !error.message.contains("template"), "{error}");
}

#[test]
fn an_empty_program_is_refused() {
    for script in ["", " \n", "// nothing", ";", "type A = 1", "'use strict'", "// @options: {}\n"] {
        let error = prepare(script).unwrap_err();
        assert!(error.message.contains("the script is empty"), "{script}: {error}");
    }
}

#[test]
fn the_options_line_is_read_strictly() {
    let options = |script: &str| read(script, &Roots::default()).unwrap().options;
    let both = ScriptOptions { timeout_ms: Some(30_000), max_output_tokens: Some(2000) };
    assert_eq!(options("// @options: {\"timeout_ms\": 30000, \"max_output_tokens\": 2000}\nreturn 1"), both);
    assert_eq!(
        options("Run:\n```js\n//@options:{\"timeout_ms\":30000,\"max_output_tokens\":2000}\nreturn 1\n```"),
        both
    );
    assert_eq!(options("// @options: {}\nreturn 1"), ScriptOptions::default());
    assert_eq!(options("// options: none\nreturn 1"), ScriptOptions::default());
    for (json, place, words) in [
        ("{\"timout_ms\": 1}", "1:25", "unknown field `timout_ms`, expected `timeout_ms` or `max_output_tokens`"),
        ("{\"timeout_ms\": \"1\"}", "1:31", "expected a whole number"),
        ("{\"timeout_ms\": 1.5}", "1:31", "invalid type"),
        ("{\"timeout_ms\": -1}", "1:30", "invalid value"),
        ("{\"timeout_ms\": null}", "1:32", "invalid type"),
        ("{\"timeout_ms\": 0}", "1:16", "`timeout_ms` is 0 and may be 1 to 86400000"),
        ("{\"max_output_tokens\": 9000000}", "1:16", "may be 1 to 1000000"),
        ("{\"timeout_ms\": 1, \"timeout_ms\": 2}", "1:43", "duplicate field"),
        ("{timeout_ms: 1}", "1:15", "key must be a string"),
        ("30000", "1:18", "invalid type"),
        ("", "1:13", "EOF"),
        ("{} {}", "1:17", "trailing characters"),
    ] {
        let error = prepare(&format!("// @options: {json}\nreturn 1")).unwrap_err();
        assert!(error.message.contains(words), "{json}: {error}");
        let at = format!("{}:{}", error.position.line, error.position.column);
        assert_eq!(at, place, "{json}: {error}");
    }
    refused("// @options {\"timeout_ms\": 1}\nreturn 1", "1:1", &["colon"]);
    refused("Run:\n```js\n// @options: {\"a\": 1}\nreturn 1\n```", "3:17", &["unknown field"]);
}

#[test]
fn types_are_stripped_whatever_they_are() {
    for script in [
        "interface Row { id: number; name?: string }\nconst rows = [{ id: 7 }] as Row[];\nconst first = rows[0]!;\nreturn (first as any).nickname ?? first.id;",
        "enum Color { Red = 6, Blue }\nreturn Color.Blue",
        "const enum Color { Red = 6, Blue }\nreturn Color.Blue",
        "enum E { A = 'a' }\nreturn E.A === 'a' ? 7 : 0",
        "class Box<T> { constructor(private readonly value: T) {} get(): T { return this.value } }\nreturn new Box<number>(7).get()",
        "const o = { a: 7 } satisfies Record<string, number>;\nreturn o.a",
        "function id<T extends object>(value: T): T { return value }\nreturn id<{ n: number }>({ n: 7 }).n",
        "abstract class A { abstract f(): number; protected declare x: string }\nclass B extends A { override f() { return 7 } }\nreturn new B().f()",
        "namespace N { export const n = 7; export namespace M { export const m = n } }\nreturn N.M.m",
        "declare const codemode: { get(): Promise<number> };\ndeclare function f(): void;\nreturn 7",
        "declare global { interface Array<T> { x: T } }\nreturn 7",
        "function f(this: void, a?: number, ...rest: string[]): asserts a is number {}\nf();\nreturn 7",
        "type A = { [K in 'a' | 'b']: K extends 'a' ? 1 : `x${string}` };\nlet a!: number; a = 7;\nreturn a",
        "const f = <T,>(x: T) => x;\nreturn f(7)",
        "const t = <number>(<unknown>7);\nreturn t",
        "for (const [k, v] of Object.entries({ a: 7 }) as [string, number][]) { if (k) return v }",
        "function f(a: string): string;\nfunction f(a: number): number;\nfunction f(a: any) { return a }\nreturn f(7)",
        "class A { static #n = 7; static { A.#n++ } static n = () => A.#n - 1 }\nreturn A.n()",
        "let log = '';\n{ using r = { [Symbol.dispose]() { log += 'd' } }; log += 'u' }\nreturn log === 'ud' ? 7 : log",
        "let n = 0;\n{ await using r = { async [Symbol.asyncDispose]() { n = 7 } } }\nreturn n",
        "const g = (await tools.x.get({ id: 7 }))?.id as number | undefined;\nreturn g ?? 0",
        "label: for (;;) { break label }\nreturn 7",
        "import type { Row } from 'rows';\nreturn 7",
    ] {
        check(script, "7");
    }
}

#[test]
fn what_does_not_exist_here_is_refused_with_what_to_use() {
    refused(
        "import { get_order } from 'tools';\nreturn 1",
        "1:1",
        &["`import` of \"tools\" on line 1", "await tools.<source>.<tool>(args)"],
    );
    refused("const a = 1;\nimport fs from 'fs';", "2:1", &["line 2", "already in scope"]);
    refused("import 'x';", "1:1", &["`import`"]);
    refused("import fs = require('fs');", "1:1", &["`import`", "already in scope"]);
    refused("const fs = await import('fs');\nreturn fs", "1:18", &["`import()`", "already in scope"]);
    refused("return import.meta.url", "1:8", &["`import.meta`"]);
    refused("const a = 1;\nexport { a }", "2:1", &["`export`", "`return` the result"]);
    refused("export const a = 1;", "1:1", &["`export`"]);
    refused("export async function main() {}", "1:1", &["`export default`"]);
    refused("export * from 'a'", "1:1", &["`export`"]);
    refused("export default class A {}", "1:16", &["a class is no program"]);
    refused("export default 1;\nexport default 2;", "2:1", &["one `export default`"]);
    refused("const a = <div>{1}</div>;\nreturn a", "1:18", &["JSX does not exist here"]);
    refused("return <>a</>", "1:9", &["JSX"]);
    refused("@log\nclass A {}\nreturn 1", "1:1", &["decorators do not exist here"]);
    refused("class A { @log f() {} }\nreturn 1", "1:11", &["decorators"]);
    refused("class A { accessor x = 1 }\nreturn 1", "1:11", &["`accessor`"]);
    refused("declare module 'x' { export const a: 1 }\nreturn 1", "1:1", &["`declare module`"]);
    refused("with ({}) { }", "1:1", &["with"]);
    refused("return 010", "1:8", &["octal"]);
    refused("delete args", "1:8", &["elete"]);
    refused("return <!-- 1", "1:10", &[""]);
}

#[test]
fn places_are_those_of_the_text_that_was_sent() {
    refused("Total für 🎉:\n```js\nconst a = 1;\nconst b = ;\n```", "4:11", &["Unexpected"]);
    refused("\tconst 🎉 = 1;", "1:8", &[""]);
    refused("const a = '🎉é' + ;", "1:18", &[""]);
    refused("const a = 1;\r\nconst b = ;\r\n", "2:11", &[""]);
    // At run time, through the map: a fence, a type that vanishes, letters of two, three and four bytes.
    for (script, place) in [
        ("Here:\n```ts\ninterface A {\n  a: 1\n}\nconst b: string = '🎉é…'; throw new Error('x')\n```", (6, 36)),
        ("const s = '🎉🎉'; const t: any = null; return s + t.x", (1, 49)),
        ("const s = 'a\u{2028}b';\nconst t: any = null; return s + t.x", (2, 33)),
        ("const s = 1;\r\n\tthrow new Error('x')", (2, 12)),
        ("export default async function f() {\n  throw new Error('x')\n}", (2, 13)),
        ("async () => {\n  await tools.x.get({ id: 1 });\n  throw new Error('x');\n}", (3, 13)),
        ("const t: any = null;\nreturn ['🎉', 'é', t.x]", (2, 19)),
    ] {
        let map = prepare(script).unwrap().map;
        let Status::Threw(thrown) = crate::finish(script).status else { panic!("{script}") };
        let position = map.original(&thrown.frames[0]).unwrap();
        assert_eq!((position.line, position.column), place, "{script}: {:?}", thrown.frames);
        let again = refrain_engine::SourceMap::from_json(map.to_json());
        assert_eq!(again.original(&thrown.frames[0]), Some(position), "{script}");
    }
}

/// Pieces that scripts, Markdown and mistakes are made of, strung together by a fixed seed.
#[test]
fn no_text_panics_and_every_place_lies_within_it() {
    const PIECES: [&str; 64] = [
        "```",
        "~~~",
        "```js\n",
        "\n```\n",
        "`",
        "${",
        "}",
        "{",
        "(",
        ")",
        "[",
        "]",
        "\n",
        "\r",
        "\u{2028}",
        "\t",
        " ",
        ";",
        ",",
        "é",
        "🎉",
        "\u{d7ff}",
        "\0",
        "\u{feff}",
        "// @options: ",
        "{\"timeout_ms\": 1}\n",
        "/*",
        "*/",
        "//",
        "'",
        "\"",
        "\\",
        "tools",
        ".github",
        ".list",
        "[\"x\"]",
        "?.",
        "await ",
        "async ",
        "=>",
        "function ",
        "f",
        "=",
        "const ",
        "return ",
        "export default ",
        "import ",
        "typeof ",
        "...",
        "class A ",
        "enum E ",
        "if ",
        "for ",
        " of ",
        "try ",
        "catch ",
        "exit()",
        "this",
        "fetch",
        "require('fs')",
        "<div>",
        "1",
        "@x ",
        ".then",
    ];
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let (mut programs, rounds) = (0, 20_000);
    for _ in 0..rounds {
        let text: String = (0..1 + next(24)).map(|_| PIECES[next(PIECES.len())]).collect();
        let lines: Vec<usize> = text.split('\n').map(|line| line.chars().count()).collect();
        let within = |position: refrain_engine::source::Position| {
            let line = lines.get(position.line as usize - 1).copied();
            assert!(line.is_some_and(|length| position.column as usize <= length + 1), "{text:?}: {position:?}");
        };
        match read(&text, &Roots::default()) {
            Ok(script) => {
                programs += 1;
                script.facts.globals.iter().for_each(|used| within(used.position));
                for used in &script.facts.tools {
                    within(used.position);
                    used.call.iter().for_each(|call| within(call.argument.position));
                }
            }
            Err(error) => within(error.position),
        }
    }
    assert!(programs > rounds / 100, "only {programs} of the texts were programs, so little was tried");
}

/// Texts as long as one may be, each of which would take minutes if looking at one piece took time that grows with the text.
#[test]
fn no_text_takes_time_that_grows_with_its_square() {
    let most = refrain_engine::source::MAX_SCRIPT_BYTES;
    let fill = |open: &str, piece: &str, close: &str| {
        format!("{open}{}{close}", piece.repeat((most - open.len() - close.len()) / piece.len()))
    };
    for text in [
        fill("", "```\n", ""),
        fill("", "``", ""),
        fill("x", "\n```js\n``", ""),
        fill("", "~~~\n", ""),
        fill("/*", "```\n", ""),
        fill("", "x;", ""),
        fill("", "é;", ""),
        fill("return [", "typeof x,", "]"),
        fill("await tools.a.b({", "é:1,", "})"),
        fill("await tools.a.b({", "...x,", "})"),
        fill("await tools.a.b([", "'é',", "])"),
        fill("", "tools.a.b();", ""),
        fill("", "const t=tools;{", ""),
        fill("const t=tools;", "t;", ""),
        fill("const q=tools.a.b();", "q.x;", ""),
        fill("", "return;", ""),
        fill("", "this;", ""),
        fill("function f(){}", "f();", ""),
        fill("const f=()=>x;", "await f();", ""),
        fill("x(", "x,", ")"),
        fill("", "await(async()=>x)();", ""),
        fill("", "/*\n", ""),
        fill("", "'\u{2028}';", ""),
        fill("a ", "word ", ""),
    ] {
        // The outcome does not matter here.
        drop(read(&text, &Roots::default()));
    }
}
