//! Experiments on a suspected cause. A what-if takes the cause away from the slow side, and where that is possible adds
//! it to the fast side; the runs beside both originals tell how much of the gap goes with it.

use serde::{Deserialize, Serialize};

use super::{End, Environment, Experiment, Missing, Recording, Run};

/// One round of what-ifs, interleaved with both originals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub plan: StagePlan,
    /// Runs of `plan.experiment`, in the order in which they were made.
    #[serde(default)]
    pub runs: Vec<Run>,
    #[serde(default)]
    pub end: Option<End>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StagePlan {
    /// Its variants are the fast original, the slow original, and what the what-ifs add.
    pub experiment: Experiment,
    pub fast: usize,
    pub slow: usize,
    pub what_ifs: Vec<WhatIf>,
    /// Where the round is about how both sides grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<GrowthPlan>,
    /// Where the round is about luck of layout: both sides in each of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<SidePair>,
}

/// The variants of both sides under the same conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidePair {
    pub fast: usize,
    pub slow: usize,
}

/// The same commands with a number in them made smaller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrowthPlan {
    /// The word of the command line that is the size.
    pub word: usize,
    /// What doing nothing takes.
    pub floor: SizePlan,
    /// Smallest first.
    pub sizes: Vec<SizePlan>,
}

/// The variants of both sides at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizePlan {
    pub size: f64,
    pub fast: usize,
    pub slow: usize,
}

/// The experiment on one suspect, or on several together. The numbers are variants of the stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// Names of suspects, such as `env.locale`; several are removed together.
    pub suspects: Vec<String>,
    /// In words: "LC_ALL=C on the slow side".
    pub title: String,
    /// Titles of the differences between the sides that are swapped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// The slow side without the suspect.
    pub removed: usize,
    /// What that is to be compared with: the fast side, with the same edit where the edit may act on it too.
    pub beside: usize,
    /// The fast side with the suspect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    /// What to do about it, where no table of suspects has that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// What it does is the experiment on the suspect; otherwise it only tells how much of the gap a difference carries.
    #[serde(default)]
    pub is_experiment: bool,
    /// What the removed variant must have, or the edit did not take effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// Whether the edit was seen to take effect in the child. `Some`: it was not, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_effect: Option<Missing>,
    /// The user asked for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_asked: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A fact that the child must have, or the edit did not take effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// Beginning of the name of a fact of the environment probe.
    pub fact: String,
    /// Part of its value; empty: the fact is there.
    pub contains: String,
}

/// The fact `malloc_owner` of a program with a malloc inside.
pub const OWN_MALLOC: &str = "the program";

/// What a suspect of the user's own saw at the end of a search for reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomSign {
    pub name: String,
    pub title: String,
    pub advice: String,
    /// As of the suspects of the table.
    pub weight: f64,
    pub signs: Vec<String>,
}

impl Expectation {
    pub fn is_met(&self, environment: &Environment) -> bool {
        let facts = environment.facts.iter().filter(|(name, _)| name.starts_with(&self.fact));
        let is_there = facts
            .into_iter()
            .any(|(name, value)| value.contains(&self.contains) || name.contains(&self.contains));
        is_there && !self.is_passed_over(environment)
    }

    /// An allocator that is there, and that the program does not call: it has one inside.
    pub fn is_passed_over(&self, environment: &Environment) -> bool {
        let is_allocator = self.fact == "library." && self.contains.contains("malloc");
        is_allocator && environment.get("malloc_owner") == Some(OWN_MALLOC)
    }
}

impl Stage {
    /// As a recording of its own, on the same host.
    pub fn recording(&self, whole: &Recording) -> Recording {
        let mut header = whole.header.clone();
        header.experiment = self.plan.experiment.clone();
        let mut recording = Recording::new(header);
        recording.runs = self.runs.clone();
        recording.end = self.end.clone();
        recording
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocator_beside_a_malloc_inside_the_program_does_nothing() {
        let expect = |text: &str| Expectation { fact: "library.".to_owned(), contains: text.to_owned() };
        let facts =
            [("library.libmimalloc.so", "/x"), ("library.libfast.so", "/y"), ("malloc_owner", OWN_MALLOC)];
        let mut environment = Environment::default();
        environment.facts.extend(facts.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(!expect("mimalloc").is_met(&environment));
        assert!(expect("libfast").is_met(&environment), "another library has other work");
        environment.facts.insert("malloc_owner".to_owned(), "/x".to_owned());
        assert!(expect("mimalloc").is_met(&environment));
    }
}
