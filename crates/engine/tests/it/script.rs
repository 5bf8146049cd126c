//! What a script can do, and what its ends look like.

use refrain_engine::{Delivery, Limits, Outcome, Output, Status, Target, source::prepare};

use crate::{begin, block, finish, returned, value};

fn path(target: &Target) -> (&str, &str) {
    match target {
        Target::Tool { source, tool } => (source, tool),
        Target::Function(name) => ("", name),
    }
}

#[test]
fn a_body_with_await_and_return_gives_its_value() {
    assert_eq!(returned("return 1+1"), "2");
    assert_eq!(returned("const a = await tools.x.get({ id: 7 }); return a.id * args.n"), "21");
    assert!(matches!(finish("const a = 1").status, Status::Returned(None)));
    assert_eq!(returned("return null"), "null");
}

#[test]
fn types_are_stripped() {
    assert_eq!(
        returned(
            "interface Row { id: number }
             enum Color { Red = 3, Blue }
             class P { constructor(public x: number, private y = 2) {} sum(): number { return this.x + this.y } }
             const rows = ([{ id: 1 }] as Row[]) satisfies Row[];
             function first<T>(list: T[]): T { return list[0]! }
             return [first(rows).id, Color.Blue, new P(5).sum()];"
        ),
        "[1,4,7]"
    );
}

