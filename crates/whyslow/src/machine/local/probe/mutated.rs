//! Real records of this machine with what may befall them: bytes and bits changed, numbers replaced by those that overflow,
//! pieces lost, twice, or of another record. For tests of those who read them: random bytes alone never get past the
//! first check.

use std::process::Command;

use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Clone, Debug)]
enum Change {
    Flip(Index, u8),
    Byte(Index, u8),
    /// As an offset, a length or an address.
    Word(Index, u64),
    Cut(Index),
    Remove(Index, usize),
    Twice(Index, usize),
    /// A piece of another one.
    Foreign(Index, Index, usize),
}

/// One of these with a few changes. Most of them are near the beginning, where headers are.
pub fn mutated(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let seeds = if seeds.is_empty() { vec![Vec::new()] } else { seeds };
    let changes = (prop::collection::vec((change(), any::<bool>()), 0..8), any::<Index>(), any::<Index>());
    changes.prop_map(move |(changes, seed, foreign)| {
        let foreign = foreign.get(&seeds);
        let mut bytes = seed.get(&seeds).clone();
        for (change, is_early) in changes {
            apply(&mut bytes, foreign, change, is_early);
        }
        bytes
    })
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<Index>;
    let length = 1..64_usize;
    let word = prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), 0..4096_u64, any::<u64>()];
    prop_oneof![
        4 => (place(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, 1 << bit)),
        2 => (place(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        3 => (place(), word).prop_map(|(at, word)| Change::Word(at, word)),
        1 => place().prop_map(Change::Cut),
        1 => (place(), length.clone()).prop_map(|(at, length)| Change::Remove(at, length)),
        1 => (place(), length.clone()).prop_map(|(at, length)| Change::Twice(at, length)),
        1 => (place(), place(), length).prop_map(|(at, from, length)| Change::Foreign(at, from, length)),
    ]
}

fn apply(bytes: &mut Vec<u8>, foreign: &[u8], change: Change, is_early: bool) {
    const EARLY_BYTES: usize = 1024;
    if bytes.is_empty() {
        return;
    }
    let reach = if is_early { bytes.len().min(EARLY_BYTES) } else { bytes.len() };
    let piece = |of: &[u8], at: usize, length: usize| of[at..(at + length).min(of.len())].to_vec();
    match change {
        Change::Flip(at, bits) => bytes[at.index(reach)] ^= bits,
        Change::Byte(at, byte) => bytes[at.index(reach)] = byte,
        Change::Word(at, word) => {
            let at = at.index(reach) & !7;
            let room = bytes.len().min(at + 8);
            bytes[at..room].copy_from_slice(&word.to_ne_bytes()[..room - at]);
        }
        Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Change::Remove(at, length) => {
            let at = at.index(reach);
            bytes.drain(at..(at + length).min(bytes.len()));
        }
        Change::Twice(at, length) => {
            let at = at.index(reach);
            let piece = piece(bytes, at, length);
            bytes.splice(at..at, piece);
        }
        Change::Foreign(at, from, length) if !foreign.is_empty() => {
            let at = at.index(reach);
            bytes.splice(at..at, piece(foreign, from.index(foreign.len()), length));
        }
        Change::Foreign(..) => {}
    }
}

/// What the kernel says about this process.
pub fn of_this_process(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().filter_map(|name| std::fs::read(format!("/proc/self/{name}")).ok()).collect()
}

/// What the loader says about a start.
pub fn of_the_loader() -> Vec<Vec<u8>> {
    let asked = |what: &str| Command::new("/bin/true").env("LD_DEBUG", what).output();
    let texts = ["libs,statistics", "all"].map(asked);
    let most = |text: Vec<u8>| text.into_iter().take(20_000).collect();
    texts.into_iter().flatten().map(|output| most(output.stderr)).collect()
}

/// Small programs and libraries of this system.
pub fn of_programs() -> Vec<Vec<u8>> {
    let small = |bytes: &Vec<u8>| bytes.len() < 200_000;
    let paths = ["/bin/true", "/bin/echo", "/lib/x86_64-linux-gnu/libdl.so.2", "/bin/sh"];
    paths.iter().filter_map(|path| std::fs::read(path).ok()).filter(small).collect()
}
