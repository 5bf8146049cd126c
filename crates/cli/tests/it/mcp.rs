//! `refrain serve` and the declarations, met by programs that nobody here wrote: the official MCP client and server,
//! and the TypeScript compiler. Their versions are pinned in `tests/mcp`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::place::{Place, Running, root};

/// The folder with the pinned packages. They are brought on first use.
fn packages() -> PathBuf {
    let output = std::process::Command::new(root().join("scripts/npm-packages")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    root().join("tests/mcp").canonicalize().unwrap()
}

/// A place with the official "everything" server as a source.
fn with_everything() -> (Place, PathBuf) {
    let packages = packages();
    let server = packages.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let place = Place::with_config(&format!(
        "[sources.everything]\ntype = \"mcp\"\ncommand = [\"node\", {:?}, \"stdio\"]\nconnect_timeout_ms = 60000\n",
        server.display().to_string()
    ));
    (place, packages)
}

/// Has the official client connect to `refrain serve`, list its tools and run `scripts`; returns what the client saw.
fn session(place: &Place, packages: &std::path::Path, scripts: &[&str]) -> Value {
    let mut client = place.command("node");
    client.arg(packages.join("client.mjs")).arg(env!("CARGO_BIN_EXE_refrain"));
    client.arg(serde_json::to_string(scripts).unwrap());
    Running::start(&mut client).end().expect(0).json()
}

#[test]
fn the_official_client_runs_a_script_over_the_official_server() {
    let (place, packages) = with_everything();
    let seen = session(
        &place,
        &packages,
        &[
            "const said = await tools.everything.echo({ message: 'hello' });
             const weather = await tools.everything['get-structured-content']({ location: 'Chicago' });
             text('asked twice');
             return { said, conditions: typeof weather.conditions, temperature: typeof weather.temperature };",
            "return await tools.everything.get_sum({ a: 2, b: 40 });",
        ],
    );
    assert_eq!(seen["server"]["name"], "refrain", "{seen:#}");
    let names: Vec<_> = seen["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["run_code", "search_tools", "describe_tools"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for tool in seen["tools"].as_array().unwrap() {
        assert!(tool["outputSchema"].is_object(), "{tool:#}");
    }

    let first = &seen["runs"][0];
    assert_ne!(first["isError"], true, "{first:#}");
    let report = &first["structuredContent"];
    assert_eq!(report["status"], "completed", "{first:#}");
    assert_eq!(
        report["result"],
        json!({ "said": "Echo: hello", "conditions": "string", "temperature": "number" }),
        "{first:#}"
    );
    let called: Vec<_> =
        report["calls"].as_array().unwrap().iter().map(|call| call["tool"].as_str().unwrap()).collect();
    assert_eq!(called, ["everything.echo", "everything.get-structured-content"]);
    assert!(first["content"][0]["text"].as_str().unwrap().contains("Echo: hello"), "{first:#}");
    assert!(seen["runs"][1]["structuredContent"]["result"].to_string().contains("42"), "{seen:#}");

    let runs = place.run(&["runs", "list", "--output", "json"]).expect(0).json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "what a client ran is in the journal: {runs:#}");
}

#[test]
fn a_script_that_fails_is_a_tool_result_that_the_model_can_read() {
    let (place, packages) = with_everything();
    let seen = session(
        &place,
        &packages,
        &[
            "const a: number = 1;\nthrow new Error('on line two');",
            "return (;",
            "return await tools.everything.ecko({})",
            "return await tools.everything['ec' + 'ko']({})",
        ],
    );
    let kinds: Vec<_> = seen["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| {
            assert_eq!(run["isError"], true, "{run:#}");
            run["structuredContent"]["error"]["kind"].as_str().unwrap()
        })
        .collect();
    assert_eq!(kinds, ["script", "syntax", "preflight", "tool"]);
    let text = seen["runs"][0]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("on line two") && text.contains('2'), "{text}");
}

#[test]
fn tools_are_found_and_described_for_the_model() {
    let (place, packages) = with_everything();
    let seen = session(&place, &packages, &[]);
    let found = seen["search"].to_string();
    assert!(found.contains("everything.echo") || found.contains("tools.everything.echo"), "{found}");
    let described = seen["describe"].to_string();
    assert!(described.contains("message") && described.contains("string"), "{described}");
}

#[test]
fn a_config_that_agents_already_have_is_read() {
    let packages = packages();
    let place = Place::new();
    let server = packages.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let config = json!({ "mcpServers": { "every-thing": { "command": "node", "args": [server, "stdio"] } } });
    place.write("mcp.json", &config.to_string());
    place.write("script.ts", "return await tools['every-thing'].echo({ message: 'hi' });");
    let done = place.run(&["run", "script.ts", "--mcp-config", "mcp.json", "--output", "json"]).expect(0);
    assert_eq!(done.json()["result"], "Echo: hi");
}

#[test]
fn the_declarations_compile_alone_and_the_example_compiles_against_the_demo() {
    let packages = packages();
    let (everything, _) = with_everything();
    let demo = Place::new();
    for (place, script) in [(&everything, "return await tools.everything.echo({ message: 'x' });"), (&demo, "")] {
        let types = place.run(&["types"]).expect(0).stdout;
        place.write("types.d.ts", &types);
        let script = match script {
            "" => std::fs::read_to_string(root().join("examples/churn.ts")).unwrap(),
            script => script.to_owned(),
        };
        // A script is the body of an async function.
        place.write("script.ts", &format!("export async function script() {{\n{script}\n}}\n"));
        let mut tsc = place.command("node");
        tsc.arg(packages.join("node_modules/typescript/bin/tsc"));
        tsc.args(["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022", "types.d.ts", "script.ts"]);
        Running::start(&mut tsc).end().expect(0);
    }
}

#[test]
fn each_file_of_a_folder_of_declarations_compiles_alone_and_all_together() {
    let packages = packages();
    let (place, _) = with_everything();
    let config = place.read("refrain.toml");
    let mut demos = String::new();
    for name in ["demo", "a-b", "a_b", "then", "refrain", "delete", "__proto__"] {
        demos += &format!("[sources.{name:?}]\ntype = \"demo\"\n");
    }
    place.write("refrain.toml", &format!("{config}{demos}"));
    let written = place.run(&["types", "--out", "types", "--output", "json"]).expect(0).json();
    let files: Vec<String> =
        written["files"].as_array().unwrap().iter().map(|file| format!("types/{}", file.as_str().unwrap())).collect();
    assert_eq!(files.len(), 9, "{files:?}");
    place.write(
        "script.ts",
        "export async function script() {
           const said = await tools.everything['get-sum']({ a: 2, b: 40 });
           const commits = await tools['a-b'].list_commits();
           const same: typeof commits = await tools.then_.list_commits();
           // @ts-expect-error: there is no such tool
           tools.everything.nothing({});
           // @ts-expect-error: nor such a source
           tools.nowhere;
           text(said, commits.length, same.length);
         }\n",
    );
    let tsc = |files: &[&str]| {
        let mut tsc = place.command("node");
        tsc.arg(packages.join("node_modules/typescript/bin/tsc"));
        tsc.args(["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022"]).args(files);
        Running::start(&mut tsc).end().expect(0);
    };
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    // The globals and two sources stand for the rest, which the whole covers.
    for file in &all[..3] {
        tsc(&[file]);
    }
    tsc(&[&all[..], &["script.ts"]].concat());
}
