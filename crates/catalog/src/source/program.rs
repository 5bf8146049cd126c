//! Whether a program is there, found as the system finds it when it is started.
//!
//! It says what can be known before anybody calls. A program that comes or goes afterwards is told by the call.

use std::{
    ffi::OsString,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// Where programs are looked for when nothing says so.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Where a child looks for programs.
#[derive(Debug)]
pub(crate) struct Whereabouts {
    path: OsString,
    cwd: PathBuf,
}

impl Whereabouts {
    /// Takes the child's variables, of which later ones count, and its folder.
    pub(crate) fn new<'a>(
        variables: impl DoubleEndedIterator<Item = (&'a OsString, &'a OsString)>,
        cwd: &Path,
    ) -> Self {
        let path = variables.rev().find(|(name, _)| *name == "PATH").map(|(_, path)| path.clone());
        Self { path: path.unwrap_or_else(|| DEFAULT_PATH.into()), cwd: cwd.to_path_buf() }
    }

    /// Returns whether a program of this name can be started.
    pub(crate) fn has(&self, program: &str) -> bool {
        // Joined, since relative paths mean the child's folder. An empty part of `PATH` means it too.
        let is_there = |path: &Path| {
            let about = self.cwd.join(path).metadata();
            about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
        };
        if program.contains('/') {
            return is_there(Path::new(program));
        }
        std::env::split_paths(&self.path).any(|folder| is_there(&folder.join(program)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_looked_for_where_its_source_would() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        for (name, mode) in [("bin/tool", 0o755), ("bin/text", 0o644), ("own", 0o755)] {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let has = |path: &[&str], program: &str| {
            let variables: Vec<(OsString, OsString)> = path.iter().map(|path| ("PATH".into(), path.into())).collect();
            Whereabouts::new(variables.iter().map(|(name, text)| (name, text)), folder.path()).has(program)
        };
        let whole = folder.path().join("bin").display().to_string();
        assert!(has(&[&whole], "tool") && has(&["/none:bin"], "tool") && has(&["/none", &whole], "tool"));
        assert!(has(&[""], "own") && has(&["/none"], "./own") && has(&["/none"], "bin/tool"));
        assert!(has(&[], "sh"), "without a `PATH` the system's own counts");
        assert!(!has(&[&whole, "/none"], "tool") && !has(&[&whole], "text") && !has(&[&whole], "bin"));
        assert!(!has(&[&whole], "./tool") && !has(&["/"], "bin"), "a folder is no program");
    }
}
