//! Whole settings over real files: what is taken, where it says it is from, and what is said about what is wrong.

use std::{fmt::Write as _, fs, path::PathBuf, time::Duration};

use refrain_runtime::{Durability, Effect, OnDivergence, OnInterrupted, Permission, Person, Replay, SourceKind};
use tempfile::TempDir;

use super::*;

/// A folder with files, and an environment.
struct Place {
    dir: TempDir,
    places: Places,
    variables: Vec<(&'static str, &'static str)>,
}

impl Place {
    fn new(config: &str) -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap(), places: Places::default(), variables: Vec::new() };
        if !config.is_empty() {
            place.write("refrain.toml", config);
        }
        place
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    fn with_mcp(mut self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self.places.mcp_config.push(name.into());
        self
    }

    fn load_from(&self, below: &str, need: Need) -> Result<Config, Vec<Fault>> {
        let folder = self.path(below);
        fs::create_dir_all(&folder).unwrap();
        let variables = self.variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        load(&self.places, &folder, &variables, need)
    }

    fn config(&self) -> Config {
        self.load_from("", Need::Sources).unwrap_or_else(|faults| panic!("{faults:#?}"))
    }

    /// Each source with what it is.
    fn sources(&self) -> String {
        let mut text = String::new();
        for source in &self.config().settings.sources {
            let kind = match &source.kind {
                SourceKind::Mcp(mcp) => format!("{:?} {:?} in {:?}", mcp.command, mcp.env, mcp.cwd),
                SourceKind::Command(command) => {
                    let names: Vec<&str> = command.tools.iter().map(|tool| tool.name()).collect();
                    format!("{names:?} in {:?}", command.cwd)
                }
                SourceKind::Unusable { r#type, reason } => format!("{type}: {reason}"),
                other => format!("{other:?}"),
            };
            let _ = writeln!(text, "{}: {kind}", source.name);
        }
        text.replace(&self.dir.path().display().to_string(), "DIR")
    }
}

/// What is wrong with a file.
fn faults(config: &str) -> String {
    match Place::new(config).load_from("", Need::Sources) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(faults) => faults.iter().map(|fault| format!("{fault}\n")).collect(),
    }
}

fn origin(config: &Config, key: &str) -> String {
    let row = config.rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("no row {key}"));
    format!("{} from {}", row.value, row.origin)
}

