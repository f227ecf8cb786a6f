//! How often a claim is false. The benchmath tests hold the procedure on ten models of noise; this holds that the
//! whole way from the question to the verdict keeps what the procedure promises.

use whyslow::analysis::Verdict;
use whyslow::machine::simulated::{Noise, World};
use whyslow::plan::Question;

use crate::common::{Answer, ask};

const SEEDS: u64 = 200;
/// The design promises 5 % over both directions.
const MOST_FALSE: f64 = 0.05;

fn noise(name: &str) -> Noise {
    Noise::all_ten().into_iter().find(|(known, _)| *known == name).unwrap().1
}

/// Whether a pair of equal commands is called different, in wall time and in CPU time.
fn false_claims(noise: Noise, seed: u64) -> [bool; 2] {
    let question = Question { seed, budget_s: Some(16.0), ..ask(&["a", "b"]) };
    let world = World::pair(0.1, 1.0).with_noise(noise).with_seed(seed ^ 0x5eed);
    let answer = Answer::of(world, &question);
    ["wall_s", "cpu_s"].map(|metric| matches!(answer.verdict(metric), Verdict::Slower | Verdict::Faster))
}

#[test]
fn equal_commands_are_called_different_no_more_often_than_promised() {
    let claims: Vec<[bool; 2]> = ["autoregressive", "right tail"]
        .into_iter()
        .flat_map(|name| (0..SEEDS).map(move |seed| false_claims(noise(name), seed)))
        .collect();
    for metric in 0..2 {
        let wrong = claims.iter().filter(|claim| claim[metric]).count();
        let rate = wrong as f64 / claims.len() as f64;
        assert!(rate <= MOST_FALSE, "{wrong} of {} claims are false", claims.len());
    }
}
