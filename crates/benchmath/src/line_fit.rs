//! A straight line by least squares, with intervals for everything read off it.

use crate::distributions::student;
use crate::summary::mean;

/// The least-squares line of `y` on `x`. Slopes are in units of y per unit of x, the rest in units of y.
///
/// ```
/// let line = benchmath::line_fit::fit(&[0.0, 1.0, 2.0], &[1.0, 2.9, 5.1]).unwrap();
/// assert!((line.slope - 2.05).abs() < 1e-12 && line.r_squared > 0.99);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The slope.
    pub slope: f64,
    /// The value at `x = 0`.
    pub intercept: f64,
    /// The standard error of the slope; NaN for two points.
    pub slope_error: f64,
    /// The standard error of the intercept; NaN for two points.
    pub intercept_error: f64,
    /// The standard deviation of the points around the line (n - 2 in the denominator); NaN for two points.
    pub deviation: f64,
    /// The share of the variance of y that the line explains, 0 to 1; NaN when y is constant.
    pub r_squared: f64,
    count: f64,
    mean_x: f64,
    spread_x: f64,
}

/// Fit the line through the points `(x[i], y[i])`.
///
/// `None` when the lengths differ, there are fewer than two points, a value is not finite, or `x` is constant.
///
/// ```
/// let line = benchmath::line_fit::fit(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]).unwrap();
/// assert_eq!((line.slope, line.intercept, line.r_squared), (2.0, 1.0, 1.0));
/// ```
#[must_use]
pub fn fit(x: &[f64], y: &[f64]) -> Option<Line> {
    let finite = x.iter().chain(y).all(|value| value.is_finite());
    if x.len() != y.len() || x.len() < 2 || !finite {
        return None;
    }
    let (mean_x, mean_y) = (mean(x), mean(y));
    let products =
        |f: fn(f64, f64) -> f64| x.iter().zip(y).map(|(a, b)| f(a - mean_x, b - mean_y)).sum::<f64>();
    let (spread_x, spread_y) = (products(|a, _| a * a), products(|_, b| b * b));
    if spread_x <= 0.0 || !spread_x.is_finite() {
        return None;
    }
    let slope = products(|a, b| a * b) / spread_x;
    let residual = |(a, b): (&f64, &f64)| (b - mean_y) - slope * (a - mean_x);
    let residuals: f64 = x.iter().zip(y).map(residual).map(|value| value * value).sum();
    let count = x.len() as f64;
    let deviation = (residuals / (count - 2.0)).sqrt();
    Some(Line {
        slope,
        intercept: mean_y - slope * mean_x,
        slope_error: deviation / spread_x.sqrt(),
        intercept_error: deviation * (1.0 / count + mean_x * mean_x / spread_x).sqrt(),
        deviation,
        r_squared: 1.0 - residuals / spread_y,
        count,
        mean_x,
        spread_x,
    })
}

impl Line {
    /// The height of the line at `x`.
    ///
    /// ```
    /// let line = benchmath::line_fit::fit(&[1.0, 2.0], &[3.0, 5.0]).unwrap();
    /// assert_eq!(line.at(10.0), 21.0);
    /// ```
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// The interval of the slope at `confidence` (a share, 0.95 and not 95); NaN for two points.
    ///
    /// ```
    /// let line = benchmath::line_fit::fit(&[1.0, 2.0, 3.0], &[3.0, 5.1, 7.0]).unwrap();
    /// let (low, high) = line.slope_interval(0.95);
    /// assert!(low < 2.0 && 2.0 < high);
    /// ```
    #[must_use]
    pub fn slope_interval(&self, confidence: f64) -> (f64, f64) {
        self.around(self.slope, self.slope_error, confidence)
    }

    /// The interval of the intercept; as [`Line::slope_interval`].
    ///
    /// ```
    /// let line = benchmath::line_fit::fit(&[1.0, 2.0, 3.0], &[3.0, 5.1, 7.0]).unwrap();
    /// let (low, high) = line.intercept_interval(0.95);
    /// assert!(low < 1.0 && 1.0 < high);
    /// ```
    #[must_use]
    pub fn intercept_interval(&self, confidence: f64) -> (f64, f64) {
        self.around(self.intercept, self.intercept_error, confidence)
    }

    /// The interval of the height of the line at `x`, that is of the mean of many new values there.
    ///
    /// ```
    /// let line = benchmath::line_fit::fit(&[1.0, 2.0, 3.0], &[3.0, 5.1, 7.0]).unwrap();
    /// let (low, high) = line.interval_at(2.0, 0.95);
    /// assert!(low < line.at(2.0) && line.at(2.0) < high);
    /// ```
    #[must_use]
    pub fn interval_at(&self, x: f64, confidence: f64) -> (f64, f64) {
        self.around(self.at(x), self.deviation * self.leverage(x).sqrt(), confidence)
    }

    /// The interval of one new value at `x`.
    ///
    /// ```
    /// let line = benchmath::line_fit::fit(&[1.0, 2.0, 3.0], &[3.0, 5.1, 7.0]).unwrap();
    /// assert!(line.new_value_interval_at(2.0, 0.95).1 > line.interval_at(2.0, 0.95).1);
    /// ```
    #[must_use]
    pub fn new_value_interval_at(&self, x: f64, confidence: f64) -> (f64, f64) {
        self.around(self.at(x), self.deviation * (1.0 + self.leverage(x)).sqrt(), confidence)
    }

    fn leverage(&self, x: f64) -> f64 {
        1.0 / self.count + (x - self.mean_x).powi(2) / self.spread_x
    }

    fn around(&self, center: f64, error: f64, confidence: f64) -> (f64, f64) {
        let half_width = -student::quantile((1.0 - confidence) / 2.0, self.count - 2.0) * error;
        (center - half_width, center + half_width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_has_no_line() {
        assert_eq!(fit(&[], &[]), None);
        assert_eq!(fit(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(fit(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        assert_eq!(fit(&[1.0, 2.0], &[1.0]), None);
    }

    #[test]
    fn two_points_leave_no_interval() {
        let line = fit(&[1.0, 2.0], &[1.0, 2.0]).unwrap();
        assert!(line.slope_interval(0.95).0.is_nan() && line.deviation.is_nan());
    }
}
