//! The rules that every store keeps, one function each.

use std::sync::Arc;

use super::sample::{answered, asked, ended, failed, json, parked, run, start};
use super::{Bench, Chain};
use crate::{
    BlobHash, EndState, Ended, Flush, Guard, Journal, JournalError, MemoryJournal, OpenRun, Outcome, Page, Record,
    Restored, RunId, RunState, Seq, Stored, Successor, Take, export,
};

/// Makes one test of each rule of the contract, for the bench that the expression makes.
#[macro_export]
macro_rules! journal_contract {
    ($bench:expr) => {
        $crate::journal_contract! { $bench;
            records_come_back_as_they_were_written
            an_append_is_all_or_none
            only_the_next_number_is_taken
            a_late_writer_is_refused
            nothing_follows_the_end
            a_run_is_created_once
            a_run_takes_the_place_of_another_in_one_commit
            a_session_is_written_with_the_end_of_its_run
            a_live_owner_holds_its_run_also_from_itself
            a_dead_owner_holds_nothing
            a_lease_that_is_released_or_dropped_frees_its_run
            of_two_that_acquire_at_once_one_gets_the_run
            many_writers_get_their_own_answers
            pages_stay_in_place_while_runs_are_added
            a_summary_tells_how_a_run_stands
            a_prefix_finds_runs_newest_first
            what_is_not_there_is_named
            a_blob_is_shared_and_checked
            a_damaged_record_is_refused_by_number
            a_newer_record_is_told_from_a_damaged_one
            nobody_holds_a_parked_run
            owners_that_die_of_a_run_are_counted
            a_snapshot_is_given_out_where_it_fits_and_nowhere_else
            a_large_value_is_kept_apart_and_once
            a_run_is_carried_to_another_journal_whole_or_not_at_all
        }
    };
    ($bench:expr; $($rule:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                $crate::testing::contract::$rule(&$bench).await;
            }
        )*
    };
}

const NOW: i64 = 1_700_000_100_000;

/// Creates run `n` and appends `records` to it; the run is free afterwards.
async fn filled(journal: &dyn Journal, n: u32, records: &[Record]) -> RunId {
    let lease = journal.create(run(n), &start("return 1"), &[], Flush::Process).await.unwrap();
    journal.append(&lease, Seq(1), records, Flush::Process).await.unwrap();
    journal.release(lease).await.unwrap();
    run(n)
}

fn started() -> Record {
    Record::Started(Box::new(start("return 1")))
}

/// Every kind, each way to flush, read by the writer and by another owner.
pub async fn records_come_back_as_they_were_written(bench: &dyn Bench) {
    let (one, two) = (bench.open().await, bench.open().await);
    let lease = one.create(run(1), &start("return 1"), &[], Flush::Disk).await.unwrap();
    assert_eq!((lease.run(), lease.fence()), (run(1), 1));
    one.append(&lease, Seq(1), &[asked(1), answered(1, "1e400")], Flush::Process).await.unwrap();
    one.append(&lease, Seq(3), &[], Flush::Process).await.unwrap();
    one.append(&lease, Seq(3), &[failed(2)], Flush::Disk).await.unwrap();
    one.append(&lease, Seq(4), &[ended(EndState::Completed)], Flush::Disk).await.unwrap();
    let want = [started(), asked(1), answered(1, "1e400"), failed(2), ended(EndState::Completed)];
    assert_eq!(one.read(run(1)).await.unwrap(), want);
    assert_eq!(two.read(run(1)).await.unwrap(), want);
}

/// A batch with one record that may not be written writes none.
pub async fn an_append_is_all_or_none(bench: &dyn Bench) {
    let journal = bench.open().await;
    let lease = journal.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    for bad in [vec![asked(1), started()], vec![asked(1), ended(EndState::Failed), answered(1, "1")]] {
        let error = journal.append(&lease, Seq(1), &bad, Flush::Process).await.unwrap_err();
        assert!(matches!(error, JournalError::Bug { .. }), "{error:?}");
        assert_eq!(journal.read(run(1)).await.unwrap(), [started()]);
    }
    journal.append(&lease, Seq(1), &[asked(1), answered(1, "1")], Flush::Process).await.unwrap();
    assert_eq!(journal.read(run(1)).await.unwrap(), [started(), asked(1), answered(1, "1")]);
}

