//! What results looked like is known at the next start.

use crate::place::Place;

const CONFIG: &str = r#"
[sources.shelf]
type = "command"
[sources.shelf.tools.show]
command = ["echo", "{what}"]
input = { type = "object", properties = { what = { type = "string" } }, required = ["what"] }
output = { format = "json" }
effect = "read"
"#;

fn shown(place: &Place) -> String {
    place.run(&["types"]).expect(0).stdout
}

#[test]
fn a_type_that_was_observed_is_declared_at_the_next_start() {
    let place = Place::with_config(CONFIG);
    assert!(shown(&place).contains("}): Promise<unknown>;"), "{}", shown(&place));
    let script = r#"return await tools.shelf.show({ what: '{"id": 7, "secret": "s3cr3t"}' })"#;
    place.report(script, &[]);
    place.report(script, &[]);
    let declared = shown(&place);
    assert!(declared.contains("id: number") && declared.contains("as observed in earlier calls"), "{declared}");
    let told = place.run(&["tools", "show", "shelf.show"]).expect(0).stdout;
    assert!(told.contains("this was observed in 2 results") && told.contains("\"id\""), "{told}");
    let told = place.run(&["tools", "show", "shelf.show", "--output", "json"]).expect(0).json();
    assert_eq!(told["observed"]["calls"], 2, "{told:#}");
    let kept = place.read(".refrain/observed.json");
    assert!(kept.contains("\"calls\":2") && !kept.contains("s3cr3t"), "{kept}");

    // Whatever is wrong with the file, it stops nobody and is replaced.
    place.write(".refrain/observed.json", "no JSON");
    assert!(shown(&place).contains("Promise<unknown>"));
    place.report(script, &[]);
    assert!(shown(&place).contains("id: number"));
}

#[test]
fn nothing_is_observed_where_that_is_switched_off() {
    for (config, journal) in [
        (format!("{CONFIG}[learn]\ntypes = false\n"), "sqlite:runs/j.db"),
        (CONFIG.replace("type = \"command\"", "type = \"command\"\nlearn_types = false"), "sqlite:runs/j.db"),
        (CONFIG.to_owned(), "memory:"),
    ] {
        let place = Place::with_config(&config);
        place.report("return await tools.shelf.show({ what: '[1]' })", &["--journal", journal]);
        let kept = [".refrain/observed.json", "runs/observed.json"].map(|file| place.read(file));
        assert_eq!(kept, ["", ""], "{config}");
    }
}
