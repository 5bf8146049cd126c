//! Whoever stops reading is no failure.

use crate::place::{Place, Running};

/// Runs `refrain` with a stdout that nobody reads.
#[track_caller]
fn unread(place: &Place, args: &[&str]) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let done = Running::start_with_own_stdout(place.refrain(args).stdout(writer)).end().expect(0);
    assert!(!done.stderr.to_lowercase().contains("broken pipe"), "\n{done}");
}

#[test]
fn a_closed_pipe_ends_with_success_whatever_is_printed() {
    let place = Place::new();
    place.write("script.ts", "for (let n = 0; n < 5000; n++) text('line', n);\nreturn 'x'.repeat(200000);");
    unread(&place, &["run", "script.ts", "--output", "json"]);
    unread(&place, &["run", "script.ts", "--output", "text"]);
    unread(&place, &["tools", "list", "--output", "json"]);
    unread(&place, &["types"]);
    unread(&place, &["runs", "list"]);
    unread(&place, &["--help"]);
}
