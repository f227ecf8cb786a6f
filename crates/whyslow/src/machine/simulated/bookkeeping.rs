//! How a kernel books CPU time as user or system time. The total is exact; with tick accounting the split is what
//! happened to be running at the ticks, which for a run of a few ticks is hardly more than a coin. Whoever
//! makes claims from the split of short runs is to be caught by this. Pure given its generator.

use benchmath::random::SplitMix64;

/// CPU time as the kernel tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Booked {
    pub user_s: f64,
    pub system_s: f64,
}

impl Booked {
    /// `tick_s` is the length of a tick; without one, the split is as exact as the total.
    pub fn split(user_s: f64, system_s: f64, tick_s: Option<f64>, random: &mut SplitMix64) -> Self {
        let total_s = user_s + system_s;
        match tick_s.filter(|&tick_s| tick_s > 0.0 && total_s > 0.0) {
            None => Booked { user_s, system_s },
            Some(tick_s) => {
                let share = sampled_share(total_s / tick_s, system_s / total_s, random);
                Booked { user_s: total_s * (1.0 - share), system_s: total_s * share }
            }
        }
    }
}

/// More ticks than this are not drawn one by one: their share is as good as normal, and a long run must not
/// take long to simulate.
const SINGLE_TICKS: u64 = 4096;

/// Share of the ticks that found the program in the kernel. A run that no tick hits is booked as user time,
/// as Linux does.
fn sampled_share(ticks: f64, share: f64, random: &mut SplitMix64) -> f64 {
    // The first tick comes at any moment of the run.
    let hits = (ticks + random.unit()).floor() as u64;
    match hits {
        0 => 0.0,
        1..=SINGLE_TICKS => {
            let in_kernel = (0..hits).filter(|_| random.unit() < share).count();
            in_kernel as f64 / hits as f64
        }
        _ => {
            let deviation = (share * (1.0 - share) / hits as f64).sqrt();
            (share + deviation * random.normal()).clamp(0.0, 1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system_shares(total_s: f64, runs: usize) -> Vec<f64> {
        let mut random = SplitMix64::new(5);
        let share = |random: &mut SplitMix64| {
            let booked = Booked::split(0.8 * total_s, 0.2 * total_s, Some(0.004), random);
            assert!((booked.user_s + booked.system_s - total_s).abs() < 1e-12);
            booked.system_s / total_s
        };
        (0..runs).map(|_| share(&mut random)).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn without_ticks_the_split_is_exact() {
        let booked = Booked::split(0.3, 0.1, None, &mut SplitMix64::new(1));
        assert_eq!(booked, Booked { user_s: 0.3, system_s: 0.1 });
    }

    #[test]
    fn a_short_run_is_all_user_or_all_system() {
        let shares = system_shares(0.002, 4000);
        assert!(shares.iter().all(|&share| share == 0.0 || share == 1.0));
        // Half of the runs are hit, a fifth of those in the kernel.
        assert!((mean(&shares) - 0.1).abs() < 0.02, "{}", mean(&shares));
    }

    #[test]
    fn a_long_run_is_split_nearly_right() {
        for total_s in [4.0, 400.0] {
            let shares = system_shares(total_s, 100);
            assert!(shares.iter().all(|share| (share - 0.2).abs() < 0.06));
            assert!((mean(&shares) - 0.2).abs() < 0.005);
        }
    }
}
