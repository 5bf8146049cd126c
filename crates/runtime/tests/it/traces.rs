//! Scripts made at random, cut at their writes, once or several times in a row.
//!
//! `cargo run --release -p refrain-runtime --example traces` does the same for as long as one likes.

use refrain_journal::testing::Cut;

use self::{
    generator::Dice,
    place::Cuts,
    subject::{Subject, Tally},
    world::World,
};

mod compared;
mod generator;
mod place;
mod subject;
mod tools;
mod world;

const SEED: u64 = 20_261_201;
/// Different scripts. Each is cut at every write, before and after it is stored.
const SCRIPTS: u64 = 200;
/// Of each script so many traces with several cuts in a row.
const SEVERAL: u64 = 8;
/// Threads that share the scripts.
const LANES: u64 = 2;

#[test]
fn scripts_that_are_cut_anywhere_repeat_nothing_finished_and_end_like_those_that_are_not() {
    let tallies = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|lane| scope.spawn(move || traces_of(lane))).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).collect::<Vec<Tally>>()
    });
    // What never happened was not compared.
    for tally in tallies {
        let Tally { traces, kills, parks, whole, interrupted, retried } = tally;
        for (what, count) in [("kills", kills), ("parks", parks), ("whole", whole), ("retried", retried)] {
            assert!(count * 10 > traces, "{what}: {tally:?}");
        }
        assert!(interrupted * 100 > traces, "{tally:?}");
    }
}

fn traces_of(lane: u64) -> Tally {
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine");
    let threads = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut tally = Tally::default();
    threads.block_on(async {
        let world = World::new(cache).await;
        for number in (lane..SCRIPTS).step_by(LANES as usize) {
            let mut subject = Subject::new(&world, SEED, number).await;
            let mut dice = Dice::new(SEED + number);
            let writes = subject.writes;
            let every = (0..writes).flat_map(|nth| [Cut::Before, Cut::After].map(|side| Cuts(vec![(nth, side)])));
            for cuts in every.chain((0..SEVERAL).map(|_| Cuts::some(&mut dice, 3, writes))) {
                subject.cut(&cuts, &mut tally).await;
            }
        }
    });
    tally
}
