//! The one thread that writes, and commits together what waits together.
//!
//! A flush costs milliseconds and a row microseconds. While one commit is on its way to the disk, requests queue up,
//! and the next commit takes them all. One request that is refused or too large fails alone.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::commit::{Leased, NotWritten, Write};
use super::fault::fault;
use super::owners::{OwnLock, Owners};
use crate::{Flush, JournalError, Lease};

/// The most requests in one commit. It bounds how long the first of them waits, not how many bytes they have.
const MOST: usize = 256;

/// How often the queue is looked at before the thread sleeps. Some microseconds in all, unless others need the processor.
const LOOKS: usize = 300;

/// What the thread is asked.
pub(super) enum Request {
    Write { write: Write, flush: Flush, answer: Option<Answer> },
    Stop,
}

type Answer = oneshot::Sender<Result<Option<Lease>, JournalError>>;
type Waiting = (Write, Flush, Option<Answer>);
type Made = Result<Option<Leased>, JournalError>;

pub(super) struct Writer {
    journal: Arc<str>,
    // Dropped in this order: the file is closed before our runs are free.
    connection: Connection,
    me: OwnLock,
    owners: Owners,
    requests: Sender<Request>,
    flush: Option<Flush>,
}

impl Writer {
    pub(super) fn new(
        journal: Arc<str>,
        connection: Connection,
        me: OwnLock,
        owners: Owners,
        requests: Sender<Request>,
    ) -> Self {
        Self { journal, connection, me, owners, requests, flush: None }
    }

    /// Works until it is told to stop. What was asked before that is done.
    pub(super) fn run(mut self, queue: &Receiver<Request>) {
        let mut on = true;
        while on {
            let mut batch = Vec::new();
            let mut next = next(queue);
            on = loop {
                match next {
                    Ok(Request::Write { write, flush, answer }) => batch.push((write, flush, answer)),
                    Ok(Request::Stop) | Err(TryRecvError::Disconnected) => break false,
                    Err(TryRecvError::Empty) => break true,
                }
                if batch.len() == MOST {
                    break true;
                }
                next = queue.try_recv();
            };
            self.serve(batch);
        }
    }

    fn serve(&mut self, batch: Vec<Waiting>) {
        if batch.is_empty() {
            return;
        }
        match self.commit(&batch) {
            Ok(made) => {
                for ((.., answer), made) in batch.into_iter().zip(made) {
                    self.answer(answer, made);
                }
            }
            // Of several, one may be to blame: too large for what is left of the disk, or on a damaged page.
            Err(error) if batch.len() > 1 && !hits_all(&error) => {
                batch.into_iter().for_each(|one| self.serve(vec![one]));
            }
            Err(error) => {
                let error = fault(&self.journal, error);
                for (.., answer) in batch {
                    self.answer(answer, Err(error.clone()));
                }
            }
        }
    }

    /// Makes one commit of all the writes, as durable as the most careful of them asks.
    fn commit(&mut self, batch: &[Waiting]) -> rusqlite::Result<Vec<Made>> {
        let flush = batch.iter().map(|(_, flush, _)| *flush).max().unwrap_or(Flush::Process);
        if self.flush != Some(flush) {
            // Cannot be changed inside a transaction. FULL flushes the whole log, earlier commits included.
            self.flush = None;
            self.connection.pragma_update(
                None,
                "synchronous",
                match flush {
                    Flush::Process => "NORMAL",
                    Flush::Disk => "FULL",
                },
            )?;
            self.flush = Some(flush);
        }
        let open = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut made = Vec::with_capacity(batch.len());
        for (write, ..) in batch {
            made.push(match write.make(&open, self.me.id, &self.owners) {
                Ok(lease) => Ok(lease),
                Err(NotWritten::Refused(error)) => Err(error),
                Err(NotWritten::Failed(error)) => return Err(error),
            });
        }
        open.commit()?;
        Ok(made)
    }

    fn answer(&self, answer: Option<Answer>, made: Made) {
        let result = made.map(|lease| {
            let (run, fence, restarts) = lease?;
            let requests = self.requests.clone();
            let let_go = move |run, fence| {
                let write = Write::Release { run, fence };
                // A closed store has freed the run already.
                let _ = requests.send(Request::Write { write, flush: Flush::Process, answer: None });
            };
            Some(Lease::new(run, fence, restarts, Box::new(let_go)))
        });
        // Nobody may be waiting any more. A lease that nobody takes lets its run go when it is dropped here.
        if let Some(answer) = answer {
            let _ = answer.send(result);
        }
    }
}

