//! Over standard streams: a message a line, each request in a thread of its own.

use std::{io::Write as _, sync::Arc};

use serde_json::Value;

use crate::play::{Out, Server};

pub(crate) fn serve(server: Arc<Server>) {
    server.event("start", &Value::Null, &mut Stdout);
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { break };
        let message: Value = serde_json::from_str(&line).unwrap();
        let server = Arc::clone(&server);
        std::thread::spawn(move || server.take(&message, &mut Stdout));
    }
    // Those that still sleep are of no interest.
    std::process::exit(0);
}

struct Stdout;

impl Out for Stdout {
    fn message(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    fn raw(&mut self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        // Whoever listened may have gone.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    fn status(&mut self, _: &Value) {
        panic!("there is no status on standard streams");
    }

    fn cut(&mut self) {
        std::process::exit(0);
    }
}
