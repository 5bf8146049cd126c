//! Tools outside of any process: they outlive its crashes, count what they did, and look into the journal when they are called.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use async_trait::async_trait;
use refrain_journal::{MemoryJournal, Page, Record};
use refrain_runtime::{CallError, Effect, ErrorCode, Functions, Journal as _, Replay, Retry, Tool};
use serde_json::{Value, json};

use super::{generator::Dice, place::Place, world::asked};

/// What happened to a call, seen from outside.
#[derive(Debug, PartialEq)]
enum Seen {
    /// It was made, with this key.
    Made(Option<String>),
    /// Its answer was in the journal after a crash.
    Finished,
}

/// Calls by `tool-id`, with the error that they reject with whatever they do.
pub(crate) type Fates = BTreeMap<String, String>;

#[derive(Default)]
struct State {
    seen: BTreeMap<String, Vec<Seen>>,
    fates: Fates,
    attempt: u64,
    disk: MemoryJournal,
    /// The rules that a call found broken. A panic here would be another failure of the call.
    broken: Vec<String>,
    is_sequential: bool,
}

#[derive(Default)]
pub(crate) struct Tools(Mutex<State>);

impl Tools {
    /// Forgets everything for a new trace.
    pub(crate) fn begin(&self, disk: &MemoryJournal, is_sequential: bool, fates: &Fates) {
        let (disk, fates) = (disk.clone(), fates.clone());
        *self.0.lock().unwrap() = State { fates, disk, is_sequential, ..State::default() };
    }

    /// From here on calls are back in another order.
    pub(crate) fn next_attempt(&self) {
        self.0.lock().unwrap().attempt += 1;
    }

    /// From here on this call must not be made.
    pub(crate) fn finished(&self, call: &str) {
        if let Some(seen) = self.0.lock().unwrap().seen.get_mut(call)
            && seen.last() != Some(&Seen::Finished)
        {
            seen.push(Seen::Finished);
        }
    }

    /// The calls that were made.
    pub(crate) fn calls(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().seen.keys().cloned().collect()
    }

    /// Holds what each kind of tool is promised.
    ///
    /// # Panics
    ///
    /// When a promise is broken.
    pub(crate) fn each_kind_keeps_its_promise(&self, kills: u64, place: &Place<'_>) {
        let state = self.0.lock().unwrap();
        assert!(state.broken.is_empty(), "{}\n{place}", state.broken.join("\n"));
        for (call, seen) in &state.seen {
            let finished = seen.iter().position(|it| *it == Seen::Finished);
            assert!(
                finished.is_none_or(|at| at + 1 == seen.len()),
                "`{call}` was made again after its answer was in the journal: {seen:?}\n{place}"
            );
            let made = &seen[..finished.unwrap_or(seen.len())];
            // A crash makes it once more, and so does that it failed for the moment, which it does once.
            assert!(made.len() as u64 <= kills + 2, "`{call}` was made too often: {made:?}\n{place}");
            if call.starts_with("put") {
                assert_eq!(made.len(), 1, "`{call}` must not be repeated\n{place}");
            }
            if call.starts_with("key") {
                let is_same = |it: &Seen| matches!(it, Seen::Made(Some(_))) && *it == made[0];
                assert!(made.iter().all(is_same), "`{call}` came with other keys: {made:?}\n{place}");
            }
        }
    }

    /// Holds what has to be in the journal by the time that a call leaves: that it was asked for, unless it is safe, and every answer
    /// that the script has seen. Of a script that has one call out at a time those are the answers of all calls before.
    async fn look(&self, call: &str) {
        let disk = self.0.lock().unwrap().disk.clone();
        let newest = disk.list(&Page { limit: 1, cursor: None }).await.unwrap();
        let records = disk.read(newest.runs[0].run).await.unwrap();
        let asked = asked(&records);
        let answered: BTreeSet<&String> = records
            .iter()
            .filter_map(|record| match record {
                Record::Answered(answered) => asked.get(&answered.call),
                _ => None,
            })
            .collect();
        let mut state = self.0.lock().unwrap();
        let mut broken = Vec::new();
        if !call.starts_with("get") && !asked.values().any(|it| it == call) {
            broken.push(format!("`{call}` left before the journal had it"));
        }
        if state.is_sequential {
            let unsaved = state.seen.keys().filter(|it| *it != call && !answered.contains(it));
            broken.extend(unsaved.map(|it| format!("`{call}` left before the journal had the answer of `{it}`")));
        }
        state.broken.extend(broken);
    }

    async fn made(&self, name: &str, args: &Value, key: Option<String>) -> Result<Value, CallError> {
        let id = args["id"].as_u64().unwrap_or(0);
        self.look(&format!("{name}-{id}")).await;
        let (is_first, fate, pause) = {
            let mut state = self.0.lock().unwrap();
            let (call, attempt) = (format!("{name}-{id}"), state.attempt);
            let seen = state.seen.entry(call.clone()).or_default();
            seen.push(Seen::Made(key));
            // Some are back later than others that were made after them, and after a crash in another order.
            let pause = Dice::new(id * 31 + attempt * 7919).roll(6);
            (seen.len() == 1, state.fates.get(&call).cloned(), pause)
        };
        for _ in 0..pause {
            tokio::task::yield_now().await;
        }
        if let Some(told) = fate {
            return Err(CallError::new(ErrorCode::Interrupted, told));
        }
        if args["flaky"] == true && is_first {
            return Err(CallError { retryable: true, ..CallError::new(ErrorCode::ToolError, "not now") });
        }
        if args["fail"] == true {
            let data = Some(json!({ "id": id, "why": "asked to" }));
            return Err(CallError { data, ..CallError::new(ErrorCode::ToolError, "it failed") });
        }
        // A number that JavaScript rounds makes a note.
        Ok(if id.is_multiple_of(4) {
            json!({ "id": id, "big": 9_007_199_254_740_993_u64 })
        } else {
            json!({ "id": id })
        })
    }
}

#[async_trait]
impl Functions for Tools {
    fn tools(&self) -> Vec<Tool> {
        let kinds = [
            ("get", Effect::Read, Replay::Safe),
            ("key", Effect::Write, Replay::Keyed),
            ("put", Effect::Write, Replay::Unsafe),
        ];
        kinds
            .into_iter()
            .map(|(name, effect, replay)| {
                let mut tool = Tool::new("", name);
                (tool.effect, tool.replay) = (effect, replay);
                tool.retry = (replay != Replay::Unsafe).then_some(Retry { attempts: 3, backoff_ms: 0 });
                tool
            })
            .collect()
    }

    async fn call(&self, name: &str, args: Value) -> Result<Value, CallError> {
        self.made(name, &args, None).await
    }

    async fn call_keyed(&self, name: &str, args: Value, key: &str) -> Result<Value, CallError> {
        self.made(name, &args, Some(key.to_owned())).await
    }
}
