//! Tools of this process that do as they are told, and remember what reached them.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use refrain_runtime::{CallError, Effect, ErrorCode, Functions, Replay, SharedFunctions, SourceKind, Tool};
use serde_json::Value;

/// A function of a test.
type Function = Arc<dyn Fn(&Value) -> Result<Value, CallError> + Send + Sync>;

/// What a tool does with one call.
#[derive(Clone)]
pub(crate) enum Answer {
    Value(Value),
    Echo,
    Fails(CallError),
    Hang,
    Function(Function),
}

/// A tool and what it does, one entry a call; the last repeats.
pub(crate) struct Fake {
    pub(crate) tool: Tool,
    pub(crate) behaviour: Mutex<VecDeque<(Answer, Duration)>>,
}

impl Fake {
    pub(crate) fn new(name: &str, answer: Answer) -> Self {
        Self::of(Tool::new("", name), [(answer, Duration::ZERO)])
    }

    pub(crate) fn of(tool: Tool, behaviour: impl IntoIterator<Item = (Answer, Duration)>) -> Self {
        Self { tool, behaviour: Mutex::new(behaviour.into_iter().collect()) }
    }

    pub(crate) fn value(name: &str, value: Value) -> Self {
        Self::new(name, Answer::Value(value))
    }

    pub(crate) fn echo(name: &str) -> Self {
        Self::new(name, Answer::Echo)
    }

    pub(crate) fn hang(name: &str) -> Self {
        Self::new(name, Answer::Hang)
    }

    pub(crate) fn fails(name: &str, error: CallError) -> Self {
        Self::new(name, Answer::Fails(error))
    }

    pub(crate) fn function(
        name: &str,
        function: impl Fn(&Value) -> Result<Value, CallError> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Answer::Function(Arc::new(function)))
    }

    /// Reads only, and may be repeated.
    pub(crate) fn safe(mut self) -> Self {
        self.tool.effect = Effect::Read;
        self.tool.replay = Replay::Safe;
        self
    }

    pub(crate) fn taking(mut self, schema: Value) -> Self {
        self.tool.input_schema = Arc::new(schema);
        self
    }

    pub(crate) fn giving(mut self, schema: Value) -> Self {
        self.tool.output_schema = Some(Arc::new(schema));
        self
    }

    pub(crate) fn described(mut self, description: &str) -> Self {
        self.tool.description = description.into();
        self
    }
}

/// A failure that the tool itself reports.
pub(crate) fn tool_error(text: &str) -> CallError {
    CallError::new(ErrorCode::ToolError, text)
}

/// What reached the tools.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) finished: Vec<String>,
    pub(crate) in_flight: usize,
    pub(crate) most_in_flight: usize,
}

impl Seen {
    pub(crate) fn count(&self, tool: &str) -> usize {
        self.calls.iter().filter(|(name, _)| name == tool).count()
    }

    /// What a tool was called with, the first call first.
    pub(crate) fn args(&self, tool: &str) -> Vec<Value> {
        self.calls.iter().filter(|(name, _)| name == tool).map(|(_, args)| args.clone()).collect()
    }

    pub(crate) fn count_finished(&self, tool: &str) -> usize {
        self.finished.iter().filter(|name| *name == tool).count()
    }
}

/// A call that is at a tool. Dropped with its future, so a call that is given up is counted as out no longer.
struct AtTool(Arc<Mutex<Seen>>);

impl Drop for AtTool {
    fn drop(&mut self) {
        self.0.lock().unwrap().in_flight -= 1;
    }
}

/// The tools of one source.
pub(crate) struct Fakes {
    fakes: Vec<Fake>,
    seen: Arc<Mutex<Seen>>,
}

impl Fakes {
    pub(crate) fn source(fakes: Vec<Fake>, seen: &Arc<Mutex<Seen>>) -> SourceKind {
        SourceKind::Functions(SharedFunctions(Arc::new(Self { fakes, seen: Arc::clone(seen) })))
    }

    fn next(&self, name: &str) -> (Answer, Duration) {
        let fake = self.fakes.iter().find(|fake| fake.tool.name == name).unwrap();
        let mut behaviour = fake.behaviour.lock().unwrap();
        if behaviour.len() > 1 { behaviour.pop_front().unwrap() } else { behaviour[0].clone() }
    }
}

#[async_trait]
impl Functions for Fakes {
    fn tools(&self) -> Vec<Tool> {
        self.fakes.iter().map(|fake| fake.tool.clone()).collect()
    }

    async fn call(&self, name: &str, args: Value) -> Result<Value, CallError> {
        let _at_tool = {
            let mut seen = self.seen.lock().unwrap();
            seen.calls.push((name.into(), args.clone()));
            seen.in_flight += 1;
            seen.most_in_flight = seen.most_in_flight.max(seen.in_flight);
            AtTool(Arc::clone(&self.seen))
        };
        let (answer, delay) = self.next(name);
        tokio::time::sleep(delay).await;
        let outcome = match answer {
            Answer::Value(value) => Ok(value),
            Answer::Echo => Ok(args),
            Answer::Fails(error) => Err(error),
            Answer::Function(function) => function(&args),
            Answer::Hang => std::future::pending().await,
        };
        self.seen.lock().unwrap().finished.push(name.into());
        outcome
    }
}
