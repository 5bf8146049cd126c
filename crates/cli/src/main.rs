//! The `refrain` command: words, exit codes, settings and the terminal.
//!
//! Everything that happens to a run happens below, in `refrain-runtime`. Here arguments become requests, and what comes back
//! becomes text for a person or one JSON object for a program.
//!
//! # Invariants
//!
//! * Data goes to stdout, talk to stderr. Under `--output json` stdout holds one JSON object whatever happens.
//! * Exit codes are made in [`exit`] only. A closed pipe is a success.
//! * The environment is read in [`config`] only.
//! * A panic is our bug: exit code 70 and a request to report it, never a stack trace alone.
//!
//! # Deliberately not here
//!
//! No decision about a run, no wire protocol, no colour.

use std::{io, process::ExitCode};

mod arguments;
mod commands;
mod config;
mod context;
mod error;
mod exit;
mod observed;
mod program;
mod stop;
mod text;
mod ui;

fn main() -> ExitCode {
    // Before anything else: the guard is a process of ours that only waits, and must be there at once.
    if std::env::args_os().nth(1).is_some_and(|word| word == config::GUARD) {
        refrain_runtime::guard_main(io::stdin().lock());
        return ExitCode::SUCCESS;
    }
    program::start(std::env::args_os().collect())
}
