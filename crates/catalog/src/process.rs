//! Children, and the guard that ends them when we cannot.
//!
//! Every child leads its own process group, so that what it starts ends with it. An orderly end is ours to make: a
//! [`Group`] that is dropped is killed. A SIGKILL gives us no such chance, so one helper process, the guard, holds the
//! reading end of a pipe and the list of groups. When the pipe ends, we are gone, and it kills what is on the list.
//!
//! The guard leads a group of its own: a Ctrl-C meant for us must not end the one process that cleans up after us.
//!
//! Two gaps, both known. A child is on the list a moment after it started, and a SIGKILL within that moment misses it. A
//! child that leaves its group (`setsid`) is not followed. Most servers end by themselves when their input does.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::{self, BufRead, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child as StdChild, Command as StdCommand, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// Reads process groups from `stdin` and kills those that are left when it ends.
///
/// The body of the guard process: `+123` puts a group on the list, `-123` takes it off. Anything else is ignored, since
/// there is nobody to tell.
pub fn guard_main(stdin: impl BufRead) {
    let mut groups = BTreeSet::new();
    // An error is an end as well: whoever wrote is not heard any more.
    for line in stdin.lines().map_while(Result::ok) {
        let (sign, number) = line.split_at_checked(1).unwrap_or_default();
        // 0 and 1 would be our own group and everybody.
        let Some(id) = number.parse().ok().filter(|id: &i32| *id > 1) else { continue };
        match sign {
            "+" => drop(groups.insert(id)),
            "-" => drop(groups.remove(&id)),
            _ => {}
        }
    }
    for id in groups.into_iter().filter_map(Pid::from_raw) {
        // One that is gone already is what we wanted.
        let _ = kill_process_group(id, Signal::KILL);
    }
}

/// All children of this process that belong to sources.
#[derive(Debug)]
pub(crate) struct Children {
    guard: Option<Vec<OsString>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    guard: Option<StdChild>,
    live: BTreeSet<i32>,
}

impl Children {
    pub(crate) fn new(guard: Option<Vec<OsString>>) -> Arc<Self> {
        Arc::new(Self { guard, state: Mutex::default() })
    }

    /// Starts `command` as the leader of a new group.
    ///
    /// # Errors
    ///
    /// The reason, as a sentence with the fix. Without its guard no child is started.
    pub(crate) fn spawn(self: &Arc<Self>, command: &mut Command) -> Result<(Child, Group), String> {
        let mut state = self.state();
        self.start_guard(&mut state)?;
        let child = command.process_group(0).kill_on_drop(true).spawn().map_err(|error| why(command, &error))?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let id = id.ok_or("the child ended before it was seen")?;
        state.live.insert(id.as_raw_pid());
        self.tell(&mut state, &format!("+{}\n", id.as_raw_pid()));
        Ok((child, Group { id, children: Arc::clone(self) }))
    }

    /// Ends the guard, which has nothing left to do.
    pub(crate) fn close(&self) {
        let guard = self.state().guard.take();
        if let Some(mut guard) = guard {
            drop(guard.stdin.take());
            // It ends when its input does; nobody else holds the other end.
            let _ = guard.wait();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_guard(&self, state: &mut State) -> Result<(), String> {
        let Some([program, args @ ..]) = self.guard.as_deref() else { return Ok(()) };
        if let Some(guard) = &mut state.guard
            && matches!(guard.try_wait(), Ok(None))
        {
            return Ok(());
        }
        let mut guard = StdCommand::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| {
                format!("the guard process `{}` does not start: {error}; reinstall the program", program.display())
            })?;
        // A guard that somebody ended is replaced, and the new one must know what the old one knew.
        let lines: String = state.live.iter().map(|id| format!("+{id}\n")).collect();
        if let Some(stdin) = &mut guard.stdin {
            let _ = stdin.write_all(lines.as_bytes());
        }
        state.guard = Some(guard);
        Ok(())
    }

    /// Writes to the guard. A guard that is gone is noticed and replaced at the next spawn.
    fn tell(&self, state: &mut State, line: &str) {
        if let Some(stdin) = state.guard.as_mut().and_then(|guard| guard.stdin.as_mut()) {
            let _ = stdin.write_all(line.as_bytes());
        }
    }
}

/// A child's process group. Dropping it kills whatever is left of the group.
#[derive(Debug)]
pub(crate) struct Group {
    id: Pid,
    children: Arc<Children>,
}

impl Group {
    /// Asks the group to end.
    pub(crate) fn terminate(&self) {
        let _ = kill_process_group(self.id, Signal::TERM);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The number stays taken while anything is in the group. Once it is empty the number may be given away, and then
        // this would hit a stranger; numbers come around so slowly that the moment between does not matter.
        let _ = kill_process_group(self.id, Signal::KILL);
        let mut state = self.children.state();
        state.live.remove(&self.id.as_raw_pid());
        self.children.tell(&mut state, &format!("-{}\n", self.id.as_raw_pid()));
    }
}

/// Says why a program did not start, and what to do.
fn why(command: &Command, error: &io::Error) -> String {
    let command = command.as_std();
    let program = command.get_program().display();
    if let Some(cwd) = command.get_current_dir()
        && !cwd.is_dir()
    {
        return format!("cannot start `{program}` in `{}`: there is no such folder; correct `cwd`", cwd.display());
    }
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("cannot start `{program}`: not found; install it, or give its full path in `command`")
        }
        io::ErrorKind::PermissionDenied => {
            format!("cannot start `{program}`: permission denied; make it executable, or correct `command`")
        }
        io::ErrorKind::ArgumentListTooLong => {
            format!("cannot start `{program}`: the arguments are too long; pass long text through `stdin`")
        }
        _ => format!("cannot start `{program}`: {error}"),
    }
}
