//! One command by itself: how well its median is known, and whether that is enough to stop.

use benchmath::median_interval::{inflation, median_interval_of_series};
use benchmath::{quantiles, signed_rank};

use super::comparisons::outlook;
use super::looks::paid_for;
use super::{Forecast, Samples};
use crate::model::{Looks, Recording, Unit};

/// From here on it is told that neighbouring runs resemble each other: the interval is 1.4 times as wide for that.
const INFLATION_TOLD_FROM: f64 = 2.0;

/// What is known of the only command, by the metric that decides when to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    pub metric: String,
    pub unit: Unit,
    /// Runs that gave a value.
    pub runs: usize,
    pub median: f64,
    /// The interval holds whatever made the measuring stop; `None` with too few runs.
    pub interval: Option<(f64, f64)>,
    /// Between them lies half of the runs.
    pub quartiles: (f64, f64),
    /// Half of the interval over the median, as a share; `None` without an interval, or where the median is 0.
    pub half_width: Option<f64>,
    /// At most the margin.
    pub is_narrow: bool,
    /// Neighbouring runs resemble each other; the interval is widened for that.
    pub is_correlated: bool,
    /// Set where it is not narrow.
    pub forecast: Option<Forecast>,
}

/// `None` where several are compared, and where no run gave a value of the metric.
pub fn alone(recording: &Recording, samples: &Samples, variants: usize, looks: &Looks) -> Option<Alone> {
    let design = &recording.header.experiment.design;
    let metric = &recording.header.experiment.metrics[recording.metric_index(&design.leading)?];
    if variants != 1 {
        return None;
    }
    let values = samples.values(0, &metric.name);
    let found = median_interval_of_series(&values, 1.0 - looks.alpha_each)?;
    let interval = (found.low.is_finite() && found.high.is_finite()).then_some((found.low, found.high));
    let half_width = interval.and_then(|ends| half_width(found.estimate, ends));
    let is_narrow = half_width.is_some_and(|half_width| half_width <= design.margin);
    let needed = || match half_width {
        Some(half_width) => values.len() as f64 * (half_width / design.margin).powi(2),
        None if interval.is_none() => signed_rank::fewest_blocks(looks.alpha_each) as f64,
        None => f64::INFINITY,
    };
    Some(Alone {
        metric: metric.name.clone(),
        unit: metric.unit,
        runs: values.len(),
        median: found.estimate,
        interval,
        quartiles: (quantiles::quantile(&values, 0.25)?, quantiles::quantile(&values, 0.75)?),
        half_width,
        is_narrow,
        is_correlated: inflation(&values) > INFLATION_TOLD_FROM,
        forecast: (!is_narrow)
            .then(|| outlook(needed(), values.len(), paid_for(design, looks, samples, variants))),
    })
}

/// An interval without width is exact, also around 0.
fn half_width(median: f64, (low, high): (f64, f64)) -> Option<f64> {
    if low == high {
        return Some(0.0);
    }
    (median != 0.0).then(|| (high - low) / 2.0 / median.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_shares_of_the_median_and_nothing_of_0() {
        assert_eq!(half_width(2.0, (1.9, 2.1)).map(|width| (width * 1e6).round()), Some(50_000.0));
        assert_eq!(half_width(-2.0, (-2.5, -1.5)), Some(0.25));
        assert_eq!(half_width(0.0, (0.0, 0.0)), Some(0.0));
        assert_eq!(half_width(0.0, (0.0, 1.0)), None);
    }
}