/// Numbers that are taken or leave a gap are conflicts and write nothing.
pub async fn only_the_next_number_is_taken(bench: &dyn Bench) {
    let journal = bench.open().await;
    let lease = journal.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    journal.append(&lease, Seq(1), &[asked(1)], Flush::Process).await.unwrap();
    for at in [0, 1, 3, u64::MAX] {
        let error = journal.append(&lease, Seq(at), &[answered(1, "1")], Flush::Process).await.unwrap_err();
        assert!(matches!(error, JournalError::Conflict { run: r, at: Seq(a) } if r == run(1) && a == at), "{error:?}");
    }
    assert_eq!(journal.read(run(1)).await.unwrap(), [started(), asked(1)]);
}

/// Once a run was taken by force, the old lease writes nothing and frees nothing.
pub async fn a_late_writer_is_refused(bench: &dyn Bench) {
    let (old, new) = (bench.open().await, bench.open().await);
    let late = old.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    assert!(old.holds(&late).await.unwrap());
    let lease = new.acquire(run(1), Take::ByForce, NOW).await.unwrap();
    assert!(!old.holds(&late).await.unwrap() && new.holds(&lease).await.unwrap());
    assert_eq!(lease.fence(), 2);
    let error = old.append(&late, Seq(1), &[asked(1)], Flush::Process).await.unwrap_err();
    assert!(matches!(error, JournalError::Conflict { .. }), "{error:?}");
    assert_eq!(new.read(run(1)).await.unwrap(), [started()]);

    old.release(late).await.unwrap();
    let error = old.acquire(run(1), Take::IfFree, NOW).await.unwrap_err();
    assert!(matches!(error, JournalError::Held { .. }), "{error:?}");
    new.append(&lease, Seq(1), &[asked(1)], Flush::Process).await.unwrap();
    assert_eq!(old.read(run(1)).await.unwrap(), [started(), asked(1)]);
}

/// Not with the old lease, not with a new one.
pub async fn nothing_follows_the_end(bench: &dyn Bench) {
    let (journal, other) = (bench.open().await, bench.open().await);
    let lease = journal.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    journal.append(&lease, Seq(1), &[ended(EndState::Cancelled)], Flush::Process).await.unwrap();
    let error = journal.append(&lease, Seq(2), &[asked(1)], Flush::Process).await.unwrap_err();
    assert!(matches!(error, JournalError::Over { run: r } if r == run(1)), "{error:?}");
    for take in [Take::IfFree, Take::ByForce] {
        let error = other.acquire(run(1), take, NOW).await.unwrap_err();
        assert!(matches!(error, JournalError::Over { run: r } if r == run(1)), "{error:?}");
    }
    drop(lease);
    assert_eq!(journal.read(run(1)).await.unwrap(), [started(), ended(EndState::Cancelled)]);
}

/// The second one to create a run changes nothing of the first one's.
pub async fn a_run_is_created_once(bench: &dyn Bench) {
    let (one, two) = (bench.open().await, bench.open().await);
    let lease = one.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    let error = two.create(run(1), &start("return 2"), &[b"two".to_vec()], Flush::Process).await.unwrap_err();
    assert!(matches!(error, JournalError::Conflict { at: Seq(0), .. }), "{error:?}");
    assert_eq!(two.read(run(1)).await.unwrap(), [started()]);
    assert!(one.blob(BlobHash::of(b"two")).await.is_err());
    one.append(&lease, Seq(1), &[asked(1)], Flush::Process).await.unwrap();
}

/// The end of one run and the start of the next are both there or neither is.
pub async fn a_run_takes_the_place_of_another_in_one_commit(bench: &dyn Bench) {
    let (one, two) = (bench.open().await, bench.open().await);
    let first = one.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    let _second = one.create(run(2), &start("return 2"), &[], Flush::Process).await.unwrap();
    let next = start("return 3");
    let blobs = [b"three".to_vec()];
    let of = |n| Successor { run: run(n), start: &next, blobs: &blobs };
    let last = ended(EndState::Cancelled);
    let taken = one.replace(&first, Seq(1), &last, of(2), Flush::Disk).await.unwrap_err();
    assert!(matches!(taken, JournalError::Conflict { run: r, .. } if r == run(2)), "{taken:?}");
    let late = one.replace(&first, Seq(2), &last, of(3), Flush::Disk).await.unwrap_err();
    assert!(matches!(late, JournalError::Conflict { run: r, .. } if r == run(1)), "{late:?}");
    assert_eq!(one.read(run(1)).await.unwrap(), [started()]);
    assert!(matches!(one.read(run(3)).await.unwrap_err(), JournalError::NotFound { .. }));
    assert!(one.blob(BlobHash::of(b"three")).await.is_err());

    // Whoever fenced the first run may put another in its place; the one before may not any more.
    let fenced = two.acquire(run(1), Take::ByForce, NOW).await.unwrap();
    let error = one.replace(&first, Seq(1), &last, of(3), Flush::Disk).await.unwrap_err();
    assert!(matches!(error, JournalError::Conflict { run: r, .. } if r == run(1)), "{error:?}");
    let lease = two.replace(&fenced, Seq(1), &last, of(3), Flush::Disk).await.unwrap();
    assert_eq!((lease.run(), lease.fence()), (run(3), 1));
    assert_eq!(two.read(run(1)).await.unwrap(), [started(), last]);
    two.append(&lease, Seq(1), &[asked(1)], Flush::Process).await.unwrap();
    assert_eq!(one.blob(BlobHash::of(b"three")).await.unwrap(), b"three");
}

