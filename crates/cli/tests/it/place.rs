//! A folder of its own for each test, and the `refrain` binary started in it.
//!
//! Nothing of the person who runs the tests gets in: the environment is empty but for `PATH`, the home folder is a new
//! one. Only the cache of compiled modules is shared between tests, since filling it takes longer than most of them.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// How often [`until`] looks before it gives up: two minutes. Only a test that fails gets there.
const LOOKS: u32 = 12_000;

/// A folder with a script, a config and a journal in it.
pub(crate) struct Place {
    dir: TempDir,
}

/// A command that has ended.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A `refrain` that is running, with what it says being collected.
pub(crate) struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: JoinHandle<String>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Self { dir };
        std::fs::create_dir(place.home()).unwrap();
        std::fs::create_dir(place.path()).unwrap();
        // The checkout may belong to somebody else, and `git` then refuses to read it.
        std::fs::write(place.home().join(".gitconfig"), "[safe]\n\tdirectory = *\n").unwrap();
        place
    }

    /// A place whose `refrain.toml` holds `config`.
    pub(crate) fn with_config(config: &str) -> Self {
        let place = Self::new();
        place.write("refrain.toml", config);
        place
    }

    /// The folder that commands run in.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// What a file holds, or nothing while it does not exist.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    /// `program`, in this folder and with this place's environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("tests run with a PATH"))
            .env("HOME", self.home())
            .env("LANG", "C.UTF-8")
            .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
            .stdin(Stdio::null());
        command
    }

    /// The `refrain` of this build.
    pub(crate) fn refrain(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_refrain"));
        command.args(args);
        command
    }

    /// Runs `refrain` to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Running::start(&mut self.refrain(args)).end()
    }

    /// Runs a script with `--output json` and more arguments to its end; returns the exit code and the report.
    pub(crate) fn report(&self, script: &str, more: &[&str]) -> (Option<i32>, Value) {
        self.write("script.ts", script);
        let done = self.run(&[&["run", "script.ts", "--output", "json"], more].concat());
        (done.code, done.json())
    }
}

impl Done {
    /// The one JSON object that stdout must hold.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value @ Value::Object(_)) => value,
            other => panic!("stdout is not one JSON object ({other:?})\n{self}"),
        }
    }

    /// Fails the test unless the exit code is `code`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{self}");
        assert!(!self.stderr.contains("panicked"), "a panic\n{self}");
        self
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

impl Running {
    /// Starts `command` and collects what it says. A stdout that the caller has set up is left to the caller.
    pub(crate) fn start(command: &mut Command) -> Self {
        command.stdout(Stdio::piped());
        Self::start_with_own_stdout(command)
    }

    pub(crate) fn start_with_own_stdout(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(|pipe: ChildStdout| collect(pipe));
        let stderr = collect(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// Sends `signal`, by its name without `SIG`.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        // The shell's own `kill`: a small image has no other.
        let status = Command::new("sh").args(["-c", "kill -s \"$1\" \"$2\"", "kill", signal, &pid]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end. A process that never ends fails the test instead of stopping it.
    #[track_caller]
    pub(crate) fn end(mut self) -> Done {
        let mut status = None;
        let ended = until(|| {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        if !ended {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
        let done = Done {
            code: status.and_then(|status| status.code()),
            stdout: self.stdout.map_or_else(String::new, |said| said.join().unwrap()),
            stderr: self.stderr.join().unwrap(),
        };
        assert!(ended, "it did not end by itself\n{done}");
        done
    }
}

/// Waits until `holds` does; returns whether it ever did.
pub(crate) fn until(mut holds: impl FnMut() -> bool) -> bool {
    for _ in 0..LOOKS {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

/// The folder that holds the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The first run id in a text: 36 characters, hyphens in their places.
pub(crate) fn run_id(text: &str) -> Option<String> {
    let is_id = |word: &&str| {
        word.len() == 36
            && word.char_indices().all(|(at, c)| match at {
                8 | 13 | 18 | 23 => c == '-',
                _ => c.is_ascii_hexdigit(),
            })
    };
    text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').find(is_id).map(str::to_owned)
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut said = Vec::new();
        pipe.read_to_end(&mut said).unwrap();
        String::from_utf8_lossy(&said).into_owned()
    })
}
