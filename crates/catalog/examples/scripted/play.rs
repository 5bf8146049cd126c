//! What the server does: rules first, and what any server would do where none applies.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::Write as _,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use serde_json::{Value, json};

/// Where answers go.
pub(crate) trait Out {
    /// A message.
    fn message(&mut self, message: &Value);
    /// Bytes as they are.
    fn raw(&mut self, bytes: &[u8]);
    /// A status of HTTP, with `headers` and a `body`.
    fn status(&mut self, action: &Value);
    /// The connection ends in the middle of things.
    fn cut(&mut self);
}

pub(crate) struct Server {
    pub(crate) script: Value,
    log: Mutex<File>,
    seen: Mutex<HashMap<String, u64>>,
    added: Mutex<Vec<Value>>,
    asked: Mutex<HashMap<String, mpsc::Sender<Value>>>,
    next: AtomicU64,
}

impl Server {
    pub(crate) fn new(file: &str) -> Self {
        let log = OpenOptions::new().create(true).append(true).open(format!("{file}.log")).unwrap();
        let server = Self {
            script: serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap(),
            log: Mutex::new(log),
            seen: Mutex::default(),
            added: Mutex::default(),
            asked: Mutex::default(),
            next: AtomicU64::new(1),
        };
        server.record(&json!({"start": true}));
        server
    }

    pub(crate) fn record(&self, what: &Value) {
        self.log.lock().unwrap().write_all(format!("{what}\n").as_bytes()).unwrap();
    }

    /// Plays what is to happen at an event. Returns whether that was all.
    pub(crate) fn event(&self, name: &str, message: &Value, out: &mut dyn Out) -> bool {
        let nth = {
            let mut seen = self.seen.lock().unwrap();
            let count = seen.entry(name.to_owned()).or_default();
            *count += 1;
            *count
        };
        let rules = self.script["on"].as_array().cloned().unwrap_or_default();
        let rule = rules.iter().find(|rule| rule["when"] == name && (rule["nth"].is_null() || rule["nth"] == nth));
        rule.is_some_and(|rule| self.play(&rule["do"], message, out))
    }

