//! Any JSON as a result: what comes to life when touched is in no way different from what was parsed whole.
#![no_main]

mod shared;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &str| shared::stranger::value(shared::engine(), json));
