//! What two data sets say about each other, the way they were taken considered. Only values that were taken side by
//! side can tell faster from slower: one series after another mistakes a drift of the machine for a difference.

use benchmath::{mann_whitney, signed_rank};

use super::Options;
use super::units::{ratio_range, words};
use crate::analysis::{Verdict, decide};
use crate::model::{DataMetric, DataSet, Schedule};
use crate::report::quantity::percent;

/// Why there is no verdict although there is an interval.
pub const UNSAFE: &str = "not taken side by side; unsafe against drift: cannot say faster or slower";

/// Neighbours in two longer series are averaged until so many values are left, before an interval is computed.
const MOST_UNITS: usize = 2_000;

/// One set against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Typical ratio of the other to the base; `None` where values are zero, negative or missing.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None` with too few values for one.
    pub interval: Option<(f64, f64)>,
    /// Chance of data like these without any difference.
    pub p: Option<f64>,
    pub said: Said,
}

/// What may be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Verdict(Verdict),
    /// Every value of both sets is the same number.
    Identical,
    /// Not taken side by side: there is an interval, and no verdict.
    Unsafe,
    NotEnough,
    /// Zero or negative values have no ratio.
    NoRatio,
}

/// Judges at the two-sided error `alpha`; a difference smaller than the share `margin` counts as none.
pub fn judge(base: &DataSet, other: &DataSet, alpha: f64, margin: f64) -> Judgement {
    let nothing = Judgement { ratio: None, interval: None, p: None, said: Said::NotEnough };
    if base.values.is_empty() || other.values.is_empty() {
        return nothing;
    }
    if is_identical(&base.values, &other.values) {
        return Judgement {
            ratio: Some(1.0),
            interval: Some((1.0, 1.0)),
            p: Some(1.0),
            said: Said::Identical,
        };
    }
    let judgement = if is_paired(base, other) {
        judge_pairs(base, other, alpha, margin)
    } else {
        judge_series(base, other, alpha)
    };
    judgement.unwrap_or(Judgement { said: Said::NoRatio, ..nothing })
}

/// The claim about every set but the first, a line each.
pub fn verdict_lines(sets: &[DataSet], options: &Options) -> Vec<String> {
    let Some((base, others)) = sets.split_first() else { return Vec::new() };
    let alpha = options.alpha_against_base(others.len());
    let line = |other: &DataSet| {
        let judgement = judge(base, other, alpha, options.margin);
        format!("{}: {}", other.name, judgement.sentence(base))
    };
    others.iter().map(line).collect()
}

/// At least two values a side, and no other value than the first: one run each may agree by chance.
fn is_identical(base: &[f64], other: &[f64]) -> bool {
    base.len().min(other.len()) > 1 && base.iter().chain(other).all(|value| *value == base[0])
}

/// Value i of one belongs to value i of the other.
pub fn is_paired(base: &DataSet, other: &DataSet) -> bool {
    let is_interleaved = |set: &DataSet| set.schedule == Schedule::Interleaved;
    is_interleaved(base) && is_interleaved(other) && base.values.len() == other.values.len()
}

fn judge_pairs(base: &DataSet, other: &DataSet, alpha: f64, margin: f64) -> Option<Judgement> {
    let ratio = |(base, other): (&f64, &f64)| Some(logarithm(*other)? - logarithm(*base)?);
    let differences: Vec<f64> = base.values.iter().zip(&other.values).filter_map(ratio).collect();
    let decision = decide(&differences, alpha, margin.ln_1p())?;
    let interval = finite_ratios(decision.low, decision.high);
    let said = if interval.is_some() { Said::Verdict(decision.verdict) } else { Said::NotEnough };
    let p = signed_rank::p_value(&differences);
    Some(Judgement { ratio: finite(decision.estimate.exp()), interval, p, said })
}

fn judge_series(base: &DataSet, other: &DataSet, alpha: f64) -> Option<Judgement> {
    // An interval of this kind is not worth the time of all pairs.
    let are_long = base.values.len().min(other.values.len()) > MOST_UNITS;
    let most = if are_long { MOST_UNITS } else { usize::MAX };
    let (base, other) = (mean_logarithms(&base.values, most)?, mean_logarithms(&other.values, most)?);
    let shift = mann_whitney::shift_between(&base, &other, alpha)?;
    let interval = finite_ratios(shift.low, shift.high);
    let said = if interval.is_some() { Said::Unsafe } else { Said::NotEnough };
    let p = mann_whitney::u_test(&base, &other).map(|test| test.p);
    Some(Judgement { ratio: finite(shift.estimate.exp()), interval, p, said })
}