    /// Takes a message and answers it.
    pub(crate) fn take(&self, message: &Value, out: &mut dyn Out) {
        self.record(message);
        let id = &message["id"];
        let Some(method) = message["method"].as_str() else {
            let asked = self.asked.lock().unwrap().remove(id.as_str().unwrap_or_default());
            if let Some(asked) = asked {
                let _ = asked.send(message.clone());
            }
            return;
        };
        let name = match (method, message["params"]["name"].as_str()) {
            ("tools/call", Some(tool)) => format!("tools/call:{tool}"),
            _ => method.to_owned(),
        };
        if self.event(&name, message, out) || id.is_null() {
            return;
        }
        let result = match method {
            "initialize" => json!({
                "protocolVersion": self.or("protocolVersion", message["params"]["protocolVersion"].clone()),
                "capabilities": self.or("capabilities", json!({"tools": {"listChanged": true}})),
                "serverInfo": {"name": "scripted", "version": "1.2.3"},
            }),
            "ping" => json!({}),
            "tools/list" => self.list(message["params"]["cursor"].as_str()),
            "tools/call" => match self.call(&message["params"]) {
                Some(result) => result,
                None => return,
            },
            _ => {
                let error = json!({"code": -32601, "message": format!("no method {method}")});
                out.message(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                return;
            }
        };
        out.message(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn or(&self, key: &str, default: Value) -> Value {
        if self.script[key].is_null() { default } else { self.script[key].clone() }
    }

    fn tools(&self) -> Vec<Value> {
        let listed = self.script["tools"].as_array().cloned().unwrap_or_default();
        let paged = self.script["tool_pages"].as_array().into_iter().flatten().filter_map(Value::as_array).flatten();
        listed.into_iter().chain(paged.cloned()).chain(self.added.lock().unwrap().clone()).collect()
    }

    fn list(&self, cursor: Option<&str>) -> Value {
        let shown = |tools: &[Value]| -> Vec<Value> {
            let mut tools = tools.to_vec();
            tools.iter_mut().filter_map(Value::as_object_mut).for_each(|tool| drop(tool.remove("behaviour")));
            tools
        };
        let Some(pages) = self.script["tool_pages"].as_array() else { return json!({"tools": shown(&self.tools())}) };
        let cursors = self.script["cursors"].as_array().unwrap();
        let at = cursor.map_or(0, |cursor| 1 + cursors.iter().position(|other| other == cursor).unwrap());
        json!({"tools": shown(pages[at].as_array().unwrap()), "nextCursor": cursors[at]})
    }

    fn call(&self, params: &Value) -> Option<Value> {
        let name = params["name"].as_str().unwrap_or_default();
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        let tool = self.tools().into_iter().find(|tool| tool["name"] == name);
        let Some(tool) = tool else { return Some(json!({"content": [], "isError": true})) };
        let nth = usize::try_from(self.seen.lock().unwrap()[&format!("tools/call:{name}")]).unwrap();
        let behaviour = tool["behaviour"].as_array().cloned().unwrap_or_default();
        let now = behaviour.get(nth - 1).or(behaviour.last()).cloned().unwrap_or_default();
        if let Some(delay) = now["delay_ms"].as_u64() {
            std::thread::sleep(Duration::from_millis(delay));
        }
        let now = now.as_object()?;
        Some(match now.iter().find(|(key, _)| *key != "delay_ms")? {
            (key, Value::String(said)) if key == "text" => text(said),
            (key, Value::String(said)) if key == "tool_error" => {
                json!({"content": [{"type": "text", "text": said}], "isError": true})
            }
            (key, value) if key == "value" && tool["outputSchema"].is_null() => text(&value.to_string()),
            (key, value) if key == "value" => json!({"content": [], "structuredContent": value}),
            (key, value) if key == "result" => value.clone(),
            (key, _) if key == "echo" => text(&params["arguments"].to_string()),
            (key, Value::Number(bytes)) if key == "text_bytes" => {
                text(&"x".repeat(usize::try_from(bytes.as_u64().unwrap()).unwrap()))
            }
            // `hang`
            _ => return None,
        })
    }

    fn play(&self, actions: &Value, message: &Value, out: &mut dyn Out) -> bool {
        let mut is_all = false;
        let mut answer = Value::Null;
        for action in actions.as_array().unwrap() {
            is_all |= self.act(action, message, &mut answer, out);
        }
        is_all
    }

    /// Does one thing. Returns whether the request needs no other answer.
    fn act(&self, action: &Value, message: &Value, answer: &mut Value, out: &mut dyn Out) -> bool {
        let id = &message["id"];
        let pause = |key: &str| std::thread::sleep(Duration::from_millis(action[key].as_u64().unwrap_or_default()));
        let (what, value) = action.as_object().and_then(|action| action.iter().next()).unwrap();
        match what.as_str() {
            "stdout" => out.raw(value.as_str().unwrap().replace("$ID", &id.to_string()).as_bytes()),
            "raw" => {
                out.raw(value.as_str().unwrap().replace("$ID", &id.to_string()).as_bytes());
                return true;
            }
            "stderr" => std::io::stderr().write_all(value.as_str().unwrap().as_bytes()).unwrap(),
            "stdout_b64" => {
                for chunk in value.as_array().unwrap() {
                    out.raw(&with_id(&base64(chunk.as_str().unwrap()), id));
                    pause("gap_ms");
                }
                return true;
            }
            "reply" => {
                out.message(&json!({"jsonrpc": "2.0", "id": or(&action["id"], id), "result": value}));
                return true;
            }
            "error" => {
                out.message(&json!({"jsonrpc": "2.0", "id": id, "error": value}));
                return true;
            }
            "request" => {
                let own = format!("own-{}", self.next.fetch_add(1, Ordering::Relaxed));
                let (tell, hear) = mpsc::channel();
                self.asked.lock().unwrap().insert(own.clone(), tell);
                out.message(&json!({"jsonrpc": "2.0", "id": own, "method": value, "params": action["params"]}));
                *answer = hear.recv_timeout(Duration::from_secs(60)).unwrap();
            }
            "reply_after_answer" => {
                let action = answer["result"]["action"].as_str().map_or_else(|| answer.to_string(), str::to_owned);
                let shown = value.to_string().replace("$ACTION", &action.replace('"', "'"));
                let result: Value = serde_json::from_str(&shown).unwrap();
                out.message(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
                return true;
            }
            "notify" => out.message(&json!({"jsonrpc": "2.0", "method": value, "params": action["params"]})),
            "progress" => {
                let token = &message["params"]["_meta"]["progressToken"];
                let params = json!({"progressToken": token, "progress": 1});
                out.message(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
            }
            "require_progress_token" if message["params"]["_meta"]["progressToken"].is_null() => {
                out.message(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no token"}}));
                return true;
            }
            "require_progress_token" | "accept_new_session" => {}
            "repeat" => {
                for _ in 0..value.as_u64().unwrap() {
                    self.play(&action["do"], message, out);
                }
            }
            "add_tool" => self.added.lock().unwrap().push(value.clone()),
            "sleep_ms" => pause("sleep_ms"),
            "hang" => return true,
            "exit" => std::process::exit(i32::try_from(value.as_i64().unwrap()).unwrap()),
            "kill" => {
                let me = rustix::process::getpid();
                rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
            }
            "http_status" => {
                out.status(action);
                return true;
            }
            "cut" => {
                out.cut();
                return true;
            }
            other => panic!("no such action: {other}"),
        }
        false
    }
}

fn or(value: &Value, default: &Value) -> Value {
    if value.is_null() { default.clone() } else { value.clone() }
}

/// The placeholder stands in quotes, and its number does not.
fn with_id(bytes: &[u8], id: &Value) -> Vec<u8> {
    let place = b"\"$ID\"";
    match bytes.windows(place.len()).position(|part| part == place) {
        Some(at) => [&bytes[..at], id.to_string().as_bytes(), &bytes[at + place.len()..]].concat(),
        None => bytes.to_vec(),
    }
}

fn base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|byte| LETTERS.iter().position(|letter| *letter == byte));
    let (mut bits, mut held, mut bytes) = (0u32, 0, Vec::new());
    for digit in digits {
        bits = bits << 6 | u32::try_from(digit).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap());
        }
    }
    bytes
}
