//! The guest's exports, typed, and the copying of texts into its memory.

use wasmtime::{Global, Instance, Memory, Result, Store, TypedFunc, bail};

use crate::{
    guest::{End, Host},
    sandbox::{Delivery, Outcome},
    source::Frame,
    value,
};

/// Fuel for reading the stack of a stopped guest, whose own may be used up.
const POST_MORTEM_FUEL: u64 = 10_000_000;

pub(crate) struct Exports {
    pub(crate) memory: Memory,
    allocate: TypedFunc<u32, u32>,
    begin: TypedFunc<(u64, u32, u32), i32>,
    start: TypedFunc<(u32, u32), i32>,
    deliver: TypedFunc<(u32, u32, u32, u32), i32>,
    position: TypedFunc<(), u32>,
    stack_pointer: Option<Global>,
}

impl Exports {
    pub(crate) fn of(store: &mut Store<Host>, instance: &Instance) -> Result<Self> {
        let Some(memory) = instance.get_memory(&mut *store, "memory") else {
            bail!("the guest exports no memory");
        };
        Ok(Self {
            memory,
            allocate: instance.get_typed_func(&mut *store, "rf_allocate")?,
            begin: instance.get_typed_func(&mut *store, "rf_begin")?,
            start: instance.get_typed_func(&mut *store, "rf_start")?,
            deliver: instance.get_typed_func(&mut *store, "rf_deliver")?,
            position: instance.get_typed_func(&mut *store, "rf_where")?,
            stack_pointer: instance.get_global(&mut *store, "__stack_pointer"),
        })
    }

    /// Makes the template: constructors of the C library, then the shim's own start.
    pub(crate) fn initialise(&self, store: &mut Store<Host>, instance: &Instance, prelude: &str) -> Result<()> {
        if let Ok(construct) = instance.get_typed_func::<(), ()>(&mut *store, "_initialize") {
            construct.call(&mut *store, ())?;
        }
        let address = self.allocate.call(&mut *store, length(prelude.as_bytes())?)?;
        self.memory.write(&mut *store, address as usize, prelude.as_bytes())?;
        let initialise = instance.get_typed_func::<(u32, u32), i32>(&mut *store, "rf_initialise")?;
        if initialise.call(&mut *store, (address, length(prelude.as_bytes())?))? != 0 {
            bail!("the prelude failed: {}", said(store));
        }
        Ok(())
    }

    /// Grows the memory to at least `bytes`.
    pub(crate) fn reserve(&self, store: &mut Store<Host>, bytes: usize) -> Result<()> {
        let missing = bytes.saturating_sub(self.memory.data_size(&*store));
        if missing > 0 {
            self.memory.grow(&mut *store, missing.div_ceil(65536) as u64)?;
        }
        Ok(())
    }

    pub(crate) async fn begin(&self, store: &mut Store<Host>, seed: u64, facts: &str) -> Result<()> {
        let address = self.copy_in(store, facts.as_bytes()).await?;
        match self.begin.call_async(&mut *store, (seed, address, length(facts.as_bytes())?)).await? {
            0 => Ok(()),
            _ => bail!("the run could not begin: {}", said(store)),
        }
    }

    pub(crate) async fn start(&self, store: &mut Store<Host>, javascript: &str) -> Result<i32> {
        let address = self.copy_in(store, javascript.as_bytes()).await?;
        self.start.call_async(store, (address, length(javascript.as_bytes())?)).await
    }

    pub(crate) async fn deliver(&self, store: &mut Store<Host>, delivery: &Delivery) -> Result<i32> {
        let compact;
        // The numbers are shim.c's.
        let (kind, bytes) = match &delivery.outcome {
            Outcome::Failure(json) => (1, json.as_bytes()),
            Outcome::Packed(packed) => (if packed.is_compact { 2 } else { 0 }, packed.bytes.as_slice()),
            Outcome::Value(json) => {
                compact = value::compact(json);
                compact.as_deref().map_or((0, json.as_bytes()), |bytes| (2, bytes))
            }
        };
        let address = self.copy_in(store, bytes).await?;
        self.deliver.call_async(store, (delivery.call, kind, address, length(bytes)?)).await
    }

    /// Where the stopped guest stands. Empty when it cannot say.
    pub(crate) async fn position(&self, store: &mut Store<Host>) -> Vec<Frame> {
        store.data_mut().post_mortem = true;
        let asked = match store.set_fuel(POST_MORTEM_FUEL) {
            Ok(()) => self.position.call_async(&mut *store, ()).await,
            Err(error) => Err(error),
        };
        let Ok(address) = asked else { return Vec::new() };
        let data = self.memory.data(&*store);
        let text = data.get(address as usize..).unwrap_or_default();
        let text = &text[..text.len().min(4096)];
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
        Frame::parse_all(&String::from_utf8_lossy(&text[..end]))
    }

    /// Bytes between the guest's stack pointer and the end of its stack. A pointer past the end counts as none.
    pub(crate) fn stack_left(&self, store: &mut Store<Host>) -> usize {
        let pointer = self.stack_pointer.and_then(|global| global.get(&mut *store).i32());
        pointer.map_or(usize::MAX, |pointer| usize::try_from(pointer).unwrap_or(0))
    }

    async fn copy_in(&self, store: &mut Store<Host>, bytes: &[u8]) -> Result<u32> {
        let address = self.allocate.call_async(&mut *store, length(bytes)?).await?;
        if address == 0 {
            bail!("the guest has no room for {} bytes", bytes.len());
        }
        self.memory.write(&mut *store, address as usize, bytes)?;
        Ok(address)
    }
}

/// What the guest said of its own failure.
fn said(store: &mut Store<Host>) -> String {
    match store.data_mut().end.take() {
        Some(End::Threw(text)) => text,
        _ => String::from("it gave no reason"),
    }
}

fn length(bytes: &[u8]) -> Result<u32> {
    match u32::try_from(bytes.len()) {
        Ok(length) if length < u32::MAX => Ok(length),
        _ => bail!("{} bytes do not fit into the guest", bytes.len()),
    }
}
