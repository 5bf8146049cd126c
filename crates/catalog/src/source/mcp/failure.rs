//! What it means for a caller that there is no answer, and whether the call may have run.

use std::time::Duration;

use rmcp::ServiceError;
use tokio::time::Instant;

use super::{
    McpSource,
    call::Failure,
    connection::{Connection, Unanswered},
    http, message, result,
};
use crate::{
    error::{CallError, ErrorCode},
    name,
};

impl McpSource {
    /// Says what it means that a request, made at `began`, has no answer.
    pub(super) async fn failed(
        &self,
        path: &str,
        connection: &Connection,
        began: Instant,
        failure: Failure,
    ) -> CallError {
        let of = |code, told: String| CallError::new(code, format!("`{path}`: {told}"));
        let lost = async || {
            self.backoff().failed(Instant::now());
            let lost = connection.lost().await;
            let told = format!("`{path}` gave no answer: {lost}; it may or may not have run");
            CallError::new(ErrorCode::Interrupted, told)
        };
        let late = |limit: Duration, what: &str| {
            let meanwhile = connection.words.odd_since(began).map(|odd| format!("; meanwhile the server wrote: {odd}"));
            let told = format!(
                "`{path}` {what} within {} ms; it may or may not have run{}",
                limit.as_millis(),
                meanwhile.unwrap_or_default()
            );
            CallError::new(ErrorCode::Timeout, told)
        };
        match failure {
            Failure::Late(limit) => late(limit, "gave no answer"),
            Failure::Silent(limit) => late(limit, "gave no answer and showed no progress"),
            Failure::Asks(what) => of(ErrorCode::Protocol, what),
            Failure::Service(ServiceError::McpError(error)) if error.code == message::TOO_LONG => {
                let told = format!("it has run; its answer cannot be taken: {}; ask for less", error.message);
                of(ErrorCode::ResultTooLarge, told)
            }
            Failure::Service(ServiceError::McpError(error)) if error.code == message::UNREADABLE => {
                of(ErrorCode::Protocol, format!("it has run; {}", name::cut(&error.message, 400)))
            }
            Failure::Service(ServiceError::McpError(error)) => result::refused(path, &error),
            Failure::Service(ServiceError::TransportSend(error)) => {
                match http::trouble(&error, (self.environment.clock)()) {
                    Some(trouble) => {
                        let mut what = trouble.what;
                        if trouble.may_have_run {
                            what.push_str("; the call may or may not have run");
                        }
                        let mut error = of(trouble.code, what);
                        (error.retryable, error.retry_after_ms) = (trouble.retryable, trouble.retry_after_ms);
                        error
                    }
                    None => lost().await,
                }
            }
            Failure::Service(ServiceError::TransportClosed) => lost().await,
            Failure::Service(ServiceError::Cancelled { reason }) => of(
                ErrorCode::Interrupted,
                format!("it was given up by its server: {}", reason.as_deref().unwrap_or("no reason given")),
            ),
            Failure::Service(error) => of(ErrorCode::Protocol, name::cut(&error.to_string(), 300)),
        }
    }

    /// Says why there was no answer to `ping`.
    pub(super) async fn unanswered(&self, connection: &Connection, why: Unanswered) -> String {
        match why {
            Unanswered::Late(limit) => format!("nothing came within {} ms", limit.as_millis()),
            Unanswered::Failed(ServiceError::TransportSend(error)) => {
                match http::trouble(&error, (self.environment.clock)()) {
                    Some(trouble) => trouble.what,
                    None => connection.lost().await,
                }
            }
            Unanswered::Failed(ServiceError::TransportClosed) => connection.lost().await,
            Unanswered::Failed(error) => name::cut(&error.to_string(), 300),
        }
    }
}
