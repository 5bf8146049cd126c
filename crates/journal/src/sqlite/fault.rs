//! What SQLite and the operating system say, turned into what the caller can do.

use std::io;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::JournalError;

/// Sorts an error of SQLite by what the caller can do.
pub(super) fn fault(journal: &Arc<str>, error: rusqlite::Error) -> JournalError {
    let journal = journal.to_string();
    let what = match &error {
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DiskFull => return JournalError::Full { journal, source: Arc::new(error) },
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
                let what = "the file, its folder or their file system".to_owned();
                return JournalError::ReadOnly { journal, what, source: Arc::new(error) };
            }
            // A constraint that fails is a row where the run's head says there is none.
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation => {
                return JournalError::DamagedFile { journal, what: error.to_string() };
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                "another process keeps it locked; find out which one (a backup, a database browser) and try again"
            }
            ErrorCode::CannotOpen => "the file cannot be opened; see that its folder exists and that you may use both",
            ErrorCode::SystemIoFailure => "its disk reported an error; see the system's log, then try again",
            ErrorCode::OutOfMemory => "this process is out of memory; free some and try again",
            _ => "SQLite refused; try again, and report it if it stays",
        },
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::ToSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => {
            return JournalError::DamagedFile { journal, what: error.to_string() };
        }
        _ => "SQLite refused; try again, and report it if it stays",
    };
    JournalError::Unavailable { journal, what: what.to_owned(), source: Some(Arc::new(error)) }
}

/// Sorts an error of the operating system about the file or what lies beside it.
pub(super) fn io(journal: &str, doing: &str, error: io::Error) -> JournalError {
    let journal = journal.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            JournalError::Full { journal, source: Arc::new(error) }
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            JournalError::ReadOnly { journal, what: "its folder".to_owned(), source: Arc::new(error) }
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => JournalError::Settings {
            what: format!("journal `{journal}`: a file stands where a folder should be; choose another path"),
        },
        _ => {
            let what = format!("{doing} failed; see that its folder is on a local disk and may be written");
            JournalError::Unavailable { journal, what, source: Some(Arc::new(error)) }
        }
    }
}

pub(super) fn owners(journal: &Arc<str>, error: io::Error) -> JournalError {
    io(journal, "locking a file beside it", error)
}

/// The writer or a reader is gone: the store is closing, or we have a bug.
pub(super) fn stopped(journal: &Arc<str>) -> JournalError {
    let what = "it was closed; open it again".to_owned();
    JournalError::Unavailable { journal: journal.to_string(), what, source: None }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn failed(setup: &str, sql: &str) -> JournalError {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(setup).unwrap();
        fault(&"j.db".into(), connection.execute_batch(sql).unwrap_err())
    }

    #[test]
    fn a_full_or_read_only_disk_is_told_by_name_and_not_as_damage() {
        let insert = "INSERT INTO t VALUES (zeroblob(100000))";
        let full = failed("CREATE TABLE t (x UNIQUE); PRAGMA max_page_count = 4", insert);
        assert!(matches!(&full, JournalError::Full { .. }), "{full:?}");
        assert!(full.to_string().contains("`j.db`"), "{full}");
        let read_only = failed("CREATE TABLE t (x UNIQUE); PRAGMA query_only = 1", insert);
        assert!(matches!(read_only, JournalError::ReadOnly { .. }), "{read_only:?}");
    }
}
