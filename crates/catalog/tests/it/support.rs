//! What the tests share.

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use refrain_catalog::{
    CallRequest, Catalog, Environment, McpSettings, SourceKind, SourceSettings, SourceStatus, Sources, Status, Tool,
};
use serde_json::Value;

/// Long enough for any machine. No test waits for it unless something is wrong.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn fixture() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    let path = path.join("examples").join("fixture");
    assert!(path.exists(), "the fixture is not built; run `cargo test -p refrain-catalog`, which builds examples too");
    path
}

pub(crate) fn environment() -> Environment {
    Environment::new(|name| std::env::var_os(name), || 1000)
}

pub(crate) fn guarded() -> Environment {
    let mut environment = environment();
    environment.guard = Some(vec![OsString::from(fixture()), "guard".into()]);
    environment
}

pub(crate) fn mcp(name: &str, habit: &str) -> SourceSettings {
    let command = vec![fixture().to_str().unwrap().to_owned(), "mcp".into(), habit.into()];
    let settings = McpSettings { command, ..McpSettings::default() };
    let mut source = SourceSettings::new(name, SourceKind::Mcp(settings));
    source.connect_timeout = LONG;
    source
}

pub(crate) fn request(source: &str, tool: &str, args: Value) -> CallRequest {
    CallRequest { source: source.into(), tool: tool.into(), args, key: None, timeout: None }
}

/// Makes a call, and returns its value or `code: message`.
pub(crate) async fn call(sources: &Sources, source: &str, tool: &str, args: Value) -> String {
    match sources.call(request(source, tool, args)).await {
        Ok(output) if output.notes.is_empty() => output.value.get().to_owned(),
        Ok(output) => format!("{} ({})", output.value, output.notes.join("; ")),
        Err(error) => format!("{}: {}", error.code.as_str(), error.message),
    }
}

pub(crate) fn tool(source: &str, name: &str, input: Value, output: Option<Value>) -> Tool {
    let mut tool = Tool::new(source, name);
    tool.input_schema = Arc::new(input);
    tool.output_schema = output.map(Arc::new);
    tool
}

pub(crate) fn ready(name: &str) -> SourceStatus {
    SourceStatus { name: name.into(), r#type: "mcp".into(), status: Status::Ready, reason: None, since_ms: 0, tools: 0 }
}

pub(crate) fn catalog(tools: Vec<Tool>) -> Catalog {
    Catalog::new(tools, Vec::new())
}

pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    const STEP: Duration = Duration::from_millis(5);
    for _ in 0..LONG.as_millis() / STEP.as_millis() {
        if holds() {
            return;
        }
        std::thread::sleep(STEP);
    }
    panic!("{what}: not within {LONG:?}");
}

/// Returns whether a process is there and not merely waiting to be collected by its parent.
pub(crate) fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with(['Z', 'X']))
}

/// The tools that real servers list: `tests/tools` says which.
pub(crate) fn real_tools() -> Vec<Tool> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .flat_map(|path| {
            let listed: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            let source = listed["source"].as_str().unwrap().to_owned();
            let tools = listed["tools"].as_array().unwrap().clone();
            tools.into_iter().map(move |listed| {
                let mut tool = Tool::new(&source, listed["name"].as_str().unwrap());
                tool.description = listed["description"].as_str().unwrap_or_default().into();
                tool.input_schema = std::sync::Arc::new(listed["inputSchema"].clone());
                tool
            })
        })
        .collect()
}
