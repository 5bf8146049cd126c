use serde_json::json;

use super::*;

fn rule(tools: &str, outcome: Permission) -> Rule {
    Rule { tools: Glob::new(tools), effect: None, when: None, outcome, place: "refrain.toml:1".into() }
}

fn when(tools: &str, condition: &str, outcome: Permission) -> Rule {
    Rule { when: Some(Condition::new(condition).unwrap()), ..rule(tools, outcome) }
}

fn of(way: &str, asks: bool) -> Origin {
    Origin { way: way.into(), asks, ..Origin::default() }
}

fn judged(policy: &Policy, origin: &Origin, effect: Effect, args: &Value) -> Verdict {
    let mut tool = Tool::new("git", "push");
    tool.effect = effect;
    policy.judge(&Subject { tool: &tool, args, origin, session: Some("s"), run: None, calls: 3 })
}

#[test]
fn without_rules_effect_way_and_person_decide() {
    use Effect::{Destructive, Read, Write};
    use Permission::{Allow, Ask, Deny};
    let policy = Policy::default();
    for (way, asks, read, write, destructive) in [
        ("cli", false, Allow, Allow, Allow),
        ("direct", false, Allow, Allow, Allow),
        ("mcp", false, Allow, Allow, Deny),
        ("mcp", true, Allow, Allow, Ask),
        ("http", false, Allow, Ask, Deny),
        ("http", true, Allow, Ask, Ask),
    ] {
        let given = [Read, Write, Destructive].map(|effect| {
            let verdict = judged(&policy, &of(way, asks), effect, &Value::Null);
            assert!(verdict.is_default);
            verdict.permission
        });
        assert_eq!(given, [read, write, destructive], "{way} {asks}");
    }
    let yes = Policy { person: Person::Yes, ..Policy::default() };
    assert_eq!(judged(&yes, &of("mcp", false), Destructive, &Value::Null).permission, Ask);
    let no = Policy { person: Person::No, ..Policy::default() };
    let denied = judged(&no, &of("mcp", true), Destructive, &Value::Null);
    assert_eq!(denied.permission, Deny);
    assert!(denied.refusal("git.push").contains("allow it with a rule"), "{}", denied.refusal("git.push"));
}

#[test]
fn the_first_rule_that_fits_decides_and_says_where_it_stands() {
    let only_writes = Rule { effect: Some(Effect::Write), ..rule("git.*", Permission::Ask) };
    let rules = vec![
        rule("mail.*", Permission::Allow),
        when("git.*", "args.force == true", Permission::Deny),
        only_writes,
        rule("*", Permission::Direct),
    ];
    let policy = Policy { rules, ..Policy::default() };
    let check = |effect, args: Value, expect| {
        let verdict = judged(&policy, &of("cli", false), effect, &args);
        assert_eq!((verdict.permission, verdict.who.as_str()), expect, "{args}");
    };
    check(Effect::Write, json!({"force": true}), (Permission::Deny, "rule 2 (refrain.toml:1)"));
    check(Effect::Write, json!({"force": false}), (Permission::Ask, "rule 3 (refrain.toml:1)"));
    check(Effect::Read, json!({"force": false}), (Permission::Direct, "rule 4 (refrain.toml:1)"));
    let mut tool = Tool::new("git", "push");
    tool.approval = Some(Permission::Allow);
    let origin = of("mcp", false);
    let args = json!({"force": true});
    let own = policy.judge(&Subject { tool: &tool, args: &args, origin: &origin, session: None, run: None, calls: 0 });
    assert_eq!((own.permission, own.who.as_str()), (Permission::Allow, "`approval` of `git.push`"));
}

#[test]
fn conditions_see_arguments_caller_session_and_run() {
    let args = json!({"n": 5, "f": 2.5, "big": 1e18, "text": "main", "list": ["a", "b"], "deep": {"x": [1, 2, 3]}});
    let origin = Origin { client: Some("claude 2".into()), ..of("mcp", false) };
    for (condition, holds) in [
        ("args.n == 5 && args.n < 6", true),
        ("args.n < 5.5 && args.f > 2", true),
        ("args.text.startsWith('ma') || args.none", true),
        ("args.text.matches('^m.*n$')", true),
        ("'a' in args.list && !('c' in args.list)", true),
        ("args.list.all(x, size(x) == 1)", true),
        ("args.deep.x.exists(x, x > 2) && args.deep.x.filter(x, x > 1).size() == 2", true),
        ("has(args.none)", false),
        ("session == 's' && caller.way == 'mcp' && caller.client.contains('claude')", true),
        ("run.calls >= 3", true),
        ("run.calls > 3", false),
        ("args.big > 1000000000000", true),
    ] {
        let policy = Policy { rules: vec![when("*", condition, Permission::Deny)], ..Policy::default() };
        let verdict = judged(&policy, &origin, Effect::Write, &args);
        assert_eq!(verdict.permission == Permission::Deny, holds, "{condition}: {verdict:?}");
        assert_eq!(verdict.fix, None, "{condition}");
    }
}

#[test]
fn what_cannot_be_told_is_no_permission() {
    for condition in ["args.none == 1", "args.text > 1", "args.n", "args.list[7] == 1", "1 / (args.n - 5) == 1"] {
        let rules = vec![when("*", condition, Permission::Allow), rule("*", Permission::Allow)];
        let policy = Policy { rules, ..Policy::default() };
        let args = json!({"n": 5, "text": "a", "list": []});
        let verdict = judged(&policy, &of("cli", false), Effect::Read, &args);
        assert_eq!(verdict.permission, Permission::Deny, "{condition}");
        let told = verdict.refusal("git.push");
        assert!(
            told.contains("rule 1 (refrain.toml:1) cannot be judged; correct the condition: "),
            "{condition}: {told}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_condition_is_told_before_it_is_asked() {
    let check = |condition: &str, expect: &str| {
        let told = Condition::new(condition).unwrap_err();
        assert!(told.contains(expect), "{condition}: {told}");
    };
    check("args.n ==", "is no CEL expression: ");
    check("", "is no CEL expression: ");
    check("arg.n == 1", "unknown variable `arg`; there are the variables `args`, `caller`, `run`, `session`");
    check("args.list.any(x, x == 1)", "unknown ");
    check("lower(args.text) == 'a'", "unknown function `lower`");
}

#[test]
fn rules_behind_one_that_always_decides_are_found() {
    let only_reads = Rule { effect: Some(Effect::Read), ..rule("git.*", Permission::Allow) };
    let rules = vec![
        when("*", "args.n == 1", Permission::Ask),
        only_reads.clone(),
        rule("git.*", Permission::Deny),
        only_reads,
        rule("git.push", Permission::Allow),
        rule("mail.*", Permission::Allow),
        rule("*", Permission::Deny),
    ];
    let policy = Policy { rules, ..Policy::default() };
    assert_eq!(policy.unreachable(), [(3, 1), (4, 2)]);
}