/// Of neighbours in as many groups of equal size; `None` where a value has no logarithm. One logarithm for each group is
/// enough: factors and powers of two of a product are kept apart, so that it neither overflows nor vanishes.
fn mean_logarithms(values: &[f64], most: usize) -> Option<Vec<f64>> {
    let size = values.len().div_ceil(most).max(1);
    values.chunks(size).map(mean_logarithm).collect()
}

fn mean_logarithm(values: &[f64]) -> Option<f64> {
    if let &[value] = values {
        return logarithm(value);
    }
    let has_logarithm = |value: &f64| *value >= f64::MIN_POSITIVE && value.is_finite();
    if !values.iter().all(has_logarithm) {
        return values
            .iter()
            .map(|&value| logarithm(value))
            .sum::<Option<f64>>()
            .map(|sum| sum / values.len() as f64);
    }
    const FRACTION: u64 = (1 << (f64::MANTISSA_DIGITS - 1)) - 1;
    let mut sum = 0.0;
    // Factors are below two, so that so many are below the largest number.
    for part in values.chunks(1_000) {
        let factor = |value: &f64| f64::from_bits(value.to_bits() & FRACTION | 1.0_f64.to_bits());
        let power = |value: &f64| (value.to_bits() >> (f64::MANTISSA_DIGITS - 1)) as i64 - 1_023;
        let product: f64 = part.iter().map(factor).product();
        let powers: i64 = part.iter().map(power).sum();
        sum += product.ln() + powers as f64 * std::f64::consts::LN_2;
    }
    Some(sum / values.len() as f64)
}

fn logarithm(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| value.ln())
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn finite_ratios(low: f64, high: f64) -> Option<(f64, f64)> {
    finite(low)?;
    finite(low.exp()).zip(finite(high.exp()))
}

impl Judgement {
    /// The claim in one or two words: `slower`, `same`, `undecided`, `unsafe`, ...
    pub fn word(&self, base: &DataSet) -> &'static str {
        let (larger, smaller) = words(&base.metric);
        match self.said {
            Said::Verdict(Verdict::Slower) => larger,
            Said::Verdict(Verdict::Faster) => smaller,
            Said::Verdict(Verdict::Same) => "same",
            Said::Verdict(Verdict::Undecided) => "undecided",
            Said::Identical => "identical",
            Said::Unsafe => "unsafe",
            Said::NotEnough => "not enough runs",
            Said::NoRatio => "no ratio",
        }
    }

    /// `1.23 [1.19, 1.27]`, as far as it is known.
    pub fn range(&self) -> String {
        self.ratio.map_or("?".to_owned(), |ratio| ratio_range(ratio, self.interval))
    }

    /// The claim in words, after the name of the other.
    pub fn sentence(&self, base: &DataSet) -> String {
        self.sentence_about(&base.name, &base.metric)
    }

    /// The same where the base is called otherwise than its data set.
    pub fn sentence_about(&self, name: &str, metric: &DataMetric) -> String {
        let (larger, smaller) = words(metric);
        let range = self.range();
        match self.said {
            Said::Verdict(Verdict::Slower) => {
                format!("{range} times as {} as {name}: {larger}", size_word(larger))
            }
            Said::Verdict(Verdict::Faster) => {
                format!("{} times as {} as {name}: {smaller}", self.inverse().range(), size_word(smaller))
            }
            Said::Verdict(Verdict::Same) => format!("no difference to {name} larger than {}", self.largest()),
            Said::Verdict(Verdict::Undecided) => format!("undecided, {range} times {name}"),
            Said::Identical => format!("identical to {name} in every run"),
            Said::Unsafe => format!("{range} times {name}, but {UNSAFE}"),
            Said::NotEnough => format!("not enough runs for a verdict against {name}"),
            Said::NoRatio => format!("no ratio to {name}, because there are zero or negative values"),
        }
    }

    /// Seen from the other side.
    pub fn inverse(&self) -> Judgement {
        let turned = |ratio: f64| finite(1.0 / ratio);
        let interval = self.interval.and_then(|(low, high)| turned(high).zip(turned(low)));
        Judgement { ratio: self.ratio.and_then(turned), interval, ..*self }
    }

    fn largest(&self) -> String {
        self.interval.map_or("?".to_owned(), |(low, high)| percent(high.max(1.0 / low) - 1.0))
    }
}

fn size_word(word: &str) -> &str {
    match word {
        "slower" => "slow",
        "faster" => "fast",
        "larger" => "large",
        _ => "small",
    }
}
