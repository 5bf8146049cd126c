//! The engine that all runs of a process share: the compiled module and the memory that every run starts from.

use std::{path::PathBuf, sync::Arc};

use sha2::{Digest, Sha256};
use wasmtime::{
    Cache, CacheConfig, Config, Instance, InstancePre, Linker, Module, OptLevel, Store, StoreContextMut, UpdateDeadline,
};

use crate::{
    error::EngineError,
    guest::{self, Host},
    limits::Limits,
    sandbox::{Sandbox, exports::Exports},
    snapshot::{PAGE, STACK_BYTES},
};

const MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.wasm"));
const PRELUDE: &str = include_str!("../guest/prelude.js");

/// Part of the fingerprint: what the host does that a script can notice, beside the template. Raised when the way a value
/// crosses the boundary changes, or a setting below that moves fuel.
const BEHAVIOUR: &str = "wasmtime 48.0.8; opt speed; fuel; compact values; 1";

/// The shared engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    engine: wasmtime::Engine,
    pre: InstancePre<Host>,
    /// The memory of a fresh instance in which the prelude has run.
    image: Vec<u8>,
    /// The pages of `image` that differ from a fresh instance, the ones a new run needs written.
    dirty: Vec<u32>,
    fingerprint: [u8; 32],
}

impl Engine {
    /// Compiles the module, or takes it from the cache, and prepares the template.
    ///
    /// Compiling costs about a second of both cores, the cache some milliseconds. Without a folder nothing is cached.
    ///
    /// # Errors
    ///
    /// [`EngineError::Cache`] when the folder cannot be used.
    pub fn new(cache: Option<PathBuf>) -> Result<Self, EngineError> {
        let mut config = Config::new();
        config
            .cranelift_opt_level(OptLevel::Speed)
            // Two machines must agree on the bits of a NaN, which a script can read through a typed array.
            .cranelift_nan_canonicalization(true)
            .consume_fuel(true)
            .epoch_interruption(true)
            .wasm_relaxed_simd(false)
            .wasm_backtrace_max_frames(None)
            // The guest's recursion is bounded at half a megabyte of its own stack (shim.c). The native stack below it must
            // hold the same recursion; it is more bytes there, in functions that keep little in memory.
            .max_wasm_stack(12 << 20)
            .async_stack_size(13 << 20)
            // The default reserves 4 GiB of addresses for each run.
            .memory_reservation(256 << 20)
            .memory_reservation_for_growth(64 << 20)
            .memory_guard_size(64 << 10);
        if let Some(folder) = cache {
            let mut settings = CacheConfig::new();
            settings.with_directory(folder);
            config.cache(Some(Cache::new(settings).map_err(EngineError::Cache)?));
        }
        let engine = wasmtime::Engine::new(&config).map_err(EngineError::bug("the settings were refused"))?;
        let module = Module::new(&engine, MODULE).map_err(EngineError::bug("the module was refused"))?;
        let mut linker = Linker::new(&engine);
        guest::define_imports(&mut linker).map_err(EngineError::bug("the imports were refused"))?;
        let pre = linker.instantiate_pre(&module).map_err(EngineError::bug("the module imports more than it may"))?;

        let (fresh, image) = initialise(&engine, &pre).map_err(EngineError::bug("the prelude failed"))?;
        let dirty = image
            .chunks(PAGE)
            .enumerate()
            .filter(|(index, page)| {
                let before = fresh.get(index * PAGE..index * PAGE + page.len());
                before.map_or_else(|| page.iter().any(|byte| *byte != 0), |before| before != *page)
            })
            .map(|(index, _)| index as u32)
            .collect();
        let mut hash = Sha256::new();
        hash.update(BEHAVIOUR);
        hash.update(Sha256::digest(MODULE));
        hash.update(&image);
        Ok(Self { inner: Arc::new(Inner { engine, pre, image, dirty, fingerprint: hash.finalize().into() }) })
    }

    /// A hash over all that a script's behaviour and fuel depend on: the module, the template's memory, the host engine's
    /// version and settings. Two builds with one fingerprint replay each other's runs.
    pub fn fingerprint(&self) -> String {
        self.inner.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Moves the epoch on. Whoever owns the clock calls this once per time slice; computing sandboxes then give way to others,
    /// or stop if they have been asked to.
    pub fn tick(&self) {
        self.inner.engine.increment_epoch();
    }

    /// A fresh sandbox, as the prelude left it.
    ///
    /// # Errors
    ///
    /// [`EngineError::Bug`] when the instance cannot be made, which on a sound machine means that addresses ran out.
    pub fn sandbox(&self, limits: Limits) -> Result<Sandbox, EngineError> {
        let made = || {
            let (mut store, instance) = instantiate(&self.inner.engine, &self.inner.pre, limits)?;
            let exports = Exports::of(&mut store, &instance)?;
            exports.reserve(&mut store, self.inner.image.len())?;
            let data = exports.memory.data_mut(&mut store);
            for &page in &self.inner.dirty {
                let start = page as usize * PAGE;
                let end = (start + PAGE).min(self.inner.image.len());
                data[start..end].copy_from_slice(&self.inner.image[start..end]);
            }
            Ok(Sandbox::new(self.clone(), store, exports, limits))
        };
        made().map_err(EngineError::bug("a sandbox could not be made"))
    }

    pub(crate) fn image(&self) -> &[u8] {
        &self.inner.image
    }

    pub(crate) fn fingerprint_bytes(&self) -> &[u8; 32] {
        &self.inner.fingerprint
    }
}

fn instantiate(
    engine: &wasmtime::Engine,
    pre: &InstancePre<Host>,
    limits: Limits,
) -> wasmtime::Result<(Store<Host>, Instance)> {
    let mut store = Store::new(engine, Host::new(limits));
    store.limiter(|host| host);
    store.set_fuel(limits.fuel)?;
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|context: StoreContextMut<'_, Host>| {
        Ok(if context.data().must_stop() {
            UpdateDeadline::Interrupt
        } else if context.data().post_mortem {
            UpdateDeadline::Continue(1)
        } else {
            UpdateDeadline::Yield(1)
        })
    });
    let instance = pre.instantiate(&mut store)?;
    Ok((store, instance))
}

/// Runs the prelude in a fresh instance. Returns the memory before and after.
fn initialise(engine: &wasmtime::Engine, pre: &InstancePre<Host>) -> wasmtime::Result<(Vec<u8>, Vec<u8>)> {
    let limits = Limits::default();
    let (mut store, instance) = instantiate(engine, pre, limits)?;
    // Nobody waits yet, so nothing yields: the prelude is ours, and short.
    store.data_mut().post_mortem = true;
    let exports = Exports::of(&mut store, &instance)?;
    let fresh = exports.memory.data(&store).to_vec();
    exports.initialise(&mut store, &instance, PRELUDE)?;
    let mut image = exports.memory.data(&store).to_vec();
    // Nothing is on the stack between two exports; what lies there is remains.
    image[..STACK_BYTES].fill(0);
    Ok((fresh, image))
}
