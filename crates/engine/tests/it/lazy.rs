//! A value that comes to life when touched is in no way different from one that was parsed whole.

use std::fmt::Write as _;

use refrain_engine::{Delivery, Limits, Outcome, Status};

use crate::{begin, block, value};

/// Runs `program` over `v`, once with `v` as a result that comes to life, once parsed by the engine's own parser.
fn both(json: &str, program: &str) -> (String, String) {
    let lazy = run(&format!("const v = await tools.x.get({{}});\n{program}"), json);
    let text = serde_json::to_string(json).unwrap();
    let plain = run(&format!("const v = JSON.parse(await tools.x.get({{}}));\n{program}"), &text);
    (lazy, plain)
}

fn run(script: &str, result: &str) -> String {
    let (mut sandbox, _) = begin(script, Limits::default());
    match block(sandbox.feed(&value(1, result))).status {
        Status::Returned(json) => json.unwrap_or_default(),
        Status::Threw(thrown) => format!("{:?}: {}", thrown.name, thrown.message),
        other => panic!("{script}: {other:?}"),
    }
}

/// A small generator, so that a failing seed can be tried again.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn json(&mut self, depth: usize) -> String {
        let kinds = if depth == 0 { 6 } else { 9 };
        match self.below(kinds) {
            0 => self
                .pick(&[
                    "null",
                    "true",
                    "false",
                    "-0",
                    "0",
                    "1",
                    "-7",
                    "2147483648",
                    "1e21",
                    "0.1",
                    "9007199254740993",
                    "1.7976931348623157e308",
                ])
                .into(),
            1 | 2 => format!("{}", self.below(1000)),
            3..=5 => serde_json::to_string(self.pick(&[
                "",
                "a",
                "plain text",
                "é",
                "日本",
                "\u{1f600}",
                "a\u{0}b",
                "\"\\",
                "__proto__",
                "0",
            ]))
            .unwrap(),
            6 => {
                let elements: Vec<String> = (0..self.below(5)).map(|_| self.json(depth - 1)).collect();
                format!("[{}]", elements.join(","))
            }
            _ => self.object(depth - 1),
        }
    }

    fn object(&mut self, depth: usize) -> String {
        let members: Vec<String> = (0..self.below(7))
            .map(|_| {
                let key = self.pick(&[
                    "a",
                    "b",
                    "c",
                    "d",
                    "id",
                    "é",
                    "1",
                    "0",
                    "10",
                    "__proto__",
                    "constructor",
                    "toString",
                    "length",
                    "then",
                    "toJSON",
                    "",
                    "k v",
                ]);
                format!("{}:{}", serde_json::to_string(key).unwrap(), self.json(depth))
            })
            .collect();
        format!("{{{}}}", members.join(","))
    }

    /// An array of rows, long enough to be handed over in the compact form.
    fn rows(&mut self) -> String {
        let mut rows = String::from("[");
        while rows.len() < 1500 {
            let row = self.object(3);
            let _ = write!(rows, "{row},");
        }
        rows + "{\"a\":1,\"b\":\"x\",\"c\":[{\"d\":2}],\"id\":3}]"
    }

    fn program(&mut self) -> String {
        let mut program = String::from(
            "const out = [];
             const see = (f) => { try { const r = f(); out.push(r === undefined ? 'undefined' : Object.is(r, -0) ? '-0' : typeof r === 'function' ? 'function' : r) } catch (e) { out.push(e.name) } };
             const row = (i) => v[i % v.length];\n",
        );
        for _ in 0..8 {
            let i = self.below(40);
            let k = self.pick(&[
                "'a'",
                "'b'",
                "'c'",
                "'id'",
                "'1'",
                "'__proto__'",
                "'toString'",
                "'zz'",
                "'é'",
                "Symbol.iterator",
                "0",
            ]);
            let step = self.pick(STEPS).replace("ROW", &format!("row({i})")).replace("KEY", k);
            let _ = writeln!(program, "see(() => {{ {step} }});");
        }
        program + "see(() => JSON.stringify(v)); return out"
    }
}

