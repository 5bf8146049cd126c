//! Cases that broke other systems, as data: `tests/cases/r2.jsonl` has the programs, the tools and what must come of them.
//!
//! The programs call `tools.<name>(args)`, so they run in a flat dialect. `ours` beside a case adds demands or replaces them,
//! with the reason.

use std::time::Duration;

use refrain_engine::source;
use refrain_runtime::{
    CommandSettings, CommandToolSettings, Dialect, Effect, Environment, LimitSettings, Origin, Output, OutputFormat,
    Replay, Report, RunRequest, SourceKind, SourceSettings,
};
use serde_json::json;

use crate::{
    case::{Case, Described, Step},
    checks::{Check, Happened},
    host::{Host, value},
};

impl Case {
    /// The programs in order, each with its own time limit.
    async fn programs(&self) -> Vec<(String, Option<u64>)> {
        let input = &self.input;
        let mut programs: Vec<String> = input.code.iter().cloned().collect();
        programs.extend(input.also_code.iter().cloned());
        for expression in input.code_js.iter().chain(&input.also_code_js) {
            // Made by a script of its own: there is no other engine at hand, and none is needed.
            programs
                .push(Host::new(Vec::new()).value(&format!("return {expression}")).await.as_str().unwrap().to_owned());
        }
        programs.extend(input.steps.iter().filter_map(|step| match step {
            Step::Script(code) => Some(code.clone()),
            // The declarations are looked at in every case.
            Step::List(listed) => {
                assert!(listed);
                None
            }
        }));
        let limited = input.runs.iter().map(|run| (run.code.clone(), run.limits.timeout_ms));
        programs.into_iter().map(|code| (code, None)).chain(limited).collect()
    }

    fn host(&self) -> Host {
        let limits = self.input.limits;
        let name = self.input.server_name.as_deref().unwrap_or("fake");
        let children = self.input.tools.iter().any(|tool| tool.behaviour.iter().any(|b| b.returns_env_names));
        let fakes = if children { Vec::new() } else { self.input.tools.iter().map(Described::fake).collect() };
        Host::with([(name, fakes)], |settings| {
            settings.dialect = Some(Dialect::find("polylane").unwrap());
            let default = LimitSettings::default();
            settings.limits.timeout_ms = limits.timeout_ms.unwrap_or(default.timeout_ms);
            settings.limits.memory_mb = limits.memory_mb.unwrap_or(default.memory_mb);
            settings.limits.log_kb = limits.log_kb.unwrap_or(default.log_kb);
            settings.sources[0].max_in_flight = limits.max_concurrent_calls.unwrap_or(32);
            if children {
                let parent = self.input.parent_env.clone();
                settings.environment = Environment::new(move |name| parent.get(name).map(Into::into), || 0);
                let mut source = SourceSettings::new(name, self.children());
                source.max_in_flight = 1;
                settings.sources = vec![source];
            }
        })
    }

    /// The tools as real child processes, which have an environment to look at.
    fn children(&self) -> SourceKind {
        let tools = self.input.tools.iter().map(|tool| {
            let settings = CommandToolSettings {
                name: tool.name.clone(),
                command: vec!["env".into()],
                output: Output { format: OutputFormat::Lines, ..Output::default() },
                effect: Some(Effect::Read),
                replay: Some(Replay::Safe),
                ..CommandToolSettings::default()
            };
            settings.check().unwrap()
        });
        let env = self.input.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        SourceKind::Command(CommandSettings { tools: tools.collect(), env, cwd: None })
    }

