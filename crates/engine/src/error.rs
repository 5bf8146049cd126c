//! Why the engine could not be made. What goes wrong inside a script is a [`Status`](crate::Status), not an error.

/// The engine, or a sandbox of it, could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The compiled module cannot be kept. Choose another folder.
    #[error("the engine's cache cannot be used")]
    Cache(#[source] wasmtime::Error),
    /// wasmtime refused the module or its settings. Ours to mend.
    #[error("bug in the engine: {what}; please report it")]
    Bug {
        /// What was being done.
        what: &'static str,
        /// What wasmtime said.
        #[source]
        source: wasmtime::Error,
    },
}

impl EngineError {
    /// Names the step that failed, for `map_err`.
    pub(crate) fn bug(what: &'static str) -> impl Fn(wasmtime::Error) -> Self {
        move |source| Self::Bug { what, source }
    }
}
