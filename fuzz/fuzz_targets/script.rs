//! Any text as a script: read, and run if it is one.
#![no_main]

mod shared;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| shared::stranger::script(shared::engine(), text));
