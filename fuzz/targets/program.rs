//! Programs and libraries.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| whyslow::machine::local::fuzzed::program(bytes));
