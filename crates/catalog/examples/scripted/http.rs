//! Over HTTP: every connection in a thread of its own, sessions by number.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};

use crate::play::{Out, Server};

/// The session that is known; 0 while there is none. Every `initialize` begins another.
static SESSION: AtomicU64 = AtomicU64::new(0);

/// Prints its port, and serves until it is killed or its input ends.
pub(crate) fn serve(server: Arc<Server>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println_port(listener.local_addr().unwrap().port());
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    for stream in listener.incoming() {
        let (stream, server) = (stream.unwrap(), Arc::clone(&server));
        std::thread::spawn(move || while serve_one(&stream, &server) {});
    }
}

fn println_port(port: u16) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{port}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// Returns whether the connection goes on.
fn serve_one(stream: &TcpStream, server: &Server) -> bool {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return false;
    }
    let mut parts = line.split(' ');
    let (method, path) = (parts.next().unwrap().to_owned(), parts.next().unwrap_or_default().to_owned());
    let mut headers = serde_json::Map::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.into());
    }
    let header = |name: &str| headers.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    server.record(&json!({"http": method, "path": path, "headers": headers}));
    let mut out = Answer { stream, session: None, is_stream: None, is_over: false, is_open: true };
    if server.event("http", &message, &mut out) || server.event(&format!("http:{path}"), &message, &mut out) {
        return out.is_open;
    }
    let session = header("mcp-session-id");
    let known = SESSION.load(Ordering::SeqCst);
    match method.as_str() {
        "POST" => {
            if message["method"] == "initialize" {
                out.session = Some(SESSION.fetch_add(1, Ordering::SeqCst) + 1);
            } else if !session.is_empty() && session != format!("s{known}") {
                out.head(404, "text/plain", "", "no such session");
                return true;
            }
            let name = message["params"]["name"].as_str().map(|name| format!("tools/call:{name}"));
            let streams = server.script["answers"].as_array().cloned().unwrap_or_default();
            if streams.iter().any(|event| *event == message["method"] || event.as_str() == name.as_deref()) {
                out.begin_stream();
            }
            server.take(&message, &mut out);
            if message["id"].is_null() || message["method"].is_null() {
                out.head(202, "text/plain", "", "");
            }
            out.end();
        }
        "GET" if server.event("GET", &json!({"id": header("last-event-id")}), &mut out) => {}
        "DELETE" => out.head(200, "text/plain", "", ""),
        _ => out.head(405, "text/plain", "", ""),
    }
    out.is_open
}

struct Answer<'a> {
    stream: &'a TcpStream,
    session: Option<u64>,
    is_stream: Option<u64>,
    is_over: bool,
    is_open: bool,
}

impl Answer<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.is_open &= self.stream.write_all(bytes).is_ok();
    }

    fn head(&mut self, status: u64, kind: &str, more: &str, body: &str) {
        self.answer(status, kind, more, body.as_bytes());
    }

    fn answer(&mut self, status: u64, kind: &str, more: &str, body: &[u8]) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let session = self.session.map_or_else(String::new, |session| format!("Mcp-Session-Id: s{session}\r\n"));
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{session}{more}\r\n");
        self.write(&[head.as_bytes(), body].concat());
    }

    fn begin_stream(&mut self) {
        let session = self.session.map_or_else(String::new, |session| format!("Mcp-Session-Id: s{session}\r\n"));
        self.is_stream = Some(0);
        let head = format!("HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n{session}\r\n");
        self.write(head.as_bytes());
    }

    fn end(&mut self) {
        if self.is_stream.is_some() {
            self.cut();
        }
    }
}

impl Out for Answer<'_> {
    fn message(&mut self, message: &Value) {
        match &mut self.is_stream {
            Some(count) => {
                *count += 1;
                let event = format!("id: {count}\ndata: {message}\n\n");
                self.write(event.as_bytes());
            }
            None => self.head(200, "application/json", "", &message.to_string()),
        }
    }

    /// In a stream as they are; else the body of an answer of JSON.
    fn raw(&mut self, bytes: &[u8]) {
        match self.is_stream {
            Some(_) => self.write(bytes),
            None => self.answer(200, "application/json", "", bytes),
        }
    }

    fn status(&mut self, action: &Value) {
        let more: String = action["headers"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}: {}\r\n", value.as_str().unwrap()))
            .collect();
        let kind = action["content_type"].as_str().unwrap_or("text/plain");
        if kind == "text/event-stream" {
            self.begin_stream();
            self.write(action["body"].as_str().unwrap_or_default().as_bytes());
            if action["open"].is_null() {
                self.cut();
            } else {
                std::thread::sleep(std::time::Duration::from_secs(600));
            }
            return;
        }
        self.head(action["http_status"].as_u64().unwrap(), kind, &more, action["body"].as_str().unwrap_or_default());
    }

    fn cut(&mut self) {
        self.is_open = false;
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