    async fn happen(&self) -> Happened {
        let mut programs = self.programs().await;
        if programs.is_empty() {
            // The one tool is called, and its lines are cut to the names.
            let call = "return (await tools.env_names({})).map((line) => line.split('=')[0])";
            programs.push((call.to_owned(), None));
        }
        let host = self.host();
        // Made before it is measured: compiling the engine takes more memory than any case may.
        host.runtime.check_engine().await.unwrap();
        let before = rss_mb();
        let (mut reports, mut beside, mut peak) = (Vec::new(), 0, before);
        for (code, timeout_ms) in programs {
            let request = RunRequest { timeout_ms, ..RunRequest::new(code, Origin::default()) };
            reports.push(self.run(&host, request, &mut beside, &mut peak).await);
        }
        let (calls, finished, most_in_flight) = {
            let seen = host.seen();
            let finished = seen.calls.iter().map(|(name, _)| (name.clone(), seen.count_finished(name))).collect();
            (seen.calls.clone(), finished, seen.most_in_flight)
        };
        // Long enough for every delay of a fake tool, so that a call which is to come has come.
        let longest = self.input.tools.iter().flat_map(|tool| &tool.behaviour).map(|b| b.delay_ms).max().unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(2 * longest)).await;
        let late_calls = host.seen().calls.len() - calls.len();
        let mut then = Vec::new();
        for program in &self.input.then {
            then.push(host.run(&program.code).await);
        }
        let looks =
            "return [({}).admin === undefined && [].admin === undefined, Object.getOwnPropertyNames(globalThis)]";
        let found = host.value(looks).await;
        let declarations = host.runtime.catalog().await.declarations();
        Happened {
            reports,
            then,
            calls,
            finished,
            most_in_flight,
            late_calls,
            beside,
            rss_growth_mb: peak.saturating_sub(before),
            secret: std::fs::read_to_string("/etc/hostname")
                .ok()
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty()),
            clean: found[0] == true,
            globals: serde_json::from_value(found[1].clone()).unwrap(),
            declarations: source::prepare(&format!("{declarations}\nreturn 1"))
                .ok()
                .map(|prepared| prepared.javascript),
        }
    }

    /// Runs a program, watches the memory meanwhile, and, where that is asked for, runs others beside it and counts them.
    /// All of it on one thread, so that a program which does not give way shows.
    async fn run(&self, host: &Host, request: RunRequest, beside: &mut usize, peak: &mut u64) -> Report {
        let beside_it = self.checks.iter().any(|check| matches!(check, Check::HostResponsiveDuringRun(_)));
        let others = async {
            loop {
                if beside_it {
                    assert_eq!(host.value("return 1").await, 1);
                    *beside += 1;
                } else {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                *peak = rss_mb().max(*peak);
            }
        };
        tokio::select! {
            biased;
            report = host.request(request) => report,
            () = others => unreachable!("it has no end"),
        }
    }
}

/// Memory of this process, in MiB. 0 where the system does not say.
fn rss_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Runs every case of a class, and tells all that fail.
async fn class(class: &str, count: usize) {
    let (mut failed, mut run) = (String::new(), 0);
    for case in Case::all().filter(|case| case.class == class) {
        run += 1;
        assert!(case.ours.checks.is_empty() || !case.ours.reason.is_empty(), "{}: `ours` needs a reason", case.id);
        assert!(["script", "limits", "mcp-server"].contains(&case.kind.as_str()), "{}: kind `{}`", case.id, case.kind);
        let happened = case.happen().await;
        let theirs = if case.ours.instead { &[][..] } else { &case.checks[..] };
        for check in theirs.iter().chain(&case.ours.checks).filter(|check| !happened.holds(check)) {
            failed += &format!("\n{}: {check:?}", case.id);
            for report in &happened.reports {
                let told = json!({ "result": value(report), "error": report.error, "notes": report.notes, "calls": report.calls });
                failed += &format!("\n    {told:.1500}");
            }
        }
    }
    assert_eq!(run, count, "cases of the class {class}");
    assert!(failed.is_empty(), "{failed}");
}

macro_rules! classes {
    ($($test:ident: $class:literal, $count:literal;)*) => {
        $(#[tokio::test]
        async fn $test() {
            class($class, $count).await;
        })*

        #[test]
        fn every_case_belongs_to_a_class_that_is_run() {
            for case in Case::all() {
                assert!([$($class),*].contains(&case.class.as_str()), "{}: {}", case.id, case.class);
            }
        }
    };
}

classes! {
    cases_of_script_form: "script-form", 7;
    cases_of_runtime_globals: "runtime-globals", 2;
    cases_of_promises: "promises", 5;
    cases_of_result_serialisation: "result-serialisation", 4;
    cases_of_arguments: "arguments", 2;
    cases_of_tool_errors: "tool-errors", 4;
    cases_of_limits: "limits", 6;
    cases_of_sandbox_security: "sandbox-security", 5;
}
