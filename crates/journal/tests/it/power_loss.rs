//! A disk that loses what was not flushed.
//!
//! Every file of these tests is watched through SQLite: whenever it is flushed, its content is what a power cut would leave. A cut then
//! gives each file of the journal either that content or the one it has now, in every mixture, since nothing orders what is not flushed.

#![expect(unsafe_code, reason = "SQLite's files can only be watched through its C interface; this is test code")]

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, Once};

use refrain_journal::testing::sample::{answered, asked, run, start};
use refrain_journal::{Flush, Journal, PATIENCE, Record, Seq, SqliteJournal};
use rusqlite::ffi;

/// Files in folders whose name begins so are watched.
const WATCHED: &str = "power-loss-";

/// What is on the disk for sure, by path.
static FLUSHED: LazyLock<Mutex<HashMap<PathBuf, Vec<u8>>>> = LazyLock::new(Mutex::default);
/// The paths of open files, by the address of SQLite's structure.
static OPEN: LazyLock<Mutex<HashMap<usize, PathBuf>>> = LazyLock::new(Mutex::default);
/// The methods of SQLite's own files, with the address of the flush that they had.
static FLUSH: Mutex<Option<Sync>> = Mutex::new(None);
/// The way to open a file that SQLite had.
static BEFORE: Mutex<Option<Open>> = Mutex::new(None);

type Sync = unsafe extern "C" fn(*mut ffi::sqlite3_file, c_int) -> c_int;
type Open =
    unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *const c_char, *mut ffi::sqlite3_file, c_int, *mut c_int) -> c_int;

/// Makes SQLite tell us of every flush, from here on and in this whole process.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the default VFS lives as long as the process. Its way to open files is replaced by one that calls it, once, before
        // any journal of these tests is open; other threads that read the pointer meanwhile see the one or the other, and both work.
        unsafe {
            let vfs = ffi::sqlite3_vfs_find(std::ptr::null());
            *BEFORE.lock().unwrap() = (*vfs).xOpen;
            (*vfs).xOpen = Some(open);
        }
    });
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let before = BEFORE.lock().unwrap().unwrap();
    // SAFETY: SQLite calls us as it would call what was here before, with the same arguments.
    let code = unsafe { before(vfs, name, file, flags, out) };
    if code != ffi::SQLITE_OK || name.is_null() {
        return code;
    }
    // SAFETY: a name that is not null is a C string that lives as long as the file is open.
    let path = PathBuf::from(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()));
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    if !folder.is_some_and(|folder| folder.starts_with(WATCHED)) {
        return code;
    }
    // SAFETY: an open file has methods. The copy is never freed, and is the file's until it is closed.
    unsafe {
        let methods = Box::leak(Box::new(*(*file).pMethods));
        FLUSH.lock().unwrap().get_or_insert(methods.xSync.unwrap());
        methods.xSync = Some(flush);
        (*file).pMethods = methods;
    }
    OPEN.lock().unwrap().insert(file as usize, path);
    code
}

unsafe extern "C" fn flush(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let own = FLUSH.lock().unwrap().unwrap();
    // SAFETY: SQLite calls us as it would call its own flush, of a file that is open.
    let code = unsafe { own(file, flags) };
    let path = OPEN.lock().unwrap().get(&(file as usize)).cloned();
    if let (ffi::SQLITE_OK, Some(path)) = (code, path) {
        let content = std::fs::read(&path).unwrap();
        FLUSHED.lock().unwrap().insert(path, content);
    }
    code
}

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Copies the journal as a cut would leave it. `kept` tells for the database and its log whether what was not flushed is there.
fn cut(from: &Path, to: &Path, kept: [bool; 2]) {
    for (name, is_kept) in ["j.db", "j.db-wal"].into_iter().zip(kept) {
        let (there, here) = (from.join(name), to.join(name));
        let content = match is_kept {
            true => std::fs::read(&there).ok(),
            false => FLUSHED.lock().unwrap().get(&there).cloned(),
        };
        if let Some(content) = content {
            std::fs::write(here, content).unwrap();
        }
    }
}

const RUNS: u32 = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_flushed_survives_any_power_cut_and_the_rest_is_there_in_order_or_not_at_all() {
    watch();
    let mut dice = Dice(20_261_201);
    let mut lost = 0;
    for trace in 0..40 {
        let folder = tempfile::Builder::new().prefix(WATCHED).tempdir().unwrap();
        let journal = SqliteJournal::open(&folder.path().join("j.db"), PATIENCE).await.unwrap();
        let mut written: Vec<Vec<Record>> = Vec::new();
        let mut leases = Vec::new();
        for n in 0..RUNS {
            leases.push(journal.create(run(n), &start("return 1"), &[], Flush::Disk).await.unwrap());
            written.push(vec![Record::Started(Box::new(start("return 1")))]);
        }
        // How many records of each run are on the disk for sure.
        let mut sure: Vec<usize> = written.iter().map(Vec::len).collect();
        for _ in 0..dice.roll(400) {
            let n = dice.roll(RUNS.into()) as usize;
            let call = written[n].len() as u64;
            let record = match dice.roll(3) {
                0 => asked(call),
                1 => answered(call, "1"),
                _ => answered(call, &format!("\"{}\"", "x".repeat(dice.roll(15_000) as usize))),
            };
            let flush = if dice.roll(6) == 0 { Flush::Disk } else { Flush::Process };
            journal.append(&leases[n], Seq(call), std::slice::from_ref(&record), flush).await.unwrap();
            written[n].push(record);
            if flush == Flush::Disk {
                sure = written.iter().map(Vec::len).collect();
            }
        }
        for kept in [[false, false], [true, false], [false, true], [true, true]] {
            let after = tempfile::tempdir().unwrap();
            cut(folder.path(), after.path(), kept);
            let again = SqliteJournal::open(&after.path().join("j.db"), PATIENCE).await.unwrap();
            for n in 0..RUNS {
                let read = again.read(run(n)).await.unwrap();
                let (all, sure) = (&written[n as usize], sure[n as usize]);
                assert!(
                    read.len() >= sure,
                    "trace {trace}, {kept:?}: {} of {sure} records that were flushed",
                    read.len()
                );
                assert!(read == all[..read.len()], "trace {trace}, {kept:?}");
                lost += all.len() - read.len();
            }
        }
        drop(leases);
    }
    assert!(lost > 0, "the cuts took nothing, so nothing was shown");
}
