//! Suspects that users write themselves, in TOML: what must be seen for them, what to try, and what to say. Text in, suspects
//! out; nothing in here reads a file. docs/explain-your-own.md describes the form.

mod check;
mod written;

use super::case::{Case, Side};
use super::diagnosis::{LEAST_SHARE, main_case};
use super::pair;
use super::suspects::{
    Claim, Expectation, Idea, Mirror, Suspicion, base_name, more_in_functions, program, seconds,
};
use crate::analysis::analyze;
use crate::model::{CustomSign, Edit, Recording};
use crate::plan;

/// Where nothing can be priced: the user who wrote it wants it tried.
const WEIGHT: f64 = 0.5;

/// A suspect of the user's own, beside those of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomSuspect {
    pub name: String,
    pub title: String,
    pub about: String,
    /// What to do about it.
    pub advice: String,
    trigger: Trigger,
    experiment: Option<Experiment>,
}

/// What must be seen; everything that is given.
#[derive(Clone, Debug, PartialEq, Default)]
struct Trigger {
    /// File names of programs, one of which the slow side starts.
    programs: Vec<String>,
    variable_set: Option<String>,
    variable_differs: Option<String>,
    metric: Option<MetricTrigger>,
    function: Option<FunctionTrigger>,
}

#[derive(Clone, Debug, PartialEq)]
struct MetricTrigger {
    name: String,
    /// The slow side has so much more.
    more_than: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct FunctionTrigger {
    contains: String,
    /// Time in it has at least this part of the gap.
    share: f64,
}

/// What takes the suspect away.
#[derive(Clone, Debug, PartialEq)]
struct Experiment {
    edits: Vec<Edit>,
    /// Whether the fast side gets the same edits.
    is_on_both: bool,
    expect: Option<Expectation>,
}

/// What is wrong with the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct CustomError {
    pub line: usize,
    pub what: String,
    pub remedy: String,
}

/// Says what edits cannot be made, and the remedy.
pub type EditCheck<'a> = &'a dyn Fn(&[Edit]) -> Result<(), (String, String)>;

/// All suspects of a text; the first mistake ends it.
pub fn parse(text: &str, check_edits: EditCheck<'_>) -> Result<Vec<CustomSuspect>, CustomError> {
    check::suspects(text, check_edits)
}

/// What the signs so far add up to.
#[derive(Default)]
struct Seen {
    signs: Vec<String>,
    weight: Option<f64>,
    claim: Option<Claim>,
}

impl CustomSuspect {
    /// How strongly the case points at it; `None`: something that it waits for is not there, or was not looked at.
    pub fn look(&self, case: &Case<'_>) -> Option<Suspicion> {
        let mut seen = Seen::default();
        self.trigger.programs(case, &mut seen)?;
        self.trigger.variables(case, &mut seen)?;
        self.trigger.metric(case, &mut seen)?;
        self.trigger.function(case, &mut seen)?;
        let weight = seen.weight.unwrap_or(WEIGHT);
        let mut suspicion = match (seen.claim, &self.experiment) {
            (None, None) => Suspicion::located(case, weight, seen.signs),
            (claim, _) => {
                let claims = claim.into_iter().collect();
                Suspicion { weight, signs: seen.signs, claims, ideas: Vec::new() }
            }
        };
        suspicion.ideas.extend(self.experiment.as_ref().map(Experiment::idea));
        Some(suspicion)
    }
}

/// What those that point at something say of a recording with a difference to explain.
pub fn signs(recording: &Recording, suspects: &[CustomSuspect]) -> Vec<CustomSign> {
    if suspects.is_empty() {
        return Vec::new();
    }
    let Some(found) = pair::find(recording, &analyze(recording)).filter(|found| found.is_real) else {
        return Vec::new();
    };
    let case = main_case(recording, &plan::variants(&recording.header.experiment), &found);
    let sign = |suspect: &CustomSuspect| {
        let seen = suspect.look(&case).filter(|seen| seen.weight > LEAST_SHARE)?;
        let CustomSuspect { name, title, advice, .. } = suspect.clone();
        Some(CustomSign { name, title, advice, weight: seen.weight, signs: seen.signs })
    };
    suspects.iter().filter_map(sign).collect()
}

impl Trigger {
    fn programs(&self, case: &Case<'_>, seen: &mut Seen) -> Option<()> {
        if self.programs.is_empty() {
            return Some(());
        }
        let started = programs(&case.slow);
        let found = self.programs.iter().find(|wanted| started.contains(wanted))?;
        seen.signs.push(format!("the slow side runs {found}"));
        Some(())
    }

    /// A variable that differs is the experiment itself: swapping it changes nothing else.
    fn variables(&self, case: &Case<'_>, seen: &mut Seen) -> Option<()> {
        if let Some(name) = &self.variable_set {
            let value = case.slow.env(name)?;
            seen.signs.push(format!("{name} is set to {value:?}"));
        }
        if let Some(name) = &self.variable_differs {
            let (index, difference) = case.variable(name)?;
            seen.signs.push(difference.title());
            seen.claim = Some(Claim { difference: index, weight: 1.0, is_experiment: true });
        }
        Some(())
    }

