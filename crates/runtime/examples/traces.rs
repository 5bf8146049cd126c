//! Scripts made at random and cut at random, for as long as one likes; stops at the first rule that is broken.
//!
//! `cargo run --release -p refrain-runtime --example traces -- [TRACES] [SCRIPT] [CUTS]`, 100,000 from a script of
//! the moment unless told otherwise; with cuts, that one trace.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal that may fail")]

use refrain_journal::testing::Cut;
use refrain_runtime::{Clock as _, SystemClock};

use self::{
    generator::{Dice, script},
    world::{Cuts, World, cuts},
};

#[path = "../tests/it/traces/generator.rs"]
mod generator;
#[path = "../tests/it/traces/world.rs"]
mod world;

/// Traces of one script.
const OF_EACH: u64 = 10;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let traces = words.first().map_or(100_000, |word| word.parse().unwrap());
    let first = words.get(1).map_or_else(|| SystemClock.now_ms().unsigned_abs() / 1000, |word| word.parse().unwrap());
    let told: Cuts = words.iter().skip(2).map(|word| one_cut(word)).collect();
    let world = World::new(std::env::temp_dir().join("refrain-traces")).await;
    if !told.is_empty() {
        let trace = world.trace(&script(first), &told).await;
        return println!("script {first}, {} kills, no rule broken", trace.kills);
    }
    println!("from script {first}");
    let began = SystemClock.instant();
    let (mut done, mut scripts, mut kills) = (0, 0, 0);
    while done < traces {
        let seed = first + scripts;
        let script = script(seed);
        scripts += 1;
        let calm = world.trace(&script, &Vec::new()).await;
        let mut dice = Dice::new(!seed);
        for _ in 0..OF_EACH.min(traces - done) {
            kills += world.trace(&script, &cuts(&mut dice, calm.writes)).await.kills;
            done += 1;
        }
    }
    println!("{done} traces of {scripts} scripts, {kills} kills, no rule broken, {:.0?}", began.elapsed());
}

/// A cut in words: `3b` is before the fourth write is stored, `3a` after it.
fn one_cut(word: &str) -> (u64, Cut) {
    let (nth, side) = word.split_at(word.len() - 1);
    (nth.parse().unwrap(), if side == "b" { Cut::Before } else { Cut::After })
}
