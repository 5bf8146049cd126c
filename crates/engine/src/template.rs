//! The engine that all runs of a process share: the compiled module, whose memory is the one that every run starts from.
//!
//! The prelude runs once in a life of the cache: its memory is put back into the module (module.rs), and the module with it is what is
//! compiled and kept.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use sha2::{Digest, Sha256};
use wasmtime::{
    Cache, CacheConfig, Config, Enabled, Instance, InstanceAllocationStrategy, InstancePre, Linker, Module, OptLevel,
    PoolConcurrencyLimitError, PoolingAllocationConfig, Store, StoreContextMut, UpdateDeadline,
};

use crate::{
    error::EngineError,
    guest::{self, Host},
    limits::Limits,
    module,
    sandbox::{Sandbox, exports::Exports},
    snapshot::STACK_BYTES,
};

const MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.wasm"));

/// The prelude with its libraries, in the order in which they build on one another.
const PRELUDE: &str = concat!(
    "(native) => { native.libraries = [(env) => { env.primordials = (",
    include_str!("../guest/lib/primordials.js"),
    "\n)(); return {}; }",
    ",",
    include_str!("../guest/lib/clone.js"),
    "\n,",
    include_str!("../guest/lib/text.js"),
    "\n,",
    include_str!("../guest/lib/crypto.js"),
    "\n,",
    include_str!("../guest/lib/abort.js"),
    "\n,",
    include_str!("../guest/lib/percent.js"),
    "\n,",
    include_str!("../guest/lib/host.js"),
    "\n,",
    include_str!("../guest/lib/record.js"),
    "\n,",
    include_str!("../guest/lib/url.js"),
    "\n]; return (",
    include_str!("../guest/prelude.js"),
    "\n)(native); }"
);

/// Part of the fingerprint: what the host does that a script can notice, beside the template. Raised when the way a value
/// crosses the boundary changes, or a setting below that moves fuel.
const BEHAVIOUR: &str = "wasmtime 48.0.8; opt speed; fuel; compact values; 1";

/// The shared engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    pooled: Option<Linked>,
    on_demand: OnceLock<Result<Linked, String>>,
    /// Of `on_demand`.
    config: Config,
    template: Vec<u8>,
    /// The memory that every run starts from. Asked for by the first snapshot.
    image: OnceLock<Vec<u8>>,
    fingerprint: [u8; 32],
}

impl Engine {
    /// Prepares and compiles the module, or takes it from the cache.
    ///
    /// Preparing and compiling cost some two seconds of both cores, the cache some milliseconds. Without a folder nothing is
    /// cached.
    ///
    /// # Errors
    ///
    /// [`EngineError::Cache`] when the folder cannot be used.
    pub fn new(cache: Option<PathBuf>) -> Result<Self, EngineError> {
        let (template, checksum) = template(cache.as_deref())?;
        let mut config = config(OptLevel::Speed);
        config
            .consume_fuel(true)
            .epoch_interruption(true)
            .memory_reservation(SLOT_BYTES as u64)
            .memory_reservation_for_growth(64 << 20)
            .memory_guard_size(64 << 10);
        if let Some(folder) = cache {
            let mut settings = CacheConfig::new();
            // A folder of its own: wasmtime deletes what it does not know from the one it is given.
            settings.with_directory(folder.join("compiled"));
            config.cache(Some(Cache::new(settings).map_err(EngineError::Cache)?));
        }
        // Without the addresses for it there is no pool, and all is as it is beyond its last slot.
        let pooled = Linked::new(pooling(config.clone()), &template).ok();
        let fingerprint = Sha256::new().chain_update(BEHAVIOUR).chain_update(checksum).finalize().into();
        let on_demand = OnceLock::new();
        let engine = Self {
            inner: Arc::new(Inner { pooled, on_demand, config, template, image: OnceLock::new(), fingerprint }),
        };
        if engine.inner.pooled.is_none() {
            engine.on_demand().map_err(EngineError::bug("the module was refused"))?;
        }
        Ok(engine)
    }

    /// A hash over all that a script's behaviour and fuel depend on: the module, the template's memory, the host engine's
    /// version and settings. Two builds with one fingerprint replay each other's runs.
    pub fn fingerprint(&self) -> String {
        hex(&self.inner.fingerprint)
    }

