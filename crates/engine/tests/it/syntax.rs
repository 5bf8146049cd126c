//! Faults that are found before anything runs.

use refrain_engine::source::{code_frame, prepare};

#[test]
fn a_syntax_error_has_the_place_in_the_text_that_was_sent() {
    for (script, line, column, message) in [
        ("const a = 1;\nconst b = ;\n", 2, 11, "Unexpected token"),
        ("let a = 1;\nlet a = 2;", 1, 5, "already been declared"),
        ("return 'é' + ;", 1, 14, "Unexpected token"),
        ("import fs from 'fs';\nreturn 1", 1, 1, "`import` of \"fs\""),
        ("const a = 1;\nexport { a }", 2, 1, "`export` does not exist here"),
        ("break;", 1, 1, "break"),
    ] {
        let error = prepare(script).unwrap_err();
        assert!(error.message.contains(message), "{script}: {error}");
        assert_eq!((error.position.line, error.position.column), (line, column), "{script}: {error}");
    }
}

#[test]
fn a_code_frame_shows_the_place() {
    let text = "const a = 1;\nconst bb = ;\nreturn a";
    let position = prepare(text).unwrap_err().position;
    assert_eq!(
        code_frame(text, position),
        "  1 | const a = 1;\n> 2 | const bb = ;\n    |            ^\n  3 | return a\n"
    );
}

#[test]
fn text_that_is_no_program_is_refused_without_harm() {
    for script in ["\0", "}{", "`${", "/(/", "a\u{2028}b c", "{{{{".repeat(50).as_str(), "<div/>"] {
        assert!(prepare(script).is_err(), "{script:?}");
    }
    assert!(prepare("1").is_ok());
}

#[test]
fn nesting_of_any_depth_is_an_error_or_a_program_and_never_a_dead_host() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{", "", "}"),
        ("!", "1", ""),
        ("1+", "1", ""),
        ("a=>", "1", ""),
        ("`${", "1", "}`"),
        ("f(", "", ")"),
        ("({a:", "1", "})"),
        ("(function(){", "", "})"),
        ("if(1)", ";", ""),
        ("var a;{", "", "}"),
    ] {
        let levels = (refrain_engine::source::MAX_SCRIPT_BYTES - 10) / (open.len() + close.len());
        let script = format!("{}{middle}{}", open.repeat(levels), close.repeat(levels));
        if let Ok(prepared) = prepare(&script) {
            assert!(prepared.javascript.len() < 4 * script.len(), "{open}: {} bytes", prepared.javascript.len());
            crate::begin(&script, refrain_engine::Limits::default());
        }
    }
    assert!(prepare(&"1+".repeat(200_000)).unwrap_err().message.contains("may have 262144"));
}

#[test]
fn nesting_that_takes_quadratic_time_is_bounded() {
    let labels = |count: usize| (0..count).map(|n| format!("a{n}:")).collect::<String>() + ";";
    for (most, too_many, what) in [
        ("await ".repeat(1000) + "1", "await ".repeat(1001) + "1", "`await` and labels are nested 1001 deep"),
        (labels(1000), labels(1001), "`await` and labels are nested 1001 deep"),
        ("{".repeat(400) + &"}".repeat(400), "{".repeat(1001) + &"}".repeat(1001), "blocks and functions are nested"),
    ] {
        assert!(prepare(&most).is_ok(), "{what}");
        assert!(prepare(&too_many).unwrap_err().message.contains(what), "{what}");
    }
}

#[test]
fn a_text_full_of_angle_brackets_is_read_in_reasonable_time() {
    // As TypeScript this takes minutes.
    assert!(prepare(&format!("return a{}", "<b".repeat(60_000))).is_ok());
    let error = prepare(&format!("const a: number = 1; return a{}", "<b".repeat(1_000))).unwrap_err();
    assert!(error.message.contains("read without types"), "{error}");
}
