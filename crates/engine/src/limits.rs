//! What bounds one sandbox, and why it was stopped.

/// Bounds of one sandbox. Reaching one, but for the output, ends the run; the script cannot catch it.
///
/// Time is not among them: the host counts it and calls [`Stopper::stop`](crate::Stopper::stop).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The guest's linear memory in bytes: heap, stack and the engine itself (some 1.4 MB). Compiled code is not in it.
    pub memory_bytes: usize,
    /// Computing, in wasmtime's units of fuel, about one per WebAssembly instruction. Counted alike on every machine. A built-in
    /// on a long string costs what it computes.
    pub fuel: u64,
    /// Calls made by the whole run.
    pub calls: u32,
    /// Bytes of the arguments of one call. Those of all calls that are out together may need `memory_bytes`.
    pub argument_bytes: usize,
    /// Bytes of all logs and texts of the run together, each with 32 more for being kept. What is more is dropped, and the run goes on.
    pub output_bytes: usize,
    /// Bytes of all images of the run together. What is more is dropped, and the run goes on.
    pub image_bytes: usize,
    /// Bytes of the value that the script returns.
    pub result_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 128 << 20,
            fuel: 250_000_000_000,
            calls: 1_000,
            argument_bytes: 4 << 20,
            output_bytes: 1 << 20,
            image_bytes: 32 << 20,
            result_bytes: 32 << 20,
        }
    }
}

/// Why a sandbox was stopped from outside the script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// [`Stopper::stop`](crate::Stopper::stop) was called.
    Asked,
    /// The memory limit was reached.
    Memory,
    /// The native stack was used up, in a recursion of the engine's own that its limit does not see.
    Stack,
    /// A limit other than memory was reached. The setting's name is that of [`Limits`]' field.
    Limit {
        /// The field of [`Limits`].
        setting: &'static str,
        /// Its value.
        value: u64,
    },
    /// The guest broke: a trap that no script should be able to cause. Ours to mend.
    Fault(String),
}