/// Values of a session come with the end that leaves them, all or none, and the last run to end wins; a guarded one is
/// refused with everything beside it once another run has changed the value.
pub async fn a_session_is_written_with_the_end_of_its_run(bench: &dyn Bench) {
    let (one, two) = (bench.open().await, bench.open().await);
    let stored = |key: &str, value: Option<&str>, was: Option<Option<&str>>| Stored {
        key: key.to_owned(),
        value: value.map(json),
        guard: was.map(|was| Guard { was: was.map(json) }),
    };
    let end = |stored: Vec<Stored>| {
        let Record::Ended(ended) = ended(EndState::Completed) else { unreachable!("the sample is an end") };
        Record::Ended(Ended { stored, ..ended })
    };
    let run_of = async |journal: &dyn Journal, n: u32, last: Record| {
        let lease = journal.create(run(n), &start("return 1"), &[], Flush::Process).await?;
        journal.append(&lease, Seq(1), &[last], Flush::Disk).await
    };
    let of = async |session: &str| -> Vec<(String, String)> {
        let values = two.session(session).await.unwrap();
        values.into_iter().map(|(key, value)| (key, value.as_str().to_owned())).collect()
    };
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(of("s").await, []);
    run_of(&*one, 1, end(vec![stored("b", Some("1.0"), None), stored("a\0é", Some("null"), Some(None))]))
        .await
        .unwrap();
    assert_eq!(of("s").await, [pair("a\0é", "null"), pair("b", "1.0")]);
    assert_eq!(of("t").await, []);

    // Another run found `b` as it was before this one, or never saw it.
    for was in [Some("1"), None] {
        let late = end(vec![stored("c", Some("1"), None), stored("b", Some("2"), Some(was))]);
        let n = if was.is_some() { 2 } else { 3 };
        let error = run_of(&*one, n, late).await.unwrap_err();
        assert!(
            matches!(&error, JournalError::StoreConflict { session, key, .. } if (&**session, &**key) == ("s", "b")),
            "{error:?}"
        );
        assert_eq!(one.read(run(n)).await.unwrap(), [started()]);
    }
    assert_eq!(of("s").await, [pair("a\0é", "null"), pair("b", "1.0")]);
    let last = end(vec![stored("b", Some("2"), Some(Some("1.0"))), stored("a\0é", None, None)]);
    run_of(&*two, 4, last.clone()).await.unwrap();
    assert_eq!(of("s").await, [pair("b", "2")]);
    assert_eq!(one.read(run(4)).await.unwrap(), [started(), last]);
}

/// One process does not drive a run twice either.
pub async fn a_live_owner_holds_its_run_also_from_itself(bench: &dyn Bench) {
    let (one, two) = (bench.open().await, bench.open().await);
    let lease = one.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    for journal in [&one, &two] {
        let error = journal.acquire(run(1), Take::IfFree, NOW).await.unwrap_err();
        let JournalError::Held { run: held, owner } = &error else { panic!("{error:?}") };
        assert_eq!((*held, owner.since_ms), (run(1), 1_700_000_000_000));
        assert!(error.to_string().contains(&owner.who) && !owner.who.is_empty(), "{error}");
        assert_eq!(journal.summary(run(1)).await.unwrap().owner.as_ref(), Some(owner));
    }
    one.append(&lease, Seq(1), &[asked(1)], Flush::Process).await.unwrap();
}

/// At once, without a time-out; and what the dead one wrote is there.
pub async fn a_dead_owner_holds_nothing(bench: &dyn Bench) {
    let (dead, new) = (bench.open().await, bench.open().await);
    let late = dead.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    dead.append(&late, Seq(1), &[asked(1)], Flush::Process).await.unwrap();
    dead.kill();
    let summary = new.summary(run(1)).await.unwrap();
    assert_eq!((summary.state, summary.owner), (RunState::Running, None));
    assert_eq!(new.list(&Page { limit: 9, cursor: None }).await.unwrap().runs[0].owner, None);
    let lease = new.acquire(run(1), Take::IfFree, NOW).await.unwrap();
    assert_eq!(lease.fence(), 2);
    new.append(&lease, Seq(2), &[answered(1, "1")], Flush::Process).await.unwrap();
    assert_eq!(new.read(run(1)).await.unwrap(), [started(), asked(1), answered(1, "1")]);
    drop(late);
    assert!(new.summary(run(1)).await.unwrap().owner.is_some());
}

