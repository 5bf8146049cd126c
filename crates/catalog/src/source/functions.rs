//! A source of functions that live in this process: a program that embeds us gives them, and so do tests.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde_json::{Value, value::to_raw_value};

use super::{Call, Down, Listing, Source};
use crate::{
    error::{CallError, ErrorCode},
    sources::CallOutput,
    tool::Tool,
};

/// Functions of this process.
#[async_trait]
pub trait Functions: Send + Sync {
    /// All of them, as tools. The name of their source is filled in.
    fn tools(&self) -> Vec<Tool>;

    /// Calls one. Dropping the future is how a call is cancelled.
    ///
    /// # Errors
    ///
    /// What the script gets as a `ToolError`.
    async fn call(&self, name: &str, args: Value) -> Result<Value, CallError>;

    /// As [`call`](Self::call), of a tool that is keyed: the same key each time the same call is made.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    async fn call_keyed(&self, name: &str, args: Value, _key: &str) -> Result<Value, CallError> {
        self.call(name, args).await
    }
}

/// Functions behind a pointer, so that settings can be cloned and shown.
#[derive(Clone)]
pub struct SharedFunctions(pub Arc<dyn Functions>);

impl fmt::Debug for SharedFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.tools().iter().map(|tool| &tool.name)).finish()
    }
}

pub(crate) struct FunctionSource {
    pub(crate) name: String,
    pub(crate) functions: SharedFunctions,
}

#[async_trait]
impl Source for FunctionSource {
    async fn list(&self) -> Result<Listing, Down> {
        let mut tools = self.functions.0.tools();
        for tool in &mut tools {
            tool.source.clone_from(&self.name);
        }
        Ok(Listing { tools, warning: None })
    }

    async fn call(&self, call: Call<'_>) -> Result<CallOutput, CallError> {
        let (name, args) = (&call.tool.name, Value::Object(call.args));
        let work = async {
            match call.key {
                Some(key) => self.functions.0.call_keyed(name, args, key).await,
                None => self.functions.0.call(name, args).await,
            }
        };
        let value = tokio::time::timeout(call.total, work).await.map_err(|_| {
            let told = format!("`{}` gave no answer within {} ms", call.tool.path(), call.total.as_millis());
            CallError::new(ErrorCode::Timeout, told)
        })??;
        let value = to_raw_value(&value).map_err(|error| CallError::new(ErrorCode::Internal, error.to_string()))?;
        Ok(CallOutput { value, notes: Vec::new() })
    }
}
