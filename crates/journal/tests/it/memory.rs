//! The store in memory.

use std::sync::Arc;

use async_trait::async_trait;
use refrain_journal::testing::{Bench, Chain, Opened, RawRecord, sample};
use refrain_journal::{
    BlobHash, Fate, Flush, Journal, JournalError, MemoryJournal, RunId, Seq, Take, journal_contract,
};

journal_contract!(MemoryJournalBench(MemoryJournal::new()));

struct MemoryJournalBench(MemoryJournal);

#[async_trait]
impl Bench for MemoryJournalBench {
    async fn open(&self) -> Opened {
        let journal = self.0.reopen(Fate::Alive);
        let same = journal.clone();
        Opened::new(Arc::new(journal), move || drop(same.reopen(Fate::Dead)))
    }

    fn edit(&self, run: RunId, chain: Chain, change: fn(&mut Vec<RawRecord>)) {
        self.0.edit(run, chain, change);
    }

    fn spoil(&self, blob: BlobHash) {
        self.0.spoil(blob);
    }
}

#[tokio::test]
async fn a_dead_handle_writes_no_more_and_can_be_looked_at() {
    let old = MemoryJournal::new();
    let lease = old.create(sample::run(1), &sample::start("return 1"), &[], Flush::Process).await.unwrap();
    let new = old.reopen(Fate::Dead);
    let error = old.append(&lease, Seq(1), &[sample::asked(1)], Flush::Process).await.unwrap_err();
    assert!(matches!(error, JournalError::Unavailable { .. }), "{error:?}");
    assert_eq!(old.read(sample::run(1)).await.unwrap().len(), 1);
    let lease = new.acquire(sample::run(1), Take::IfFree, 0).await.unwrap();
    new.append(&lease, Seq(1), &[sample::asked(1)], Flush::Process).await.unwrap();
    assert_eq!(old.read(sample::run(1)).await.unwrap().len(), 2);
}