/// Both ways decide nothing about the run.
pub async fn a_lease_that_is_released_or_dropped_frees_its_run(bench: &dyn Bench) {
    let (one, two) = (bench.open().await, bench.open().await);
    let lease = one.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    one.release(lease).await.unwrap();
    let summary = two.summary(run(1)).await.unwrap();
    assert_eq!((summary.state, summary.owner), (RunState::Running, None));
    drop(two.acquire(run(1), Take::IfFree, NOW).await.unwrap());
    // The drop was handed over without an answer; the next write of that owner comes after it.
    drop(two.create(run(2), &start("return 1"), &[], Flush::Process).await.unwrap());
    assert_eq!(one.acquire(run(1), Take::IfFree, NOW).await.unwrap().fence(), 3);
}

/// From two owners and several tasks of each.
pub async fn of_two_that_acquire_at_once_one_gets_the_run(bench: &dyn Bench) {
    let (one, two) = (bench.open().await, bench.open().await);
    filled(&*one, 1, &[asked(1)]).await;
    let take = |journal: &super::Opened| {
        let journal = Arc::clone(&journal.journal);
        tokio::spawn(async move { journal.acquire(run(1), Take::IfFree, NOW).await })
    };
    let tries: Vec<_> = (0..8).map(|n| take(if n % 2 == 0 { &one } else { &two })).collect();
    let mut leases = Vec::new();
    for tried in tries {
        match tried.await.unwrap() {
            Ok(lease) => leases.push(lease),
            Err(error) => assert!(matches!(error, JournalError::Held { .. }), "{error:?}"),
        }
    }
    assert_eq!(leases.iter().map(crate::Lease::fence).collect::<Vec<_>>(), [2]);
}

