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

/// A script, and what is known of it.
pub(crate) struct Generated {
    pub(crate) seed: u64,
    pub(crate) number: u64,
    pub(crate) script: String,
    /// The calls for which the script does not wait, by their id: whether they are back before its end is chance.
    pub(crate) loose: BTreeSet<u64>,
    /// No two of its calls are ever out together, so that nothing about it is chance.
    pub(crate) is_sequential: bool,
}

struct Maker {
    dice: Dice,
    next_id: u64,
    may_be_unsafe: bool,
    loose: BTreeSet<u64>,
    may_be_parallel: bool,
    is_sequential: bool,
}

/// The statements of which none has two calls out together; those from 14 on have others in them.
const SEQUENTIAL: [u64; 11] = [0, 1, 6, 7, 8, 9, 10, 11, 12, 14, 15];

/// Makes a script of a seed.
pub(crate) fn script(seed: u64, number: u64) -> Generated {
    let mut dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
    let (may_be_unsafe, may_be_parallel) = (dice.roll(3) == 0, dice.roll(3) > 0);
    let (loose, is_sequential) = (BTreeSet::new(), true);
    let mut maker = Maker { dice, next_id: 0, may_be_unsafe, loose, may_be_parallel, is_sequential };
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
    Generated { seed, number, script, loose: maker.loose, is_sequential: maker.is_sequential }
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
            _ => "put",
        }
    }

    /// A call by its id, which may fail, for good or once.
    fn call(&mut self, id: &str) -> String {
        let how = ["", "", "", "", "", ", fail: true", ", flaky: true"][self.dice.roll(7) as usize];
        format!("tools.t.{}({{ id: {id}{how} }})", self.tool())
    }

    fn one(&mut self) -> String {
        let id = self.id(1).to_string();
        self.call(&id)
    }

    /// Two calls that are out together.
    fn two(&mut self) -> (String, String) {
        self.is_sequential = false;
        (self.one(), self.one())
    }

    /// Two calls, of which one is enough for the script.
    fn rivals(&mut self) -> (String, String) {
        self.loose.extend([self.next_id, self.next_id + 1]);
        self.two()
    }

    fn statement(&mut self, depth: u32) -> String {
        let mut text = String::new();
        let many = 2 + self.dice.roll(3);
        let kind = match (self.may_be_parallel, depth) {
            (true, 0) => self.dice.roll(14),
            (true, _) => self.dice.roll(18),
            (false, 0) => SEQUENTIAL[self.dice.roll(9) as usize],
            (false, _) => SEQUENTIAL[self.dice.roll(11) as usize],
        };
        match kind {
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
                self.is_sequential = false;
                let _ = writeln!(
                    text,
                    "out.push(...await Promise.all(Array.from({{ length: {many} }}, (_, n) => at({call}))));"
                );
            }
            3 => {
                let (one, other) = self.rivals();
                let _ = writeln!(text, "await Promise.race([at({one}), at({other})]); out.push('raced');");
            }
            4 => {
                let (one, other) = self.rivals();
                let _ = writeln!(text, "out.push(typeof await Promise.any([{one}, {other}]).catch((e) => e));");
            }
            5 => {
                let (one, other) = self.two();
                let _ = writeln!(
                    text,
                    "out.push(...(await Promise.allSettled([{one}, {other}])).map((it) => it.value?.id ?? it.reason.code));"
                );
            }
            6 => {
                let (base, call) = (self.id(many), self.call("id"));
                let _ = writeln!(
                    text,
                    "for await (const id of (async function* () {{ for (let id = {base}; id < {}; id++) yield await at({call}); }})()) {{ out.push(id); if (id === {}) break; }}",
                    base + many,
                    base + many / 2
                );
            }
            7 => {
                let _ = writeln!(text, "out.push(Math.random(), Date.now(), crypto.randomUUID());");
            }
            8 => {
                let _ = writeln!(text, "text('said ' + out.length); console.log('logged', out.length);");
            }
            9 => {
                // Any longer and what is back first would depend on the machine.
                text.push_str("await sleep(0);\n");
            }
            10 => {
                let _ =
                    writeln!(text, "store('k' + out.length, out.length); out.push(load('k' + out.length) ?? null);");
            }
            11 => {
                // What was drawn goes out as well.
                let (tool, id) = (self.tool(), self.id(1));
                let drawn = "draw: Math.random(), at: Date.now(), key: crypto.randomUUID()";
                let _ = writeln!(text, "out.push(await at(tools.t.{tool}({{ id: {id}, {drawn} }})));");
            }
            12 => {
                // Long enough to park for.
                let _ = writeln!(text, "await sleep({}); out.push(Date.now());", 60_000 + self.dice.roll(9));
            }
            13 => {
                self.is_sequential = false;
                let pause = 60_000 + self.dice.roll(9);
                let _ = writeln!(
                    text,
                    "out.push(...(await Promise.all([sleep({pause}), at({}), sleep({}).then(() => at({}))])).slice(1));",
                    self.one(),
                    pause + 1000,
                    self.one()
                );
            }
            14 => {
                let (body, call) = (self.statement(depth - 1), self.one());
                let _ = writeln!(
                    text,
                    "try {{ {body} const got = await {call}; if (got.id % 2 === 0) throw new Error('even'); }} catch (e) {{ out.push(e.code ?? e.message); }} finally {{ out.push(await at({})); }}",
                    self.one()
                );
            }
            15 => {
                let (one, other) = (self.statement(depth - 1), self.statement(depth - 1));
                let _ = writeln!(text, "await (async () => {{ {one} }})(); if (out.length % 2 === 0) {{ {other} }}");
            }
            16 => {
                let lanes: Vec<String> = (0..2)
                    .map(|_| {
                        let (first, second) = self.two();
                        format!("(async () => [await at({first}), await at({second})])()")
                    })
                    .collect();
                let _ = writeln!(text, "out.push(...(await Promise.all([{}])).flat());", lanes.join(", "));
            }
            _ => {
                self.is_sequential = false;
                self.loose.insert(self.next_id);
                let call = self.one();
                let _ = writeln!(text, "const left{} = at({call}); out.push('left');", self.next_id);
            }
        }
        text
    }
}
