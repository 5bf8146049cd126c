//! One script in its sandbox: started, fed results, asked what it wants next.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde::{Deserialize, Serialize};
use wasmtime::Store;

use self::exports::Exports;
use crate::{
    Engine,
    guest::{End, Host},
    limits::{Limits, Stop},
    snapshot::Snapshot,
    source::Frame,
    value,
};

pub(crate) mod exports;

/// What a run starts from, beside its source.
#[derive(Clone, Debug)]
pub struct Start {
    /// The clock of the first turn, in milliseconds since 1970.
    pub clock_ms: i64,
    /// The seed of `Math.random()`.
    pub seed: u64,
    /// JSON of the form `{"args": any, "tools": {"<source>": ["<name>", …]}}`. Every name is listed that a script may see.
    pub facts: String,
}

/// A result on its way into the sandbox.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The number of the call that it answers.
    pub call: u32,
    /// What the clock shows from here on, in milliseconds since 1970.
    pub clock_ms: i64,
    /// What came of the call.
    pub outcome: Outcome,
}

/// What came of a call.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// JSON text, the value that the promise resolves to.
    Value(String),
    /// A JSON object with the fields of the `ToolError` that the promise rejects with: `message`, `code`, `tool`, `call`,
    /// `retryable`, `retryAfterMs`, `data`.
    Failure(String),
    /// A value made ready by [`packed`](Outcome::packed).
    Packed(Packed),
}

impl Outcome {
    /// Whether packing takes long enough, some tenths of a millisecond or more, that it should not keep others waiting.
    pub fn is_large(&self) -> bool {
        matches!(self, Self::Value(json) if json.len() > 64 << 10)
    }

    /// Does ahead what [`Sandbox::feed`] does first, parsing a value, which takes some 5 ms a megabyte and gives way to nobody.
    #[must_use]
    pub fn packed(self) -> Self {
        match self {
            Self::Value(json) => Self::Packed(match value::compact(&json) {
                Some(bytes) => Packed { is_compact: true, bytes },
                None => Packed { is_compact: false, bytes: json.into_bytes() },
            }),
            other => other,
        }
    }
}

/// A value as the guest takes it in.
#[derive(Clone)]
pub struct Packed {
    pub(crate) is_compact: bool,
    pub(crate) bytes: Vec<u8>,
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packed").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// A call that the script made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// 1, 2, … in the order the script made them.
    pub call: u32,
    /// What it calls.
    pub target: Target,
    /// The arguments: JSON text, as the guest wrote it. Not checked.
    pub args: String,
}

/// What a call is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A tool, as the script wrote it.
    Tool {
        /// The namespace.
        source: String,
        /// The name in it.
        tool: String,
    },
    /// A function of the script environment that the host answers, such as `sleep`. No tool can be taken for one.
    Function(String),
}

impl Target {
    pub(crate) fn from_guest(json: &[u8]) -> Self {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Tool([String; 2]),
            Function(String),
        }
        match serde_json::from_slice(json) {
            Ok(Form::Tool([source, tool])) => Self::Tool { source, tool },
            Ok(Form::Function(name)) => Self::Function(name),
            Err(_) => Self::Tool { source: "\u{fffd}".into(), tool: String::from_utf8_lossy(json).into_owned() },
        }
    }
}

/// Something the script said beside its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// `console`, for whoever debugs the script.
    Log {
        /// `log`, `info`, `warn`, `error` or `debug`.
        level: String,
        /// The line.
        text: String,
    },
    /// `text()`, for the model.
    Text(String),
    /// `image()`: an MCP image block, as JSON.
    Image(String),
    /// `progress()`, for whoever waits.
    Progress {
        /// How much is done, in thousandths, as the script says.
        thousandths: u16,
        /// What it is at.
        message: Option<String>,
    },
    /// A value that is left in the store of the session, as JSON; none to delete it. Said when the script ends well.
    Store {
        /// Its name.
        key: String,
        /// Its value.
        json: Option<String>,
        /// What must be there for it to be stored; none inside where nothing may be.
        guard: Option<Option<String>>,
    },
    /// The engine's own remark about what the script did.
    Note(Remark),
    /// What was said past [`Limits::output_bytes`], or shown past [`Limits::image_bytes`], was dropped. Said once for each.
    Cut {
        /// Whether it was images.
        images: bool,
    },
}

/// A remark of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// `value_changed`, `not_awaited` or `unhandled_rejection`.
    pub kind: String,
    /// What there is to say beside the kind.
    pub message: Option<String>,
    /// The call that it is about.
    pub call: Option<u32>,
    /// Where, in the JavaScript that ran, the innermost first.
    pub frames: Vec<Frame>,
}

