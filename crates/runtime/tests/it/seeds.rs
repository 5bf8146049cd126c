//! The scripts of the documents that started the project, as they are printed there, over tools of the same shapes.
//!
//! Left out: what is printed with `{ ... }` for its arguments, and the TypeScript that runs under Node.

use refrain_runtime::CallError;
use serde_json::{Value, json};

use crate::{
    fake::{Fake, tool_error},
    host::{Host, statuses, value},
};

fn host(dialect: &'static str, source: &str, tools: Vec<Fake>) -> Host {
    Host::with([(source, tools)], |settings| {
        settings.dialect = Some(refrain_runtime::Dialect::find(dialect).unwrap());
    })
}

const ORDERING: &str = r#"async () => {
  await codemode.setFulfillmentContext({
    mode: "DELIVERY_BY_MERCHANT",
    addressId: "550e8400-e29b-41d4-a716-446655440000"
  });

  const discovery = await codemode.discoverStores({
    location: { latitude: 37.77, longitude: -122.42 },
    query: "sushi",
    limit: 3,
  });

  const store = discovery.stores[0];
  const menu = await codemode.getCatalogSet({ catalogSetId: store.catalogSetId });
  const firstItem = Object.values(menu.items)[0];

  const cart = await codemode.addToCart({
    storeId: store.storeId,
    catalogSetId: store.catalogSetId,
    item: { itemId: firstItem.itemId, quantity: 1, modifierGroups: null },
  });

  return { store: store.name, cart };
}"#;

#[tokio::test]
async fn an_order_is_put_together_in_one_function() {
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let text = json!({ "type": "string" });
    let point = object(
        json!({ "latitude": { "type": "number" }, "longitude": { "type": "number" } }),
        json!(["latitude", "longitude"]),
    );
    let item = object(
        json!({ "itemId": text, "quantity": { "type": "integer" }, "modifierGroups": { "type": ["array", "null"] } }),
        json!(["itemId", "quantity", "modifierGroups"]),
    );
    let host = host(
        "ordering",
        "marketfront",
        vec![
            Fake::value("setFulfillmentContext", json!({ "ok": true, "fulfillmentContext": {} })).taking(object(
                json!({ "mode": { "enum": ["DELIVERY_BY_MERCHANT", "PICKUP"] }, "addressId": text, "storeId": text }),
                json!(["mode"]),
            )),
            Fake::value(
                "discoverStores",
                json!({ "stores": [{ "storeId": "s1", "name": "Umi", "catalogSetId": "c1" }], "totalCount": 1, "hasMore": false }),
            )
            .taking(object(
                json!({ "location": point, "query": { "type": ["string", "null"] }, "limit": { "type": "integer" } }),
                json!(["location"]),
            )),
            Fake::function("getCatalogSet", |args| {
                Ok(json!({ "catalogSetId": args["catalogSetId"], "items": { "i9": { "itemId": "i9" }, "i1": { "itemId": "i1" } } }))
            })
            .taking(object(json!({ "catalogSetId": text }), json!(["catalogSetId"]))),
            Fake::function("addToCart", |args| Ok(json!({ "lines": [args["item"]], "storeId": args["storeId"] })))
                .taking(object(json!({ "storeId": text, "catalogSetId": text, "item": item }), json!(["item"]))),
        ],
    );
    let report = host.run(ORDERING).await;
    assert_eq!(
        value(&report),
        Some(json!({
            "store": "Umi",
            "cart": { "lines": [{ "itemId": "i9", "quantity": 1, "modifierGroups": null }], "storeId": "s1" },
        })),
        "{report:?}"
    );
    assert_eq!(
        statuses(&report),
        [
            "marketfront.setFulfillmentContext ok",
            "marketfront.discoverStores ok",
            "marketfront.getCatalogSet ok",
            "marketfront.addToCart ok"
        ]
    );
}

const FAILED_JOBS: &str = r#"// Simplified, modelled on scripts our agent writes.
async () => {
  const { data } = await tools.githubApi({
    method: "GET",
    path: "/repos/{owner}/{repo}/actions/runs",
    params: { owner: "acme", repo: "web", branch: "main", per_page: 15 },
  });
  const failed = data.workflow_runs.filter((r) => r.conclusion === "failure");

  return Promise.all(
    failed.map(async (run) => {
      try {
        const jobs = await tools.githubApi({
          method: "GET",
          path: "/repos/{owner}/{repo}/actions/runs/{run_id}/jobs",
          params: { owner: "acme", repo: "web", run_id: run.id },
        });
        return {
          id: run.id,
          sha: run.head_sha.slice(0, 7),
          failedJobs: jobs.data.jobs.filter((j) => j.conclusion === "failure").map((j) => j.name),
        };
      } catch (e) {
        return { id: run.id, error: String(e) };
      }
    }),
  );
};"#;