    /// Moves the epoch on. Whoever owns the clock calls this once per time slice; computing sandboxes then give way to others,
    /// or stop if they have been asked to.
    pub fn tick(&self) {
        let on_demand = self.inner.on_demand.get().and_then(|made| made.as_ref().ok());
        for linked in self.inner.pooled.iter().chain(on_demand) {
            linked.engine.increment_epoch();
        }
    }

    /// A fresh sandbox, as the prelude left it.
    ///
    /// # Errors
    ///
    /// [`EngineError::Bug`] when the instance cannot be made, which on a sound machine means that addresses ran out.
    pub fn sandbox(&self, limits: Limits) -> Result<Sandbox, EngineError> {
        let (store, exports) = self.instance(limits).map_err(EngineError::bug("a sandbox could not be made"))?;
        Ok(Sandbox::new(self.clone(), store, exports, limits))
    }

    fn instance(&self, limits: Limits) -> wasmtime::Result<(Store<Host>, Exports)> {
        if limits.memory_bytes <= SLOT_BYTES
            && let Some(pooled) = &self.inner.pooled
        {
            match pooled.instance(limits) {
                Err(error) if error.is::<PoolConcurrencyLimitError>() => {}
                made => return made,
            }
        }
        self.on_demand()?.instance(limits)
    }

    /// For whatever the pool has no slot for. Made when it is first needed, which costs what a start from the cache does.
    fn on_demand(&self) -> wasmtime::Result<&Linked> {
        let inner = &self.inner;
        let made = inner
            .on_demand
            .get_or_init(|| Linked::new(inner.config.clone(), &inner.template).map_err(|error| format!("{error:#}")));
        made.as_ref().map_err(|error| wasmtime::Error::msg(error.clone()))
    }

    /// The memory that every run starts from.
    pub(crate) fn image(&self) -> &[u8] {
        self.inner.image.get_or_init(|| match self.instance(Limits::default()) {
            Ok((store, exports)) => exports.memory.data(&store).to_vec(),
            // Compared with nothing, every page counts as changed: larger snapshots, and right ones.
            Err(_) => Vec::new(),
        })
    }

    pub(crate) fn fingerprint_bytes(&self) -> &[u8; 32] {
        &self.inner.fingerprint
    }
}

/// The module in an engine of wasmtime.
struct Linked {
    engine: wasmtime::Engine,
    pre: InstancePre<Host>,
}

impl Linked {
    fn new(config: Config, module: &[u8]) -> wasmtime::Result<Self> {
        let engine = wasmtime::Engine::new(&config)?;
        let pre = link(&engine, module)?;
        Ok(Self { engine, pre })
    }

    fn instance(&self, limits: Limits) -> wasmtime::Result<(Store<Host>, Exports)> {
        let mut store = Store::new(&self.engine, Host::new(limits));
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
        let instance = self.pre.instantiate(&mut store)?;
        let exports = Exports::of(&mut store, &instance)?;
        Ok((store, exports))
    }
}

/// How many sandboxes the pool serves. Each one keeps what the last run in it touched, up to a megabyte, so this is also what a
/// burst leaves behind.
const SLOTS: u32 = 256;
/// Addresses of one sandbox's memory. The default reserves 4 GiB.
const SLOT_BYTES: usize = 256 << 20;

/// Places for memory and stack that are made once: to map and unmap them for each run costs a short script more than all it
/// computes, and two threads that do so wait for one another.
fn pooling(mut config: Config) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(SLOTS)
        .total_memories(SLOTS)
        .total_tables(SLOTS)
        // A sandbox that goes may give back its memory before its stack.
        .total_stacks(2 * SLOTS)
        .max_memory_size(SLOT_BYTES)
        .linear_memory_keep_resident(1 << 20)
        .table_keep_resident(64 << 10)
        .async_stack_keep_resident(64 << 10)
        // Where the kernel can tell which pages were written, only those are put back.
        .pagemap_scan(Enabled::Auto);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Settings that do not touch fuel.
