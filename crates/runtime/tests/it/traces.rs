//! Scripts made at random, cut at their writes, once or several times in a row.
//!
//! `cargo run --release -p refrain-runtime --example traces` does the same for as long as one likes.

use refrain_journal::testing::Cut;

use self::{
    generator::{Dice, script},
    world::{World, cuts},
};

mod generator;
mod world;

const SEED: u64 = 20_261_201;
/// Different scripts, each cut at every write, before and after it is stored, and some times more.
const SCRIPTS: u64 = 200;
const LANES: u64 = 2;

#[test]
fn scripts_that_are_cut_anywhere_repeat_nothing_finished_and_end_like_those_that_are_not() {
    let lanes: Vec<_> = (0..LANES).map(|lane| std::thread::spawn(move || cut_everywhere(lane))).collect();
    for lane in lanes {
        lane.join().unwrap();
    }
}

fn cut_everywhere(lane: u64) {
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine");
    let threads = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    threads.block_on(async {
        let world = World::new(cache).await;
        for seed in (SEED + lane..SEED + SCRIPTS).step_by(LANES as usize) {
            let script = script(seed);
            let calm = world.trace(&script, &Vec::new()).await;
            assert_eq!(calm.kills, 0);
            for nth in 0..calm.writes {
                for side in [Cut::Before, Cut::After] {
                    world.trace(&script, &vec![(nth, side)]).await;
                }
            }
            let mut dice = Dice::new(!seed);
            for _ in 0..4 {
                world.trace(&script, &cuts(&mut dice, calm.writes)).await;
            }
        }
    });
}
