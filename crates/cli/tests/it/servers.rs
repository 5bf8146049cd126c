//! MCP servers that nobody here wrote, behind the real binary: each tool is listed, has a type that compiles, and is called.
//!
//! Their versions are pinned in `tests/mcp`. A server that gets another tool fails its test until that is called as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::place::{Place, Running, root};

/// Runs a script that brings pinned packages. It ends at once when they are there.
fn bring(script: &str) {
    let output = Command::new(root().join("scripts").join(script)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The program of a server from npm.
fn npm(name: &str) -> Vec<String> {
    bring("npm-packages");
    let file = root().join(format!("tests/mcp/node_modules/@modelcontextprotocol/{name}/dist/index.js"));
    vec!["node".into(), file.canonicalize().unwrap().display().to_string()]
}

/// The program of a server from PyPI.
fn pypi(name: &str) -> Vec<String> {
    bring("python-packages");
    let bin = root().canonicalize().unwrap().join(".tools/python/bin");
    vec![bin.join(name).display().to_string()]
}

fn place(command: &[String], more: &str) -> Place {
    Place::with_config(&format!(
        "[sources.s]\ntype = \"mcp\"\ncommand = {command:?}\nconnect_timeout_ms = 60000\n{more}\n"
    ))
}

/// Calls every tool as `calls` says, and checks that no other is listed and that all have types.
///
/// `calls` is the body of a script in which `call(name, args)` calls a tool and returns its value.
fn check(place: &Place, calls: &str) -> Value {
    let script = format!(
        "const called = [];
         const call = async (name, args = {{}}) => {{ called.push(name); return await tools.s[name](args); }};
         {calls}
         return {{ called, seen }};"
    );
    let (code, report) = place.report(&script, &[]);
    assert_eq!(code, Some(0), "{report:#}");
    let listed = place.run(&["tools", "list", "--output", "json"]).expect(0).json();
    assert_eq!(listed["sources"][0]["status"], "ready", "{listed:#}");
    let names = |list: &Value, key: &str| -> BTreeSet<String> {
        let name = |each: &Value| each.get(key).unwrap_or(each).as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(name).collect()
    };
    assert_eq!(names(&report["result"]["called"], ""), names(&listed["tools"], "name"));
    compiles(place);
    report["result"]["seen"].clone()
}

/// Checks the declarations with the TypeScript compiler.
fn compiles(place: &Place) {
    bring("npm-packages");
    let types = place.run(&["types"]).expect(0).stdout;
    place.write("types.d.ts", &types);
    let mut tsc = place.command("node");
    tsc.arg(root().join("tests/mcp/node_modules/typescript/bin/tsc").canonicalize().unwrap());
    tsc.args(["--strict", "--lib", "es2022", "--noEmit", "types.d.ts"]);
    Running::start(&mut tsc).end().expect(0);
}

/// One of its tools runs only as a task, which is said in its notes and by the server.
const EVERYTHING: &str = r#"
    const seen = {
        echo: await call("echo", { message: "hi" }),
        note: await call("get-annotated-message", { messageType: "success" }),
        weather: typeof (await call("get-structured-content", { location: "Chicago" })).conditions,
        sum: await call("get-sum", { a: 2, b: 40 }),
        image: (await call("get-tiny-image")).find((block) => block.type === "image").mimeType,
        gzip: (await call("gzip-file-as-resource", { name: "a.gz", data: "data:text/plain,hello" })).mimeType,
        slow: await call("trigger-long-running-operation", { duration: 1, steps: 2 }),
        prompts: (await call("list_prompts")).map((prompt) => prompt.name).includes("simple-prompt"),
        prompt: (await call("get_prompt", { name: "simple-prompt" })).messages[0].role,
        research: await call("simulate-research-query", { topic: "tea" }).catch((error) => error.code),
    };
    for (const name of ["get-env", "get-resource-links", "get-resource-reference"]) await call(name);
    for (const name of ["toggle-simulated-logging", "toggle-subscriber-updates"]) { await call(name); await call(name); }
    const { resources } = await call("list_resources");
    seen.resource = typeof (await call("read_resource", { uri: resources[0].uri }))[0].text;
"#;

fn saw_everything(seen: &Value) {
    let said = |key: &str| seen[key].as_str().unwrap_or_else(|| panic!("{seen:#}")).to_owned();
    assert_eq!(
        (said("echo"), said("weather"), said("resource")),
        ("Echo: hi".into(), "string".into(), "string".into())
    );
    assert_eq!((said("image"), said("gzip")), ("image/png".into(), "application/gzip".into()));
    assert_eq!(
        (&seen["prompts"], said("prompt"), said("research")),
        (&true.into(), "user".into(), "tool_error".into())
    );
    assert!(said("sum").contains("42") && said("slow").contains("completed"), "{seen:#}");
}

#[test]
fn server_everything() {
    let mut command = npm("server-everything");
    command.push("stdio".into());
    saw_everything(&check(&place(&command, ""), EVERYTHING));
}

/// Ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn server_everything_by_http() {
    let command = npm("server-everything");
    // A port that was free a moment ago; the server takes no other kind.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = Command::new(&command[0]);
    server.args([&command[1], "streamableHttp"]).env("PORT", port.to_string());
    let _server = Server(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    assert!(
        crate::place::until(|| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()),
        "the server does not listen"
    );
    let config =
        format!("[sources.s]\ntype = \"mcp\"\nurl = \"http://127.0.0.1:{port}/mcp\"\nconnect_timeout_ms = 60000\n");
    let place = Place::with_config(&config);
    saw_everything(&check(&place, EVERYTHING));
    let doctor = place.run(&["doctor", "--output", "json"]).expect(0).json();
    assert_eq!(doctor["sources"][0]["server"]["name"], "mcp-servers/everything", "{doctor:#}");
}

#[test]
fn server_filesystem() {
    let mut command = npm("server-filesystem");
    command.push(".".into());
    let place = place(&command, "");
    let pixel = "iVBORw0KGgo=";
    place.write("pixel.png", pixel);
    let seen = check(
        &place,
        r#"
        await call("create_directory", { path: "d" });
        await call("write_file", { path: "d/a.txt", content: "one\ntwo\n" });
        await call("edit_file", { path: "d/a.txt", edits: [{ oldText: "two", newText: "three" }] });
        await call("move_file", { source: "d/a.txt", destination: "d/b.txt" });
        const seen = {
            text: (await call("read_text_file", { path: "d/b.txt" })).content,
            old: (await call("read_file", { path: "d/b.txt" })).content,
            many: (await call("read_multiple_files", { paths: ["d/b.txt"] })).content,
            list: (await call("list_directory", { path: "d" })).content,
            found: (await call("search_files", { path: ".", pattern: "**/b.txt" })).content,
        };
        for (const name of ["list_directory_with_sizes", "directory_tree", "get_file_info"]) await call(name, { path: "d" });
        await call("list_allowed_directories");
        seen.media = await call("read_media_file", { path: "pixel.png" });
        "#,
    );
    assert_eq!((&seen["text"], &seen["old"]), (&"one\nthree\n".into(), &"one\nthree\n".into()), "{seen:#}");
    assert_eq!(seen["list"], "[FILE] b.txt", "{seen:#}");
    assert!(
        seen["found"].as_str().unwrap().ends_with("b.txt") && seen["media"].to_string().contains("image/png"),
        "{seen:#}"
    );
}

#[test]
fn server_memory() {
    let place = place(&npm("server-memory"), "env = { MEMORY_FILE_PATH = \"MEMORY\" }");
    let file = place.path().join("memory.json").display().to_string();
    let config =
        std::fs::read_to_string(place.path().join("refrain.toml")).unwrap().replace("MEMORY\"", &format!("{file}\""));
    place.write("refrain.toml", &config);
    let seen = check(
        &place,
        r#"
        await call("create_entities", { entities: ["a", "b", "c"].map((name) => ({ name, entityType: "t", observations: ["o"] })) });
        await call("create_relations", { relations: [{ from: "a", to: "b", relationType: "knows" }] });
        await call("add_observations", { observations: [{ entityName: "a", contents: ["more"] }] });
        await call("delete_observations", { deletions: [{ entityName: "b", observations: ["o"] }] });
        const seen = { open: (await call("open_nodes", { names: ["a"] })).entities[0].observations };
        await call("delete_relations", { relations: [{ from: "a", to: "b", relationType: "knows" }] });
        await call("delete_entities", { entityNames: ["c"] });
        seen.graph = (await call("read_graph")).entities.map((entity) => entity.name);
        seen.found = (await call("search_nodes", { query: "more" })).entities.length;
        const { resources } = await call("list_resources");
        seen.resource = await call("read_resource", { uri: resources[0]?.uri ?? "a:none" }).then(() => "read", (error) => error.code);
        "#,
    );
    assert_eq!(seen["open"], serde_json::json!(["o", "more"]), "{seen:#}");
    assert_eq!((&seen["graph"], &seen["found"]), (&serde_json::json!(["a", "b"]), &1.into()), "{seen:#}");
}

#[test]
fn server_sequential_thinking() {
    let seen = check(
        &place(&npm("server-sequential-thinking"), ""),
        r#"
        const seen = await call("sequentialthinking", { thought: "so", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false });
        "#,
    );
    assert_eq!(seen["thoughtHistoryLength"], 1, "{seen:#}");
}

fn git(folder: &Path, args: &[&str]) {
    let ended =
        Command::new("git").current_dir(folder).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args).status();
    assert!(ended.unwrap().success(), "{args:?}");
}

#[test]
fn mcp_server_git() {
    let place = place(&[pypi("mcp-server-git"), vec!["--repository".into(), "repo".into()]].concat(), "");
    let repo: PathBuf = place.path().join("repo");
    std::fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    std::fs::write(repo.join("f.txt"), "one\n").unwrap();
    git(&repo, &["add", "f.txt"]);
    git(&repo, &["commit", "-qm", "first"]);
    git(&repo, &["config", "user.name", "a"]);
    git(&repo, &["config", "user.email", "a@b"]);
    std::fs::write(repo.join("f.txt"), "two\n").unwrap();
    let seen = check(
        &place,
        r#"
        const at = (more) => ({ repo_path: "repo", ...more });
        const seen = { status: await call("git_status", at()), unstaged: await call("git_diff_unstaged", at()) };
        await call("git_create_branch", at({ branch_name: "b" }));
        await call("git_branch", at({ branch_type: "local" }));
        await call("git_add", at({ files: ["f.txt"] }));
        seen.staged = await call("git_diff_staged", at());
        await call("git_reset", at());
        await call("git_add", at({ files: ["f.txt"] }));
        seen.commit = await call("git_commit", at({ message: "second" }));
        await call("git_checkout", at({ branch_name: "b" }));
        await call("git_diff", at({ target: "b" }));
        await call("git_log", at({ max_count: 1 }));
        seen.show = await call("git_show", at({ revision: "HEAD" }));
        seen.prompts = await call("list_prompts");
        await call("list_resources");
        // It has neither; what it is asked for all the same is refused.
        for (const [name, args] of [["get_prompt", { name: "x" }], ["read_resource", { uri: "a:x" }]]) {
            await call(name, args).then(() => { throw new Error("found"); }, (error) => error.code);
        }
        "#,
    );
    let said = |key: &str| seen[key].to_string();
    assert!(said("unstaged").contains("+two") && said("staged").contains("+two"), "{seen:#}");
    assert!(said("commit").contains("committed") && said("show").contains("first"), "{seen:#}");
    assert_eq!(said("prompts"), "[]");
}

#[test]
fn mcp_server_time() {
    let command = [pypi("mcp-server-time"), vec!["--local-timezone".into(), "UTC".into()]].concat();
    let seen = check(
        &place(&command, ""),
        r#"
        const seen = {
            now: (await call("get_current_time", { timezone: "Asia/Tokyo" })).timezone,
            apart: (await call("convert_time", { source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" })).time_difference,
        };
        await call("list_prompts");
        await call("list_resources");
        for (const [name, args] of [["get_prompt", { name: "x" }], ["read_resource", { uri: "a:x" }]]) {
            await call(name, args).then(() => { throw new Error("found"); }, (error) => error.code);
        }
        "#,
    );
    assert_eq!((&seen["now"], &seen["apart"]), (&"Asia/Tokyo".into(), &"+9.0h".into()), "{seen:#}");
}
