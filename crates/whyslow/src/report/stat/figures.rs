//! The figures of one sample.

use benchmath::distributions::student;
use benchmath::{median_interval, summary};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub min: f64,
    pub max: f64,
    pub median: f64,
    /// Of the median, by order statistics; `None` with too few values.
    pub interval: Option<(f64, f64)>,
    pub mean: f64,
    /// Half of Student's interval of the mean; `None` for one value.
    pub mean_error: Option<f64>,
    /// With n - 1; `None` for one value.
    pub deviation: Option<f64>,
}

/// `None` without values, or where one of them is no number.
pub fn figures(values: &[f64], confidence: f64) -> Option<Figures> {
    let median = median_interval(values, confidence)?;
    let deviation = finite(summary::variance(values).sqrt());
    Some(Figures {
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        median: median.estimate,
        interval: finite(median.low).zip(finite(median.high)),
        mean: summary::mean(values),
        mean_error: deviation.and_then(|deviation| error(values.len(), deviation, confidence)),
        deviation,
    })
}

fn error(count: usize, deviation: f64, confidence: f64) -> Option<f64> {
    finite(student_t(count, confidence) * deviation / (count as f64).sqrt())
}

/// Where one more value is to be expected: Student's interval for a single value. `None` below two values.
pub fn prediction(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let count = values.len();
    let deviation = finite(summary::variance(values).sqrt())?;
    let reach = finite(student_t(count, confidence) * deviation * (1.0 + 1.0 / count as f64).sqrt())?;
    let mean = summary::mean(values);
    Some((mean - reach, mean + reach))
}

fn student_t(count: usize, confidence: f64) -> f64 {
    student::quantile(0.5 + confidence / 2.0, count as f64 - 1.0)
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_the_interval_of_student() {
        let two = figures(&[1.0, 2.0], 0.95).unwrap();
        assert_eq!((two.mean, two.median, two.interval), (1.5, 1.5, None));
        assert!((two.mean_error.unwrap() - 6.353).abs() < 5e-4);
        assert_eq!(figures(&[1.0], 0.95).unwrap().mean_error, None);
        assert_eq!(figures(&[], 0.95), None);
    }

    #[test]
    fn one_more_value_scatters_wider_than_the_mean() {
        // t(4) = 2.776445, deviation of 1..5 is 1.581139
        let (low, high) = prediction(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap();
        assert!((high - 3.0 - 2.776_445 * 1.581_139 * 1.2_f64.sqrt()).abs() < 1e-5);
        assert!((3.0 - low - (high - 3.0)).abs() < 1e-12);
        assert_eq!(prediction(&[1.0], 0.95), None);
    }
}
