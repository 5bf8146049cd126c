//! Serves one client over a pair of streams, until it leaves.

use std::sync::Arc;

use rmcp::{ServiceExt as _, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use refrain_runtime::Runtime;

use crate::{
    error::ServeError,
    mcp::{Front, Server},
    relay::Relay,
    tasks::Tasks,
};

/// Serves MCP on standard input and output until standard input ends.
///
/// Every protocol revision that the MCP library speaks is answered. Calls that are done within a few seconds of the end are
/// still answered; a run that is under way then is dropped, and can be resumed. Once this returns, `runtime` is the caller's
/// alone again, to be closed.
///
/// # Errors
///
/// [`ServeError`]. A client that leaves, at whatever moment, is no error.
pub async fn serve_stdio(runtime: Arc<Runtime>, relay: Arc<Relay>) -> Result<(), ServeError> {
    // Through the pipe driver, since a read by the blocking standard input cannot be given up and would hold the process.
    let (read, write) = rmcp::transport::io::stdio_pipes();
    serve(runtime, relay, read, write).await
}

/// As [`serve_stdio`], over any two streams.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve<R, W>(runtime: Arc<Runtime>, relay: Arc<Relay>, read: R, write: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let tasks = Arc::new(Tasks::default());
    // What is slow at the first call begins while the client still says hello. What fails here fails again where it is used,
    // and is reported there.
    tasks.start({
        let runtime = Arc::clone(&runtime);
        async move {
            let _ = tokio::join!(runtime.catalog(), runtime.check_engine());
        }
    });
    let session = runtime.fresh_session().map_err(|error| ServeError::Bug(error.into()))?;
    let ended = match Server::new(&runtime, &tasks, Front::Streams { session }).serve((read, write)).await {
        Ok(running) => {
            relay.connect(running.peer().clone());
            running.waiting().await.map(drop).map_err(|error| ServeError::Bug(error.into()))
        }
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(ServeError::Handshake(error.into())),
    };
    tasks.close().await;
    ended
}
