//! Finding, making and opening the file.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{fault, schema};
use crate::JournalError;

/// Opens the file for writing, with the schema of this version. Returns it with its real path: lock files lie beside
/// that, and must be the same for everyone who comes through a link.
pub(super) fn open(path: &Path, patience: Duration) -> Result<(Connection, PathBuf), JournalError> {
    let name = path.display().to_string();
    if path.is_dir() {
        let what = format!("journal `{name}` is a folder; name a file in it, like `{name}/journal.db`");
        return Err(JournalError::Settings { what });
    }
    make(path).map_err(|error| fault::io(&name, "making the file", error))?;
    let path = fs::canonicalize(path).map_err(|error| fault::io(&name, "finding the file", error))?;
    let journal: Arc<str> = name.into();
    let mut connection = connect(&path, patience).map_err(|error| fault::fault(&journal, error))?;
    prepare(&journal, &mut connection, patience)?;
    Ok((connection, path))
}

/// Opens one more connection.
pub(super) fn connect(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    // Without SQLITE_OPEN_URI, so that a path is a path, and without CREATE, so that a deleted file is not replaced.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    // The file may come from a stranger: its schema may call no functions of ours, and pages are checked when read.
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")?;
    Ok(connection)
}

fn prepare(journal: &Arc<str>, connection: &mut Connection, patience: Duration) -> Result<(), JournalError> {
    schema::check(journal, connection)?;
    let mode = wal(connection, patience).map_err(|error| fault::fault(journal, error))?;
    if !mode.eq_ignore_ascii_case("wal") {
        let what = format!("journal `{journal}` lies where SQLite cannot share memory; choose a path on a local disk");
        return Err(JournalError::Settings { what });
    }
    // On macOS a plain fsync leaves data in the drive's cache.
    let settings = "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA journal_size_limit = 67108864";
    connection.execute_batch(settings).map_err(|error| fault::fault(journal, error))?;
    schema::migrate(journal, connection, schema::VERSIONS)
}

/// Turns WAL on. SQLite does not wait by itself here: two processes that do this at once would deadlock, so one gets
/// `SQLITE_BUSY` at once and has to come again.
fn wal(connection: &Connection, patience: Duration) -> rusqlite::Result<String> {
    const PAUSE: Duration = Duration::from_millis(5);
    let mut left = patience;
    loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0));
        match mode {
            Err(error) if is_busy(&error) && !left.is_zero() => {
                thread::sleep(PAUSE);
                left = left.saturating_sub(PAUSE);
            }
            other => return other,
        }
    }
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// Makes folder and file when they are missing, for the user's eyes only.
fn make(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.exists() {
        make_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ())
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    match OpenOptions::new().write(true).create_new(true).open(folder.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    // SQLite flushes the folder that its files are in, and nobody the names of the folders above.
    if cfg!(unix) {
        for made in missing {
            match made.parent() {
                Some(above) if !above.as_os_str().is_empty() => File::open(above)?.sync_all()?,
                _ => File::open(".")?.sync_all()?,
            }
        }
    }
    Ok(())
}
