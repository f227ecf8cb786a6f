//! Where every random number of a simulated machine comes from. No generator is kept between draws, so that
//! one draw more or less in one place never shifts the draws in another.
//!
//! What the machine does (noise, load) is drawn from the seed and the number of the run on the machine,
//! whichever program runs then: it is weather. What a program does (failures, bookkeeping, memory) is drawn
//! from the seed, its name and its own run number, so a program that is added to a world leaves the others
//! exactly as they were.

use benchmath::random::SplitMix64;

/// What the numbers are for; each purpose has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Noise,
    Load,
    Failure,
    Bookkeeping,
    Memory,
}

/// The numbers of one run of the machine.
pub fn of_machine(seed: u64, purpose: Purpose, run: usize) -> SplitMix64 {
    chained(&[seed, purpose as u64, run as u64])
}

/// The numbers of one run of one program.
pub fn of_program(seed: u64, purpose: Purpose, name: &[u8], run: usize) -> SplitMix64 {
    let name = name.iter().fold(name.len() as u64, |hash, &byte| mixed(hash ^ u64::from(byte)));
    chained(&[seed, purpose as u64, name, run as u64])
}

/// The parts are hashed one after the other and not added up: generators whose states differ by a multiple of
/// the increment would give the same sequence, only shifted.
fn chained(parts: &[u64]) -> SplitMix64 {
    SplitMix64::new(parts.iter().fold(0, |hash, &part| mixed(hash ^ part)))
}

fn mixed(state: u64) -> u64 {
    SplitMix64::new(state).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_address_gives_the_same_numbers_and_another_gives_others() {
        let first = |seed, purpose, run| of_machine(seed, purpose, run).next_u64();
        assert_eq!(first(1, Purpose::Noise, 5), first(1, Purpose::Noise, 5));
        assert_ne!(first(1, Purpose::Noise, 5), first(2, Purpose::Noise, 5));
        assert_ne!(first(1, Purpose::Noise, 5), first(1, Purpose::Load, 5));
        assert_ne!(first(1, Purpose::Noise, 5), first(1, Purpose::Noise, 6));
    }

    #[test]
    fn programs_have_streams_of_their_own() {
        let first = |name: &[u8]| of_program(1, Purpose::Failure, name, 1).next_u64();
        assert_eq!(first(b"a"), first(b"a"));
        assert_ne!(first(b"a"), first(b"b"));
    }

    #[test]
    fn neighbouring_runs_are_uncorrelated() {
        let draw = |run| of_machine(3, Purpose::Noise, run).normal();
        let product: f64 = (0..4000).map(|run| draw(run) * draw(run + 1)).sum();
        assert!((product / 4000.0).abs() < 0.05, "{product}");
    }
}
