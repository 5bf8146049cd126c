//! The tables, and how a file of an older version comes to have them.
//!
//! Versions only go forward. `user_version` counts the steps taken; all missing ones are taken in one transaction, so a
//! crash leaves the old file or the new one. `application_id` keeps us out of other programs' databases.

use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior};

use super::fault::fault;
use crate::JournalError;

/// "Rfrn".
const APPLICATION: i64 = 0x5266_726e;

/// The steps, oldest first. A step that was released is never edited.
pub(super) const VERSIONS: &[&str] = &[
    "
    CREATE TABLE runs (
        run        BLOB    NOT NULL PRIMARY KEY,  -- 16 bytes; sorts by time
        state      TEXT    NOT NULL,
        fence      INTEGER NOT NULL,
        owner      BLOB,                          -- 16 bytes; alive while its lock file is locked
        since_ms   INTEGER NOT NULL,              -- of the owner
        records    INTEGER NOT NULL,
        link       BLOB    NOT NULL,              -- of the last record
        started_ms INTEGER NOT NULL,
        ended_ms   INTEGER,
        session    TEXT,
        title      TEXT    NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE records (
        run     BLOB    NOT NULL,
        seq     INTEGER NOT NULL,
        kind    INTEGER NOT NULL,
        payload TEXT    NOT NULL,
        link    BLOB    NOT NULL,
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE blobs (
        hash  BLOB NOT NULL PRIMARY KEY,          -- 32 bytes, SHA-256
        bytes BLOB NOT NULL
    ) STRICT;
",
    "
    CREATE TABLE sessions (
        session TEXT NOT NULL,
        key     TEXT NOT NULL,
        value   TEXT NOT NULL,                    -- JSON
        PRIMARY KEY (session, key)
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE runs ADD COLUMN wake_ms INTEGER;                      -- when a parked run goes on by itself
    ALTER TABLE runs ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;  -- owners that died with nothing written
    CREATE INDEX open_runs ON runs (run) WHERE state IN ('queued', 'running', 'parked');
    CREATE TABLE snapshots (
        run   BLOB    NOT NULL PRIMARY KEY,
        seq   INTEGER NOT NULL,               -- the last record that is in it
        link  BLOB    NOT NULL,               -- of that record
        bytes BLOB    NOT NULL
    ) STRICT;
",
];

struct Found {
    application: i64,
    version: i64,
    tables: i64,
}

fn look(connection: &Connection) -> rusqlite::Result<Found> {
    let number = |sql| connection.query_row(sql, (), |row| row.get(0));
    Ok(Found {
        application: number("PRAGMA application_id")?,
        version: number("PRAGMA user_version")?,
        tables: number("SELECT count(*) FROM sqlite_schema")?,
    })
}

/// Refuses a file that is not ours, before anything in it is changed.
pub(super) fn check(journal: &Arc<str>, connection: &Connection) -> Result<(), JournalError> {
    // Of one moment: between two of the questions another process may turn an empty file into a journal.
    let moment = || connection.unchecked_transaction().and_then(|open| look(&open));
    let found = match moment() {
        Ok(found) => found,
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            let what =
                format!("journal `{journal}` is no SQLite database, or its first page is damaged; choose another path");
            return Err(JournalError::Settings { what });
        }
        Err(error) => return Err(fault(journal, error)),
    };
    match found {
        Found { application: 0, version: 0, tables: 0 } | Found { application: APPLICATION, .. } => Ok(()),
        Found { .. } => {
            let what = format!("journal `{journal}` is the database of another program; choose another path");
            Err(JournalError::Settings { what })
        }
    }
}

/// Takes the steps that the file has not taken yet.
pub(super) fn migrate(journal: &Arc<str>, connection: &mut Connection, versions: &[&str]) -> Result<(), JournalError> {
    let sorted = |error| fault(journal, error);
    let known = versions.len();
    let version = |connection: &Connection| match usize::try_from(look(connection).map_err(sorted)?.version) {
        Ok(version) if version <= known => Ok(version),
        Ok(version) => Err(JournalError::Newer {
            place: format!("journal `{journal}`"),
            what: format!("its schema is version {version}, and {known} is the last one known here"),
        }),
        Err(_) => Err(JournalError::DamagedFile {
            journal: journal.to_string(),
            what: "its schema version is negative".to_owned(),
        }),
    };
    if version(connection)? == known {
        return Ok(());
    }
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sorted)?;
    // Asked again: another process may have done it while we waited.
    for sql in &versions[version(&step)?..] {
        step.execute_batch(sql).map_err(sorted)?;
    }
    step.pragma_update(None, "application_id", APPLICATION).map_err(sorted)?;
    step.pragma_update(None, "user_version", known as i64).map_err(sorted)?;
    step.commit().map_err(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(connection: &Connection) -> Vec<String> {
        let mut statement = connection.prepare("SELECT name FROM sqlite_schema ORDER BY name").unwrap();
        statement.query_map((), |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn all_missing_steps_are_taken_together_or_not_at_all() {
        let journal = "j.db".into();
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&journal, &mut connection, &["CREATE TABLE a (x)"]).unwrap();
        let broken = ["CREATE TABLE a (x)", "CREATE TABLE b (x)", "CREATE TABLE a (x)"];
        migrate(&journal, &mut connection, &broken).unwrap_err();
        assert_eq!((tables(&connection), look(&connection).unwrap().version), (vec!["a".to_owned()], 1));
        migrate(&journal, &mut connection, &["CREATE TABLE a (x)", "CREATE TABLE b (x)"]).unwrap();
        assert_eq!(
            (tables(&connection), look(&connection).unwrap().version),
            (vec!["a".to_owned(), "b".to_owned()], 2)
        );
    }

    #[test]
    fn a_newer_file_is_refused_by_name_and_left_alone() {
        let journal = "j.db".into();
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&journal, &mut connection, &["CREATE TABLE a (x)", "CREATE TABLE b (x)"]).unwrap();
        let error = migrate(&journal, &mut connection, &["CREATE TABLE a (x)"]).unwrap_err();
        assert!(matches!(error, JournalError::Newer { .. }), "{error:?}");
        assert!(error.to_string().contains("`j.db`") && error.to_string().contains("version 2"), "{error}");
        assert_eq!(look(&connection).unwrap().version, 2);
    }

    #[test]
    fn a_database_of_another_program_is_refused() {
        for theirs in ["CREATE TABLE t (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(theirs).unwrap();
            let error = check(&"j.db".into(), &connection).unwrap_err();
            assert!(matches!(error, JournalError::Settings { .. }), "{theirs}: {error:?}");
        }
    }
}