#[tokio::test]
async fn failed_jobs_are_fetched_side_by_side_and_a_failing_one_costs_only_itself() {
    let api = Fake::function("api", |args| -> Result<Value, CallError> {
        let run = |id: u32, conclusion: &str| json!({ "id": id, "conclusion": conclusion, "head_sha": format!("{id}00000000000") });
        match args["params"]["run_id"].as_u64() {
            None => {
                Ok(json!({ "data": { "workflow_runs": [run(1, "failure"), run(2, "success"), run(3, "failure")] } }))
            }
            Some(1) => Ok(json!({ "data": { "jobs": [
                { "name": "lint", "conclusion": "failure" }, { "name": "test", "conclusion": "success" }
            ] } })),
            Some(_) => Err(tool_error("502 from upstream")),
        }
    });
    let report = host("polylane", "github", vec![api]).run(FAILED_JOBS).await;
    assert_eq!(
        value(&report),
        Some(json!([
            { "id": 1, "sha": "1000000", "failedJobs": ["lint"] },
            { "id": 3, "error": "ToolError: 502 from upstream" },
        ])),
        "{report:?}"
    );
    assert_eq!(statuses(&report), ["github.api ok", "github.api ok", "github.api error"]);
}

const REAL_ERRORS: &str = r#"async () => {
  const r = await tools.cloudflareRunTelemetryQuery({
    datasets: ["cloudflare-workers", "otel"],
    timeframe: { reference: "2026-11-01T16:45:00Z", offset: "-7d" },
    view: "calculations",
    filters: [{ key: "$metadata.level", operation: "eq", type: "string", value: "error" }],
    calculations: [{ operator: "count", alias: "n" }],
    groupBys: [
      { type: "string", value: "$metadata.service" },
      { type: "string", value: "$metadata.message" },
    ],
    orderBy: { value: "n", order: "desc" },
    limit: 300,
  });
  const rows = (r.calculations?.[0]?.aggregates || []).map((g) => ({ g: g.groupKey, n: g.value }));
  const isUrl = (s) => /^(GET|POST|PUT|DELETE|PATCH|HEAD) https?:/.test(s);
  const noise = (s) => s === "exception" || s.endsWith(" ERROR") || s.startsWith("    at ");
  const real = rows.filter((x) => {
    const m = x.g.split(" ⬤ ")[1] || "";
    return !isUrl(m) && !noise(m);
  });
  return { totalRows: rows.length, real: real.slice(0, 60) };
};"#;

#[tokio::test]
async fn three_hundred_groups_come_in_and_sixty_real_errors_go_out() {
    let messages = ["GET https://a.example/x", "exception", "    at f (a.js:1:1)", "queue is full", "job ERROR"];
    let groups: Vec<Value> = (0..300)
        .map(|n| json!({ "groupKey": format!("svc{n} ⬤ {}", messages[n % messages.len()]), "value": 300 - n }))
        .collect();
    let query = Fake::value("run_telemetry_query", json!({ "calculations": [{ "alias": "n", "aggregates": groups }] }));
    let report = host("polylane", "cloudflare", vec![query]).run(REAL_ERRORS).await;
    let found = value(&report).unwrap();
    assert_eq!((&found["totalRows"], found["real"].as_array().unwrap().len()), (&json!(300), 60), "{report:?}");
    assert_eq!(found["real"][1], json!({ "g": "svc8 ⬤ queue is full", "n": 292 }));
}

#[tokio::test]
async fn a_tool_is_described_with_its_types_under_the_name_that_was_asked_for() {
    let deployment = json!({ "type": "object", "properties": {
        "uid": { "type": "string" }, "state": { "type": "string" }, "branch": { "type": ["string", "null"] }
    }, "required": ["uid", "state", "branch"] });
    let list = Fake::value("list_deployments", json!({ "items": [], "count": 0 }))
        .described("List recent Vercel deployments for a project (or across the team).")
        .taking(json!({ "type": "object", "properties": {
            "projectId": { "type": "string" }, "limit": { "type": "integer" }, "sinceMs": { "type": "integer" }
        } }))
        .giving(json!({ "type": "object", "properties": {
            "items": { "type": "array", "items": deployment }, "count": { "type": "integer" }
        }, "required": ["items", "count"] }));
    let host = host("polylane", "vercel", vec![list]);
    // The trailing expression is the result.
    let found = host.value(r#"await tools.__describe(["vercelListDeployments"]);"#).await;
    let names: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(names, ["vercelListDeployments"]);
    let described = &found["vercelListDeployments"];
    let fields: Vec<&String> = described.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["input", "output", "description"]);
    assert_eq!(described["input"], "{ projectId?: string; limit?: number; sinceMs?: number }");
    let output = described["output"].as_str().unwrap();
    assert!(
        output.contains("items: ") && output.contains("state: string") && output.contains("count: number"),
        "{output}"
    );
    assert!(described["description"].as_str().unwrap().starts_with("List recent Vercel deployments"));
}

/// Printed without what it works on, which stands before it here. `args` is the global.
const FAN_OUT: &str = r#"const items = [1, 2, 3];
// The fan-out pattern the description asks for: partial results instead of one failure losing everything.
await Promise.all(
  items.map(async (it) => {
    try {
      return { it, data: await tools.someTool(args) };
    } catch (e) {
      return { it, error: String(e) };
    }
  }),
);"#;

