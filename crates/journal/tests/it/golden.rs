//! Journals of every format that was ever released.

use std::path::Path;

use refrain_journal::{
    Flush, Journal, PATIENCE, Page, Restored, RunState, SqliteJournal, Take, export, testing::sample,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_released_format_opens() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (format, runs) in [(1, 2), (2, 2), (3, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        std::fs::copy(golden.join(format!("schema-{format}.db")), &path).unwrap();
        let journal = SqliteJournal::open(&path, PATIENCE).await.unwrap();
        let listed = journal.list(&Page { limit: 10, cursor: None }).await.unwrap().runs;
        assert_eq!(listed.len(), runs, "schema {format}");
        for summary in &listed {
            let kept = export::write(&[journal.export(summary.run).await.unwrap()]).unwrap();
            let file = golden.join(format!("run-{}.jsonl", summary.run));
            assert_eq!(std::fs::read(&file).unwrap(), kept, "schema {format}, run {}", summary.run);
            assert_eq!(journal.snapshot(summary.run).await.unwrap(), Restored::None);
        }
        // What is not over goes on.
        let id = sample::run(2);
        assert_eq!(journal.summary(id).await.unwrap().state, RunState::Running);
        let lease = journal.acquire(id, Take::IfFree, 1).await.unwrap();
        let at = refrain_journal::Seq(journal.summary(id).await.unwrap().records);
        journal.append(&lease, at, &[sample::asked(2)], Flush::Disk).await.unwrap();
        assert!(journal.session("s").await.unwrap().is_empty());
    }
}
