//! What the targets share: the engine, and the functions of the property tests.

use std::sync::OnceLock;

use refrain_engine::Engine;

#[expect(dead_code, reason = "each target uses one of its functions")]
#[path = "../../crates/engine/tests/it/stranger.rs"]
pub(crate) mod stranger;

/// One engine for all inputs: compiling the module is the expensive part.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(Some(std::env::temp_dir().join("refrain-fuzz"))).expect("the engine can be made"))
}
