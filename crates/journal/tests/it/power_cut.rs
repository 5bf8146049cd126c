//! The power cut that crates above test their crashes with.

use std::sync::Arc;

use refrain_journal::testing::{Cut, PowerCut, sample};
use refrain_journal::{Fate, Flush, Journal, JournalError, MemoryJournal, Record, Seq, Take};

async fn write_three(journal: &dyn Journal) -> Result<(), JournalError> {
    let lease = journal.create(sample::run(1), &sample::start("return 1"), &[], Flush::Process).await?;
    journal.append(&lease, Seq(1), &[sample::asked(1)], Flush::Process).await?;
    journal.append(&lease, Seq(2), &[sample::answered(1, "1")], Flush::Process).await
}

async fn stored(journal: &MemoryJournal) -> Vec<Record> {
    journal.read(sample::run(1)).await.unwrap_or_default()
}

#[tokio::test]
async fn the_write_is_stored_or_not_and_nothing_comes_after_it() {
    let calm = Arc::new(MemoryJournal::new());
    let counting = PowerCut::never(calm.clone());
    write_three(&counting).await.unwrap();
    assert_eq!(counting.writes(), 3);
    let want = stored(&calm).await;

    for (cut, more) in [(Cut::Before, 0), (Cut::After, 1)] {
        for nth in 0..3 {
            let disk = Arc::new(MemoryJournal::new());
            let journal = PowerCut::at(disk.clone(), nth, cut);
            write_three(&journal).await.unwrap_err();
            assert!(journal.is_off());
            assert!(journal.read(sample::run(1)).await.is_err());
            assert!(journal.acquire(sample::run(1), Take::ByForce, 0).await.is_err());
            let kept = usize::try_from(nth).unwrap() + more;
            assert_eq!(stored(&disk).await, want[..kept], "{cut:?} {nth}");
            if kept > 0 {
                let reopened = disk.reopen(Fate::Dead);
                assert_eq!(reopened.acquire(sample::run(1), Take::IfFree, 0).await.unwrap().fence(), 2);
            }
        }
    }
}
