//! The arithmetic of ministat, in its original form and in a better one.

use benchmath::distributions::{normal, student};
use benchmath::{quantiles, summary};

use super::super::Options;

/// One set. `None` is what so few values do not tell.
#[derive(Clone, Debug)]
pub struct Vitals<'a> {
    pub values: &'a [f64],
    pub count: usize,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub median: Option<f64>,
    pub mean: Option<f64>,
    pub variance: Option<f64>,
    pub deviation: Option<f64>,
}

impl<'a> Vitals<'a> {
    pub fn of(values: &'a [f64], compat: bool) -> Self {
        let (mean, variance) = if compat { by_sums(values) } else { in_two_passes(values) };
        Vitals {
            values,
            count: values.len(),
            min: values.iter().copied().reduce(f64::min),
            max: values.iter().copied().reduce(f64::max),
            median: if compat { upper_middle(values) } else { quantiles::median(values) },
            mean,
            variance,
            deviation: variance.map(f64::sqrt),
        }
    }
}

fn upper_middle(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The original adds values and squares in the order of the file, and subtracts afterwards.
fn by_sums(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let count = values.len() as f64;
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), v| (sum + v, squares + v * v));
    let mean = (!values.is_empty()).then(|| sum / count);
    let variance = (values.len() > 1).then(|| (squares - sum * sum / count) / (count - 1.0));
    (mean, variance)
}

fn in_two_passes(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let finite = |value: f64| value.is_finite().then_some(value);
    (finite(summary::mean(values)), finite(summary::variance(values)))
}

/// One set against the reference.
#[derive(Clone, Copy, Debug)]
pub struct Relative {
    pub difference: f64,
    pub error: f64,
    pub percent: f64,
    pub percent_error: f64,
    pub pooled: f64,
    pub freedom: f64,
}

impl Relative {
    /// `None` where one of the sets has no deviation.
    pub fn between(reference: &Vitals<'_>, own: &Vitals<'_>, options: &Options) -> Option<Self> {
        let freedom = (own.count + reference.count).checked_sub(2)? as f64;
        let (n1, n2) = (own.count as f64, reference.count as f64);
        let (v1, v2) = (own.variance?, reference.variance?);
        let (m1, m2) = (own.mean?, reference.mean?);
        let pooled = (((n1 - 1.0) * v1 + (n2 - 1.0) * v2) / freedom).sqrt();
        let t = if options.compat { table_t(level(options), freedom) } else { exact_t(options, freedom) };
        let error = t * (pooled * (1.0 / n1 + 1.0 / n2).sqrt());
        let difference = m1 - m2;
        // The scatter of the reference moves the percentage as well as the difference.
        let squares = (n1 - 1.0) * v1 + (n2 - 1.0) * v2 * (m1 / m2) * (m1 / m2);
        let percent_error = if options.compat {
            error * 100.0 / m2
        } else {
            100.0 * t * (squares * (n1 + n2) / (n1 * n2 * freedom)).sqrt() / m2.abs()
        };
        let percent = difference * 100.0 / m2;
        Some(Relative { difference, error, percent, percent_error, pooled, freedom })
    }

    pub fn is_proven(&self) -> bool {
        self.difference.abs() > self.error
    }
}

/// The confidence in per cent, without the dirt of binary fractions.
pub fn level(options: &Options) -> f64 {
    (options.confidence * 1e7).round() / 1e5
}

fn exact_t(options: &Options, freedom: f64) -> f64 {
    student::quantile(0.5 + options.confidence / 2.0, freedom)
}

/// What stands in the original's table: three decimals, the normal quantile above 100 degrees of freedom, and in the
/// column for 99.5 % the values of 99.8 %, six of them with a slip.
fn table_t(level: f64, freedom: f64) -> f64 {
    const SLIPS: [f64; 6] = [4.782, 4.499, 4.296, 4.143, 4.024, 3.929];
    let is_last_column = level == 99.5;
    if is_last_column && (7.0..=12.0).contains(&freedom) {
        return SLIPS[freedom as usize - 7];
    }
    let upper = 0.5 + if is_last_column { 0.499 } else { level / 200.0 };
    let t = if freedom > 100.0 { normal::quantile(upper) } else { student::quantile(upper, freedom) };
    (t * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_of_the_table_is_another_level() {
        for (freedom, t) in
            [(5.0, 5.893), (10.0, 4.143), (20.0, 3.552), (38.0, 3.319), (100.0, 3.174), (101.0, 3.090)]
        {
            assert_eq!(table_t(99.5, freedom), t, "{freedom}");
        }
        let options = Options { confidence: 0.995, ..Options::default() };
        assert!((exact_t(&options, 38.0) - 2.980).abs() < 5e-4);
        assert_eq!(table_t(95.0, 38.0), 2.024);
    }
}