impl Output {
    /// Reads what the guest says. Kinds as in prelude.js and shim.c; what cannot be read is a log line.
    pub(crate) fn from_guest(kind: u32, text: String) -> Self {
        #[derive(Deserialize)]
        struct Line {
            level: String,
            text: String,
        }
        #[derive(Deserialize)]
        struct Step {
            fraction: f64,
            message: Option<String>,
        }
        #[derive(Deserialize)]
        struct Said {
            kind: String,
            #[serde(default)]
            message: Option<String>,
            #[serde(default)]
            call: Option<u32>,
            #[serde(default)]
            site: String,
        }
        #[derive(Deserialize)]
        struct Entry {
            key: String,
            json: Option<String>,
            guard: Option<Was>,
        }
        #[derive(Deserialize)]
        struct Was {
            was: Option<String>,
        }
        let read = match kind {
            1 => return Self::Text(text),
            2 => return Self::Image(text),
            3 => serde_json::from_str(&text).map(|Said { kind, message, call, site }| {
                Self::Note(Remark { kind, message, call, frames: Frame::parse_all(&site) })
            }),
            4 => serde_json::from_str(&text).map(|Step { fraction, message }| Self::Progress {
                thousandths: (fraction.clamp(0.0, 1.0) * 1000.0) as u16,
                message,
            }),
            5 => serde_json::from_str(&text).map(|Entry { key, json, guard }| Self::Store {
                key,
                json,
                guard: guard.map(|guard| guard.was),
            }),
            _ => serde_json::from_str(&text).map(|Line { level, text }| Self::Log { level, text }),
        };
        read.unwrap_or(Self::Log { level: "log".into(), text })
    }

    /// Keeps the first `room` bytes of a line.
    pub(crate) fn cut(mut self, room: usize) -> Self {
        if let Self::Log { text, .. } | Self::Text(text) = &mut self {
            text.truncate(text.floor_char_boundary(room));
        }
        self
    }
}

/// One stretch of the sandbox, from a delivery (or the start) until it has no job left.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The calls that the script made in it.
    pub calls: Vec<Call>,
    /// What it said in it.
    pub output: Vec<Output>,
    /// How the script stands now.
    pub status: Status,
}

/// How a script stands after a turn. Only after [`Waiting`](Status::Waiting) may the sandbox be fed.
#[derive(Clone, Debug)]
pub enum Status {
    /// Calls are out.
    Waiting,
    /// The script waits, and no call is out that could wake it.
    Stalled,
    /// The script returned. JSON text; none when it returned nothing.
    Returned(Option<String>),
    /// The script threw.
    Threw(Thrown),
    /// It was stopped from outside, at this place of the JavaScript that ran.
    Stopped(Stop, Vec<Frame>),
}

/// An exception that the script did not catch. Positions are those of the JavaScript that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thrown {
    /// The error's name; none when what was thrown is no error.
    pub name: Option<String>,
    /// The error's message, or the thrown value as text.
    pub message: String,
    /// The script's own frames, the innermost first. Empty when what was thrown is no error.
    pub frames: Vec<Frame>,
    /// Set when it is a `ToolError`.
    pub tool: Option<ThrownByTool>,
    /// Whether the stack was used up.
    pub overflow: bool,
}

/// The part of a `ToolError` that says which call failed. What the script says of it, not the journal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ThrownByTool {
    /// `ToolError.code`.
    #[serde(default)]
    pub code: Option<String>,
    /// The tool's path.
    #[serde(default)]
    pub tool: Option<String>,
    /// The call's number.
    #[serde(default)]
    pub call: Option<u32>,
}

impl Thrown {
    fn from_guest(text: &str) -> Self {
        #[derive(Deserialize)]
        struct Described {
            name: Option<String>,
            message: String,
            #[serde(default)]
            stack: String,
            tool: Option<ThrownByTool>,
            #[serde(default)]
            overflow: bool,
        }
        match serde_json::from_str::<Described>(text) {
            Ok(told) => Self {
                name: told.name,
                message: told.message,
                frames: Frame::parse_all(&told.stack),
                tool: told.tool,
                overflow: told.overflow,
            },
            Err(_) => Self { message: text.to_owned(), ..Self::default() },
        }
    }
}

/// Stops a sandbox from another thread, also in the middle of a long built-in. Takes effect at the next [`Engine::tick`].
#[derive(Clone, Debug)]
pub struct Stopper(Arc<AtomicBool>);

impl Stopper {
    /// Asks the sandbox to stop: the turn under way, or the next, ends as [`Status::Stopped`] with [`Stop::Asked`].
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One script in its sandbox. See the crate's documentation for how it is driven.
pub struct Sandbox {
    engine: Engine,
    store: Store<Host>,
    exports: Exports,
    limits: Limits,
    /// What was used when the sandbox was stopped: reading its stack afterwards needs fuel of its own.
    fuel_at_stop: Option<u64>,
}

impl Sandbox {
    pub(crate) fn new(engine: Engine, store: Store<Host>, exports: Exports, limits: Limits) -> Self {
        Self { engine, store, exports, limits, fuel_at_stop: None }
    }

