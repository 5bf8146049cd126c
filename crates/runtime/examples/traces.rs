//! Scripts made at random and cut at random, for as long as one likes; stops at the first rule that is broken.
//!
//! `cargo run --release -p refrain-runtime --example traces -- [TRACES] [SEED]`, 100,000 from a seed of the day unless told otherwise;
//! `… -- again SEED SCRIPT CUTS` plays one of them again.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal that may fail")]

use refrain_runtime::{Clock as _, SystemClock};

use self::{
    generator::Dice,
    place::Cuts,
    subject::{Subject, Tally},
    world::World,
};

#[path = "../tests/it/traces/compared.rs"]
mod compared;
#[path = "../tests/it/traces/generator.rs"]
mod generator;
#[path = "../tests/it/traces/place.rs"]
mod place;
#[path = "../tests/it/traces/subject.rs"]
mod subject;
#[path = "../tests/it/traces/tools.rs"]
mod tools;
#[path = "../tests/it/traces/world.rs"]
mod world;

/// Traces of one script.
const OF_EACH: u64 = 10;
/// How often one is played again. A snapshot is packed on a thread of its own, and now and then something else is back meanwhile; all the
/// rest is the same each time.
const AGAIN: u64 = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let world = World::new(std::env::temp_dir().join("refrain-traces")).await;
    let mut tally = Tally::default();
    if let [again, seed, number, cuts] = &words[..]
        && again == "again"
    {
        for _ in 0..AGAIN {
            let mut subject = Subject::new(&world, seed.parse().unwrap(), number.parse().unwrap()).await;
            subject.cut(&cuts.parse().unwrap(), &mut tally).await;
        }
        return println!("no rule broken: {tally:?}");
    }
    let mut words = words.iter().map(|word| word.parse::<u64>().unwrap());
    let traces = words.next().unwrap_or(100_000);
    let seed = words.next().unwrap_or_else(|| SystemClock.now_ms().unsigned_abs() / 86_400_000);
    println!("seed {seed}");
    let began = SystemClock.instant();
    let mut dice = Dice::new(seed);
    let mut scripts = 0;
    while tally.traces < traces {
        let mut subject = Subject::new(&world, seed, scripts).await;
        scripts += 1;
        for _ in 0..OF_EACH {
            let cuts = Cuts::some(&mut dice, 4, subject.writes);
            subject.cut(&cuts, &mut tally).await;
        }
    }
    println!("{scripts} scripts, no rule broken, {:.0?}: {tally:?}", began.elapsed());
}
