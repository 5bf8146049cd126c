//! What only a person can say is asked through the client, and a client that cannot ask is told what is waited for.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use refrain_runtime::{Effect, Glob, Permission, Policy, Rule, Runtime, Settings};
use refrain_server::{Relay, ServeError};
use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction},
    service::{RequestContext, RunningService},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{client_that_asks, command, serve_with, settings, taken};

type Said = (ElicitationAction, Value);

/// A client whose person gives these answers, one after the other, and that keeps what it was asked.
#[derive(Clone)]
struct Client {
    asks: bool,
    answers: Arc<Mutex<Vec<Said>>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        client_that_asks(self.asks)
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.lock().unwrap().push(serde_json::to_value(asked).unwrap());
        let (action, content) = self.answers.lock().unwrap().remove(0);
        let result = ElicitResult::new(action);
        Ok(if content.is_null() { result } else { result.with_content(content) })
    }
}

struct Talk {
    client: RunningService<RoleClient, Client>,
    server: JoinHandle<Result<(), ServeError>>,
}

impl Talk {
    async fn over(runtime: Arc<Runtime>, client: Client) -> Self {
        let (server, (read, write)) = serve_with(runtime, Relay::new());
        Self { client: client.serve((read, write)).await.unwrap(), server }
    }

    async fn call(&self, tool: &'static str, arguments: Value) -> (String, Value, bool) {
        let arguments = arguments.as_object().unwrap().clone();
        taken(self.client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap())
    }

    async fn end(self) {
        self.client.cancel().await.unwrap();
        self.server.await.unwrap().unwrap();
    }
}

fn client(answers: &[Said]) -> Client {
    Client { asks: true, answers: Arc::new(Mutex::new(answers.to_vec())), asked: Arc::default() }
}

fn nobody() -> Client {
    Client { asks: false, ..client(&[]) }
}

fn asking() -> Settings {
    let rule = |tools: &str| Rule {
        tools: Glob::new(tools),
        effect: None,
        when: None,
        outcome: Permission::Ask,
        place: "refrain.toml:1".into(),
    };
    let mut settings = settings(vec![
        command("put", Effect::Write, &["printf", "%s", "{a}"]),
        command("drop", Effect::Destructive, &["printf", "dropped"]),
        command("get", Effect::Read, &["printf", "%s", "{a}"]),
    ]);
    settings.policy = Arc::new(Policy { rules: vec![rule("sh.put")], ..Policy::default() });
    settings
}

const SCRIPT: &str = "const at = (p) => p.catch((e) => e.code + ': ' + e.message);
    return Promise.all(['1', '2', '3'].map((a) => at(tools.sh.put({ a }))))";

#[tokio::test]
async fn the_person_agrees_or_not_to_each_call_by_itself() {
    use ElicitationAction::{Accept, Decline};
    let client = client(&[
        (Accept, json!({"approve": true})),
        (Decline, Value::Null),
        (Accept, json!({"approve": false, "message": "not that one"})),
    ]);
    let talk = Talk::over(Arc::new(Runtime::new(asking())), client.clone()).await;
    let (text, report, failed) = talk.call("run_code", json!({ "code": SCRIPT })).await;
    assert!(!failed, "{text}");
    assert_eq!(
        report["result"],
        json!([
            "1",
            "denied: `sh.put` was not called: declined by the user",
            "denied: `sh.put` was not called: not that one"
        ])
    );
    let asked = client.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0]["message"], "A script wants to call `sh.put` (rule 1 (refrain.toml:1)) with:\n{\"a\":\"1\"}");
    let form = &asked[0]["requestedSchema"];
    assert_eq!(form["required"], json!(["approve"]));
    assert_eq!(
        (form["properties"]["approve"]["type"].as_str(), form["properties"]["message"]["type"].as_str()),
        (Some("boolean"), Some("string"))
    );
    talk.end().await;
}

