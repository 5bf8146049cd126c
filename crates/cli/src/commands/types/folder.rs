//! A folder of declarations.
//!
//! Nothing here touches a file that it did not write: a foreign file in the way is an error before anything is written, and only
//! files that begin with our mark are removed. Each file is there whole or not at all, and one that would not change is left
//! as it is, so that editors need not read it again.

use std::{
    fs, io,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use refrain_runtime::{DECLARATION_MARK, DeclarationFile};
use serde::Serialize;

use crate::error::CommandError;

/// What became of a folder.
#[derive(Debug, Serialize)]
pub(super) struct Written {
    /// Every file that is there for the catalog, changed or not.
    pub(super) files: Vec<String>,
    /// Files of sources that are gone.
    pub(super) removed: Vec<String>,
}

/// Makes `folder` hold `files`, and no other file of ours.
///
/// # Errors
///
/// [`CommandError::Failed`], naming the file.
pub(super) fn write(folder: &Path, files: &[DeclarationFile]) -> Result<Written, CommandError> {
    let told = |path: &Path, did: &str, error: &io::Error| {
        CommandError::failed(format!("`{}` cannot be {did}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| told(folder, "made", &error))?;
    for file in files.iter().filter(|file| file.text.is_some()) {
        let path = folder.join(&file.name);
        if fs::symlink_metadata(&path).is_ok() && !is_ours(&path) {
            let message = format!("`{}` is in the way: `refrain types` did not write it", path.display());
            return Err(CommandError::failed(message).with_hint("move it, or give another folder with `--out`"));
        }
    }
    let mut written = Written { files: Vec::new(), removed: Vec::new() };
    for file in files {
        let path = folder.join(&file.name);
        match &file.text {
            Some(text) => {
                replace(&path, text).map_err(|error| told(&path, "written", &error))?;
                written.files.push(file.name.clone());
            }
            // The source is down. What is known of it from before is better than nothing.
            None => written.files.extend(is_ours(&path).then(|| file.name.clone())),
        }
    }
    for path in stale(folder, files).map_err(|error| told(folder, "listed", &error))? {
        fs::remove_file(&path).map_err(|error| told(&path, "removed", &error))?;
        written.removed.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    Ok(written)
}

/// Puts `text` in the place of a file in one step.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|now| now == text.as_bytes()) {
        return Ok(());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let put = || {
        let mut file = fs::File::create_new(&temporary)?;
        file.write_all(text.as_bytes())?;
        drop(file);
        fs::rename(&temporary, path)
    };
    put().inspect_err(|_| {
        // What is left of it says nothing; the error that is told is the first.
        let _ = fs::remove_file(&temporary);
    })
}

/// Returns our files that are not among `files`, in order.
fn stale(folder: &Path, files: &[DeclarationFile]) -> io::Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(".d.ts") && !files.iter().any(|file| file.name == name) && is_ours(&path) {
            stale.push(path);
        }
    }
    stale.sort();
    Ok(stale)
}

/// Returns whether a file is one that we wrote. A link is none, wherever it leads.
fn is_ours(path: &Path) -> bool {
    let mut start = vec![0; DECLARATION_MARK.len()];
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file())
        && fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == DECLARATION_MARK.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: Option<&str>) -> DeclarationFile {
        let text = text.map(|text| format!("{DECLARATION_MARK}\n{text}"));
        DeclarationFile { name: name.into(), source: None, text }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_we_wrote_goes_with_its_source_and_what_others_wrote_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("deep/types");
        write(&folder, &[file("a.d.ts", Some("one")), file("b.d.ts", Some("two"))]).unwrap();
        fs::write(folder.join("mine.d.ts"), "declare const mine: 1;").unwrap();
        fs::write(folder.join("b.txt"), DECLARATION_MARK).unwrap();
        let before = fs::metadata(folder.join("a.d.ts")).unwrap().modified().unwrap();
        let written = write(&folder, &[file("a.d.ts", Some("one")), file("c.d.ts", Some("three"))]).unwrap();
        assert_eq!((written.files, written.removed), (vec!["a.d.ts".into(), "c.d.ts".into()], vec!["b.d.ts".into()]));
        assert_eq!(names(&folder), ["a.d.ts", "b.txt", "c.d.ts", "mine.d.ts"]);
        assert_eq!(fs::metadata(folder.join("a.d.ts")).unwrap().modified().unwrap(), before, "written anew");
    }

    #[test]
    fn a_foreign_file_in_the_way_stops_everything() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("b.d.ts"), "mine").unwrap();
        let error = write(dir.path(), &[file("a.d.ts", Some("one")), file("b.d.ts", Some("two"))]).unwrap_err();
        assert!(error.to_string().contains("b.d.ts` is in the way"), "{error}");
        assert_eq!(names(dir.path()), ["b.d.ts"]);
        assert_eq!(fs::read_to_string(dir.path().join("b.d.ts")).unwrap(), "mine");
    }

    #[test]
    fn a_source_that_is_down_keeps_the_file_that_it_had() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[file("a.d.ts", Some("one"))]).unwrap();
        let written = write(dir.path(), &[file("a.d.ts", None), file("never.d.ts", None)]).unwrap();
        assert_eq!(written.files, ["a.d.ts"]);
        assert_eq!(names(dir.path()), ["a.d.ts"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_ours_even_if_it_leads_to_a_file_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, format!("{DECLARATION_MARK}\n")).unwrap();
        let folder = dir.path().join("types");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join("a.d.ts")).unwrap();
        write(&folder, &[]).unwrap();
        assert!(write(&folder, &[file("a.d.ts", Some("one"))]).is_err());
        assert_eq!(names(&folder), ["a.d.ts"]);
    }
}
