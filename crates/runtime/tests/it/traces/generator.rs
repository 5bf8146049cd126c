//! Scripts made at random, such that what they return does not depend on which of their calls is back first.

use std::{collections::BTreeSet, fmt::Write as _};

/// Numbers that look random, the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// A script. Which calls it makes does not depend on where it is cut, nor on what calls give that may not be repeated.
pub(crate) struct Generated {
    pub(crate) seed: u64,
    pub(crate) script: String,
    /// Whether it makes calls that may not be repeated: what it returns then depends on where it was cut.
    pub(crate) has_unsafe: bool,
    /// The calls that it does not wait for: losers of races, and what is left behind.
    pub(crate) loose: BTreeSet<u64>,
}

struct Maker {
    dice: Dice,
    next_id: u64,
    has_unsafe: bool,
    may_be_unsafe: bool,
    loose: BTreeSet<u64>,
}

/// Makes the script of a seed.
pub(crate) fn script(seed: u64) -> Generated {
    let mut dice = Dice::new(seed);
    let may_be_unsafe = dice.roll(3) == 0;
    let mut maker = Maker { dice, next_id: 0, has_unsafe: false, may_be_unsafe, loose: BTreeSet::new() };
    let mut script = String::from(
        "const out = [];\nconst at = async (promise) => { try { return (await promise).id } catch (e) { return e.code ?? e.message } };\n",
    );
    for _ in 0..=maker.dice.roll(4) {
        script.push_str(&maker.statement(2));
    }
    script.push_str(match maker.dice.roll(8) {
        0 => "throw new Error('own ' + out.length);\n",
        1 => "exit();\n",
        _ => "return out;\n",
    });
    Generated { seed, script, has_unsafe: maker.has_unsafe, loose: maker.loose }
}

impl Maker {
    fn id(&mut self, many: u64) -> u64 {
        self.next_id += many;
        self.next_id - many
    }

    fn tool(&mut self) -> &'static str {
        match self.dice.roll(if self.may_be_unsafe { 4 } else { 3 }) {
            0 | 1 => "get",
            2 => "key",
            _ => {
                self.has_unsafe = true;
                "put"
            }
        }
    }

    /// A call by its id, which may fail.
    fn call(&mut self, id: &str) -> String {
        let fails = if self.dice.roll(6) == 0 { ", fail: true" } else { "" };
        format!("tools.t.{}({{ id: {id}{fails} }})", self.tool())
    }

    fn one(&mut self) -> String {
        let id = self.id(1).to_string();
        self.call(&id)
    }

    /// Two calls of which not both are waited for.
    fn rivals(&mut self) -> (String, String) {
        self.loose.extend([self.next_id, self.next_id + 1]);
        (self.one(), self.one())
    }

    fn statement(&mut self, depth: u32) -> String {
        let mut text = String::new();
        let many = 2 + self.dice.roll(3);
        let kinds = if depth == 0 { 11 } else { 15 };
        match self.dice.roll(kinds) {
            0 => {
                let _ = writeln!(text, "out.push(await at({}));", self.one());
            }
            1 => {
                let (base, call) = (self.id(many), self.call("id"));
                let _ = writeln!(text, "for (let id = {base}; id < {}; id++) out.push(await at({call}));", base + many);
            }
            2 => {
                let (base, call) = (self.id(many), self.call(&format!("{} + n", self.next_id)));
                self.next_id = base + 2 * many;
                let _ = writeln!(
                    text,
                    "out.push(...await Promise.all(Array.from({{ length: {many} }}, (_, n) => at({call}))));"
                );
            }
            3 => {
                let (one, other) = self.rivals();
                let _ = writeln!(text, "out.push(typeof await Promise.race([at({one}), at({other})]));");
            }
            4 => {
                let (one, other) = self.rivals();
                let _ = writeln!(text, "out.push(typeof await Promise.any([{one}, {other}]).catch((e) => e));");
            }
            5 => {
                let (one, other) = (self.one(), self.one());
                let _ = writeln!(
                    text,
                    "out.push(...(await Promise.allSettled([{one}, {other}])).map((it) => it.value?.id ?? it.reason.code));"
                );
            }
            6 => {
                let (base, call) = (self.id(many), self.call("id"));
                let _ = writeln!(
                    text,
                    "let times{base} = 0; for await (const id of (async function* () {{ for (let id = {base}; id < {}; id++) yield await at({call}); }})()) {{ out.push(id); if (++times{base} > {}) break; }}",
                    base + many,
                    many / 2
                );
            }
            7 => {
                let _ = writeln!(text, "out.push(Math.random(), Date.now(), crypto.randomUUID());");
            }
            8 => {
                let _ = writeln!(text, "text('said ' + out.length); console.log('logged', out.length);");
            }
            9 => {
                let _ = writeln!(text, "await sleep({});", self.dice.roll(3));
            }
            10 => {
                let _ =
                    writeln!(text, "store('k' + out.length, out.length); out.push(load('k' + out.length) ?? null);");
            }
            11 => {
                let (body, call) = (self.statement(depth - 1), self.one());
                let _ = writeln!(
                    text,
                    "try {{ {body} const got = await {call}; if (got.id % 2 === 0) throw new Error('even'); }} catch (e) {{ out.push(e.code ?? e.message); }} finally {{ out.push(await at({})); }}",
                    self.one()
                );
            }
            12 => {
                let (one, other) = (self.statement(depth - 1), self.statement(depth - 1));
                let given = if self.may_be_unsafe { self.dice.roll(2).to_string() } else { "out.length % 2".into() };
                let _ = writeln!(text, "await (async () => {{ {one} }})(); if ({given} === 0) {{ {other} }}");
            }
            13 => {
                let lanes: Vec<String> = (0..2)
                    .map(|_| {
                        let (first, second) = (self.one(), self.one());
                        format!("(async () => [await at({first}), await at({second})])()")
                    })
                    .collect();
                let _ = writeln!(text, "out.push(...(await Promise.all([{}])).flat());", lanes.join(", "));
            }
            _ => {
                self.loose.insert(self.next_id);
                let call = self.one();
                let _ = writeln!(text, "const left{} = at({call}); out.push('left');", self.next_id);
            }
        }
        text
    }
}
