//! A question that a server asks in the middle of a call, and who answers it.

use async_trait::async_trait;
use serde_json::Value;

/// What a server wants to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The source that asks.
    pub source: String,
    /// The tool whose call it belongs to, where only one call was under way: the protocol does not say on every transport.
    pub tool: Option<String>,
    /// The question.
    pub message: String,
    /// A JSON Schema of an object with simple fields. `null` where nothing but a yes is wanted.
    pub schema: Value,
    /// An address that the person is to visit, in place of a form.
    pub url: Option<String>,
}

/// What the person said.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Yes, with the fields of the form.
    Accept(Value),
    /// No.
    Decline,
    /// Neither: the question was put away.
    Cancel,
}

/// Who can be asked. It must not take for granted that the call still waits when it answers.
#[async_trait]
pub trait Elicit: Send + Sync {
    /// Asks. Dropped when the call ends first.
    async fn elicit(&self, question: Question) -> Answer;
}
