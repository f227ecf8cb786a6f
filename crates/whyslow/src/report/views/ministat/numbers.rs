//! The arithmetic of ministat, in its original form and in a better one.

use benchmath::distributions::{normal, student};
use benchmath::summary;

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

/// The same set by exact arithmetic and by that of the original. Both at once, since selecting the middle of a million
/// values costs more than all the rest.
pub struct Both<'a> {
    pub exact: Vitals<'a>,
    pub original: Vitals<'a>,
}

impl<'a> Both<'a> {
    pub fn of(values: &'a [f64]) -> Self {
        let sums = Sums::of(values);
        let middle = middle(values);
        let vitals = |median, (mean, variance): (Option<f64>, Option<f64>)| Vitals {
            values,
            count: values.len(),
            min: (!values.is_empty()).then_some(sums.min),
            max: (!values.is_empty()).then_some(sums.max),
            median,
            mean,
            variance,
            deviation: variance.map(f64::sqrt),
        };
        let has_middle = !(sums.sum.is_nan() && values.iter().any(|value| value.is_nan()));
        let exact_median = middle.filter(|_| has_middle).map(|(lower, upper)| lower / 2.0 + upper / 2.0);
        Both {
            exact: vitals(exact_median, sums.exact(values)),
            original: vitals(middle.map(|(_, upper)| upper), sums.original(values.len())),
        }
    }
}

/// The middle of an odd number of values twice, or the two values around the middle.
fn middle(values: &[f64]) -> Option<(f64, f64)> {
    let mut values = values.to_vec();
    let half = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    let (below, upper, _) =
        (!values.is_empty()).then(|| values.select_nth_unstable_by(half, f64::total_cmp))?;
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| is_even);
    Some((lower.unwrap_or(*upper), *upper))
}

/// What one pass over the values gives.
struct Sums {
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let mut sums = Sums { sum: 0.0, squares: 0.0, min: f64::NAN, max: f64::NAN };
        for &value in values {
            sums.sum += value;
            sums.squares += value * value;
            sums.min = sums.min.min(value);
            sums.max = sums.max.max(value);
        }
        sums
    }

    /// The original adds values and squares in the order of the file, and subtracts afterwards.
    fn original(&self, count: usize) -> (Option<f64>, Option<f64>) {
        let n = count as f64;
        let variance = (self.squares - self.sum * self.sum / n) / (n - 1.0);
        ((count > 0).then(|| self.sum / n), (count > 1).then_some(variance))
    }

    /// A second pass adds the distances from the mean, which loses no digits to a large common level.
    fn exact(&self, values: &[f64]) -> (Option<f64>, Option<f64>) {
        let finite = |value: f64| value.is_finite().then_some(value);
        let n = values.len() as f64;
        let rough = self.sum / n;
        if rough.is_infinite() {
            // The sum may overflow where the mean does not.
            return (finite(summary::mean(values)), finite(summary::variance(values)));
        }
        let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), value| {
            let distance = value - rough;
            (sum + distance, squares + distance * distance)
        });
        let variance = (squares - sum * sum / n) / (n - 1.0);
        (finite(rough + sum / n), finite(variance))
    }
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