#[tokio::test]
async fn the_fan_out_pattern_gives_partial_results() {
    let counts = std::sync::atomic::AtomicUsize::new(0);
    let some_tool =
        Fake::function("someTool", move |_| match counts.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            1 => Err(tool_error("no luck")),
            _ => Ok(json!("data")),
        });
    let found = host("polylane", "any", vec![some_tool]).value(FAN_OUT).await;
    let mut kinds: Vec<&str> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| if entry["data"] == "data" { "data" } else { entry["error"].as_str().unwrap() })
        .collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["ToolError: no luck", "data", "data"]);
}

const STORES: &str = r#"const pages = await Promise.all([1,2,3].map(page=>tools.mcp__issues__list_items({page,per_page:20}).then(parse)));
const items=pages.flatMap(p=>p.items);
const matched=items.filter(x=>x.state_reason==="completed" && x.labels.some(l=>/^(p1-|p2-|p3-)/.test(l)));
store("items",items);store("matched",matched);
text({total:items.length,reported:pages.map(p=>p.total),matched:matched.length,ids:matched.map(x=>x.id)});"#;

const LOADS: &str = r#"const matched=load("matched");
const results=await Promise.allSettled(matched.map(x=>tools.mcp__issues__get_item({id:x.id})));
// ...check each result, then group by label"#;

/// The article's own `parse` is not printed. Its server answers with text, which reaches our scripts parsed.
const PARSE: &str = "const parse = (result) => (typeof result === 'string' ? JSON.parse(result) : result);\n";

/// Nor is the step that the second script ends with.
const GROUPS: &str = r#"
const totals = {};
results.forEach((result, at) => {
  if (result.status !== "fulfilled") throw new Error(`item ${matched[at].id}: ${result.reason.message}`);
  const label = matched[at].labels.find((l) => /^p[123]-/.test(l));
  const group = (totals[label] ??= { comments: 0, reactions: 0 });
  group.comments += result.value.comments;
  group.reactions += result.value.reactions;
});
return totals;"#;

fn issues() -> Host {
    let list = Fake::function("list_items", |args| {
        let page = args["page"].as_u64().unwrap();
        let items: Vec<Value> = (0..20)
            .map(|n| page * 100 + n)
            .map(|id| {
                let label = ["p1-chore", "p2-edge-case", "p3-minor-bug", "feat: css"][(id % 4) as usize];
                let reason = if id % 3 == 0 { "completed" } else { "not_planned" };
                json!({ "id": id, "state_reason": reason, "labels": ["pending", label] })
            })
            .collect();
        Ok(json!({ "items": items, "total": 60 }))
    });
    let get = Fake::function("get_item", |args| Ok(json!({ "id": args["id"], "comments": 2, "reactions": 1 })));
    host("pi", "issues", vec![list.safe(), get.safe()])
}

#[tokio::test]
async fn a_first_script_stores_what_it_found_and_says_so() {
    let host = issues();
    let report = host.run(&format!("{PARSE}{STORES}")).await;
    let notes: Vec<&str> = report.notes.iter().map(|note| note.kind.as_str()).collect();
    assert_eq!((&report.error, &report.result, notes), (&None, &None, vec!["store_not_kept"]));
    let told: Value = serde_json::from_str(&report.text).unwrap();
    assert_eq!((&told["total"], &told["reported"]), (&json!(60), &json!([60, 60, 60])));
    assert_eq!(told["matched"].as_u64().unwrap() as usize, told["ids"].as_array().unwrap().len());
}

/// Two scripts of one session, here one after another in one run: until sessions are kept, a store lives as long as its run.
#[tokio::test]
async fn a_second_script_loads_it_and_fetches_the_details() {
    let host = issues();
    let report = host.run(&format!("{PARSE}{{\n{STORES}\n}}\n{LOADS}{GROUPS}")).await;
    let told: Value = serde_json::from_str(&report.text).unwrap();
    let ids = told["ids"].as_array().unwrap();
    assert_eq!(host.seen().count("get_item"), ids.len());
    let totals = value(&report).unwrap();
    let labels: Vec<&String> = totals.as_object().unwrap().keys().collect();
    assert_eq!(labels.len(), 3, "{totals}");
    let comments: u64 = totals.as_object().unwrap().values().map(|group| group["comments"].as_u64().unwrap()).sum();
    assert_eq!(comments as usize, 2 * ids.len());
}

#[tokio::test]
async fn a_script_for_node_is_refused_with_what_to_use() {
    let host = host("refrain", "outline", vec![Fake::echo("search")]);
    let (_, error) = host
        .failure("import { spawn } from 'node:child_process';\nimport { createInterface } from 'node:readline';\n\nspawn('outline', ['search'])")
        .await;
    assert_eq!((error.kind.as_str(), error.line), ("syntax", Some(1)));
    assert!(error.message.contains("node:child_process") && error.message.contains("tools."), "{}", error.message);
}