#[test]
fn calls_are_numbered_in_the_order_they_are_made() {
    let (_, turn) = begin(
        "return Promise.all([tools.x.get({a: 1}), tools.x.put(), tools['my-src']['a b']([1])])",
        Limits::default(),
    );
    let seen: Vec<_> =
        turn.calls.iter().map(|c| (c.call, path(&c.target).0, path(&c.target).1, c.args.as_str())).collect();
    assert_eq!(seen, [(1, "x", "get", r#"{"a":1}"#), (2, "x", "put", "{}"), (3, "my-src", "a b", "[1]")]);
    assert!(matches!(turn.status, Status::Waiting));
}

#[test]
fn results_are_seen_one_at_a_time_in_the_order_fed() {
    let script = "const seen = [];
        await Promise.all([1, 2, 3].map(async (id) => { seen.push((await tools.x.get({ id })).id) }));
        return seen";
    let (mut sandbox, turn) = begin(script, Limits::default());
    assert_eq!(turn.calls.len(), 3);
    for call in [3, 1] {
        assert!(matches!(block(sandbox.feed(&value(call, &format!("{{\"id\":{call}}}")))).status, Status::Waiting));
    }
    let Status::Returned(Some(json)) = block(sandbox.feed(&value(2, r#"{"id":2}"#))).status else { panic!() };
    assert_eq!(json, "[3,1,2]");
}

#[test]
fn arguments_are_taken_when_the_call_is_made() {
    assert_eq!(returned("const o = { v: 1 }; const p = tools.x.get(o); o.v = 2; return (await p).v"), "1");
}

#[test]
fn arguments_that_json_would_change_are_refused_without_a_call_number() {
    for bad in
        ["{ a: 1n }", "{ a: NaN }", "{ a: [Infinity] }", "(() => { const a = {}; a.a = a; return a })()", "() => 1"]
    {
        let script = format!(
            "try {{ await tools.x.get({bad}) }} catch (e) {{ return [e.name, e.code, e.call === undefined, (await tools.x.get({{}})) !== null] }}"
        );
        assert_eq!(returned(&script), r#"["ToolError","invalid_arguments",true,true]"#, "{bad}");
    }
}

#[test]
fn a_failed_call_rejects_with_the_line_of_the_call() {
    let script = "const a = 1;\nasync function go() {\n  await tools.x.get({});\n}\nawait go();";
    let (mut sandbox, _) = begin(script, Limits::default());
    let failure = r#"{"message":"no such row","code":"tool_error","tool":"x.get","call":1,"retryable":true,"retryAfterMs":5,"data":{"id":1}}"#;
    let turn = block(sandbox.feed(&Delivery { call: 1, clock_ms: 0, outcome: Outcome::Failure(failure.into()) }));
    let Status::Threw(thrown) = turn.status else { panic!("{:?}", turn.status) };
    assert_eq!((thrown.name.as_deref(), thrown.message.as_str()), (Some("ToolError"), "no such row"));
    let tool = thrown.tool.unwrap();
    assert_eq!((tool.code.as_deref(), tool.tool.as_deref(), tool.call), (Some("tool_error"), Some("x.get"), Some(1)));
    let map = prepare(script).unwrap().map;
    let lines: Vec<_> = thrown.frames.iter().map(|f| (f.function.as_deref(), map.original(f).unwrap().line)).collect();
    assert_eq!(lines, [(Some("go"), 3), (None, 5)]);
}

#[test]
fn a_thrown_error_has_the_lines_of_the_text_that_was_sent() {
    let script = "interface A {\n  b: string;\n}\n\nfunction f(a: A): never {\n  const pad: string = `x`;\n  throw new TypeError('boom ' + a.b);\n}\n\nf({ b: 'c' });";
    let Status::Threw(thrown) = finish(script).status else { panic!() };
    assert_eq!((thrown.name.as_deref(), thrown.message.as_str()), (Some("TypeError"), "boom c"));
    let map = prepare(script).unwrap().map;
    let lines: Vec<_> = thrown.frames.iter().map(|f| (f.function.as_deref(), map.original(f).unwrap().line)).collect();
    assert_eq!(lines, [(Some("f"), 7), (None, 10)]);
}

#[test]
fn what_is_thrown_need_not_be_an_error() {
    for (script, message) in [
        ("throw 'text'", "text"),
        ("throw undefined", "undefined"),
        ("throw { a: 1 }", "{\"a\":1}"),
        ("throw { get a() { throw 1 } }", "[a value that cannot be shown]"),
    ] {
        let Status::Threw(thrown) = finish(script).status else { panic!("{script}") };
        assert_eq!((thrown.name, thrown.message.as_str()), (None, message), "{script}");
    }
}

#[test]
fn output_is_kept_in_order_with_its_kind() {
    let turn =
        finish("console.log('a', { b: [1n] }); text('for the model', 2); console.warn(new Map().size); return 0");
    let line = |level: &str, text: &str| Output::Log { level: level.into(), text: text.into() };
    assert_eq!(
        turn.output,
        [line("log", "a {\"b\":[\"1\"]}"), Output::Text("for the model 2".into()), line("warn", "0")]
    );
}

#[test]
fn a_script_that_waits_for_nothing_is_stalled_at_once() {
    assert!(matches!(finish("await new Promise(() => {})").status, Status::Stalled));
}

#[test]
fn the_tools_object_lists_its_names_and_cannot_be_changed_or_awaited() {
    assert_eq!(
        returned(
            "const caught = (f) => { try { f(); return 'no' } catch (e) { return e.name } };
             return [Object.keys(tools), Object.keys(tools.x), 'get' in tools.x, 'nope' in tools.x,
                     await tools === tools, JSON.stringify(tools.x), typeof tools.x.then,
                     caught(() => { tools.x.get = 1 }), caught(() => { tools = 1 }), caught(() => { delete tools.x })]"
        ),
        r#"[["x","my-src"],["get","put"],true,false,true,"{}","undefined","TypeError","TypeError","TypeError"]"#
    );
}

#[test]
fn a_tool_that_does_not_exist_is_a_call_like_any_other() {
    let (_, turn) = begin("await tools.nope.nothing({})", Limits::default());
    assert_eq!(path(&turn.calls[0].target), ("nope", "nothing"));
}

#[test]
fn text_cannot_become_code() {
    for code in [
        "eval('1')",
        "new Function('return 1')()",
        "(async () => {}).constructor('return 1')()",
        "(function* () {}).constructor('yield 1')()",
    ] {
        let Status::Threw(thrown) = finish(&format!("return {code}")).status else { panic!("{code}") };
        assert!(
            thrown.message.contains("eval is not supported") || thrown.name.as_deref() == Some("ReferenceError"),
            "{code}: {thrown:?}"
        );
    }
}

#[test]
fn built_ins_cannot_be_changed() {
    for patch in [
        "JSON.stringify = () => 1",
        "Array.prototype.join = () => 1",
        "Array.prototype.last = () => 1",
        "Promise.prototype.then = () => 1",
        "Object.prototype.toJSON = () => 1",
        "Object.defineProperty(Object.prototype, 'x', { get() { return 1 } })",
        "Object.setPrototypeOf(Array.prototype, null)",
        "(async () => {}).constructor.prototype.call = 1",
        "[][Symbol.iterator]().__proto__.next = 1",
        "delete Math.random",
        "console.log = 1",
        "ToolError.prototype.name = 'x'",
        "Object.getPrototypeOf(tools.x.get).call = 1",
        "tools.x.get.tool = 1",
    ] {
        let script = format!("try {{ {patch}; return 'changed' }} catch (e) {{ return e.name }}");
        assert_eq!(returned(&script), "\"TypeError\"", "{patch}");
    }
}

#[test]
fn everyday_code_is_not_tripped() {
    assert_eq!(
        returned(
            "class E extends Error { constructor(m) { super(m); this.name = 'E' } } const o = {}; o.toString = () => 'o'; return [new E('a').name, `${o}`]"
        ),
        r#"["E","o"]"#
    );
}

#[test]
fn feeding_a_call_that_is_not_out_is_a_fault_of_the_caller() {
    let (mut sandbox, _) = begin("await tools.x.get({})", Limits::default());
    assert!(matches!(block(sandbox.feed(&value(2, "1"))).status, Status::Stopped(refrain_engine::Stop::Fault(_), _)));
}
