//! Why serving ended otherwise than by the client's leaving.

/// Why serving ended otherwise than by the client's leaving, by what the caller can do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// What came in is not the beginning of an MCP session. The client's to mend.
    #[error("the client did not begin an MCP session; start `refrain serve` from an MCP client")]
    Handshake(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The address cannot be served any more.
    #[error("requests cannot be taken: {0}")]
    Http(#[source] std::io::Error),
    /// Ours to mend.
    #[error("bug: the MCP service broke off; please report it")]
    Bug(#[source] Box<dyn std::error::Error + Send + Sync>),
}