/// A conflict in a shared commit fails its own request and no other.
pub async fn many_writers_get_their_own_answers(bench: &dyn Bench) {
    let journal = bench.open().await;
    let writers: Vec<_> = (0..32)
        .map(|n| {
            let journal = Arc::clone(&journal.journal);
            tokio::spawn(async move {
                let lease = journal.create(run(n), &start("return 1"), &[], Flush::Process).await.unwrap();
                for at in 1..=20 {
                    let flush = if (u64::from(n) + at) % 16 == 0 { Flush::Disk } else { Flush::Process };
                    journal.append(&lease, Seq(at), &[answered(at, "1")], flush).await.unwrap();
                    let again = journal.append(&lease, Seq(at), &[answered(at, "2")], flush).await;
                    assert!(matches!(again, Err(JournalError::Conflict { .. })), "{again:?}");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let want: Vec<_> = std::iter::once(started()).chain((1..=20).map(|at| answered(at, "1"))).collect();
    for n in 0..32 {
        assert_eq!(journal.read(run(n)).await.unwrap(), want);
    }
}

/// Each run is shown once, whatever is added or changed between two pages.
pub async fn pages_stay_in_place_while_runs_are_added(bench: &dyn Bench) {
    let journal = bench.open().await;
    for n in 1..=7 {
        filled(&*journal, n, &[asked(1)]).await;
    }
    let mut seen = Vec::new();
    let mut page = Page { limit: 3, cursor: None };
    for added in 8.. {
        let listing = journal.list(&page).await.unwrap();
        seen.push(listing.runs.iter().map(|summary| summary.run).collect::<Vec<_>>());
        filled(&*journal, added, &[ended(EndState::Failed)]).await;
        page.cursor = listing.next_cursor;
        if page.cursor.is_none() {
            break;
        }
    }
    let runs = |numbers: &[u32]| numbers.iter().map(|n| run(*n)).collect::<Vec<_>>();
    assert_eq!(seen, [runs(&[7, 6, 5]), runs(&[4, 3, 2]), runs(&[1])]);

    let all = journal.list(&Page { limit: 10, cursor: None }).await.unwrap();
    assert_eq!((all.runs.len(), all.next_cursor), (10, None));
    assert_eq!(journal.list(&Page::default()).await.unwrap().runs.len(), 1);
    assert_eq!(journal.list(&Page { limit: usize::MAX, cursor: None }).await.unwrap().runs.len(), 10);
    for bad in ["", "1", "é", "' OR 1", "018bcfe5-6800-7fff-bfff-ffffffffffff"] {
        let error = journal.list(&Page { limit: 1, cursor: Some(bad.to_owned()) }).await.unwrap_err();
        assert!(matches!(error, JournalError::BadCursor { .. }), "{bad}: {error:?}");
    }
    let last = Page { limit: 3, cursor: Some("0".repeat(32)) };
    assert!(journal.list(&last).await.unwrap().runs.is_empty());
}

/// From start to end.
pub async fn a_summary_tells_how_a_run_stands(bench: &dyn Bench) {
    let journal = bench.open().await;
    let lease = journal.create(run(1), &start("\n  const a = 1;\nreturn a"), &[], Flush::Process).await.unwrap();
    let running = journal.summary(run(1)).await.unwrap();
    assert_eq!((running.state, running.records, running.ended_ms), (RunState::Running, 1, None));
    assert_eq!((running.started_ms, running.session.as_deref()), (1_700_000_000_000, Some("s")));
    assert_eq!(running.title, "const a = 1;");
    assert!(running.owner.is_some());
    journal.append(&lease, Seq(1), &[asked(1), ended(EndState::Failed)], Flush::Process).await.unwrap();
    let over = journal.summary(run(1)).await.unwrap();
    assert_eq!((over.state, over.records, over.ended_ms), (RunState::Failed, 3, Some(1_700_000_009_000)));
    assert_eq!(over.owner, None);
}

/// As typed by a person.
pub async fn a_prefix_finds_runs_newest_first(bench: &dyn Bench) {
    let journal = bench.open().await;
    for n in [1, 2, 300] {
        filled(&*journal, n, &[asked(1)]).await;
    }
    let id = run(2).to_string();
    assert_eq!(journal.find(&id, 9).await.unwrap(), [run(2)]);
    assert_eq!(journal.find(&id.to_uppercase().replace('-', ""), 9).await.unwrap(), [run(2)]);
    assert_eq!(journal.find(&id[..9], 9).await.unwrap(), [run(300), run(2), run(1)]);
    assert_eq!(journal.find(&id[..9], 2).await.unwrap(), [run(300), run(2)]);
    assert_eq!(journal.find("", usize::MAX).await.unwrap().len(), 3);
    for nobody in ["ffff", "%", "x", &"0".repeat(64)] {
        assert_eq!(journal.find(nobody, 9).await.unwrap(), [], "{nobody}");
    }
}

/// In every way to ask for it.
pub async fn what_is_not_there_is_named(bench: &dyn Bench) {
    let journal = bench.open().await;
    let errors = [
        journal.read(run(1)).await.unwrap_err(),
        journal.summary(run(1)).await.unwrap_err(),
        journal.acquire(run(1), Take::ByForce, NOW).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, JournalError::NotFound { .. }), "{error:?}");
        assert!(error.to_string().contains(&format!("`{}`", run(1))), "{error}");
    }
    let error = journal.blob(BlobHash::of(b"none")).await.unwrap_err();
    assert!(matches!(error, JournalError::NoBlob { .. }), "{error:?}");
}

/// Two runs can bring the same blob. One whose bytes changed is refused, until a run brings it again.
pub async fn a_blob_is_shared_and_checked(bench: &dyn Bench) {
    let journal = bench.open().await;
    let (big, hash) = (vec![7; 100_000], BlobHash::of(&[7; 100_000]));
    let blobs = [big.clone(), Vec::new(), big.clone()];
    let first = journal.create(run(1), &start("return 1"), &blobs, Flush::Process).await.unwrap();
    let second = journal.create(run(2), &start("return 1"), &blobs, Flush::Process).await.unwrap();
    assert_eq!(journal.blob(hash).await.unwrap(), big);
    assert_eq!(journal.blob(BlobHash::of(b"")).await.unwrap(), b"");
    bench.spoil(hash);
    let error = journal.blob(hash).await.unwrap_err();
    assert!(matches!(error, JournalError::DamagedBlob { hash: h } if h == hash), "{error:?}");
    let third = journal.create(run(3), &start("return 1"), &blobs, Flush::Process).await.unwrap();
    assert_eq!(journal.blob(hash).await.unwrap(), big);
    drop((first, second, third));
}

/// Whatever was changed, and wherever.
pub async fn a_damaged_record_is_refused_by_number(bench: &dyn Bench) {
    type Change = fn(&mut Vec<super::RawRecord>);
    let journal = bench.open().await;
    let changes: [(u64, Change); 10] = [
        (0, |records| records[0].payload[2] ^= 1),
        (2, |records| {
            let end = records[2].payload.len() - 2;
            records[2].payload[end] ^= 1;
        }),
        (2, |records| records[2].payload.clear()),
        (2, |records| records[2].kind = 2),
        (2, |records| records[2].kind = 99),
        (2, |records| records[2].kind = -1),
        (3, |records| records[3].link[31] ^= 1),
        (1, |records| drop(records.remove(1))),
        (3, |records| drop(records.pop())),
        (0, |records| {
            let (first, second) = records.split_at_mut(1);
            std::mem::swap(&mut first[0].payload, &mut second[0].payload);
        }),
    ];
    for (n, (seq, change)) in (1..).zip(changes) {
        let id = filled(&*journal, n, &[asked(1), answered(1, "1"), answered(2, "2")]).await;
        assert_eq!(journal.read(id).await.unwrap().len(), 4);
        bench.edit(id, Chain::Kept, change);
        let error = journal.read(id).await.unwrap_err();
        assert!(
            matches!(&error, JournalError::Damaged { run, seq: at, .. } if *run == id && at.0 == seq),
            "change {n}: {error:?}"
        );
    }
    // A record that was put at the end, with a checksum that fits: the head does not know it.
    let (long, short) = (filled(&*journal, 50, &[asked(1)]).await, filled(&*journal, 51, &[asked(1)]).await);
    bench.edit(long, Chain::Kept, |records| {
        let more = super::RawRecord { seq: 2, ..records[1].clone() };
        records.push(more);
        let mut chained = records.clone();
        super::edit::make_chain(run(50), &mut chained);
        records[2].link.clone_from(&chained[2].link);
    });
    let error = journal.read(long).await.unwrap_err();
    assert!(matches!(error, JournalError::Damaged { seq: Seq(2), .. }), "{error:?}");
    // A last record that was changed, with a checksum that fits: the head knows another one.
    let other = filled(&*journal, 52, &[asked(1)]).await;
    bench.edit(other, Chain::Kept, |records| {
        records[1].payload.push(b' ');
        super::edit::make_chain(run(52), records);
    });
    assert!(matches!(journal.read(other).await, Err(JournalError::Damaged { seq: Seq(1), .. })));
    bench.edit(short, Chain::Kept, Vec::clear);
    assert!(matches!(journal.read(short).await, Err(JournalError::Damaged { seq: Seq(0), .. })));
}

/// Bytes that are as written and unknown are newer; nobody is told that the journal is broken.
pub async fn a_newer_record_is_told_from_a_damaged_one(bench: &dyn Bench) {
    let journal = bench.open().await;
    let kind = filled(&*journal, 1, &[asked(1)]).await;
    bench.edit(kind, Chain::Made, |records| records[1].kind = 99);
    let field = filled(&*journal, 2, &[asked(1)]).await;
    bench.edit(field, Chain::Made, |records| {
        let at = records[1].payload.len() - 1;
        records[1].payload.splice(at.., *b",\"new\":1}");
    });
    for (run, what) in [(kind, "kind 99"), (field, "`new`")] {
        let error = journal.read(run).await.unwrap_err();
        assert!(matches!(error, JournalError::Newer { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&format!("record 1 of run `{run}`")) && text.contains(what), "{text}");
    }
}

/// A park ends the lease; any other record ends the park. Both are found without reading what is over.
pub async fn nobody_holds_a_parked_run(bench: &dyn Bench) {
    let journal = bench.open().await;
    let over = filled(&*journal, 1, &[ended(EndState::Completed)]).await;
    let lease = journal.create(run(2), &start("return 1"), &[], Flush::Process).await.unwrap();
    let error = journal.append(&lease, Seq(1), &[parked(None), asked(1)], Flush::Process).await.unwrap_err();
    assert!(matches!(error, JournalError::Bug { .. }), "{error:?}");
    journal.append(&lease, Seq(1), &[asked(1), parked(Some(NOW + 5))], Flush::Disk).await.unwrap();
    let error = journal.append(&lease, Seq(3), &[answered(1, "1")], Flush::Process).await.unwrap_err();
    assert!(matches!(error, JournalError::Conflict { .. }), "{error:?}");
    drop(lease);
    let summary = journal.summary(run(2)).await.unwrap();
    assert_eq!((summary.state, summary.owner, summary.wake_ms), (RunState::Parked, None, Some(NOW + 5)));
    let parks = OpenRun { run: run(2), state: RunState::Parked, owner: None, wake_ms: Some(NOW + 5) };
    assert_eq!(journal.open_runs().await.unwrap(), [parks]);
    let lease = journal.acquire(run(2), Take::IfFree, NOW).await.unwrap();
    assert_eq!(journal.summary(run(2)).await.unwrap().state, RunState::Parked, "to look is not to go on");
    journal.append(&lease, Seq(3), &[answered(1, "1")], Flush::Process).await.unwrap();
    let open = journal.open_runs().await.unwrap();
    assert_eq!((open.len(), open[0].state, open[0].wake_ms), (1, RunState::Running, None));
    assert!(open[0].owner.is_some() && open[0].run != over);
    journal.append(&lease, Seq(4), &[ended(EndState::Failed)], Flush::Process).await.unwrap();
    assert_eq!(journal.open_runs().await.unwrap(), []);
}

/// Only those count that died holding it and had not written anything.
pub async fn owners_that_die_of_a_run_are_counted(bench: &dyn Bench) {
    let first = bench.open().await;
    std::mem::forget(first.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap());
    first.kill();
    for died in 1..=3 {
        let next = bench.open().await;
        let lease = next.acquire(run(1), Take::IfFree, NOW).await.unwrap();
        assert_eq!(lease.restarts(), died);
        std::mem::forget(lease);
        next.kill();
    }
    let next = bench.open().await;
    let lease = next.acquire(run(1), Take::IfFree, NOW).await.unwrap();
    assert_eq!(lease.restarts(), 4);
    // Somebody who lets it go did not die, and one from whom it is taken did not either.
    next.release(lease).await.unwrap();
    let lease = next.acquire(run(1), Take::IfFree, NOW).await.unwrap();
    let other = bench.open().await;
    let taken = other.acquire(run(1), Take::ByForce, NOW).await.unwrap();
    assert_eq!((lease.restarts(), taken.restarts()), (4, 4));
    other.append(&taken, Seq(1), &[asked(1)], Flush::Process).await.unwrap();
    std::mem::forget(taken);
    other.kill();
    let lease = next.acquire(run(1), Take::IfFree, NOW).await.unwrap();
    assert_eq!(lease.restarts(), 1, "what was written is progress");
}

/// It is gone with the run's end, and of no use where the records are others.
pub async fn a_snapshot_is_given_out_where_it_fits_and_nowhere_else(bench: &dyn Bench) {
    let journal = bench.open().await;
    let fits = async |n: u32| match journal.snapshot(run(n)).await.unwrap() {
        Restored::Fits { start: at, bytes, last, after } => {
            assert_eq!(*at, start("return 1"));
            Some((bytes, last, after))
        }
        Restored::None => None,
        Restored::Unfit { why } => panic!("{why}"),
    };
    let lease = journal.create(run(1), &start("return 1"), &[], Flush::Process).await.unwrap();
    assert_eq!(fits(1).await, None);
    journal.append(&lease, Seq(1), &[asked(1), answered(1, "1")], Flush::Process).await.unwrap();
    journal.put_away(&lease, Seq(3), &[], b"one".to_vec(), Flush::Process).await.unwrap();
    assert_eq!(fits(1).await, Some((b"one".to_vec(), Seq(2), Vec::new())));
    let error = journal.put_away(&lease, Seq(2), &[], b"late".to_vec(), Flush::Process).await.unwrap_err();
    assert!(matches!(error, JournalError::Conflict { .. }), "{error:?}");
    journal.append(&lease, Seq(3), &[asked(2)], Flush::Process).await.unwrap();
    assert_eq!(fits(1).await, Some((b"one".to_vec(), Seq(2), vec![asked(2)])));
    journal.put_away(&lease, Seq(4), &[answered(2, "2"), parked(None)], b"two".to_vec(), Flush::Disk).await.unwrap();
    assert_eq!(fits(1).await, Some((b"two".to_vec(), Seq(5), Vec::new())));
    let lease = journal.acquire(run(1), Take::IfFree, NOW).await.unwrap();
    journal.append(&lease, Seq(6), &[ended(EndState::Completed)], Flush::Process).await.unwrap();
    assert_eq!(fits(1).await, None);

    type Change = fn(&mut Vec<super::RawRecord>);
    let changes: [Change; 5] = [
        |records| records[0].payload[2] ^= 1,
        |records| records[2].link[0] ^= 1,
        |records| drop(records.remove(2)),
        |records| records[3].payload[2] ^= 1,
        |records| drop(records.pop()),
    ];
    for (n, change) in (2..).zip(changes) {
        let lease = journal.create(run(n), &start("return 1"), &[], Flush::Process).await.unwrap();
        let records = [asked(1), answered(1, "1")];
        journal.put_away(&lease, Seq(1), &records, b"x".to_vec(), Flush::Process).await.unwrap();
        journal.append(&lease, Seq(3), &[asked(2)], Flush::Process).await.unwrap();
        assert!(fits(n).await.is_some());
        bench.edit(run(n), Chain::Kept, change);
        let found = journal.snapshot(run(n)).await.unwrap();
        assert!(matches!(found, Restored::Unfit { .. }), "{n}: {found:?}");
    }
}

/// In a blob, which equal values share; a small one stays where it is.
pub async fn a_large_value_is_kept_apart_and_once(bench: &dyn Bench) {
    let journal = bench.open().await;
    let text = format!("\"{}\"", "x".repeat(100_000));
    let id = filled(&*journal, 1, &[asked(1), answered(1, &text), answered(2, &text), answered(3, "1")]).await;
    let records = journal.read(id).await.unwrap();
    let outcome = |record: &Record| match record {
        Record::Answered(answered) => answered.outcome.clone(),
        other => panic!("{other:?}"),
    };
    let hash = BlobHash::of(text.as_bytes());
    let apart = Outcome::Blob { hash, bytes: text.len() as u64 };
    assert_eq!([outcome(&records[2]), outcome(&records[3])], [apart.clone(), apart.clone()]);
    assert_eq!(outcome(&records[4]), Outcome::Value(json("1")));
    assert_eq!(journal.blob(hash).await.unwrap(), text.as_bytes());
    // As it was read, it is stored again where the text is, and nowhere else.
    assert_eq!(journal.read(filled(&*journal, 2, &records[1..3]).await).await.unwrap(), records[..3]);
    let lease = journal.create(run(3), &start("return 1"), &[], Flush::Process).await.unwrap();
    let mut nowhere = answered(1, "1");
    if let Record::Answered(answered) = &mut nowhere {
        answered.outcome = Outcome::Blob { hash: BlobHash::of(b"none"), bytes: 4 };
    }
    let error = journal.append(&lease, Seq(1), &[nowhere], Flush::Process).await.unwrap_err();
    assert!(matches!(error, JournalError::NoBlob { .. }), "{error:?}");
    assert_eq!(journal.read(run(3)).await.unwrap().len(), 1);
}

/// Whatever was changed on the way, what arrives is what left or nothing.
pub async fn a_run_is_carried_to_another_journal_whole_or_not_at_all(bench: &dyn Bench) {
    let journal = bench.open().await;
    let big = format!("\"{}\"", "x".repeat(70_000));
    let lease = journal.create(run(1), &start("return 1"), &[Vec::new()], Flush::Process).await.unwrap();
    let records = [asked(1), answered(1, &big), answered(2, "[ 1,\n 2 ]"), parked(Some(NOW))];
    journal.append(&lease, Seq(1), &records, Flush::Process).await.unwrap();
    let left = journal.export(run(1)).await.unwrap();
    let file = export::write(std::slice::from_ref(&left)).unwrap();
    assert_eq!(export::read(&file).unwrap(), std::slice::from_ref(&left));
    // Here already: nothing changes. Elsewhere: it arrives as it left, and nobody holds it.
    journal.import(vec![left.clone()], Flush::Disk).await.unwrap();
    let other = MemoryJournal::new();
    other.import(export::read(&file).unwrap(), Flush::Disk).await.unwrap();
    assert_eq!(other.read(run(1)).await.unwrap(), journal.read(run(1)).await.unwrap());
    let (here, there) = (journal.summary(run(1)).await.unwrap(), other.summary(run(1)).await.unwrap());
    assert_eq!(here, there);
    assert_eq!(other.blob(BlobHash::of(big.as_bytes())).await.unwrap(), big.as_bytes());
    let back = other.export(run(1)).await.unwrap();
    // One that went on here meanwhile is another.
    let lease = journal.acquire(run(1), Take::IfFree, NOW).await.unwrap();
    journal.append(&lease, Seq(5), &[failed(3)], Flush::Process).await.unwrap();
    let error = journal.import(vec![back], Flush::Disk).await.unwrap_err();
    assert!(matches!(error, JournalError::Conflict { .. }), "{error:?}");

    let newer = String::from_utf8(file.clone()).unwrap().replacen("\"format\":1", "\"format\":2", 1);
    assert!(matches!(export::read(newer.as_bytes()), Err(JournalError::Newer { .. })));
    let mut seed = 7_u64;
    for _ in 0..1000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut changed = file.clone();
        let at = (seed >> 20) as usize % changed.len();
        // Mostly where the structure is, and now and then within the long text.
        let at = if seed.is_multiple_of(4) { at } else { at % 3000 };
        changed[at] = (seed >> 8) as u8;
        let elsewhere = MemoryJournal::new();
        let Ok(runs) = export::read(&changed) else { continue };
        if elsewhere.import(runs.clone(), Flush::Process).await.is_ok() {
            assert_eq!(runs, std::slice::from_ref(&left), "a change at {at} was not found");
        }
    }
}
