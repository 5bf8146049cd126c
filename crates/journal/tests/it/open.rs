//! Opening a journal by its address.

use refrain_journal::{JournalError, open};

async fn check(url: &str, want: &str) {
    match open(url).await {
        Err(JournalError::Settings { what }) => assert_eq!(what, want),
        Err(other) => panic!("{url}: {other:?}"),
        Ok(_) => panic!("{url} was opened"),
    }
}

#[tokio::test]
async fn an_address_that_is_none_says_what_to_write() {
    check("", "journal url `` is none that we know; write `sqlite:PATH` or `memory:`").await;
    check("journal.db", "journal url `journal.db` is none that we know; write `sqlite:PATH` or `memory:`").await;
    check("memory:x", "journal url `memory:x` is none that we know; write `sqlite:PATH` or `memory:`").await;
    for none in ["sqlite:", "sqlite::memory:"] {
        let want = "names no file; write `sqlite:PATH`, or `memory:` to keep nothing";
        check(none, &format!("journal url `{none}` {want}")).await;
    }
    check("sqlite://a/b.db", "journal url `sqlite://a/b.db` has two slashes; write `sqlite:a/b.db`").await;
    let later = "journal url `postgres://…`: PostgreSQL comes with a later release; use `sqlite:PATH` until then";
    check("postgres://user:secret@host/db", later).await;
    check("postgresql://host", later).await;
}

#[tokio::test]
async fn memory_opens_empty_each_time() {
    let journal = open("memory:").await.unwrap();
    assert!(journal.find("", 1).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_file_that_is_no_journal_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "these are my notes, and they are longer than a header".repeat(100)).unwrap();
    let before = std::fs::read(&path).unwrap();
    for path in [path.as_path(), folder.path(), &path.join("below.db")] {
        let Err(error) = open(&format!("sqlite:{}", path.display())).await else { panic!("{path:?} was opened") };
        assert!(matches!(error, JournalError::Settings { .. }), "{error:?}");
        assert!(error.to_string().contains(&format!("`{}`", path.display())), "{error}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);

    let theirs = folder.path().join("theirs.db");
    rusqlite::Connection::open(&theirs).unwrap().execute_batch("CREATE TABLE runs (x)").unwrap();
    let Err(error) = open(&format!("sqlite:{}", theirs.display())).await else { panic!("it was opened") };
    assert!(error.to_string().contains("another program"), "{error}");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[tokio::test]
async fn a_folder_that_we_make_is_hidden_from_git_and_one_that_was_there_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let ignore = |name: &str| std::fs::read_to_string(folder.path().join(name).join(".gitignore")).ok();
    for name in ["new/deep", "."] {
        let url = format!("sqlite:{}/{name}/journal.db", folder.path().display());
        drop(open(&url).await.unwrap());
        drop(open(&url).await.unwrap());
    }
    assert_eq!(ignore("new/deep").as_deref(), Some("*\n"));
    assert_eq!((ignore("new"), ignore(".")), (None, None));
}
