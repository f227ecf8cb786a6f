//! Samples that somebody else took, compared: which belongs to which, what each pair says, and what it must not say.
//! [`study`] finds that out once; [`compose`], [`json`], [`csv`] and [`markdown`] only write it down.

mod arrange;
mod compose;
mod figures;
mod json;
mod notes;
mod tables;

pub use compose::{compose, compose_quietly};
pub use figures::{Figures, figures, prediction};
pub use json::json;
pub use tables::{csv, markdown};

use std::cell::OnceCell;

use super::views::{Judgement, Options, Said, is_paired, judge};
use crate::model::{DataSet, Schedule};
use arrange::{Group, arrange, common_folder};

/// Everything that the samples say.
pub struct Study<'a> {
    pub sets: Vec<Described<'a>>,
    pub groups: Vec<Compared>,
    pub confidence: f64,
    pub margin: f64,
    /// How much of the names of the files is a folder that all are in.
    folder: usize,
}

/// A sample with its figures, which are only computed for who wants to see them.
pub struct Described<'a> {
    pub set: &'a DataSet,
    confidence: f64,
    known: OnceCell<Option<Figures>>,
}

impl Described<'_> {
    /// `None` without values, or where one of them is no number.
    pub fn figures(&self) -> Option<Figures> {
        *self.known.get_or_init(|| figures(&self.set.values, self.confidence))
    }
}

/// Samples of one metric that have a base in common: a sample, or a file.
pub struct Compared {
    pub layout: Layout,
    pub pairs: Vec<Pair>,
    /// Names that only one of the two files has.
    pub left_out: Vec<String>,
    /// Over the names that both files have.
    pub geometric_mean: Option<GeometricMean>,
    /// Confidence of each interval, so that all together have that of the study.
    pub confidence_each: f64,
}

/// Places of sets in the study.
pub enum Layout {
    /// Each against the first.
    Series { places: Vec<usize>, names: Vec<String> },
    /// Name by name, these two files.
    Files { base: String, other: String },
}

pub struct Pair {
    pub name: String,
    pub base: usize,
    pub other: usize,
    pub judgement: Judgement,
    pub is_paired: bool,
}

/// The ratios of medians of several rows in one number.
#[derive(Clone, Debug, PartialEq)]
pub struct GeometricMean {
    pub ratio: f64,
    pub rows: usize,
    /// Names of both files whose medians have no ratio.
    pub without: Vec<String>,
}

impl Pair {
    /// How both were taken, or the worse of the two.
    pub fn schedule(&self, study: &Study) -> Schedule {
        let of = |place: usize| study.sets[place].set.schedule;
        match (of(self.base), of(self.other)) {
            (Schedule::Interleaved, Schedule::Interleaved) => Schedule::Interleaved,
            (Schedule::Unknown, _) | (_, Schedule::Unknown) => Schedule::Unknown,
            _ => Schedule::Blocked,
        }
    }

    /// The other median over that of the base, less one: -1 is a drop to zero.
    pub fn change_of_medians(&self, study: &Study) -> Option<f64> {
        let median = |place: usize| study.sets[place].figures().map(|figures| figures.median);
        let (base, other) = median(self.base).zip(median(self.other))?;
        Some((other - base) / base.abs()).filter(|change| change.is_finite())
    }

    pub fn is_unsafe(&self) -> bool {
        self.judgement.said == Said::Unsafe
    }
}

impl Study<'_> {
    /// The name of a file as far as it differs from the others.
    fn short(&self, file: &str) -> String {
        super::printable(&file[self.folder..])
    }

    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.groups.iter().flat_map(|group| &group.pairs)
    }
}

/// Compares what can be compared. Each metric has the error for itself, divided among its comparisons.
pub fn study<'a>(sets: &'a [DataSet], options: &Options) -> Study<'a> {
    let describe = |set| Described { set, confidence: options.confidence, known: OnceCell::new() };
    let mut study = Study {
        sets: sets.iter().map(describe).collect(),
        groups: Vec::new(),
        confidence: options.confidence,
        margin: options.margin,
        folder: common_folder(sets),
    };
    for groups in arrange(sets, study.folder) {
        let comparisons = groups.iter().map(|group| group.pairs.len()).sum();
        let alpha = options.alpha_against_base(comparisons);
        let compared: Vec<Compared> =
            groups.into_iter().map(|group| compare(&study, group, alpha, options.margin)).collect();
        study.groups.extend(compared);
    }
    study
}

fn compare(study: &Study, group: Group, alpha: f64, margin: f64) -> Compared {
    let pair = |(name, base, other): (String, usize, usize)| {
        let (base_set, other_set) = (study.sets[base].set, study.sets[other].set);
        let judgement = judge(base_set, other_set, alpha, margin);
        Pair { name, base, other, judgement, is_paired: is_paired(base_set, other_set) }
    };
    let pairs: Vec<Pair> = group.pairs.into_iter().map(pair).collect();
    let is_by_file = matches!(group.layout, Layout::Files { .. });
    let geometric_mean = if is_by_file { geometric_mean(study, &pairs) } else { None };
    Compared {
        layout: group.layout,
        pairs,
        left_out: group.left_out,
        geometric_mean,
        confidence_each: 1.0 - alpha,
    }
}

/// Of more than one row; rows with a median that is not above zero have no logarithm.
fn geometric_mean(study: &Study, pairs: &[Pair]) -> Option<GeometricMean> {
    let median = |place: usize| study.sets[place].figures().map(|figures| figures.median);
    let logarithm = |pair: &Pair| {
        let (base, other) = median(pair.base).zip(median(pair.other))?;
        (base > 0.0 && other > 0.0).then(|| (other / base).ln()).filter(|log| log.is_finite())
    };
    let logarithms: Vec<f64> = pairs.iter().filter_map(logarithm).collect();
    let without = pairs.iter().filter(|pair| logarithm(pair).is_none()).map(|pair| pair.name.clone());
    let ratio = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    let is_mean = logarithms.len() > 1;
    is_mean.then(|| GeometricMean { ratio, rows: logarithms.len(), without: without.collect() })
}
