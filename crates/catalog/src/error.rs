//! What can go wrong, split by what the caller can do about it.
//!
//! Three parties: [`SettingsError`] is the operator's, [`Unresolved`] and [`CallError`] are the script's.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a call failed, as the script sees it in `ToolError.code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The arguments do not fit the input schema. Nothing was sent.
    InvalidArguments,
    /// No source has such a tool. Nothing was sent.
    UnknownTool,
    /// The source cannot be reached. Nothing was sent.
    SourceDown,
    /// A rule or a person refused. Nothing was sent.
    Denied,
    /// It was sent and no answer came: it may or may not have happened.
    Interrupted,
    /// The run was cancelled.
    Cancelled,
    /// No answer in time: it may or may not have happened.
    Timeout,
    /// The service asks to wait.
    RateLimited,
    /// It happened, and the answer is over the limit.
    ResultTooLarge,
    /// It happened, and the answer is not what was declared.
    OutputMismatch,
    /// The tool itself says that it failed.
    ToolError,
    /// The source broke its protocol.
    Protocol,
    /// A bug of ours.
    Internal,
}

impl ErrorCode {
    /// Returns the word that scripts and reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::UnknownTool => "unknown_tool",
            Self::SourceDown => "source_down",
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
            Self::ResultTooLarge => "result_too_large",
            Self::OutputMismatch => "output_mismatch",
            Self::ToolError => "tool_error",
            Self::Protocol => "protocol",
            Self::Internal => "internal",
        }
    }

    /// Returns whether the same call may do better a moment later. Says nothing about whether a repeat is harmless: that
    /// is [`Replay`](crate::Replay).
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::SourceDown | Self::Interrupted | Self::Timeout | Self::RateLimited => true,
            Self::InvalidArguments
            | Self::UnknownTool
            | Self::Denied
            | Self::Cancelled
            | Self::ResultTooLarge
            | Self::OutputMismatch
            | Self::ToolError
            | Self::Protocol
            | Self::Internal => false,
        }
    }
}

/// A call that gave no value. Plain data, since the journal keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// For the model: what happened, to which tool, and what to do.
    pub message: String,
    /// Whether the same call may do better later.
    pub retryable: bool,
    /// How long the service asks to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// What the tool or the check says for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl CallError {
    /// Returns an error of `code`, retryable as the code is.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: code.is_retryable(), retry_after_ms: None, data: None }
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

/// A name that leads to no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unresolved {
    /// The source is there and working, or not there at all: the name is wrong.
    #[error("{message}")]
    Unknown {
        /// Says what is wrong and what is near.
        message: String,
    },
    /// The source is not working, so nobody can say whether it has the tool.
    #[error("{message}")]
    SourceDown {
        /// Says which source and why.
        message: String,
    },
}

impl From<Unresolved> for CallError {
    fn from(unresolved: Unresolved) -> Self {
        match unresolved {
            Unresolved::Unknown { message } => Self::new(ErrorCode::UnknownTool, message),
            Unresolved::SourceDown { message } => Self::new(ErrorCode::SourceDown, message),
        }
    }
}

/// A setting that cannot be used. The operator's to fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {message}")]
pub struct SettingsError {
    /// The key, relative to the table it stands in: `command`, `output.pattern`.
    pub key: String,
    /// What is wrong and what would be right. Follows the key in a sentence.
    pub message: String,
}

impl SettingsError {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}
