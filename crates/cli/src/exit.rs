//! Exit codes, as the outside contract has them.

use std::process::ExitCode;

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done. Also when nobody reads what is printed.
    Completed,
    /// The script failed or was cancelled, or what was asked for cannot be had.
    Failed,
    /// The command line or the settings are wrong.
    Usage,
    /// The run waits for something outside.
    Parked,
    /// Ours to mend.
    Bug,
    /// Stopped by a signal. The run can be resumed.
    Stopped,
}

impl Exit {
    /// Returns the number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Parked => 3,
            Self::Bug => 70,
            Self::Stopped => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