#[test]
fn every_fault_of_a_file_is_told_with_its_line_and_the_way_out() {
    let config = r#"
gateway = { person = "auto" }
[limits]
timeout_ms = 0
memory_mb = 1.5
calls = "many"
in_flight = 5
[journal]
url = "mysql://x"
durability = "efects"
[sources.a]
type = "mpc"
[sources.b]
command = ["x"]
[sources.c]
type = "mcp"
comand = ["x"]
[sources.d]
type = "mcp"
command = []
env = { A = 5, "B=C" = "x" }
trust_annotations = true
max_in_flight = 0
coerce_arguments = "yes"
[sources.d.tools."list_*"]
effect = "reads"
slice_ms = 5
[sources.e]
type = "openapi"
[sources.f]
type = "command"
[sources.f.tools.t]
command = ["echo", "{nme}"]
input = { properties = { name = { type = "string" } } }
output = { format = "json", pattern = "x" }
replay = "always"
[sources.g]
type = "mcp"
url = "https://example.com"
[sources."h.i"]
type = 5
"#;
    insta::assert_snapshot!(faults(config), @r#"
    refrain.toml:2: unknown key `gateway`; there are `sources`, `limits`, `script`, `journal`, `learn`, `runs`, `sandbox`, `serve`, `policy`
    refrain.toml:4: `limits.timeout_ms` is the number 0; write a whole number from 1 to 31622400000
    refrain.toml:5: `limits.memory_mb` is the number 1.5; write a whole number from 4 to 4096
    refrain.toml:6: `limits.calls` is the text "many"; write a whole number from 0 to 1000000
    refrain.toml:7: `limits.in_flight` comes with a later release; remove it until then
    refrain.toml:9: `journal.url` is no address of a journal; write `sqlite:PATH`, or `memory:` to keep nothing
    refrain.toml:10: `journal.durability` is the text "efects"; write one of `effects`, `power`, `process`
    refrain.toml:12: `sources.a.type` is "mpc"; write one of `mcp`, `command`, `demo`
    refrain.toml:13: `sources.b` has no `type`; write `type = "mcp"` for an MCP server, `type = "command"` for programs
    refrain.toml:15: `sources.c` has neither `command` nor `url`; write the server's program and arguments, `command = ["npx", "…"]`, or its address, `url = "https://…"`
    refrain.toml:17: unknown key `sources.c.comand`; did you mean `command`?
    refrain.toml:20: `sources.d.command` names no program; write its name first, `["npx", "…"]`
    refrain.toml:21: `sources.d.env.A` is the number 5; write a text
    refrain.toml:21: `sources.d.env."B=C"` is no name of a variable
    refrain.toml:22: `sources.d.trust_annotations` is true; write one of `none`, `effect`, `all`
    refrain.toml:23: `sources.d.max_in_flight` is the number 0; write a whole number from 1 to 10000
    refrain.toml:24: `sources.d.coerce_arguments` is the text "yes"; write `true` or `false`
    refrain.toml:26: `sources.d.tools."list_*".effect` is the text "reads"; write one of `read`, `write`, `destructive`
    refrain.toml:27: `sources.d.tools."list_*".slice_ms` comes with a later release; remove it until then
    refrain.toml:29: `sources.e.type` is "openapi", which comes with a later release; there are `mcp`, `command`, `demo`
    refrain.toml:33: `sources.f.tools.t.command` uses `{nme}`, which `input` does not declare; did you mean `name`?
    refrain.toml:35: `sources.f.tools.t.output` (`pattern`) cannot stand beside a JSON format; use `lines` or remove the pattern
    refrain.toml:36: `sources.f.tools.t.replay` is the text "always"; write one of `safe`, `keyed`, `unsafe`
    refrain.toml:41: `sources."h.i".type` is the number 5; write a text
    "#);
}

#[test]
fn rules_are_read_in_their_order_and_what_is_wrong_with_one_has_its_line() {
    let sources =
        "[sources.git]\ntype = \"command\"\n[sources.git.tools.push]\ncommand = [\"git\"]\napproval = \"ask\"\n";
    let config = format!(
        "[policy]\nperson = \"yes\"\nask_timeout_ms = 5\n\
         [[policy.rules]]\ntools = \"git.*\"\neffect = \"write\"\nwhen = \"args.n > 5\"\noutcome = \"deny\"\n\
         [[policy.rules]]\ntools = \"*\"\noutcome = \"direct\"\n{sources}"
    );
    let settings = Place::new(&config).config().settings;
    let policy = &settings.policy;
    assert_eq!((policy.person, policy.ask_timeout), (Person::Yes, Some(Duration::from_millis(5))));
    let rules: Vec<_> =
        policy.rules.iter().map(|rule| (rule.tools.as_str(), rule.outcome, rule.place.as_str())).collect();
    let expected = [("git.*", Permission::Deny, "refrain.toml:5"), ("*", Permission::Direct, "refrain.toml:10")];
    assert_eq!((rules.as_slice(), policy.rules[0].effect), (&expected[..], Some(Effect::Write)));
    assert!(policy.rules[0].when.is_some());

    let wrong = format!(
        "[policy]\nperson = \"me\"\nrule = 1\n\
         [[policy.rules]]\ntools = \"gti.*\"\noutcome = \"allow\"\n\
         [[policy.rules]]\noutcome = \"maybe\"\n\
         [[policy.rules]]\ntools = \"git.*\"\nwhen = \"arg.n == 1\"\noutcome = \"deny\"\n\
         [[policy.rules]]\ntools = \"git.*\"\noutcome = \"ask\"\n\
         [[policy.rules]]\ntools = \"git.push\"\noutcome = \"allow\"\nefect = \"read\"\n{sources}"
    );
    insta::assert_snapshot!(faults(&wrong), @r#"
    refrain.toml:2: `policy.person` is the text "me"; write one of `auto`, `yes`, `no`
    refrain.toml:3: unknown key `policy.rule`; did you mean `rules`?
    refrain.toml:5: `policy.rules.1.tools` is for no source; there are `git`
    refrain.toml:7: `policy.rules.2` has no `tools`; write a pattern over paths, such as `github.*`
    refrain.toml:8: `policy.rules.2.outcome` is the text "maybe"; write one of `allow`, `ask`, `deny`, `direct`
    refrain.toml:11: `policy.rules.3.when` names the unknown variable `arg`; there are the variables `args`, `caller`, `run`, `session` and the functions `bool`, `bytes`, `contains`, `double`, `endsWith`, `has`, `int`, `matches`, `size`, `startsWith`, `string`, `uint`
    refrain.toml:16: `policy.rules.5` is never reached, since the rule before it for `git.*` (refrain.toml:14) decides; put it first, or remove it
    refrain.toml:19: unknown key `policy.rules.5.efect`; did you mean `effect`?
    "#);
    insta::assert_snapshot!(faults("[policy]\nrules = 5\n"), @"refrain.toml:2: `policy.rules` is the number 5; write tables, each under `[[policy.rules]]`");
}

#[test]
fn a_file_that_is_broken_is_told_by_line() {
    insta::assert_snapshot!(faults("a = 1\na = 2"), @"refrain.toml:2: this is no TOML: duplicate key");
    insta::assert_snapshot!(faults("[sources\n"), @"refrain.toml:1: this is no TOML: unclosed table, expected `]`");
    insta::assert_snapshot!(faults("[[sources]]\ntype = \"mcp\""), @"refrain.toml:1: `sources` is a list of tables; write a table");
    insta::assert_snapshot!(faults("sources = 5\nlimits = []"), @"
    refrain.toml:1: `sources` is the number 5; write a table
    refrain.toml:2: `limits` is a list; write a table
    ");
}

#[test]
fn later_layers_win_and_each_value_says_where_it_is_from() {
    let config =
        "[limits]\ntimeout_ms = 1\ncalls = 2\n[journal]\nurl = \"sqlite:in/file.db\"\ndurability = \"power\"\n";
    let place = Place::new(config).with("REFRAIN__LIMITS__CALLS", "3").with("REFRAIN__LIMITS__LOG_KB", "");
    let config = place.config();
    assert_eq!(origin(&config, "limits.timeout_ms"), "1 from refrain.toml:2");
    assert_eq!(origin(&config, "limits.calls"), "3 from environment REFRAIN__LIMITS__CALLS");
    assert_eq!(origin(&config, "limits.log_kb"), "1024 from default");
    assert_eq!(origin(&config, "journal.durability"), "\"power\" from refrain.toml:6");
    assert_eq!((config.settings.limits.timeout_ms, config.settings.limits.calls), (1, 3));
    assert_eq!(config.settings.durability, Durability::Power);

    // A path in the file is relative to the file, one in the environment or a flag to where we are.
    let folder = place.path("");
    let in_folder = |name: &str| format!("sqlite:{}", folder.join(name).display());
    let below = place.load_from("a/b", Need::Sources).unwrap();
    assert_eq!(below.settings.journal_url, in_folder("in/file.db"));
    assert_eq!(origin(&below, "limits.timeout_ms"), format!("1 from {}:2", place.path("refrain.toml").display()));
    let mut place = place.with("REFRAIN__JOURNAL__URL", "sqlite:env.db");
    assert_eq!(place.load_from("a/b", Need::Sources).unwrap().settings.journal_url, in_folder("a/b/env.db"));
    place.places.journal = Some("sqlite:flag.db".into());
    let flagged = place.load_from("a/b", Need::Sources).unwrap();
    assert_eq!(flagged.settings.journal_url, in_folder("a/b/flag.db"));
    assert!(origin(&flagged, "journal.url").ends_with("from flag --journal"));
}

#[test]
fn what_runs_outlive_is_set_by_file_or_variable_and_told_where_it_is_wrong() {
    let config = "[runs]\non_divergence = \"fail\"\non_interrupted = \"ask\"\nmax_restarts = 5\npark_after_ms = 0\n\
                  [journal]\nsnapshot_every = 7\n";
    let settings = Place::new(config).config().settings;
    assert_eq!((settings.on_divergence, settings.on_interrupted), (OnDivergence::Fail, OnInterrupted::Ask));
    assert_eq!((settings.max_restarts, settings.park_after, settings.snapshot_every), (5, Duration::ZERO, 7));

    let from_variables = Place::new(config)
        .with("REFRAIN__RUNS__ON_DIVERGENCE", "park")
        .with("REFRAIN__RUNS__ON_INTERRUPTED", "error")
        .with("REFRAIN__RUNS__MAX_RESTARTS", "2")
        .with("REFRAIN__RUNS__PARK_AFTER_MS", "9")
        .with("REFRAIN__JOURNAL__SNAPSHOT_EVERY", "0");
    let settings = from_variables.config().settings;
    assert_eq!((settings.on_divergence, settings.on_interrupted), (OnDivergence::Park, OnInterrupted::Error));
    assert_eq!((settings.max_restarts, settings.park_after.as_millis(), settings.snapshot_every), (2, 9, 0));

    let wrong = "[runs]\non_divergence = \"amend\"\non_interrupted = true\nmax_restarts = 0\npark_after_ms = -1\n\
                 [journal]\nsnapshot_every = \"often\"\n";
    insta::assert_snapshot!(faults(wrong), @r#"
    refrain.toml:2: `runs.on_divergence` is the text "amend"; write one of `park`, `fail`
    refrain.toml:3: `runs.on_interrupted` is true; write one of `error`, `ask`
    refrain.toml:4: `runs.max_restarts` is the number 0; write a whole number from 1 to 1000
    refrain.toml:5: `runs.park_after_ms` is the number -1; write a whole number from 0 to 31622400000
    refrain.toml:7: `journal.snapshot_every` is the text "often"; write a whole number from 0 to 1000000
    "#);
}

#[test]
fn a_wrong_variable_and_a_wrong_flag_are_told_as_faults() {
    let mut place = Place::new("").with("REFRAIN__LIMITS__TIMEOUT", "5").with("REFRAIN__JOURNAL__DURABILITY", "powr");
    place.places.journal = Some("postgres://user:secret@host".into());
    place.places.config = Some("none.toml".into());
    let faults = place.load_from("", Need::NoSources).unwrap_err();
    insta::assert_snapshot!(faults.iter().map(|fault| format!("{fault}\n")).collect::<String>(), @r#"
    --journal: is a PostgreSQL address, which comes with a later release; write `sqlite:PATH`
    environment variable `REFRAIN__JOURNAL__DURABILITY`: is "powr"; did you mean `power`?
    environment variable `REFRAIN__LIMITS__TIMEOUT`: no setting has this name; did you mean `REFRAIN__LIMITS__TIMEOUT_MS`?
    none.toml: there is no such file; correct the path
    "#);
}

#[test]
fn without_sources_there_is_the_demo_and_beside_others_only_when_asked_for() {
    assert_eq!(
        Place::new("").sources(),
        "demo: [\"list_commits\", \"commit_files\", \"list_authors\"] in Some(\"DIR/\")\n"
    );
    let other = "[sources.x]\ntype = \"mcp\"\ncommand = [\"x\"]\n";
    assert_eq!(Place::new(other).sources(), "x: [\"x\"] [] in Some(\"DIR\")\n");
    let both = Place::new(&format!("{other}[sources.repo]\ntype = \"demo\"\ncwd = \"r\"\n"));
    assert!(both.sources().contains("repo: [\"list_commits\", \"commit_files\", \"list_authors\"] in Some(\"DIR/r\")"));
}

#[test]
fn programs_and_folders_are_relative_to_the_file() {
    let place = Place::new(
        r#"
        [sources.a]
        type = "mcp"
        command = ["./bin/server", "./stays"]
        [sources.b]
        type = "mcp"
        command = ["npx"]
        cwd = "sub"
        [sources.c]
        type = "command"
        [sources.c.tools.t]
        command = ["bin/t"]
        "#,
    );
    insta::assert_snapshot!(place.sources(), @r#"
    a: ["DIR/bin/server", "./stays"] [] in Some("DIR")
    b: ["npx"] [] in Some("DIR/sub")
    c: ["t"] in Some("DIR")
    "#);
}

#[test]
fn arguments_are_mended_only_where_the_source_says_so() {
    let config = "[sources.a]\ntype = \"mcp\"\ncommand = [\"x\"]\n[sources.b]\ntype = \"mcp\"\ncommand = [\"x\"]\n\
        coerce_arguments = true\napply_defaults = true\n";
    let config = Place::new(config).config();
    let switches: Vec<_> =
        config.settings.sources.iter().map(|source| (source.coerce_arguments, source.apply_defaults)).collect();
    assert_eq!(switches, [(false, false), (true, true)]);
    assert_eq!(origin(&config, "sources.b.coerce_arguments"), "true from refrain.toml:7");
}

#[test]
fn a_tool_is_made_and_the_rest_is_corrected() {
    let place = Place::new(
        r#"
        [sources.c]
        type = "command"
        include = ["a*"]
        call_idle_timeout_ms = 7
        [sources.c.tools.add]
        command = ["echo", "{n}"]
        input = { properties = { n = { type = "integer" } } }
        output = { format = "lines" }
        effect = "read"
        replay = "safe"
        [sources.c.tools."*"]
        effect = "destructive"
        timeout_ms = 9
        "#,
    );
    let source = place.config().settings.sources.remove(0);
    assert!(source.offers("add") && !source.offers("sub"));
    assert_eq!(source.call_idle_timeout.unwrap().as_millis(), 7);
    let SourceKind::Command(command) = &source.kind else { panic!("{:?}", source.kind) };
    let [tool] = &command.tools[..] else { panic!("{:?}", command.tools) };
    assert_eq!(tool.name(), "add");
    let [(glob, correction)] = &source.overrides[..] else { panic!("{:?}", source.overrides) };
    assert_eq!((glob.as_str(), correction.effect, correction.replay), ("*", Some(Effect::Destructive), None::<Replay>));
    assert_eq!(correction.timeout.unwrap().as_millis(), 9);
}

#[test]
fn a_secret_reaches_its_source_and_is_shown_nowhere() {
    let place = Place::new(
        r#"
        [sources.a]
        type = "mcp"
        command = ["x"]
        env = { PLAIN = "hunter1", VAR = "env:TOKEN", FILE = "file:keys/k", CMD = "cmd:printf hunter4" }
        "#,
    )
    .with("TOKEN", "hunter2")
    .with("PATH", "/usr/bin:/bin");
    place.write("keys/k", "hunter3\n");
    let config = place.config();
    let SourceKind::Mcp(mcp) = &config.settings.sources[0].kind else { panic!() };
    let values: Vec<&str> = mcp.env.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["hunter1", "hunter2", "hunter3", "hunter4"]);
    let shown = serde_json::to_string(&config.rows).unwrap();
    assert!(!shown.contains("hunter1") && !shown.contains("hunter2") && !shown.contains("hunter3"), "{shown}");
    assert_eq!(origin(&config, "sources.a.env.PLAIN"), "\"***\" from refrain.toml:5");
    assert_eq!(origin(&config, "sources.a.env.VAR"), "\"env:TOKEN\" from refrain.toml:5");
}

#[test]
fn a_reference_that_leads_nowhere_takes_only_its_source_along() {
    let place = Place::new(
        r#"
        [sources.a]
        type = "mcp"
        command = ["x"]
        env = { A = "env:NOT_SET", B = "file:missing", C = "cmd:echo secret; exit 3", D = "keyring:x" }
        [sources.b]
        type = "mcp"
        command = ["x"]
        "#,
    );
    insta::assert_snapshot!(place.sources(), @r#"
    a: mcp: `env.A`: the variable `NOT_SET` is not set; set it, or change `env:NOT_SET`; `env.B`: the file of `file:missing` cannot be read: No such file or directory (os error 2); `env.C`: the command of `cmd:echo secret; exit 3` failed with exit status: 3; `env.D`: `keyring:x`: the keyring comes with a later release; use `env:`, `file:` or `cmd:`
    b: ["x"] [] in Some("DIR")
    "#);
}

#[test]
fn a_command_that_needs_no_sources_reads_no_secret() {
    let place = Place::new(
        "[sources.a]\ntype = \"mcp\"\ncommand = [\"x\"]\nenv = { A = \"cmd:echo x | tee read\", B = \"env:NOT_SET\" }\n",
    );
    let config = place.load_from("", Need::NoSources).unwrap();
    assert!(matches!(config.settings.sources[0].kind, SourceKind::Mcp(_)));
    assert!(!place.path("read").exists());
    place.config();
    assert!(place.path("read").exists());
}

#[test]
fn servers_of_agents_are_read_and_what_cannot_work_fails_alone() {
    let place = Place::new("[sources.both]\ntype = \"mcp\"\ncommand = [\"first\"]\n")
        .with_mcp(
            "agent/mcp.json",
            r#"{"other": 1, "mcpServers": {
                "both": {"command": "./second", "args": ["${TOKEN}", "$HOME", "${NONE:-x y}"], "env": {"K": "${TOKEN}", "L": "hunter1"}, "cwd": "w", "alwaysAllow": []},
                "off": {"command": "x", "disabled": true},
                "http": {"type": "http", "url": "https://example.com/mcp"},
                "unset": {"command": "x", "env": {"K": "a${NONE}"}},
                "odd": {"command": "x", "args": "y"},
                "empty": {},
                "none": null
            }}"#,
        )
        .with("TOKEN", "hunter2");
    insta::assert_snapshot!(place.sources(), @r#"
    both: ["DIR/agent/second", "hunter2", "$HOME", "x y"] [("K", "hunter2"), ("L", "hunter1")] in Some("DIR/agent/w")
    http: McpHttp(McpHttpSettings { headers: [], .. })
    unset: mcp: `env.K`: the variable `NONE` is not set; set it, or write `${NONE:-default}`
    odd: mcp: `args` is no list; write a list of texts
    empty: mcp: it has neither `command` nor `url`; write the server's program or address
    none: mcp: it has neither `command` nor `url`; write the server's program or address
    "#);
    let config = place.config();
    assert_eq!(config.notes, ["source `both` is taken from `agent/mcp.json`, which replaces the one before"]);
    assert_eq!(origin(&config, "sources.both.command"), "\"./second\" from agent/mcp.json");
    assert_eq!(origin(&config, "sources.both.env.K"), "\"${TOKEN}\" from agent/mcp.json");
    let shown = serde_json::to_string(&config.rows).unwrap();
    assert!(!shown.contains("hunter") && !shown.contains("first"), "{shown}");
}

#[test]
fn a_file_of_servers_that_is_none_is_told() {
    let told =
        |text: &str| Place::new("").with_mcp("m.json", text).load_from("", Need::Sources).unwrap_err()[0].to_string();
    insta::assert_snapshot!(told("{\n\"mcpServers\": }"), @"m.json:2: this is no JSON: expected value at line 2 column 15");
    insta::assert_snapshot!(told("[]"), @r#"m.json: this file has no `mcpServers` object; give a file as `{"mcpServers": {"NAME": {"command": "…"}}}`"#);
    insta::assert_snapshot!(told(r#"{"mcpServers": {"": {"command": "x"}}}"#), @"m.json: a server in `mcpServers` has an empty name; give it one");
}

#[test]
fn depth_and_size_of_a_file_are_bounded() {
    assert!(faults(&format!("limits = {}", "[".repeat(100_000))).contains("refrain.toml:1"));
    assert!(faults(&"#".repeat(5 << 20)).contains("larger than 4 MiB"));
}

#[test]
fn a_server_is_reached_by_its_address_with_headers_that_are_shown_nowhere() {
    let place = Place::new(
        r#"
        [sources.a]
        type = "mcp"
        url = "https://me:pw@host.example/mcp?key=hunter0"
        headers = { Authorization = "Bearer env:TOKEN", X-Key = "env:TOKEN", X-Plain = "hunter1", X-Team = "Red env:elope" }
        "#,
    )
    .with("TOKEN", "hunter2");
    // A word with a reference behind it is one, whatever else it may have meant: a header that starts so is rare.
    insta::assert_snapshot!(place.sources(), @"a: mcp: `headers.X-Team`: the variable `elope` is not set; set it, or change `env:elope`");
    let place = place.with("elope", "x");
    let config = place.config();
    let SourceKind::McpHttp(http) = &config.settings.sources[0].kind else { panic!() };
    let headers: Vec<String> = http.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(headers, ["Authorization: Bearer hunter2", "X-Key: hunter2", "X-Plain: hunter1", "X-Team: Red x"]);
    assert_eq!(http.url, "https://me:pw@host.example/mcp?key=hunter0");
    let shown = format!("{}{:?}", serde_json::to_string(&config.rows).unwrap(), config.settings.sources);
    assert!(!shown.contains("hunter") && !shown.contains("me:pw"), "{shown}");
    assert_eq!(origin(&config, "sources.a.url"), "\"https://***@host.example/mcp?***\" from refrain.toml:4");
    assert_eq!(origin(&config, "sources.a.headers.Authorization"), "\"Bearer env:TOKEN\" from refrain.toml:5");
    let hide = |text: &str| config.settings.sources[0].secrets.hide(text);
    assert_eq!(hide("no: hunter0 is not hunter1, hunter2"), "no: *** is not ***, ***");
}

#[test]
fn a_server_is_a_program_or_has_an_address_and_not_both() {
    let faults = faults(
        r#"
[sources.a]
type = "mcp"
command = ["x"]
headers = { A = "b" }
[sources.b]
type = "mcp"
url = "host:80"
env = {}
[sources.c]
type = "mcp"
url = "http://host"
headers = { "a b" = "c", D = 5 }
"#,
    );
    insta::assert_snapshot!(faults, @r#"
    refrain.toml:5: `sources.a.headers` is for servers that are reached by `url`; a program gets its secrets through `env`
    refrain.toml:8: `sources.b.url` is no web address; write `https://…`
    refrain.toml:9: `sources.b.env` is for servers that are programs, and this one has a `url`; remove one of them
    refrain.toml:13: `sources.c.headers."a b"` is no name of a header
    refrain.toml:13: `sources.c.headers.D` is the number 5; write a text
    "#);
}

#[test]
fn what_servers_of_agents_are_given_from_elsewhere_is_not_repeated() {
    let place = Place::new("").with_mcp(
        "agent.json",
        r#"{"mcpServers": {
            "near": {"command": "x", "args": ["--token", "${TOKEN}", "${HOME}/data"], "env": {"NOTE": "${NOTE}"}},
            "far": {"type": "http", "url": "http://h/?k=${TOKEN}", "headers": {"Authorization": "Bearer ${TOKEN}", "B": "literally"}},
            "old": {"type": "sse", "url": "http://h/sse"}
        }}"#,
    );
    let place = place.with("TOKEN", "hunter2").with("HOME", "/srv/somebody").with("NOTE", "hunter3");
    let config = place.config();
    let hide = |name: &str, text: &str| {
        config.settings.sources.iter().find(|source| source.name == name).unwrap().secrets.hide(text)
    };
    assert_eq!(hide("near", "hunter2 hunter3 /srv/somebody/data"), "*** *** /srv/somebody/data");
    assert_eq!(hide("far", "hunter2 literally"), "*** ***");
    let shown = serde_json::to_string(&config.rows).unwrap();
    assert!(!shown.contains("hunter") && !shown.contains("literally"), "{shown}");
    let SourceKind::Unusable { reason, .. } = &config.settings.sources.iter().find(|s| s.name == "old").unwrap().kind
    else {
        panic!()
    };
    insta::assert_snapshot!(reason, @"it is of type `sse`, a transport that the protocol has given up; give the address of its streamable HTTP endpoint, with type `http`");
}
