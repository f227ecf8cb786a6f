//! Statistics of measurements, for telling whether one way of doing something is faster than another.
//!
//! The crate is about *times that were measured side by side*: differences of log times in randomised
//! blocks, how large the typical difference is, how sure that is, and when it is enough. It is pure
//! arithmetic. It never reads a clock, a file or the environment, never prints, and the same input gives
//! the same output on every run; whatever is random takes a seed.
//!
//! Three habits hold throughout:
//!
//! * No value is ever dropped. Robustness comes from ranks and medians and not from deleting outliers.
//! * What cannot be computed is `None`, NaN or an infinite interval, as each function says, and never a
//!   panic: an interval that is too ambitious for the number of values is `-inf` to `+inf`.
//! * Differences are meant as natural logarithms of ratios, so that `exp` of a result is a ratio. Nothing
//!   but [`verdict`] depends on that.
//!
//! ```
//! use benchmath::{judge, shift, Verdict};
//!
//! // ln(time of the new version) - ln(time of the old one), one number per block
//! let differences = [0.051, 0.047, 0.049, 0.062, 0.050, 0.046, 0.055, 0.048, 0.053, 0.052];
//! let shift = shift(&differences, 0.05).unwrap();
//! assert!((shift.estimate.exp() - 1.052).abs() < 0.001); // 5.2 % slower
//! let margin = 1.02_f64.ln(); // less than 2 % counts as no difference
//! assert_eq!(judge(shift.low, shift.high, margin), Verdict::Slower);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bias_corrected;
pub mod bisect;
pub mod bootstrap;
pub mod change_points;
pub mod contrasts;
pub mod detectable;
pub mod dip;
pub mod distributions;
pub mod groups;
pub mod growth;
pub mod line_fit;
pub mod looks;
pub mod mann_whitney;
pub mod median_interval;
pub mod ministat;
pub mod multiplicity;
mod pair_sums;
pub mod quantiles;
pub mod random;
pub mod rates;
pub mod ratio_of_means;
pub mod shares;
pub mod signed_rank;
pub mod spearman;
pub mod steady;
pub mod summary;
pub mod t_tests;
pub mod trimmed;
pub mod verdict;

pub use bias_corrected::{BiasCorrected, bias_corrected_interval};
pub use bootstrap::share_interval;
pub use detectable::detectable_effect;
pub use dip::dip;
pub use groups::average_in_groups;
pub use looks::{look_schedule, per_look_alpha};
pub use median_interval::{MedianInterval, median_interval};
pub use quantiles::{mad, median, quantile};
pub use random::SplitMix64;
pub use rates::rates_differ;
pub use signed_rank::{Shift, shift};
pub use spearman::{Correlation, spearman};
pub use summary::{Summary, summarize};
pub use verdict::{Verdict, blocks_needed, is_precise, judge};

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