#[tokio::test]
async fn what_the_person_puts_away_stays_open_and_is_asked_again_by_resume_run() {
    use ElicitationAction::{Accept, Cancel};
    let yes = (Accept, json!({"approve": true}));
    let client = client(&[(Cancel, Value::Null), yes.clone(), (Cancel, Value::Null), yes.clone(), yes]);
    let talk = Talk::over(Arc::new(Runtime::new(asking())), client).await;
    let (text, report, failed) = talk.call("run_code", json!({ "code": SCRIPT })).await;
    assert!(!failed && report["status"] == "parked", "{text}");
    let id = report["run_id"].as_str().unwrap().to_owned();
    assert_eq!(report["waiting"].as_array().unwrap().len(), 2, "{report:#}");
    assert!(
        text.contains(&format!("next: `refrain approvals approve {id}/1` (for the person), then `resume_run`")),
        "{text}"
    );
    let (_, seen, _) = talk.call("get_run", json!({ "run_id": id })).await;
    assert_eq!((seen["status"].as_str(), seen["waiting"].as_array().map(Vec::len)), (Some("parked"), Some(2)));
    let (_, report, _) = talk.call("resume_run", json!({ "run_id": id })).await;
    assert_eq!((report["status"].as_str(), &report["result"]), (Some("completed"), &json!(["1", "2", "3"])));
    let (_, seen, _) = talk.call("get_run", json!({ "run_id": id })).await;
    assert_eq!(seen["result"], json!(["1", "2", "3"]));
    talk.end().await;
}

#[tokio::test]
async fn a_plan_is_asked_for_as_a_whole() {
    let mut settings = asking();
    settings.policy = Arc::default();
    let yes = (ElicitationAction::Accept, json!({"approve": true}));
    let client = client(&[yes.clone(), (ElicitationAction::Decline, Value::Null)]);
    let talk = Talk::over(Arc::new(Runtime::new(settings)), client.clone()).await;
    let code = "const [a, b] = await Promise.all([tools.sh.put({ a: '1' }), tools.sh.put({ a: '2' })]);
        return [a, b, await tools.sh.put({ a: a + b }).catch((e) => e.code)]";
    let (text, report, _) = talk.call("run_code", json!({ "code": code, "plan": true })).await;
    assert_eq!(report["result"], json!(["1", "2", "denied"]), "{text}");
    let asked = client.asked.lock().unwrap().clone();
    assert_eq!(
        asked.iter().map(|it| it["message"].as_str().unwrap()).collect::<Vec<_>>(),
        [
            "A script plans these 2 calls, and would make all of them:\n- `sh.put` {\"a\":\"1\"}\n- `sh.put` {\"a\":\"2\"}",
            "A script plans these 1 calls, and would make all of them:\n- `sh.put` {\"a\":\"12\"}",
        ]
    );
    talk.end().await;
}

/// Who agrees has to see what there is, and not what it is dressed up as.
#[tokio::test]
async fn a_form_shows_what_cannot_be_seen() {
    let client = client(&[(ElicitationAction::Decline, Value::Null)]);
    let talk = Talk::over(Arc::new(Runtime::new(asking())), client.clone()).await;
    let code = "await tools.sh.put({ a: 'safe\u{202e}gpj.exe\u{200b}' }).catch(() => {})";
    talk.call("run_code", json!({ "code": code })).await;
    let asked = client.asked.lock().unwrap()[0]["message"].as_str().unwrap().to_owned();
    assert!(asked.contains("safe\\u{202e}gpj.exe\\u{200b}") && !asked.contains('\u{202e}'), "{asked}");
    talk.end().await;
}

/// A model that could say yes for the person would make the question worthless.
#[tokio::test]
async fn without_a_person_a_call_waits_and_no_argument_of_a_tool_agrees_to_it() {
    let talk = Talk::over(Arc::new(Runtime::new(asking())), nobody()).await;
    let (text, report, _) = talk.call("run_code", json!({ "code": SCRIPT })).await;
    assert_eq!(report["status"], "parked", "{text}");
    let id = report["run_id"].as_str().unwrap();
    let (_, again, _) = talk.call("resume_run", json!({ "run_id": id })).await;
    assert_eq!((again["status"].as_str(), again["waiting"].as_array().map(Vec::len)), (Some("parked"), Some(3)));
    let (refused, _, failed) = talk.call("resume_run", json!({ "run_id": id, "approve": true })).await;
    assert!(failed && refused.contains("`\"approve\"` is no argument"), "{refused}");
    talk.end().await;
}

