//! From what is to be tried to a round of runs: both originals and every variant that the what-ifs need, each once in a
//! block.

use std::path::Path;

use super::differences::{Difference, Towards, differences, swapped};
use super::suspects::{Idea, Mirror};
use crate::model::{
    ByteText, Design, Edit, Expectation, Experiment, Factor, FailurePolicy, Level, Recording, Role, RunCount,
    StagePlan, Variant, WhatIf,
};

const ORIGINALS: usize = 2;
const WRITES_NO_BYTECODE: &str = "PYTHONDONTWRITEBYTECODE";
const BYTECODE_FOLDER: &str = "PYTHONPYCACHEPREFIX";

/// Something to try.
#[derive(Clone, Debug)]
pub struct Trial {
    pub suspects: Vec<String>,
    pub title: String,
    /// Titles.
    pub differences: Vec<String>,
    pub advice: String,
    pub is_experiment: bool,
    pub expect: Option<Expectation>,
    /// Edits of the whole level.
    pub removed: Vec<Edit>,
    pub beside: Option<Vec<Edit>>,
    pub added: Option<Vec<Edit>>,
}

/// The two originals.
pub struct Originals<'a> {
    pub fast: &'a Variant,
    pub slow: &'a Variant,
    /// Edits that make them.
    pub fast_edits: Vec<Edit>,
    pub slow_edits: Vec<Edit>,
    scratch: Option<&'a Path>,
}

/// The first of many differences, and how many there are.
fn in_few_words(titles: &[String]) -> String {
    const MOST: usize = 4;
    match titles {
        [first, second, rest @ ..] if titles.len() > MOST => {
            format!("{first} and {second} and {} more", rest.len())
        }
        _ => titles.join(" and "),
    }
}

impl<'a> Originals<'a> {
    pub fn new(
        recording: &Recording,
        variants: &'a [Variant],
        (fast, slow): (usize, usize),
        scratch: Option<&'a Path>,
    ) -> Originals<'a> {
        let edits = |variant: &Variant| edits_of(&recording.header.experiment, variant);
        let (fast, slow) = (&variants[fast], &variants[slow]);
        Originals { fast, slow, fast_edits: edits(fast), slow_edits: edits(slow), scratch }
    }

    /// These differences swapped, on the slow side to be rid of them and on the fast side to have them.
    pub fn swap(&self, which: &[&Difference], suspects: Vec<String>, is_experiment: bool) -> Trial {
        let titles: Vec<String> = which.iter().map(|difference| difference.title()).collect();
        Trial {
            suspects,
            title: format!("{} as on the fast side", in_few_words(&titles)),
            differences: titles,
            advice: String::new(),
            is_experiment,
            expect: None,
            removed: self.kept_apart(swapped(&self.slow_edits, self.slow, self.fast, which, Towards::Fast)),
            beside: None,
            added: Some(self.kept_apart(swapped(
                &self.fast_edits,
                self.fast,
                self.slow,
                which,
                Towards::Slow,
            ))),
        }
    }

    /// Python that may write its bytecode again would leave it in the user's directories, and the slow side would be slow
    /// no longer.
    fn kept_apart(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        let all = differences(self.fast, self.slow);
        let is_about_it = all.iter().any(|one| one.is_variable(WRITES_NO_BYTECODE));
        let Some(scratch) = self.scratch.filter(|_| is_about_it && writes_bytecode(&edits)) else {
            return edits;
        };
        let folder = ByteText(scratch.as_os_str().as_encoded_bytes().to_vec());
        edits.push(Edit::SetEnv(BYTECODE_FOLDER.into(), folder));
        edits
    }

    pub fn try_idea(&self, idea: &Idea, suspect: &str) -> Trial {
        let with = |edits: &[Edit], more: &[Edit]| edits.iter().chain(more).cloned().collect::<Vec<_>>();
        Trial {
            suspects: vec![suspect.to_owned()],
            title: idea.title.clone(),
            differences: Vec::new(),
            advice: String::new(),
            is_experiment: true,
            expect: idea.expect.clone(),
            removed: with(&self.slow_edits, &idea.slow),
            beside: (idea.fast == Mirror::Same).then(|| with(&self.fast_edits, &idea.slow)),
            added: None,
        }
    }
}

/// As far as these edits say.
fn writes_bytecode(edits: &[Edit]) -> bool {
    let set = edits.iter().rev().find_map(|edit| match edit {
        Edit::SetEnv(name, value) if *name == WRITES_NO_BYTECODE.into() => Some(value.0.is_empty()),
        Edit::UnsetEnv(name) if *name == WRITES_NO_BYTECODE.into() => Some(true),
        _ => None,
    });
    set.unwrap_or(true)
}

/// The edits that make a variant, of all factors.
fn edits_of(experiment: &Experiment, variant: &Variant) -> Vec<Edit> {
    let levels = experiment.factors.iter().zip(&variant.levels);
    levels.flat_map(|(factor, &level)| factor.levels[level].edits.clone()).collect()
}

/// A round with so many blocks.
pub fn plan(recording: &Recording, originals: &Originals<'_>, trials: &[Trial], blocks: usize) -> StagePlan {
    let mut levels = vec![
        Level { name: "fast".to_owned(), edits: originals.fast_edits.clone() },
        Level { name: "slow".to_owned(), edits: originals.slow_edits.clone() },
    ];
    let what_ifs = trials
        .iter()
        .map(|trial| WhatIf {
            suspects: trial.suspects.clone(),
            title: trial.title.clone(),
            differences: trial.differences.clone(),
            advice: trial.advice.clone(),
            is_experiment: trial.is_experiment,
            expect: trial.expect.clone(),
            removed: place(&mut levels, "removed", &trial.removed),
            beside: trial.beside.as_ref().map_or(0, |edits| place(&mut levels, "beside", edits)),
            added: trial.added.as_ref().map(|edits| place(&mut levels, "added", edits)),
            no_effect: None,
            is_asked: false,
        })
        .collect();
    StagePlan {
        experiment: experiment(recording, levels, blocks),
        fast: 0,
        slow: 1,
        what_ifs,
        growth: None,
        layouts: Vec::new(),
    }
}

/// The level with these edits; a new one if there is none yet. The originals are not taken: a swap that makes the other
/// side again is measured by itself, or its share would be certain by definition.
fn place(levels: &mut Vec<Level>, name: &str, edits: &[Edit]) -> usize {
    if let Some(known) = levels.iter().skip(ORIGINALS).position(|level| level.edits == edits) {
        return known + ORIGINALS;
    }
    levels.push(Level { name: format!("{name} {}", levels.len()), edits: edits.to_vec() });
    levels.len() - 1
}

fn experiment(recording: &Recording, levels: Vec<Level>, blocks: usize) -> Experiment {
    let original = &recording.header.experiment;
    let stage = recording.stages.len() as u64;
    Experiment {
        name: format!("what if, round {}", stage + 1),
        workload: original.workload.clone(),
        factors: vec![Factor { name: "what if".to_owned(), levels, role: Role::WhatIf }],
        metrics: original.metrics.clone(),
        asks_why: true,
        is_joined: false,
        design: Design {
            runs: RunCount::Exactly(blocks),
            warmup: 1,
            seed: original.design.seed.wrapping_add(stage + 1),
            base: 0,
            failures: FailurePolicy::CountAll,
            ..original.design.clone()
        },
    }
}