    /// A handle that stops this sandbox.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.store.data().stop_asked.clone())
    }

    /// Starts the script. `javascript` is [`Prepared::javascript`](crate::Prepared): an expression whose value is an async function.
    ///
    /// The future gives way to others at every [`Engine::tick`]. Dropped half way, the sandbox is lost with it.
    pub async fn start(&mut self, javascript: &str, start: &Start) -> Turn {
        self.store.data_mut().clock_ms = start.clock_ms;
        let begun = self.exports.begin(&mut self.store, start.seed, &start.facts).await;
        let ran = match begun {
            Ok(()) => self.exports.start(&mut self.store, javascript).await,
            Err(error) => Err(error),
        };
        self.turn(ran).await
    }

    /// Delivers one result, and runs the script until it waits again.
    ///
    /// A call that is not out, or a sandbox that does not wait, ends as [`Status::Stopped`] with [`Stop::Fault`]: the caller keeps
    /// the journal, and has broken its order.
    pub async fn feed(&mut self, delivery: &Delivery) -> Turn {
        let host = self.store.data_mut();
        host.clock_ms = delivery.clock_ms;
        host.answered(delivery.call);
        let ran = self.exports.deliver(&mut self.store, delivery).await;
        self.turn(ran).await
    }

    /// Units of fuel that the script has used so far.
    pub fn fuel_used(&self) -> u64 {
        self.fuel_at_stop.unwrap_or_else(|| self.limits.fuel.saturating_sub(self.store.get_fuel().unwrap_or(0)))
    }

    /// Copies the waiting sandbox. Call it between two turns only; after a turn that ended otherwise than
    /// [`Waiting`](Status::Waiting) the copy is of no use.
    pub fn save(&self) -> Snapshot {
        let host = self.store.data();
        Snapshot::take(
            &self.engine,
            self.exports.memory.data(&self.store),
            self.fuel_used(),
            host.calls_made,
            host.output_bytes as u64,
        )
    }

    /// Writes a snapshot's state over this fresh sandbox.
    pub(crate) fn overwrite(&mut self, snapshot: &Snapshot) -> wasmtime::Result<()> {
        self.exports.reserve(&mut self.store, snapshot.memory_bytes())?;
        snapshot.write_to(self.exports.memory.data_mut(&mut self.store));
        self.store.set_fuel(self.limits.fuel.saturating_sub(snapshot.fuel_used()))?;
        let host = self.store.data_mut();
        host.calls_made = snapshot.calls_made();
        host.output_bytes = snapshot.output_bytes() as usize;
        host.output_cut = host.output_bytes >= host.limits.output_bytes;
        Ok(())
    }

    /// Collects what the guest said in the turn that just ran.
    async fn turn(&mut self, ran: wasmtime::Result<i32>) -> Turn {
        let host = self.store.data_mut();
        let calls = std::mem::take(&mut host.calls);
        let output = std::mem::take(&mut host.output);
        let end = host.end.take();
        let status = match (ran, end) {
            (Ok(0), None) => Status::Waiting,
            (Ok(1), Some(End::Returned(value))) => Status::Returned(value),
            (Ok(1), Some(End::Threw(text))) => Status::Threw(Thrown::from_guest(&text)),
            (Ok(2), None) => Status::Stalled,
            (Ok(code), _) => Status::Stopped(Stop::Fault(format!("the guest answered {code} out of turn")), Vec::new()),
            (Err(error), _) => {
                let stop = self.reason(&error);
                self.fuel_at_stop = Some(self.fuel_used());
                let stack = self.exports.position(&mut self.store).await;
                Status::Stopped(stop, stack)
            }
        };
        Turn { calls, output, status }
    }

    fn reason(&mut self, error: &wasmtime::Error) -> Stop {
        let host = self.store.data_mut();
        if let Some(stop) = host.stop.take() {
            return stop;
        }
        match error.downcast_ref::<wasmtime::Trap>() {
            Some(wasmtime::Trap::OutOfFuel) => Stop::Limit { setting: "fuel", value: self.limits.fuel },
            Some(wasmtime::Trap::Interrupt) => Stop::Asked,
            Some(wasmtime::Trap::StackOverflow) => Stop::Stack,
            // The guest's own stack lies lowest in its memory, so one that is used up runs below address zero.
            Some(wasmtime::Trap::MemoryOutOfBounds) if self.exports.stack_left(&mut self.store) < 4096 => Stop::Stack,
            _ => Stop::Fault(format!("{error:#}")),
        }
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("limits", &self.limits).finish_non_exhaustive()
    }
}