const STEPS: &[&str] = &[
    "return ROW[KEY]",
    "return [ROW[KEY], ROW[KEY], ROW[KEY], ROW[KEY]]",
    "return ROW?.c?.[0]?.d",
    "return ROW[KEY] === ROW[KEY]",
    "return { ...ROW }",
    "return Object.keys(ROW)",
    "return Object.entries(ROW)",
    "return Reflect.ownKeys(ROW).map(String)",
    "return KEY in ROW",
    "return Object.hasOwn(ROW, KEY)",
    "return delete ROW[KEY]",
    "ROW[KEY] = 'set'; return ROW[KEY]",
    "ROW.fresh = 1; return Object.keys(ROW)",
    "return ROW instanceof Object",
    "return [Array.isArray(v), Array.isArray(ROW), typeof ROW]",
    "const { a, ...rest } = ROW; return [a, rest]",
    "return Object.assign({}, ROW)",
    "Object.freeze(ROW); ROW.a = 5; return ROW.a",
    "return [Object.isFrozen(ROW), Object.isSealed(ROW), Object.isExtensible(ROW)]",
    "Object.preventExtensions(ROW); ROW.fresh = 1",
    "Object.seal(ROW); return delete ROW.a",
    "return Object.getOwnPropertyDescriptor(ROW, KEY)",
    "return Object.getOwnPropertyDescriptors(ROW)",
    "Object.defineProperty(ROW, KEY, { get() { return 'got' }, configurable: true, enumerable: true }); return ROW[KEY]",
    "Object.defineProperty(ROW, 'hidden', { value: 1 }); return [Object.keys(ROW), ROW.hidden]",
    "Object.setPrototypeOf(ROW, { zz: 'inherited' }); return [ROW.zz, ROW.a, Object.keys(ROW)]",
    "Object.setPrototypeOf(ROW, null); return [ROW.a, ROW.toString, Object.keys(ROW)]",
    "return Object.getPrototypeOf(ROW) === Object.prototype",
    "const o = Object.create(ROW); o.b = 'own'; return [o.a, o.b, KEY in o, Object.keys(o), ROW.b]",
    "const seen = []; for (const k in ROW) seen.push(k); return seen",
    "const seen = []; for (const k in Object.create(ROW)) seen.push(k); return seen",
    "return Object.prototype.toString.call(ROW)",
    "return String(ROW.constructor === Object)",
    "return new Proxy(ROW, {})[KEY]",
    "return Object.keys(new Proxy(ROW, {}))",
    "return v.map((r) => r.a)",
    "return v.filter((r) => r.b === 'x').length",
    "return v.sort((p, q) => (p.id > q.id ? 1 : -1)).length",
    "return v.toSorted((p, q) => String(p.b).localeCompare(String(q.b))).map((r) => r.b)",
    "v.push(ROW); return v.at(-1) === v[v.length - 1]",
    "v.reverse(); return v.length",
    "v[0] = { replaced: true }; return v[0]",
    "return [].concat(v, ROW).length",
    "return v.flatMap((r) => Object.values(r)).length",
    "class P { constructor(o) { return o } } class Q extends P { #x = 1; static has(o) { return #x in o } } new Q(ROW); return [Q.has(ROW), ROW.a]",
    "ROW[Symbol.for('s')] = 1; return [ROW[Symbol.for('s')], Object.keys(ROW)]",
    "return Object.groupBy(v, (r) => String(r.a))",
    "return new Set(v).size + new Map(v.map((r) => [r, 1])).size",
    "return Object.is(ROW, ROW) && v.indexOf(ROW) >= 0 && v.includes(ROW)",
    "return `${JSON.stringify(ROW)}`",
    "return Object.fromEntries(Object.entries(ROW))",
    "return ROW.propertyIsEnumerable(KEY)",
    "ROW.c?.push?.(1); return ROW.c",
    "return Reflect.set(ROW, KEY, 1, { other: true })",
    "return Reflect.get(ROW, KEY, {})",
    "return Reflect.has(ROW, KEY)",
    "const w = new WeakMap([[ROW, 'w']]); return [w.get(ROW), ROW.a, w.get(ROW)]",
];

