//! Who is alive: a folder beside the file with one locked file for each open store.
//!
//! An owner holds an exclusive lock for as long as its store is open, and the operating system lets go of it however
//! the process ends. So a run whose process was killed is free at once, without a time-out and without a clock.
//!
//! * A file gets its name only once it is locked: a name without a lock is a dead owner.
//! * Who asks takes a shared lock, so two that ask at once do not take each other for the owner.
//! * Names are random and never used twice, so removing a dead one takes nothing from anybody.
//! * The lock belongs to the open file, which is closed on exec: no child inherits it.
//!
//! A file that a person removes makes a live owner look dead. Its runs can then be taken, and its late writes fail.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::OwnerId;
use crate::list::cut;

/// The folder of owners of one file.
#[derive(Clone, Debug)]
pub(super) struct Owners {
    folder: PathBuf,
}

/// Our own place in it. Dropping it frees every run that we hold.
#[derive(Debug)]
pub(super) struct OwnLock {
    pub(super) id: OwnerId,
    path: PathBuf,
    _locked: File,
}

impl Drop for OwnLock {
    fn drop(&mut self) {
        // While still locked, so that no other file of this name can be meant. What is left behind is swept later.
        let _ = fs::remove_file(&self.path);
    }
}

impl Owners {
    pub(super) fn beside(database: &Path) -> Self {
        let mut folder = database.as_os_str().to_owned();
        folder.push(".owners");
        Self { folder: folder.into() }
    }

    /// Takes a place under a new name.
    pub(super) fn enlist(&self) -> io::Result<OwnLock> {
        let mut last = io::Error::from(io::ErrorKind::WouldBlock);
        for _ in 0..100 {
            fs::create_dir_all(&self.folder)?;
            match self.try_enlist(OwnerId::random()) {
                Ok(own) => return Ok(own),
                // Swept by another process between its making and its locking.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock) => {
                    last = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn try_enlist(&self, id: OwnerId) -> io::Result<OwnLock> {
        let unnamed = self.folder.join(format!("{id}.new"));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&unnamed)?;
        let locked = (|| {
            // For people. When it started is the time of the file.
            writeln!(file, "process {}", std::process::id())?;
            file.try_lock().map_err(io::Error::from)?;
            fs::rename(&unnamed, self.file(id))
        })();
        match locked {
            Ok(()) => Ok(OwnLock { id, path: self.file(id), _locked: file }),
            Err(error) => {
                let _ = fs::remove_file(&unnamed);
                Err(error)
            }
        }
    }

    /// Returns who `id` is, if it is alive. Whoever cannot be asked counts as alive.
    pub(super) fn alive(&self, id: OwnerId) -> Option<String> {
        ask(&self.file(id))
    }

    /// Removes what dead owners left.
    pub(super) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|end| end == "lock" || end == "new") {
                ask(&path);
            }
        }
    }

    fn file(&self, id: OwnerId) -> PathBuf {
        self.folder.join(format!("{id}.lock"))
    }
}

fn ask(path: &Path) -> Option<String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => return Some("a process whose lock file cannot be read".to_owned()),
    };
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = fs::remove_file(path);
            None
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {
            let mut text = String::new();
            // Where locks are mandatory the text cannot be read, and is only for people.
            let _ = file.take(200).read_to_string(&mut text);
            let who = cut(text.trim(), 80);
            Some(if who.is_empty() { "another process".to_owned() } else { who })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(owners: &Owners) -> usize {
        fs::read_dir(&owners.folder).unwrap().count()
    }

    #[test]
    fn an_owner_is_alive_until_its_lock_goes_and_then_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let owners = Owners::beside(&folder.path().join("j.db"));
        let own = owners.enlist().unwrap();
        let who = format!("process {}", std::process::id());
        assert_eq!(owners.alive(own.id), Some(who.clone()));
        owners.sweep();
        assert_eq!(owners.alive(own.id), Some(who));
        let id = own.id;
        drop(own);
        assert_eq!(owners.alive(id), None);
        assert_eq!(names(&owners), 0);
    }

    #[test]
    fn what_killed_owners_left_is_dead_to_all_who_ask_at_once_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let owners = Owners::beside(&folder.path().join("j.db"));
        fs::create_dir_all(&owners.folder).unwrap();
        let id = OwnerId::random();
        fs::write(owners.file(id), "process 1").unwrap();
        // Another one who asks, at the same moment.
        let asking = File::open(owners.file(id)).unwrap();
        asking.try_lock_shared().unwrap();
        assert_eq!(owners.alive(id), None);
        fs::write(owners.file(id), "process 1").unwrap();
        fs::write(owners.folder.join("half.new"), "").unwrap();
        fs::write(owners.folder.join("notes.txt"), "").unwrap();
        owners.sweep();
        assert_eq!(names(&owners), 1);
    }

    #[test]
    fn owners_can_come_while_others_sweep() {
        let folder = tempfile::tempdir().unwrap();
        let owners = Owners::beside(&folder.path().join("j.db"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let own = owners.enlist().unwrap();
                        owners.sweep();
                        assert!(owners.alive(own.id).is_some());
                    }
                });
            }
        });
        assert_eq!(names(&owners), 0);
    }
}
