//! The host's side of the boundary: what the guest imports, and what the host keeps for it between two exports.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use wasmtime::{Caller, Extern, Linker, Memory, ResourceLimiter, Result, bail};

use crate::{
    limits::{Limits, Stop},
    sandbox::{Call, Output, Target},
};

/// What an output is counted for beside its text, since an empty one has to be kept as well.
const ENTRY_BYTES: usize = 32;

/// An exception as JSON. The guest keeps it far shorter (prelude.js), so only a broken guest is cut here.
const MOST_THROWN_BYTES: usize = 1 << 20;

/// The host's data of one store.
pub(crate) struct Host {
    /// What `Date.now()` shows, in milliseconds since 1970.
    pub(crate) clock_ms: i64,
    pub(crate) limits: Limits,
    pub(crate) calls: Vec<Call>,
    pub(crate) output: Vec<Output>,
    pub(crate) end: Option<End>,
    /// Why the host trapped the guest. The trap itself carries no reason.
    pub(crate) stop: Option<Stop>,
    pub(crate) calls_made: u32,
    /// The size of the arguments of each call that is out, which somebody outside keeps until it is answered, and their sum.
    calls_out: HashMap<u32, usize>,
    calls_out_bytes: usize,
    pub(crate) output_bytes: usize,
    pub(crate) output_cut: bool,
    pub(crate) image_bytes: usize,
    image_cut: bool,
    other_bytes: usize,
    stored_bytes: usize,
    other_cut: bool,
    pub(crate) stop_asked: Arc<AtomicBool>,
    /// Set while the stack is read after a stop, when nothing may stop the guest again.
    pub(crate) post_mortem: bool,
}

/// How the script ended, as the guest tells it.
pub(crate) enum End {
    Returned(Option<String>),
    Threw(String),
}

impl Host {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            clock_ms: 0,
            limits,
            calls: Vec::new(),
            output: Vec::new(),
            end: None,
            stop: None,
            calls_made: 0,
            calls_out: HashMap::new(),
            calls_out_bytes: 0,
            output_bytes: 0,
            output_cut: false,
            image_bytes: 0,
            image_cut: false,
            other_bytes: 0,
            stored_bytes: 0,
            other_cut: false,
            stop_asked: Arc::new(AtomicBool::new(false)),
            post_mortem: false,
        }
    }

    pub(crate) fn must_stop(&self) -> bool {
        !self.post_mortem && self.stop_asked.load(Ordering::Relaxed)
    }

    /// The call is answered: its arguments are kept no longer.
    pub(crate) fn answered(&mut self, call: u32) {
        self.calls_out_bytes -= self.calls_out.remove(&call).unwrap_or(0);
    }

    /// Notes the limit that was reached, and fails, which traps the guest.
    fn reached(&mut self, setting: &'static str, value: u64) -> Result<()> {
        self.stop = Some(Stop::Limit { setting, value });
        bail!("the limit `{setting}` was reached")
    }

    fn told(&mut self, op: u32, id: u32, a: Option<&[u8]>, b: &[u8]) -> Result<()> {
        let first = a.unwrap_or_default();
        match op {
            1 => {
                self.calls_made = self.calls_made.saturating_add(1);
                if self.calls_made > self.limits.calls {
                    return self.reached("calls", self.limits.calls.into());
                }
                let size = first.len().saturating_add(b.len());
                if size > self.limits.argument_bytes {
                    return self.reached("argument_bytes", self.limits.argument_bytes as u64);
                }
                self.calls_out.insert(id, size);
                self.calls_out_bytes = self.calls_out_bytes.saturating_add(size);
                if self.calls_out_bytes > self.limits.memory_bytes {
                    self.stop = Some(Stop::Memory);
                    bail!("the arguments of the calls that are out need more memory than the run may have");
                }
                self.calls.push(Call { call: id, target: Target::from_guest(first), args: text(b) });
            }
            // What is left in the store has its bounds in the prelude, and is never dropped.
            2 if id == 5 => {
                self.stored_bytes = self.stored_bytes.saturating_add(first.len().saturating_add(ENTRY_BYTES));
                if self.stored_bytes > self.limits.memory_bytes {
                    self.stop = Some(Stop::Memory);
                    bail!("what is stored needs more memory than the run may have");
                }
                self.output.push(Output::from_guest(id, text(first)));
            }
            2 => {
                // The script goes on: what it said first is kept, and what is too much is dropped with a word about it. A log line
                // is cut where the room ends; of anything else a part would be of no use.
                let (most, used, cut) = match id {
                    0 | 1 => (self.limits.output_bytes, &mut self.output_bytes, &mut self.output_cut),
                    2 => (self.limits.image_bytes, &mut self.image_bytes, &mut self.image_cut),
                    // Remarks and progress: bounded as well, and not by what a script logs.
                    _ => (self.limits.result_bytes, &mut self.other_bytes, &mut self.other_cut),
                };
                let room = most.saturating_sub(*used);
                let size = first.len().saturating_add(ENTRY_BYTES);
                if size <= room {
                    *used += size;
                    self.output.push(Output::from_guest(id, text(first)));
                } else if !*cut {
                    (*cut, *used) = (true, most);
                    if id <= 1 {
                        self.output.push(Output::from_guest(id, text(first)).cut(room));
                    }
                    self.output.push(Output::Cut { images: id == 2 });
                }
            }
            3 => {
                if first.len() > self.limits.result_bytes {
                    return self.reached("result_bytes", self.limits.result_bytes as u64);
                }
                self.end = Some(End::Returned((id == 1).then(|| text(first))));
            }
            4 => {
                let cut = first.len().min(MOST_THROWN_BYTES);
                self.end = Some(End::Threw(text(&first[..cut])));
            }
            _ => bail!("the guest used the unknown host operation {op}"),
        }
        Ok(())
    }
}

