//! For tests, here and in crates above: the contract that every store passes, and ways to break a store.
//!
//! * [`journal_contract!`](crate::journal_contract) makes one test of each rule for a [`Bench`].
//! * [`PowerCut`] stops a journal before or after any write.
//! * [`edit_sqlite`] and [`MemoryJournal::edit`](crate::MemoryJournal::edit) change stored bytes.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

pub mod contract;
mod edit;
mod power_cut;
pub mod sample;

use std::sync::Arc;

use async_trait::async_trait;

pub(crate) use edit::make_chain;
pub use edit::{Chain, RawRecord, edit_sqlite};
pub use power_cut::{Cut, PowerCut};

use crate::{BlobHash, Journal, RunId};

/// A store under test: what the contract needs beyond [`Journal`].
#[async_trait]
pub trait Bench: Send + Sync {
    /// Opens the one store of this bench as one more owner.
    async fn open(&self) -> Opened;
    /// Changes the stored records of a run behind the journal's back.
    fn edit(&self, run: RunId, chain: Chain, change: fn(&mut Vec<RawRecord>));
    /// Changes the bytes of a blob behind the journal's back.
    fn spoil(&self, blob: BlobHash);
}

/// One owner of a store under test.
pub struct Opened {
    journal: Arc<dyn Journal>,
    kill: Box<dyn FnOnce() + Send>,
}

impl Opened {
    /// Joins an open journal with what ends its owner, where dropping it is not enough.
    pub fn new(journal: Arc<dyn Journal>, kill: impl FnOnce() + Send + 'static) -> Self {
        Self { journal, kill: Box::new(kill) }
    }

    /// Ends the owner without letting its runs go.
    pub fn kill(self) {
        drop(self.journal);
        (self.kill)();
    }
}

impl std::ops::Deref for Opened {
    type Target = dyn Journal;

    fn deref(&self) -> &Self::Target {
        &*self.journal
    }
}
