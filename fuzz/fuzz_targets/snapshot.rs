//! A snapshot with any bytes changed, and any bytes as a snapshot.
#![no_main]

mod shared;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|changes: &[u8]| shared::stranger::snapshot(shared::engine(), changes));
