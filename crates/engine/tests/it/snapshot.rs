//! A saved sandbox goes on as if it had never stopped.

use refrain_engine::{Limits, Snapshot, SnapshotError, Status};

use crate::{begin, block, engine, value};

const SCRIPT: &str = "
    const seen = new Map([['a', 1]]);
    const inner = async (id) => { const r = await tools.x.get({ id }); seen.set(id, r); return Math.random() };
    const draws = [await inner(1), await inner(2), await inner(3)];
    return [[...seen], draws, Date.now()]";

#[test]
fn it_ends_the_same_from_every_waiting_point() {
    let calm = play(None);
    for stop_after in 0..3 {
        assert_eq!(play(Some(stop_after)), calm, "saved after {stop_after} results");
    }
}

/// Runs [`SCRIPT`]; after `save_after` results the sandbox is saved, dropped and brought back from its bytes. Returns the result, the
/// fuel, and the memory at the end.
fn play(save_after: Option<u32>) -> (String, u64, Vec<u8>) {
    let (mut sandbox, mut turn) = begin(SCRIPT, Limits::default());
    for call in 1..=3 {
        if save_after == Some(call - 1) {
            let bytes = sandbox.save().to_bytes();
            drop(sandbox);
            let snapshot = Snapshot::from_bytes(&engine(), &bytes).unwrap();
            sandbox = snapshot.restore(&engine(), Limits::default()).unwrap();
        }
        turn = block(sandbox.feed(&value(call, &format!("{{\"n\":{call}}}"))));
    }
    let Status::Returned(Some(json)) = turn.status else { panic!("{:?}", turn.status) };
    (json, sandbox.fuel_used(), sandbox.save().to_bytes())
}

#[test]
fn a_small_script_is_small() {
    let (sandbox, _) = begin(SCRIPT, Limits::default());
    let raw = sandbox.save().raw_bytes();
    assert!(raw <= 150_000, "{raw} bytes");
}

#[test]
fn a_damaged_cut_or_foreign_snapshot_is_refused() {
    let (sandbox, _) = begin(SCRIPT, Limits::default());
    let bytes = sandbox.save().to_bytes();
    for at in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(Snapshot::from_bytes(&engine(), &damaged).is_err(), "byte {at}");
        assert!(Snapshot::from_bytes(&engine(), &bytes[..at]).is_err(), "cut at {at}");
    }
    let small = Limits { memory_bytes: 1 << 16, ..Limits::default() };
    let snapshot = Snapshot::from_bytes(&engine(), &bytes).unwrap();
    assert!(matches!(snapshot.restore(&engine(), small), Err(SnapshotError::TooLarge { .. })));
}
