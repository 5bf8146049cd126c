//! One sandbox used in any order, with any texts.
#![no_main]

mod shared;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|steps: &[u8]| shared::stranger::misuse(shared::engine(), steps));
