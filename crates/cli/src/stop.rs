//! Ctrl-C and its likes. They end the command and decide nothing about a run.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask to stop, caught from now on.
#[derive(Debug)]
pub(crate) struct Stop {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

impl Stop {
    /// Catches the signals. Where that cannot be done, they end the process as the system does.
    pub(crate) fn listen() -> Self {
        Self { interrupt: signal(SignalKind::interrupt()).ok(), terminate: signal(SignalKind::terminate()).ok() }
    }

    /// Returns once one of them came.
    pub(crate) async fn asked(mut self) {
        tokio::select! {
            () = came(self.interrupt.as_mut()) => {}
            () = came(self.terminate.as_mut()) => {}
        }
    }
}

async fn came(signal: Option<&mut Signal>) {
    if let Some(signal) = signal
        && signal.recv().await.is_some()
    {
        return;
    }
    std::future::pending().await
}
