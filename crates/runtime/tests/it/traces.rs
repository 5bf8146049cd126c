//! Scripts made at random, cut at their writes, once or several times in a row.
//!
//! `cargo run --release -p refrain-runtime --example traces` does the same for as long as one likes.

use refrain_journal::testing::Cut;

use self::{
    generator::{Dice, script},
    world::{Cuts, World},
};

mod generator;
mod world;

const SEED: u64 = 20_261_201;
/// Different scripts.
const SCRIPTS: u64 = 200;
/// Of which so many are cut at every write, before and after it is stored; the others at a few.
const THOROUGH: u64 = 40;

#[test]
fn scripts_that_are_cut_anywhere_repeat_nothing_finished_and_end_like_those_that_are_not() {
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine");
    let threads = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    threads.block_on(async {
        let world = World::new(cache).await;
        let mut dice = Dice::new(SEED);
        for n in 0..SCRIPTS {
            let script = script(SEED + n);
            let calm = world.trace(&script, &Vec::new()).await;
            assert_eq!(calm.kills, 0);
            let mut cuts: Vec<Cuts> = Vec::new();
            if n < THOROUGH {
                cuts.extend((0..calm.writes).flat_map(|nth| [vec![(nth, Cut::Before)], vec![(nth, Cut::After)]]));
            }
            for _ in 0..8 {
                let times = 1 + dice.roll(3);
                let cut = |dice: &mut Dice| {
                    (dice.roll(calm.writes), if dice.roll(2) == 0 { Cut::Before } else { Cut::After })
                };
                cuts.push((0..times).map(|_| cut(&mut dice)).collect());
            }
            for cuts in &cuts {
                let trace = world.trace(&script, cuts).await;
                trace.is_like(&calm, &script, cuts);
            }
        }
    });
}