/// The next request. It is looked for a while before the thread sleeps: a script that calls one tool after the other is back
/// sooner than a sleeping thread wakes up.
fn next(queue: &Receiver<Request>) -> Result<Request, TryRecvError> {
    for _ in 0..LOOKS {
        match queue.try_recv() {
            Err(TryRecvError::Empty) => std::thread::yield_now(),
            found => return found,
        }
    }
    queue.recv().map_err(|_| TryRecvError::Disconnected)
}

/// Returns whether the error has nothing to do with what was written.
fn hits_all(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, SystemIoFailure};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | SystemIoFailure))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::super::{PATIENCE, file};
    use super::*;
    use crate::head::{Append, NewRun};
    use crate::testing::sample;
    use crate::{Record, Seq};

    fn writer(folder: &tempfile::TempDir) -> Writer {
        let (connection, path) = file::open(&folder.path().join("j.db"), PATIENCE).unwrap();
        let owners = Owners::beside(&path);
        Writer::new("j.db".into(), connection, owners.enlist().unwrap(), owners, mpsc::channel().0)
    }

    /// Serves the writes as one batch.
    fn serve(writer: &mut Writer, writes: Vec<(Write, Flush)>) -> Vec<Result<Option<Lease>, JournalError>> {
        let (batch, answers): (Vec<_>, Vec<_>) = writes
            .into_iter()
            .map(|(write, flush)| {
                let (answer, answered) = oneshot::channel();
                ((write, flush, Some(answer)), answered)
            })
            .unzip();
        writer.serve(batch);
        answers.into_iter().map(|mut answered| answered.try_recv().unwrap()).collect()
    }

    fn create(n: u32) -> Write {
        Write::Create(Box::new(NewRun::new(sample::run(n), &sample::start("return 1"), &[]).unwrap()))
    }

    fn append(lease: &Lease, record: Record) -> Write {
        Write::Append(Box::new(Append::new(lease, Seq(1), &[record]).unwrap()))
    }

    fn created(writer: &mut Writer, n: u32) -> Lease {
        serve(writer, vec![(create(n), Flush::Process)]).pop().unwrap().unwrap().unwrap()
    }

    #[test]
    fn a_commit_reaches_the_disk_when_one_of_its_writes_asks_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(&folder);
        let (normal, full) = (1, 2);
        for (flushes, want) in [
            (vec![Flush::Process], normal),
            (vec![Flush::Process, Flush::Disk, Flush::Process], full),
            (vec![Flush::Process, Flush::Process], normal),
            (vec![Flush::Disk], full),
        ] {
            serve(&mut writer, flushes.iter().map(|flush| (create(1), *flush)).collect());
            let set: i64 = writer.connection.query_row("PRAGMA synchronous", (), |row| row.get(0)).unwrap();
            assert_eq!(set, want, "{flushes:?}");
        }
    }

    #[test]
    fn what_waits_together_is_one_commit() {
        let pages = |runs: u32| {
            let folder = tempfile::tempdir().unwrap();
            let watcher = writer(&folder);
            let (requests, queue) = mpsc::channel();
            for n in 0..runs {
                requests.send(Request::Write { write: create(n), flush: Flush::Process, answer: None }).unwrap();
            }
            requests.send(Request::Stop).unwrap();
            let pages = || -> i64 {
                watcher.connection.query_row("PRAGMA wal_checkpoint(NOOP)", (), |row| row.get(1)).unwrap()
            };
            let before = pages();
            writer(&folder).run(&queue);
            let made: i64 = watcher.connection.query_row("SELECT count(*) FROM runs", (), |row| row.get(0)).unwrap();
            assert_eq!(made, i64::from(runs));
            pages() - before
        };
        // Twenty commits would write the pages of one twenty times.
        let (one, twenty) = (pages(1), pages(20));
        assert!(one > 0 && twenty < 5 * one, "{one} pages for one, {twenty} for twenty");
    }

    #[test]
    fn a_write_that_finds_no_room_fails_alone_and_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(&folder);
        let (one, two) = (created(&mut writer, 1), created(&mut writer, 2));
        writer.connection.pragma_update(None, "max_page_count", 20).unwrap();
        let large = sample::answered(1, &format!("\"{}\"", "x".repeat(1 << 20)));
        let answers = serve(
            &mut writer,
            vec![
                (create(3), Flush::Process),
                (append(&one, large), Flush::Disk),
                (append(&two, sample::asked(1)), Flush::Process),
            ],
        );
        assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
        let Err(error @ JournalError::Full { .. }) = &answers[1] else { panic!("{answers:?}") };
        assert!(error.to_string().contains("`j.db` has no room"), "{error}");
        // And it can be written once there is room.
        writer.connection.pragma_update(None, "max_page_count", 1_000_000).unwrap();
        assert!(serve(&mut writer, vec![(append(&one, sample::asked(1)), Flush::Disk)])[0].is_ok());
    }
}
