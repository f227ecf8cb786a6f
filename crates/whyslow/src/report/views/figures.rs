//! The figures that hyperfine gives for a list of values, for its view and for the files that it writes.

/// Mean and deviation and what goes with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub count: usize,
    pub mean: f64,
    /// Of single values, with n - 1; `None` for one value.
    pub deviation: Option<f64>,
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Figures {
    /// `None` without a value.
    pub fn of(values: &[f64]) -> Option<Self> {
        let summary = benchmath::summarize(values)?;
        Some(Figures {
            count: summary.count,
            mean: summary.mean,
            deviation: summary.deviation.is_finite().then_some(summary.deviation),
            median: summary.median,
            min: summary.min,
            max: summary.max,
        })
    }
}