#[tokio::test]
async fn without_rules_what_is_destructive_is_asked_for_or_denied_with_the_way_out() {
    let mut settings = asking();
    settings.policy = Arc::default();
    let runtime = Arc::new(Runtime::new(settings));
    let script =
        json!({ "code": "return [await tools.sh.put({ a: 'x' }), await tools.sh.drop().catch((e) => e.message)]" });
    let there = client(&[(ElicitationAction::Accept, json!({"approve": true}))]);
    let talk = Talk::over(Arc::clone(&runtime), there.clone()).await;
    let (text, report, _) = talk.call("run_code", script.clone()).await;
    assert_eq!(report["result"], json!(["x", "dropped"]), "{text}");
    assert_eq!(there.asked.lock().unwrap().len(), 1, "a write is allowed, with a note");
    assert!(
        report["notes"].to_string().contains("there are no policy rules, so writes were allowed: `sh.put`"),
        "{report:#}"
    );
    talk.end().await;
    let talk = Talk::over(runtime, nobody()).await;
    let (_, report, _) = talk.call("run_code", script).await;
    let told = report["result"][1].as_str().unwrap();
    assert!(told.contains("it is destructive, and nobody here can be asked; allow it with a rule"), "{told}");
    talk.end().await;
}

#[tokio::test]
async fn a_question_is_a_form_of_the_kind_that_its_schema_says() {
    use ElicitationAction::{Accept, Decline};
    let cases: &[(&str, Said, Value)] = &[
        ("ask('Name?')", (Accept, json!({"answer": "Bo"})), json!("Bo")),
        ("ask('Sure?', { schema: { type: 'boolean' } })", (Accept, json!({"answer": true})), json!(true)),
        (
            "ask('Who?', { schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } })",
            (Accept, json!({"name": "Bo"})),
            json!({"name": "Bo"}),
        ),
        (
            "ask('Which?', { schema: { type: 'array', items: { type: 'integer' } } })",
            (Accept, json!({"answer": "[1, 2]"})),
            json!([1, 2]),
        ),
        ("ask('Sure?').catch((e) => e.code)", (Decline, Value::Null), json!("denied")),
    ];
    let runtime = Arc::new(Runtime::new(settings(Vec::new())));
    for (question, said, expected) in cases {
        let talk = Talk::over(Arc::clone(&runtime), client(std::slice::from_ref(said))).await;
        let (text, report, _) = talk.call("run_code", json!({ "code": format!("return await {question}") })).await;
        assert_eq!(report["result"], *expected, "{question}: {text}");
        talk.end().await;
    }
    // An answer that does not fit is none: the question stays.
    let wrong = (Accept, json!({"answer": "maybe"}));
    let talk = Talk::over(runtime, client(&[wrong])).await;
    let (_, report, _) =
        talk.call("run_code", json!({ "code": "return await ask('Sure?', { schema: { type: 'boolean' } })" })).await;
    assert_eq!(report["status"], "parked");
    talk.end().await;
}

#[tokio::test]
async fn a_direct_call_is_judged_as_any_other_and_allowed_where_it_has_to_be_one() {
    let mut settings = asking();
    let direct = Rule {
        tools: Glob::new("sh.*"),
        effect: Some(Effect::Write),
        when: None,
        outcome: Permission::Direct,
        place: "refrain.toml:1".into(),
    };
    settings.policy = Arc::new(Policy { rules: vec![direct], ..Policy::default() });
    let talk = Talk::over(Arc::new(Runtime::new(settings)), nobody()).await;
    let (text, _, failed) = talk.call("run_code", json!({ "code": "return await tools.sh.put({ a: '1' })" })).await;
    assert!(failed && text.contains("call it directly with `run_tool`"), "{text}");
    let (text, report, failed) = talk.call("run_tool", json!({ "path": "sh.put", "args": { "a": "1" } })).await;
    assert_eq!((report["result"].as_str(), failed), (Some("1"), false), "{text}");
    let (text, _, failed) = talk.call("run_tool", json!({ "path": "sh.drop" })).await;
    assert!(failed && text.contains("it is destructive, and nobody here can be asked"), "{text}");
    let (text, _, failed) = talk.call("run_tool", json!({ "path": "sh.putt" })).await;
    assert!(failed && text.contains("did you mean `put`?"), "{text}");
    talk.end().await;
}

