//! Values on their way out: what becomes of each kind, and what is said of it.

use refrain_engine::{Limits, Output, Status};

use crate::{begin, finish, returned};

/// The notes about changed values that `script` causes, and what it returns.
fn result(script: &str) -> (String, Vec<String>) {
    let turn = finish(script);
    let notes = turn
        .output
        .iter()
        .filter_map(|output| match output {
            Output::Note(remark) if remark.kind == "value_changed" => remark.message.clone(),
            _ => None,
        })
        .collect();
    match turn.status {
        Status::Returned(json) => (json.unwrap_or_default(), notes),
        Status::Threw(thrown) => (format!("{}: {}", thrown.name.unwrap_or_default(), thrown.message), notes),
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn each_kind_of_value_has_its_form() {
    for (value, json, notes) in [
        ("{ a: 1, b: 'x', c: [true, null], d: undefined }", r#"{"a":1,"b":"x","c":[true,null]}"#, 0),
        ("new Date(0)", r#""1970-01-01T00:00:00.000Z""#, 0),
        ("[new Date(NaN)]", "[null]", 1),
        ("new Map([['a', 1], ['b', new Set([1, 2])]])", r#"{"a":1,"b":[1,2]}"#, 0),
        ("new Map([[1, 'x'], [{ k: 2 }, 'y']])", r#"[[1,"x"],[{"k":2},"y"]]"#, 0),
        ("{ id: 9007199254740993n, list: [5n, -7n] }", r#"{"id":"9007199254740993","list":["5","-7"]}"#, 3),
        ("{ a: NaN, b: -Infinity, c: -0, e: [undefined, 1] }", r#"{"a":null,"b":null,"c":-0,"e":[null,1]}"#, 3),
        ("new Uint8Array([0, 255, 137, 80])", r#"{"type":"Uint8Array","base64":"AP+JUA=="}"#, 0),
        ("new Uint16Array([1, 2]).subarray(1)", r#"{"type":"Uint16Array","base64":"AgA="}"#, 0),
        ("new ArrayBuffer(2)", r#"{"type":"ArrayBuffer","base64":"AAA="}"#, 0),
        ("new TypeError('boom')", r#"{"name":"TypeError","message":"boom"}"#, 0),
        ("[1, , 3]", "[1,null,3]", 1),
        ("{ f() {}, g: Symbol('s'), h: 1 }", r#"{"h":1}"#, 2),
        ("/a+/g", r#""/a+/g""#, 1),
        ("[Promise.resolve(1)]", "[null]", 1),
        ("[new Number(5), new String('s'), Object(7n)]", r#"[5,"s","7"]"#, 1),
        ("'a\\ud800b'", "\"a\u{fffd}b\"", 1),
        ("'\\u{1f600}\\u0000\\n\"'", "\"\u{1f600}\\u0000\\n\\\"\"", 0),
        ("JSON.parse('{\"__proto__\":{\"a\":1}}')", r#"{"__proto__":{"a":1}}"#, 0),
        ("{ toJSON() { return { as: 'json' } } }", r#"{"as":"json"}"#, 0),
        ("{ toJSON: 5, a: 1 }", r#"{"toJSON":5,"a":1}"#, 0),
        (
            "Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })",
            r#"{"own":2}"#,
            0,
        ),
        ("new Proxy({ a: 1 }, {})", r#"{"a":1}"#, 0),
        ("new Proxy([1, 2], {})", "[1,2]", 0),
        ("new (class P { x = 1; #y = 2; get z() { return 3 } })()", r#"{"x":1}"#, 0),
        ("[1e21, 0.1, 1/3, 5e-324, 2**53]", "[1e+21,0.1,0.3333333333333333,5e-324,9007199254740992]", 0),
        ("new WeakMap()", "null", 1),
    ] {
        let (got, said) = result(&format!("return ({value})"));
        assert_eq!((got.as_str(), said.len()), (json, notes), "{value}: {said:?}");
    }
}

#[test]
fn a_note_says_where_and_what() {
    let (_, notes) = result("return { rows: [{ price: NaN }], when: 5n }");
    assert_eq!(
        notes,
        ["`result.rows[0].price` is NaN, which JSON does not have", "`result.when` is a BigInt, which became its text"]
    );
    let (_, many) = result("return Array.from({ length: 100 }, () => NaN)");
    assert_eq!(many.len(), 20);
    assert!(many[19].ends_with("(and more like it)"));
}

#[test]
fn what_cannot_be_returned_is_an_error_with_its_path() {
    for (script, message) in [
        (
            "const a = { name: 'a' }; a.self = { deep: [a] }; return a",
            "TypeError: `result.self.deep[0]` is circular: it is an object that it lies in",
        ),
        ("return { a: { get b() { throw new Error('no') } } }", "TypeError: `result.a.b` could not be read: Error: no"),
        (
            "return { toJSON() { throw new RangeError('bad') } }",
            "TypeError: `result` could not be read: RangeError: bad",
        ),
        (
            "let a = {}; for (let i = 0; i < 10000; i++) a = { a }; return a",
            "TypeError: `result` is nested deeper than 500 levels",
        ),
        (
            "return new Proxy({}, { ownKeys() { throw new Error('trap') } })",
            "TypeError: `result` could not be read: Error: trap",
        ),
    ] {
        assert_eq!(result(script).0, message, "{script}");
    }
}

#[test]
fn one_object_in_two_places_is_no_cycle() {
    assert_eq!(returned("const o = { a: 1 }; return { x: o, y: [o, o] }"), r#"{"x":{"a":1},"y":[{"a":1},{"a":1}]}"#);
}

#[test]
fn a_value_that_changes_while_it_is_read_harms_nothing() {
    for script in [
        "const a = [1, 2, 3, { toJSON() { a.length = 0; return 'x' } }, 5]; return a",
        "const a = { get x() { delete a.y; a.z = 1; return 1 }, y: 2 }; return a",
        "const m = new Map(); m.set('a', { toJSON() { m.clear(); m.set('b', 2); return 1 } }); m.set('c', 3); return m",
        "const p = new Proxy([], { get(t, k) { return k === 'length' ? 3 : k }, has: () => true, ownKeys: () => ['0', '1'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) }); return p",
        "const a = [{ toJSON() { a.push({}); return 0 } }]; return a",
        "class T extends Uint8Array { get length() { return 1e9 } } return new T(3)",
        "const b = new ArrayBuffer(8); const u = new Uint8Array(b); return [{ toJSON() { b.transfer?.(); return 1 } }, u]",
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { return e } }); return e",
    ] {
        let (_, turn) = begin(script, Limits::default());
        assert!(matches!(turn.status, Status::Returned(_) | Status::Threw(_)), "{script}: {:?}", turn.status);
    }
}

#[test]
fn arguments_are_refused_where_a_result_would_be_changed() {
    for (argument, message) in [
        ("{ a: 1n }", "`arguments.a` is a BigInt, which JSON does not have: send a number or a string"),
        ("{ a: [NaN] }", "`arguments.a[0]` is NaN, which JSON does not have"),
        ("{ a: tools.x.put({}) }", "`arguments.a` is a promise: `await` it first"),
        ("{ a() {} }", "`arguments.a` is a function"),
        ("{ a: '\\ud800' }", "`arguments.a` has half of a surrogate pair, which is no text"),
        ("(() => { const a = {}; a.a = a; return a })()", "`arguments.a` is circular"),
    ] {
        let script = format!("try {{ await tools.x.get({argument}) }} catch (e) {{ return [e.code, e.message] }}");
        let got = returned(&script);
        assert!(got.contains("invalid_arguments") && got.contains(message), "{argument}: {got}");
    }
}

#[test]
fn everything_can_be_shown() {
    let turn = finish(
        "const a = { f() {}, g: Symbol('s'), n: 5n, x: NaN, u: undefined }; a.self = a;
         console.log(a, new Map([['k', 1]]), [undefined, () => 1], new Error('e').message, null, undefined, Symbol('t'));
         console.log({ get bad() { throw 1 } }); console.log(Array.from({ length: 2000 }, (_, i) => i).length);",
    );
    let lines: Vec<&str> = turn
        .output
        .iter()
        .map(|output| match output {
            Output::Log { text, .. } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        lines[0],
        r#"{"f":"[function f]","g":"[symbol]","n":"5","x":"[NaN]","self":"[Circular]"} {"k":1} [null,"[function ]"] e null undefined Symbol(t)"#
    );
    assert_eq!(lines[1..], ["[a value that cannot be shown]", "2000"]);
}
