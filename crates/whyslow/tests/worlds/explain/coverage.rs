//! How often intervals of shares hold the truth, and how often somebody innocent is confirmed. Slow: run with
//! `cargo test --release -p whyslow --test worlds -- --ignored explain::coverage`.

use whyslow::machine::simulated::{Cause, Condition, Effect, Noise};

use super::rows::all;
use super::scene::Scene;

const SEEDS: u64 = 500;
/// Chance that an interval of a share misses.
const MISSES: f64 = 0.01;

/// A locale and a setting of the allocator that multiply: the truth is the logarithm of each factor over that of both.
fn planted(factors: (f64, f64), noise: Noise, seed: u64) -> Scene {
    let causes = vec![
        Cause::new("one", Condition::env_is_set("LC_ALL"), Effect::on_cpu(factors.0)),
        Cause::new("other", Condition::env_is_set("MALLOC_PERTURB_"), Effect::on_cpu(factors.1)),
    ];
    let slow = [("LC_ALL", "en_US.UTF-8"), ("MALLOC_PERTURB_", "165")];
    Scene::of_variables(causes, &slow).with_noise(noise).with_seed(seed)
}

/// More misses than this are not by chance: three standard deviations above the stated rate.
fn most(tries: usize) -> f64 {
    let expected = tries as f64 * MISSES;
    expected + 3.0 * expected.sqrt()
}

#[test]
#[ignore = "slow: 500 investigations"]
fn intervals_of_shares_hold_the_planted_share() {
    let factors: (f64, f64) = (1.5, 1.2);
    let whole = (factors.0 * factors.1).ln();
    let noises = Noise::all_ten();
    let (mut tries, mut misses) = (0, 0);
    for seed in 0..SEEDS {
        let (_, noise) = noises[seed as usize % noises.len()];
        let found = planted(factors, noise, seed).explained();
        for (name, factor) in [("env.locale", factors.0), ("alloc.perturb", factors.1)] {
            let share = found.finding(name).and_then(|finding| finding.share);
            let Some((low, high)) = share.and_then(|share| share.low.zip(share.high)) else { continue };
            let truth = factor.ln() / whole;
            tries += 1;
            misses += usize::from(truth < low || truth > high);
        }
    }
    println!("{misses} of {tries} intervals miss");
    assert!(tries > SEEDS as usize, "most are told: {tries}");
    assert!((misses as f64) <= most(tries), "{misses} of {tries}");
}

#[test]
#[ignore = "slow: 500 investigations"]
fn innocent_ones_are_hardly_ever_confirmed() {
    let (rows, noises) = (all(), Noise::all_ten());
    let mut wrong = Vec::new();
    for seed in 0..SEEDS {
        let row = &rows[seed as usize % rows.len()];
        let scene = if seed % 2 == 0 { row.decoy() } else { row.idle() };
        let (_, noise) = noises[(seed / 7) as usize % noises.len()];
        let found = scene.with_noise(noise).with_seed(seed).explained();
        let others: Vec<&str> = found.confirmed().into_iter().filter(|name| *name != "env.CULPRIT").collect();
        if !others.is_empty() {
            wrong.push(format!("{seed} {} {others:?}", row.suspect));
        }
    }
    println!("{} of {SEEDS} confirm somebody innocent: {wrong:?}", wrong.len());
    assert!((wrong.len() as f64) < SEEDS as f64 * MISSES, "{wrong:?}");
}