impl ResourceLimiter for Host {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > self.limits.memory_bytes {
            // An error traps. A plain refusal would become a JavaScript exception, which a script can catch.
            self.stop = Some(Stop::Memory);
            bail!("the memory limit was reached");
        }
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        Ok(desired <= 10_000)
    }
}

/// A lone surrogate half is the only thing in the engine's strings that is not valid UTF-8; it becomes U+FFFD.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Defines `refrain.host` and the few functions that the C library imports. Whatever else a module imports is refused when it
/// is linked.
pub(crate) fn define_imports(linker: &mut Linker<Host>) -> Result<()> {
    linker.func_wrap(
        "refrain",
        "host",
        |mut caller: Caller<'_, Host>, op: u32, id: u32, a: u32, a_len: u32, b: u32, b_len: u32| -> Result<()> {
            let memory = memory_of(&mut caller)?;
            let (data, host) = memory.data_and_store_mut(&mut caller);
            let a = if a == 0 { None } else { Some(bytes(data, a, a_len)?) };
            let b = bytes(data, b, b_len)?;
            host.told(op, id, a, b)
        },
    )?;

    const WASI: &str = "wasi_snapshot_preview1";
    linker.func_wrap(
        WASI,
        "clock_time_get",
        |mut caller: Caller<'_, Host>, _clock: u32, _precision: u64, result: u32| -> Result<u32> {
            // One clock for all: it stands still within a turn.
            let nanoseconds = (caller.data().clock_ms.max(0) as u64).saturating_mul(1_000_000);
            let memory = memory_of(&mut caller)?;
            memory.write(&mut caller, result as usize, &nanoseconds.to_le_bytes())?;
            Ok(0)
        },
    )?;
    // There are no files. 8 is `badf`.
    linker.func_wrap(WASI, "fd_close", |_fd: u32| -> u32 { 8 })?;
    linker.func_wrap(WASI, "fd_fdstat_get", |_fd: u32, _result: u32| -> u32 { 8 })?;
    linker.func_wrap(WASI, "fd_seek", |_fd: u32, _offset: u64, _whence: u32, _result: u32| -> u32 { 8 })?;
    linker.func_wrap(WASI, "fd_write", |_fd: u32, _vectors: u32, _count: u32, _result: u32| -> u32 { 8 })?;
    Ok(())
}

fn memory_of(caller: &mut Caller<'_, Host>) -> Result<Memory> {
    match caller.get_export("memory") {
        Some(Extern::Memory(memory)) => Ok(memory),
        _ => bail!("the guest exports no memory"),
    }
}

fn bytes(data: &[u8], start: u32, length: u32) -> Result<&[u8]> {
    let start = start as usize;
    match start.checked_add(length as usize).and_then(|end| data.get(start..end)) {
        Some(bytes) => Ok(bytes),
        None => bail!("the guest named {length} bytes at {start}, outside its memory"),
    }
}