#[test]
fn generated_programs_see_no_difference() {
    for seed in 1..=250 {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ seed);
        let json = random.rows();
        let program = random.program();
        let (lazy, plain) = both(&json, &program);
        assert_eq!(lazy, plain, "seed {seed}\n{program}\n{json}");
    }
}

#[test]
fn each_step_alone_sees_no_difference() {
    let mut random = Random(7);
    for step in STEPS {
        for row in [0, 3] {
            let json = random.rows();
            let body = step.replace("ROW", &format!("v[{row}]")).replace("KEY", "'a'");
            let program = format!(
                "let r; try {{ r = (() => {{ {body} }})() }} catch (e) {{ r = e.name }} return [r === undefined ? 'undefined' : r, JSON.stringify(v)]"
            );
            let (lazy, plain) = both(&json, &program);
            assert_eq!(lazy, plain, "{program}\n{json}");
        }
    }
}

#[test]
fn what_the_compact_form_cannot_hold_arrives_all_the_same() {
    let pad = "x".repeat(2000);
    for odd in [
        r#""\ud800""#,
        "1e400",
        &format!("{}1{}", "[".repeat(200), "]".repeat(200)),
        r#"{"a":1,"a":2}"#,
        r#"{"__proto__":{"admin":true}}"#,
    ] {
        let json = format!("[{odd},\"{pad}\"]");
        let (lazy, plain) = both(&json, "return [JSON.stringify(v[0]), ({}).admin === undefined]");
        assert_eq!(lazy, plain, "{odd}");
    }
}

#[test]
fn a_sleeping_row_survives_the_snapshot_of_its_sandbox() {
    let rows: Vec<String> = (0..100).map(|i| format!(r#"{{"id":{i},"name":"row {i}","tags":["a",{i}]}}"#)).collect();
    let script = "const v = await tools.x.get({}); const first = v[0].name; await tools.x.get({}); return [first, v[99].name, v[50].tags, v.length]";
    let (mut sandbox, _) = begin(script, Limits::default());
    block(sandbox.feed(&value(1, &format!("[{}]", rows.join(",")))));
    let bytes = sandbox.save().to_bytes();
    let snapshot = refrain_engine::Snapshot::from_bytes(&crate::engine(), &bytes).unwrap();
    let mut restored = snapshot.restore(&crate::engine(), Limits::default()).unwrap();
    let Status::Returned(Some(json)) = block(restored.feed(&value(2, "1"))).status else { panic!() };
    assert_eq!(json, r#"["row 0","row 99",["a",50],100]"#);
}

#[test]
fn a_value_packed_ahead_arrives_as_it_is() {
    let rows: Vec<String> =
        (0..2_000).map(|n| format!(r#"{{"n":{n},"name":"row {n} with some text in it"}}"#)).collect();
    // The last is none that our parser takes.
    for json in ["1".to_owned(), format!("[{}]", rows.join(",")), format!(r#"["\ud83d",{}]"#, rows.join(","))] {
        let whole = Outcome::Value(json.clone());
        assert_eq!(whole.is_large(), json.len() > 1);
        let text = |outcome| {
            let (mut sandbox, _) = begin("return JSON.stringify(await tools.x.get({}))", Limits::default());
            block(sandbox.feed(&Delivery { call: 1, clock_ms: 0, outcome })).status
        };
        let (Status::Returned(Some(expected)), Status::Returned(Some(got))) =
            (text(whole.clone()), text(whole.packed()))
        else {
            panic!("{}", &json[..json.len().min(40)]);
        };
        assert!(expected == got && got.len() >= json.len());
    }
}
