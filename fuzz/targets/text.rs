//! What other programs say about themselves and others.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| whyslow::machine::local::fuzzed::text(bytes));