    fn metric(&self, case: &Case<'_>, seen: &mut Seen) -> Option<()> {
        let Some(MetricTrigger { name, more_than }) = &self.metric else { return Some(()) };
        let more = case.more(|side| side.median(name)).filter(|more| more > more_than)?;
        seen.signs.push(format!("{name}: {more:.6} more"));
        Some(())
    }

    fn function(&self, case: &Case<'_>, seen: &mut Seen) -> Option<()> {
        let Some(FunctionTrigger { contains, share }) = &self.function else { return Some(()) };
        let more = more_in_functions(case, &[contains])?;
        let found = case.share(more);
        if found < *share {
            return None;
        }
        let sign = format!("{} more in {contains}, {:.0} % of the gap", seconds(more), found * 100.0);
        seen.signs.push(sign);
        seen.weight = Some(found.min(1.0));
        Some(())
    }
}

/// By what is typed, and by what was seen to start.
fn programs(side: &Side<'_>) -> Vec<String> {
    let started = side.syscalls().into_iter().flat_map(|seen| &seen.programs);
    let mut names: Vec<String> = started.map(|one| base_name(&one.path).to_owned()).collect();
    names.push(program(side));
    names
}

impl Experiment {
    fn idea(&self) -> Idea {
        let what: Vec<String> = self.edits.iter().map(in_words).collect();
        let sides = if self.is_on_both { "both sides" } else { "the slow side" };
        Idea {
            title: format!("{} on {sides}", what.join(", ")),
            slow: self.edits.clone(),
            fast: if self.is_on_both { Mirror::Same } else { Mirror::AsItIs },
            expect: self.expect.clone(),
        }
    }
}

fn in_words(edit: &Edit) -> String {
    match edit {
        Edit::SetEnv(name, value) => format!("{}={}", name.lossy(), value.lossy()),
        Edit::UnsetEnv(name) => format!("{} unset", name.lossy()),
        Edit::Affinity(cpus) => {
            format!("CPUs {}", cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(","))
        }
        Edit::Wrap(words) => words.iter().map(|word| word.lossy().into_owned()).collect::<Vec<_>>().join(" "),
        Edit::Preload(crate::model::Preload::File(path)) => format!("{} preloaded", path.display()),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::suspects::testing::TestCase;
    use super::*;

    /// The first suspect of the documentation.
    const TEXT: &str = r#"
[[suspect]]
name = "app.cache"
title = "the cache of app is off"
advice = "unset APP_NO_CACHE"

[suspect.trigger]
program = "app"
variable_set = "APP_NO_CACHE"
metric = { name = "page_faults", more_than = 1000 }

[suspect.edit]
unset = ["APP_NO_CACHE"]
set = { APP_CACHE = "64M" }

[suspect.expect]
fact = "env.APP_CACHE"
contains = "64M"
"#;

    fn suspicion(text: &str, test: &TestCase) -> Option<Suspicion> {
        let built = test.build();
        parse(text, &|_| Ok(())).unwrap()[0].look(&built.case())
    }

    fn apps() -> TestCase {
        TestCase::new("/opt/app 1", "/opt/app 2").env("APP_NO_CACHE", "1").faults(10.0, 5000.0)
    }

    #[test]
    fn everything_that_is_given_must_be_seen() {
        let found = suspicion(TEXT, &apps()).unwrap();
        assert_eq!((found.weight, found.signs.len(), found.claims.len()), (WEIGHT, 3, 0));
        assert_eq!(found.ideas[0].title, "APP_CACHE=64M, APP_NO_CACHE unset on both sides");
        assert_eq!(found.ideas[0].fast, Mirror::Same);
        assert!(suspicion(TEXT, &apps().faults(10.0, 500.0)).is_none());
        assert!(suspicion(TEXT, &TestCase::new("app 1", "app 2").faults(1.0, 5000.0)).is_none());
    }

    #[test]
    fn a_variable_that_differs_is_claimed() {
        let text =
            "[[suspect]]\nname='a.b'\ntitle='t'\nadvice='x'\n[suspect.trigger]\nvariable_differs='X'\n";
        let found = suspicion(text, &TestCase::new("p", "p").slow_env("X", "1")).unwrap();
        assert!(found.claims[0].is_experiment && found.ideas.is_empty());
        assert!(suspicion(text, &TestCase::new("p", "p").env("X", "1")).is_none());
    }

    #[test]
    fn a_function_is_weighed_by_its_time() {
        let text = "[[suspect]]\nname='a.b'\ntitle='t'\nadvice='x'\n[suspect.trigger]\n\
                    function={contains='rehash',share=0.1}\n";
        let test = TestCase::new("p 1", "p 2").seconds(0.1, 0.2);
        let test =
            |share| test.clone().cpu(&[("main", 1.0)], &[("main", 1.0 - share), ("main;rehash", share)]);
        let found = suspicion(text, &test(0.4)).unwrap();
        assert!((found.weight - 0.8).abs() < 1e-9 && !found.claims[0].is_experiment);
        assert!(suspicion(text, &test(0.01)).is_none());
    }

    #[test]
    fn the_documentation_is_right() {
        let document = include_str!("../../../../docs/explain-your-own.md");
        let blocks: Vec<&str> = document.split("```toml\n").skip(1).collect();
        assert!(blocks.len() >= 2);
        for block in blocks {
            let text = block.split("```").next().unwrap();
            assert!(!parse(text, &|_| Ok(())).unwrap().is_empty(), "{text}");
        }
    }
}