fn config(level: OptLevel) -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(level)
        // Two machines must agree on the bits of a NaN, which a script can read through a typed array.
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        .wasm_backtrace_max_frames(None)
        // The guest's recursion is bounded at half a megabyte of its own stack (shim.c). The native stack below it must
        // hold the same recursion; it is more bytes there, in functions that keep little in memory.
        .max_wasm_stack(12 << 20)
        .async_stack_size(13 << 20);
    config
}

fn link(engine: &wasmtime::Engine, module: &[u8]) -> wasmtime::Result<InstancePre<Host>> {
    let mut linker = Linker::new(engine);
    guest::define_imports(&mut linker)?;
    linker.instantiate_pre(&Module::new(engine, module)?)
}

/// The module with its memory prepared, and its checksum. Taken from `cache` where it is there and whole, else made and put there.
fn template(cache: Option<&Path>) -> Result<(Vec<u8>, [u8; 32]), EngineError> {
    let key: [u8; 32] =
        Sha256::new().chain_update(MODULE).chain_update(PRELUDE).chain_update(BEHAVIOUR).finalize().into();
    let file = cache.map(|folder| folder.join(format!("template-{}.wasm", hex(&key[..16]))));
    if let Some(found) = file.as_deref().and_then(read_whole) {
        return Ok(found);
    }
    let image = prepare().map_err(EngineError::bug("the prelude failed"))?;
    let template = module::with_memory(MODULE, &image)
        .map_err(|error| EngineError::bug("the prepared module could not be built")(error.into()))?;
    let checksum = Sha256::digest(&template).into();
    if let Some(file) = file {
        // Without it the next start prepares anew; nothing else is lost.
        let _ = write_whole(&file, &template, &checksum);
    }
    Ok((template, checksum))
}

/// Runs the prelude in a fresh instance, and returns the memory that it leaves.
fn prepare() -> wasmtime::Result<Vec<u8>> {
    // Compiled for this one use, so quickly and not well.
    let engine = wasmtime::Engine::new(&config(OptLevel::None))?;
    let pre = link(&engine, MODULE)?;
    let mut store = Store::new(&engine, Host::new(Limits::default()));
    let instance: Instance = pre.instantiate(&mut store)?;
    let exports = Exports::of(&mut store, &instance)?;
    if exports.stack_left(&mut store) != STACK_BYTES {
        wasmtime::bail!("the guest was linked with its stack somewhere else than below everything");
    }
    exports.initialise(&mut store, &instance, PRELUDE)?;
    let mut image = exports.memory.data(&store).to_vec();
    // Nothing is on the stack between two exports; what lies there is remains.
    image[..STACK_BYTES].fill(0);
    Ok(image)
}

/// Reads a file that ends in the checksum of what is before it. None when it is not there or not whole.
fn read_whole(file: &Path) -> Option<(Vec<u8>, [u8; 32])> {
    let mut bytes = fs::read(file).ok()?;
    let checksum: [u8; 32] = *bytes.last_chunk()?;
    bytes.truncate(bytes.len() - checksum.len());
    (<[u8; 32]>::from(Sha256::digest(&bytes)) == checksum).then_some((bytes, checksum))
}

fn write_whole(file: &Path, bytes: &[u8], checksum: &[u8; 32]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    // A name of its own for each writer; the rename puts it in place whole.
    let draft = file.with_extension(format!("{}.draft", std::process::id()));
    let written = fs::write(&draft, [bytes, checksum].concat()).and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a script can learn of the host comes through one of these, and nothing else can: the clock is the journal's and
    /// stands still within a turn, there are no files, and what `host` gives is journaled or of the start record. A new import
    /// is to be looked at in the same way before it is added here.
    #[test]
    fn the_sandbox_can_ask_the_host_for_these_things_and_for_no_other() {
        let engine = wasmtime::Engine::new(&config(OptLevel::None)).unwrap();
        let module = Module::new(&engine, MODULE).unwrap();
        let mut imports: Vec<_> = module.imports().map(|it| format!("{}.{}", it.module(), it.name())).collect();
        imports.sort();
        assert_eq!(
            imports,
            [
                "refrain.host",
                "wasi_snapshot_preview1.clock_time_get",
                "wasi_snapshot_preview1.fd_close",
                "wasi_snapshot_preview1.fd_fdstat_get",
                "wasi_snapshot_preview1.fd_seek",
                "wasi_snapshot_preview1.fd_write",
            ]
        );
    }
}
