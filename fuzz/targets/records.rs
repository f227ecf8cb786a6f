//! Rings of perf events.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| whyslow::machine::local::fuzzed::records(bytes));
