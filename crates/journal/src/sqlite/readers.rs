//! A few connections for reading, used off the async threads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::fault::{fault, stopped};
use super::file::connect;
use crate::JournalError;

/// How many reads go on at once.
const MOST: usize = 4;

pub(super) struct Readers {
    journal: Arc<str>,
    path: PathBuf,
    patience: Duration,
    slots: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

/// One open read: everything it sees is of one moment.
pub(super) struct Reader<'a> {
    pub(super) journal: &'a Arc<str>,
    pub(super) open: rusqlite::Transaction<'a>,
}

impl Reader<'_> {
    pub(super) fn fault(&self, error: rusqlite::Error) -> JournalError {
        fault(self.journal, error)
    }

    pub(super) fn damaged(&self, what: String) -> JournalError {
        JournalError::DamagedFile { journal: self.journal.to_string(), what }
    }
}

impl Readers {
    pub(super) fn new(journal: Arc<str>, path: PathBuf, patience: Duration) -> Self {
        Self { journal, path, patience, slots: Arc::new(Semaphore::new(MOST)), idle: Mutex::default() }
    }

    /// Runs `job` on a connection.
    pub(super) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        job: impl FnOnce(&Reader<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| stopped(&self.journal))?;
        let readers = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            // Kept here, since the job goes on when nobody waits for it any more.
            let _slot = slot;
            let mut connection = readers.take().map_err(|error| fault(&readers.journal, error))?;
            let open = connection.transaction().map_err(|error| fault(&readers.journal, error))?;
            let reader = Reader { journal: &readers.journal, open };
            let result = job(&reader);
            drop(reader);
            readers.give_back(connection);
            result
        });
        done.await.unwrap_or_else(|_| Err(stopped(&self.journal)))
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        if let Some(connection) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(connection);
        }
        let connection = connect(&self.path, self.patience)?;
        connection.execute_batch("PRAGMA query_only = ON")?;
        Ok(connection)
    }

    fn give_back(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}
