//! Servers that do what a script says: see `examples/scripted`.

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use refrain_catalog::{McpHttpSettings, McpSettings, SourceKind, SourceSettings, Sources};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{LONG, environment, fixture};

pub(crate) struct Scripted {
    folder: TempDir,
    pub(crate) settings: SourceSettings,
    child: Option<Child>,
}

/// A tool that says `pong`.
pub(crate) fn ping() -> Value {
    tool("ping", json!([{"text": "pong"}]))
}

pub(crate) fn tool(name: &str, behaviour: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": {}}, "behaviour": behaviour})
}

fn program() -> PathBuf {
    fixture().with_file_name("scripted")
}

impl Scripted {
    /// Over standard streams, as source `s`.
    pub(crate) fn stdio(script: Value) -> Self {
        let (folder, file) = write(&script);
        let command = vec![program().to_str().unwrap().to_owned(), "stdio".into(), file];
        Self::of(folder, SourceKind::Mcp(McpSettings { command, ..McpSettings::default() }), None)
    }

    /// Over HTTP, as source `s`.
    pub(crate) fn http(script: Value) -> Self {
        let (folder, file) = write(&script);
        let mut command = Command::new(program());
        let mut child = command.args(["http", &file]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let url = format!("http://127.0.0.1:{}/mcp", port.trim());
        Self::of(folder, SourceKind::McpHttp(McpHttpSettings { url, headers: Vec::new() }), Some(child))
    }

    fn of(folder: TempDir, kind: SourceKind, child: Option<Child>) -> Self {
        let mut settings = SourceSettings::new("s", kind);
        settings.connect_timeout = LONG;
        Self { folder, settings, child }
    }

    pub(crate) fn open(&self) -> Sources {
        Sources::open(vec![self.settings.clone()], environment())
    }

    pub(crate) fn http_settings(&mut self) -> &mut McpHttpSettings {
        let SourceKind::McpHttp(settings) = &mut self.settings.kind else { unreachable!() };
        settings
    }

    /// What the server received, a message or a request of HTTP each.
    pub(crate) fn received(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.folder.path().join("script.json.log")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn count(&self, is: impl Fn(&Value) -> bool) -> usize {
        self.received().iter().filter(|message| is(message)).count()
    }

    pub(crate) fn methods(&self, method: &str) -> usize {
        self.count(|message| message["method"] == method)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn write(script: &Value) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.json");
    std::fs::write(&file, script.to_string()).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}