#[tokio::test]
async fn reads_only_lets_nothing_else_leave() {
    let talk = Talk::over(Arc::new(Runtime::new(asking())), nobody()).await;
    let code = "return [await tools.sh.get({ a: '1' }), await tools.sh.put({ a: '1' }).catch((e) => e.code)]";
    let (_, report, _) = talk.call("run_code", json!({ "code": code, "effects": "read" })).await;
    assert_eq!(report["result"], json!(["1", "denied"]));
    talk.end().await;
}

#[tokio::test]
async fn what_is_too_large_for_an_answer_is_read_by_pages() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let talk = Talk::over(Arc::new(Runtime::new(settings(Vec::new()))), nobody()).await;
    let code = "text('said'); return { list: Array.from({ length: 3000 }, (_, n) => 'é' + n), one: 'x'.repeat(9) }";
    let (text, report, _) = talk.call("run_code", json!({ "code": code, "max_output_tokens": 500 })).await;
    let id = report["artifact"]["id"].as_str().unwrap().to_owned();
    assert!(text.contains(&format!("`read_artifact` with the id `{id}` has the whole")), "{text}");
    let (mut whole, mut offset) = (String::new(), Some(0));
    while let Some(at) = offset {
        MADE.fetch_add(1, Ordering::Relaxed);
        let (text, page, failed) = talk.call("read_artifact", json!({ "id": id, "offset": at, "limit": 7000 })).await;
        assert!(!failed && page["text"] == text.as_str() && text.chars().count() <= 7000);
        whole.push_str(&text);
        offset = page["next_offset"].as_u64();
        assert_eq!(page["path"], "/result");
    }
    let list: Vec<String> = (0..3000).map(|n| format!("é{n}")).collect();
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), json!({ "list": list, "one": "xxxxxxxxx" }));
    assert!(MADE.load(Ordering::Relaxed) > 3);
    for (path, text) in
        [("/result/list/2999", "é2999"), ("/text", "said"), ("/result/one", "xxxxxxxxx"), ("/status", "completed")]
    {
        assert_eq!(talk.call("read_artifact", json!({ "id": id, "path": path })).await.0, text);
    }
    for (path, told) in [
        ("/result/lists", "there is nothing at `/result/lists`; at `/result` is an object with the keys `list`, `one`"),
        ("/result/list/3000/x", "at `/result/list` is a list of 3000 entries, counted from 0"),
        ("result", "write a JSON pointer, such as"),
    ] {
        let (text, _, failed) = talk.call("read_artifact", json!({ "id": id, "path": path })).await;
        assert!(failed && text.contains(told), "{text}");
    }
    let (text, page, _) = talk.call("read_artifact", json!({ "id": id, "offset": 99_999_999_u64 })).await;
    assert_eq!((text.as_str(), &page["next_offset"]), ("", &Value::Null));
    let (text, _, failed) = talk.call("read_artifact", json!({ "id": "nope" })).await;
    assert!(failed && text.contains("no run starts with `nope`"), "{text}");
    talk.end().await;
}

#[tokio::test]
async fn a_run_that_failed_is_corrected_without_doing_anything_again() {
    let talk =
        Talk::over(Arc::new(Runtime::new(settings(crate::support::tools(std::path::Path::new("."))))), nobody()).await;
    let (_, report, failed) =
        talk.call("run_code", json!({ "code": "const a = await tools.sh.echo({ a: 'x' }); throw new Error(a)" })).await;
    assert!(failed);
    let id = report["run_id"].as_str().unwrap();
    let code = "const a = await tools.sh.echo({ a: 'x' }); return a";
    let (text, report, _) = talk.call("run_code", json!({ "code": code, "amend": id })).await;
    assert_eq!(
        (report["result"].as_str(), report["calls"][0]["status"].as_str()),
        (Some("x"), Some("reused")),
        "{text}"
    );
    let (text, _, failed) = talk.call("run_code", json!({ "code": code, "amend": "nope" })).await;
    assert!(failed && text.contains("nothing was run: no run starts with `nope`"), "{text}");
    talk.end().await;
}
