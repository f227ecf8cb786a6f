//! What a machine calls equal: how small a difference between two programs would be found, judged by the scatter of
//! one program beside itself.

use benchmath::{detectable_effect, quantiles};

use super::Samples;
use crate::model::Recording;

/// Usual demands on an experiment of fixed length: one wrong claim in twenty, and four of five differences found.
const ALPHA: f64 = 0.05;
const POWER: f64 = 0.8;

/// How well one program can be told from itself by one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// Of the metric, over all runs of both.
    pub median: f64,
    pub blocks: usize,
    /// Smallest difference found in 10 blocks, as a share: 0.01 is 1 %.
    pub at_10: Option<f64>,
    pub at_100: Option<f64>,
}

/// Of a program and its twin in the same blocks; `None` without a value of the metric.
pub fn sensitivity(
    recording: &Recording,
    samples: &Samples<'_>,
    (one, twin): (usize, usize),
    metric: &str,
) -> Option<Sensitivity> {
    recording.metric_index(metric)?;
    let values = [samples.values(one, metric), samples.values(twin, metric)].concat();
    let differences = samples.differences(one, twin, metric);
    Some(Sensitivity {
        median: quantiles::median(&values)?,
        blocks: differences.len(),
        at_10: smallest_difference(&differences, 10),
        at_100: smallest_difference(&differences, 100),
    })
}

/// The median over stretches of so many blocks, so that slow changes of the machine count as much as they would in an
/// experiment of that length. From fewer blocks than that, by the root of the number; not from fewer than 10.
fn smallest_difference(differences: &[f64], blocks: usize) -> Option<f64> {
    let of = |stretch: &[f64]| detectable_effect(stretch, ALPHA, POWER).filter(|effect| effect.is_finite());
    let logarithm = if differences.len() >= blocks {
        let stretches: Vec<f64> = differences.chunks_exact(blocks).filter_map(of).collect();
        quantiles::median(&stretches)?
    } else if differences.len() >= 10 {
        of(differences)? * (differences.len() as f64 / blocks as f64).sqrt()
    } else {
        return None;
    };
    Some(logarithm.exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchmath::SplitMix64;

    #[test]
    fn ten_times_the_blocks_find_a_third_of_the_difference() {
        let mut random = SplitMix64::new(3);
        let differences: Vec<f64> = (0..1_000).map(|_| 0.01 * random.normal()).collect();
        let at_10 = smallest_difference(&differences, 10).unwrap();
        let at_100 = smallest_difference(&differences, 100).unwrap();
        assert!((0.007..0.013).contains(&at_10), "{at_10}");
        assert!((0.0025..0.0035).contains(&at_100), "{at_100}");
        let from_few = smallest_difference(&differences[..50], 100).unwrap();
        assert!((0.002..0.004).contains(&from_few), "{from_few}");
    }

    #[test]
    fn too_few_blocks_say_nothing() {
        assert_eq!(smallest_difference(&[0.1; 9], 10), None);
        assert_eq!(smallest_difference(&[], 100), None);
        assert_eq!(smallest_difference(&[0.0; 10], 10), Some(0.0));
    }
}
