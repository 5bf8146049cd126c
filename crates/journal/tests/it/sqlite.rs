//! The SQLite store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use async_trait::async_trait;
use refrain_journal::testing::{Bench, Chain, Opened, RawRecord, edit_sqlite, sample};
use refrain_journal::{
    BlobHash, Flush, Journal, JournalError, PATIENCE, Page, RunId, Seq, SqliteJournal, Take, journal_contract,
};
use rusqlite::Connection;
use tempfile::TempDir;

journal_contract!(SqliteBench::new());

struct SqliteBench(TempDir);

impl SqliteBench {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("journal.db")
    }
}

#[async_trait]
impl Bench for SqliteBench {
    async fn open(&self) -> Opened {
        Opened::new(Arc::new(open(&self.path()).await), || ())
    }

    fn edit(&self, run: RunId, chain: Chain, change: fn(&mut Vec<RawRecord>)) {
        edit_sqlite(&self.path(), run, chain, change);
    }

    fn spoil(&self, blob: BlobHash) {
        let hash: Vec<u8> =
            (0..64).step_by(2).map(|at| u8::from_str_radix(&blob.to_string()[at..at + 2], 16).unwrap()).collect();
        let changed = Connection::open(self.path())
            .unwrap()
            .execute("UPDATE blobs SET bytes = x'00' WHERE hash = ?1", [hash])
            .unwrap();
        assert_eq!(changed, 1);
    }
}

async fn open(path: &Path) -> SqliteJournal {
    SqliteJournal::open(path, PATIENCE).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_can_open_a_new_file_at_once() {
    for _ in 0..5 {
        let bench = SqliteBench::new();
        let opening = (0..16).map(|n| {
            let path = bench.path();
            tokio::spawn(async move {
                let journal = open(&path).await;
                drop(journal.create(sample::run(n), &sample::start("return 1"), &[], Flush::Process).await.unwrap());
            })
        });
        for opened in opening.collect::<Vec<_>>() {
            opened.await.unwrap();
        }
        let all = open(&bench.path()).await.list(&Page { limit: 99, cursor: None }).await.unwrap();
        assert_eq!(all.runs.len(), 16);
    }
}

#[tokio::test]
async fn a_newer_file_is_refused() {
    let bench = SqliteBench::new();
    drop(open(&bench.path()).await);
    Connection::open(bench.path()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let Err(error) = SqliteJournal::open(&bench.path(), PATIENCE).await else { panic!("it was opened") };
    assert!(matches!(error, JournalError::Newer { .. }), "{error:?}");
    assert!(error.to_string().contains("journal.db`"), "{error}");
}

#[tokio::test]
async fn a_file_locked_by_another_is_unavailable_and_comes_back() {
    let bench = SqliteBench::new();
    let journal = SqliteJournal::open(&bench.path(), Duration::from_millis(20)).await.unwrap();
    let lease = journal.create(sample::run(1), &sample::start("return 1"), &[], Flush::Process).await.unwrap();
    let other = Connection::open(bench.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = journal.append(&lease, Seq(1), &[sample::asked(1)], Flush::Disk).await.unwrap_err();
    assert!(matches!(error, JournalError::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("another process keeps it locked"), "{error}");
    assert_eq!(journal.read(sample::run(1)).await.unwrap().len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    journal.append(&lease, Seq(1), &[sample::asked(1)], Flush::Disk).await.unwrap();
    assert_eq!(journal.read(sample::run(1)).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_keep_its_run() {
    let bench = SqliteBench::new();
    let journal = open(&bench.path()).await;
    let start = sample::start("return 1");
    let mut create = journal.create(sample::run(1), &start, &[], Flush::Process);
    // Handed over, and no longer waited for. Where the writer was faster, the lease is dropped here.
    drop(create.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    drop(create);
    // Two writes later, the run was created and the lease that nobody took let it go.
    for n in [2, 3] {
        drop(journal.create(sample::run(n), &start, &[], Flush::Process).await.unwrap());
    }
    assert_eq!(journal.acquire(sample::run(1), Take::IfFree, 0).await.unwrap().fence(), 2);
}

#[tokio::test]
async fn a_link_to_the_file_meets_the_same_owners() {
    let bench = SqliteBench::new();
    let journal = open(&bench.path()).await;
    let lease = journal.create(sample::run(1), &sample::start("return 1"), &[], Flush::Process).await.unwrap();
    #[cfg(unix)]
    {
        let link = bench.0.path().join("link.db");
        std::os::unix::fs::symlink(bench.path(), &link).unwrap();
        let error = open(&link).await.acquire(sample::run(1), Take::IfFree, 0).await.unwrap_err();
        assert!(matches!(error, JournalError::Held { .. }), "{error:?}");
    }
    drop(lease);
}

#[tokio::test]
async fn a_lease_outlives_its_store_without_harm() {
    let bench = SqliteBench::new();
    let journal = open(&bench.path()).await;
    let lease = journal.create(sample::run(1), &sample::start("return 1"), &[], Flush::Disk).await.unwrap();
    drop(journal);
    drop(lease);
    let owners = bench.0.path().join("journal.db.owners");
    assert_eq!(std::fs::read_dir(owners).unwrap().count(), 0);
}

/// Bytes of the file are changed one by one, and everything is read: whatever comes back is either refused or as it was.
#[expect(clippy::disallowed_methods, reason = "how often is asked for where the test is started")]
#[tokio::test]
async fn a_file_with_any_byte_changed_is_refused_or_harmless() {
    let bench = SqliteBench::new();
    let journal = open(&bench.path()).await;
    let blob = vec![5; 3000];
    let lease = journal
        .create(sample::run(1), &sample::start("return 1"), std::slice::from_ref(&blob), Flush::Disk)
        .await
        .unwrap();
    let records = [sample::asked(1), sample::answered(1, "1"), sample::failed(2)];
    journal.append(&lease, Seq(1), &records, Flush::Disk).await.unwrap();
    let want = journal.read(sample::run(1)).await.unwrap();
    drop((journal, lease));
    Connection::open(bench.path()).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let whole = std::fs::read(bench.path()).unwrap();

    let (mut state, mut refused) = (0x5eed_u64, 0);
    // A few in everyday tests; `REFRAIN_MUTATIONS=10000` for as many as one likes.
    let times = std::env::var("REFRAIN_MUTATIONS").ok().and_then(|times| times.parse().ok()).unwrap_or(400);
    for _ in 0..times {
        // xorshift: the same changes on every run.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let at = usize::try_from(state % whole.len() as u64).unwrap();
        let mut changed = whole.clone();
        changed[at] ^= 1 << (state >> 61);
        let copy = bench.0.path().join("copy.db");
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(bench.0.path().join(format!("copy.db{end}")));
        }
        std::fs::write(&copy, changed).unwrap();
        let read = async {
            let journal = SqliteJournal::open(&copy, Duration::from_millis(10)).await?;
            let listed = journal.list(&Page { limit: 9, cursor: None }).await;
            let summary = journal.summary(sample::run(1)).await;
            let found = journal.blob(BlobHash::of(&blob)).await;
            let records = journal.read(sample::run(1)).await?;
            let (_, _) = (listed?, summary?);
            Ok::<_, JournalError>((records, found?))
        };
        match read.await {
            Ok((records, found)) => assert_eq!((records, found), (want.clone(), blob.clone()), "byte {at}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 10, "{refused} of {times} were refused");
}
