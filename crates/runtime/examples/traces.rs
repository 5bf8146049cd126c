//! Scripts made at random and cut at random, for as long as one likes; stops at the first rule that is broken.
//!
//! `cargo run --release -p refrain-runtime --example traces -- [TRACES] [SEED]`, 100,000 from a seed of the day unless told otherwise.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal that may fail")]

use refrain_journal::testing::Cut;
use refrain_runtime::{Clock as _, SystemClock};

use self::{
    generator::{Dice, script},
    world::{Cuts, World},
};

#[path = "../tests/it/traces/generator.rs"]
mod generator;
#[path = "../tests/it/traces/world.rs"]
mod world;

/// Traces of one script.
const OF_EACH: u64 = 10;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>().unwrap());
    let traces = words.next().unwrap_or(100_000);
    let seed = words.next().unwrap_or_else(|| SystemClock.now_ms().unsigned_abs() / 86_400_000);
    println!("seed {seed}");
    let began = SystemClock.instant();
    let world = World::new(std::env::temp_dir().join("refrain-traces")).await;
    let mut dice = Dice::new(seed);
    let (mut done, mut scripts, mut kills) = (0, 0, 0);
    while done < traces {
        let script = script(seed.wrapping_mul(1_000_003).wrapping_add(scripts));
        scripts += 1;
        let calm = world.trace(&script, &Vec::new()).await;
        for _ in 0..OF_EACH {
            let times = 1 + dice.roll(4);
            let cut =
                |dice: &mut Dice| (dice.roll(calm.writes), if dice.roll(2) == 0 { Cut::Before } else { Cut::After });
            let cuts: Cuts = (0..times).map(|_| cut(&mut dice)).collect();
            let trace = world.trace(&script, &cuts).await;
            trace.is_like(&calm, &script, &cuts);
            kills += trace.kills;
            done += 1;
        }
    }
    println!("{done} traces of {scripts} scripts, {kills} kills, no rule broken, {:.0?}", began.elapsed());
}
