//! No reader may panic, whatever the bytes. A few thousand cases with a fixed seed; `WHYSLOW_FUZZ_CASES` sets another
//! number for a long run.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use whyslow::peers::{self, Options};

use super::directory;

fn runner(seed: u8) -> TestRunner {
    let cases =
        std::env::var("WHYSLOW_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
}

/// By content and by every form.
fn read_every_way(bytes: &[u8]) {
    read_with(bytes, &Options::default());
    for form in peers::form_names() {
        read_with(bytes, &Options { form: Some(form.to_owned()), ..Options::default() });
    }
    peers::is_recording(bytes);
    peers::criterion::name(bytes);
}

/// A result holds numbers, an error can be shown.
fn read_with(bytes: &[u8], options: &Options) {
    match peers::read("fuzz", bytes, options) {
        Ok(sets) => assert!(sets.iter().all(|set| !set.values.is_empty() || !set.printed.is_empty())),
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
}

/// The fixtures, in order of their names.
fn samples() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    collect(&directory(), &mut files);
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

fn collect(directory: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

#[derive(Clone, Debug)]
enum Mutation {
    Set(Index, u8),
    Remove(Index, usize),
    Repeat(Index, usize),
    Insert(Index, &'static str),
    Cut(Index),
}

/// What breaks readers: ends of things, numbers at the edge, other types.
const WORDS: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ":",
    "\n",
    "\r\n",
    "null",
    "true",
    "NaN",
    "-Infinity",
    "1e999",
    "-0",
    "99999999999999999999",
    "\"\"",
    " wallclock secs (",
    "Benchmark",
    "µ",
    "\u{feff}",
    "<not counted>",
    "0x1p-99999",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Mutation::Set(place, byte)),
        (any::<Index>(), 1..40_usize).prop_map(|(place, length)| Mutation::Remove(place, length)),
        (any::<Index>(), 1..200_usize).prop_map(|(place, length)| Mutation::Repeat(place, length)),
        (any::<Index>(), 0..WORDS.len()).prop_map(|(place, word)| Mutation::Insert(place, WORDS[word])),
        any::<Index>().prop_map(Mutation::Cut),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    if bytes.is_empty() {
        return;
    }
    let end = |start: usize, length: usize| (start + length).min(bytes.len());
    match mutation {
        Mutation::Set(place, byte) => *place.get_mut(bytes) = *byte,
        Mutation::Remove(place, length) => {
            let start = place.index(bytes.len());
            bytes.drain(start..end(start, *length));
        }
        Mutation::Repeat(place, length) => {
            let start = place.index(bytes.len());
            let part = bytes[start..end(start, *length)].to_vec();
            bytes.splice(start..start, part);
        }
        Mutation::Insert(place, word) => {
            let start = place.index(bytes.len());
            bytes.splice(start..start, word.bytes());
        }
        Mutation::Cut(place) => bytes.truncate(place.index(bytes.len())),
    }
}

#[test]
fn random_bytes_do_not_panic() {
    let bytes = proptest::collection::vec(any::<u8>(), 0..300);
    runner(1)
        .run(&bytes, |bytes| {
            read_every_way(&bytes);
            Ok(())
        })
        .unwrap();
}

/// Random words get further into the readers than random bytes.
#[test]
fn random_words_do_not_panic() {
    let words = proptest::collection::vec(0..WORDS.len() + 10, 0..60);
    runner(2)
        .run(&words, |words| {
            let text: String = words.iter().map(|word| WORDS.get(*word).copied().unwrap_or("7 ")).collect();
            read_every_way(text.as_bytes());
            Ok(())
        })
        .unwrap();
}

#[test]
fn mutated_samples_do_not_panic() {
    let samples = samples();
    assert!(samples.len() > 25, "the fixtures are missing");
    let cases = (any::<Index>(), proptest::collection::vec(mutation(), 1..6));
    runner(3)
        .run(&cases, |(sample, mutations)| {
            let mut bytes = sample.get(&samples).clone();
            mutations.iter().for_each(|mutation| mutate(&mut bytes, mutation));
            read_every_way(&bytes);
            Ok(())
        })
        .unwrap();
}
