//! What the recording says about why: findings with their shares, what stays unexplained, and what could not be looked at.

use serde::Serialize;

use super::budget::Budget;
use super::carriers::{Carrier, carriers};
use super::case::Case;
use super::classes::Class;
use super::differences::Difference;
use super::factors::{FactorShare, factor_shares};
use super::findings::{Finding, Status, drop_guesses, finding, is_culprit, merge, rank};
use super::layouts::Layouts;
use super::next::LOOKS;
use super::outcomes::{Outcome, outcomes};
use super::shares::{OVERSHOOT, Share};
use super::suspects::{Claim, Suspect, Suspicion, known, suspicions};
use super::tried::{Tried, tried};
use super::{pair, words};
use crate::analysis::{Estimate, analyze};
use crate::model::{CustomSign, Missing, Probe, Recording, Stop, TraceEntry, Variant, at_one_rate};
use crate::plan;

/// Chance that an interval of a share misses, two-sided. A confirmation names a culprit, so it must be rare.
pub const ALPHA: f64 = 0.01;
/// What carries less of the gap accuses nobody.
pub const LEAST_SHARE: f64 = 0.05;
/// A gap that is explained so far is explained.
pub const EXPLAINED: f64 = 0.9;
/// So many possible names are shown for a difference that can only be located.
const MOST_CANDIDATES: usize = 3;
/// The suspect that a round over layouts is about.
const LAYOUT: &str = "mem.layout";

/// Why one variant is slower than another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Indices of variants.
    pub fast: usize,
    pub slow: usize,
    pub metric: String,
    /// Slow over fast.
    pub ratio: Estimate,
    pub blocks: usize,
    /// How both sides grow with the size of the work.
    pub growth: Option<String>,
    /// Whether the difference is one of layout in memory.
    pub layouts: Option<String>,
    /// There is a difference to explain.
    pub is_real: bool,
    /// The largest difference that is left open, as a share, where none was found.
    pub largest_difference: Option<f64>,
    /// Slow minus fast.
    pub budget: Budget,
    pub fast_budget: Budget,
    pub slow_budget: Budget,
    pub class: Class,
    /// Where it shows, without accusing anybody.
    pub carriers: Vec<Carrier>,
    /// Factors of a matrix, and their parts.
    pub factors: Vec<FactorShare>,
    /// The culprits first.
    pub findings: Vec<Finding>,
    /// What the user asked for.
    pub asked: Vec<Tried>,
    pub unexplained: Option<Share>,
    /// Several causes that do more (or less) together than apart.
    pub interaction: Option<String>,
    pub not_checked: Vec<Missing>,
    /// What-ifs that have an answer.
    pub tried: usize,
    /// Facts of the environment that differ, where the sides were measured apart.
    pub surroundings: Vec<String>,
}

/// `None`: the recording has nothing to compare.
pub fn diagnose(recording: &Recording) -> Option<Diagnosis> {
    let found = pair::find(recording, &analyze(recording))?;
    let variants = plan::variants(&recording.header.experiment);
    let case = main_case(recording, &variants, &found);
    let mut diagnosis = Diagnosis {
        fast: found.fast,
        slow: found.slow,
        metric: found.metric.clone(),
        growth: case.growth.filter(|_| found.is_real).map(|growth| growth.text()),
        layouts: case.layouts.filter(|_| found.is_real).map(|layouts| layouts.text()),
        ratio: found.ratio,
        blocks: found.blocks,
        is_real: found.is_real,
        largest_difference: found.largest_difference,
        budget: case.gap.budget,
        fast_budget: Budget::of(&case.fast),
        slow_budget: Budget::of(&case.slow),
        class: case.gap.class,
        carriers: carriers(&case),
        factors: factor_shares(recording, &variants, (found.fast, found.slow), case.gap),
        findings: Vec::new(),
        asked: Vec::new(),
        unexplained: None,
        interaction: None,
        not_checked: words::not_checked(&case),
        tried: 0,
        surroundings: Vec::new(),
    };
    if recording.header.experiment.is_joined {
        diagnosis.findings = untested_by_experiment(&case);
        diagnosis.surroundings = words::surroundings(&case);
    } else if found.is_real {
        Investigation::new(recording, &case).report(&mut diagnosis);
        diagnosis.not_checked.extend(not_looked_at(recording, &case));
        diagnosis.not_checked.extend(words::not_tried(recording, &case));
    } else {
        diagnosis.findings = cleared_by_nothing(&case, &found, recording.header.experiment.design.margin);
    }
    Some(diagnosis)
}

/// The case of the main part of the recording.
pub fn main_case<'a>(recording: &'a Recording, variants: &[Variant], found: &pair::Pair) -> Case<'a> {
    let looks = |variant| looks_at(recording, None, variant);
    Case::new(recording, variants, (found.fast, looks(found.fast)), (found.slow, looks(found.slow)))
}

pub fn looks_at(recording: &Recording, stage: Option<usize>, variant: usize) -> Vec<&TraceEntry> {
    let is_wanted = |entry: &&TraceEntry| entry.stage == stage && entry.variant == variant;
    at_one_rate(recording.traces.iter().filter(is_wanted).collect())
}

/// Probes that came to neither side, unless only an experiment was asked for.
fn not_looked_at(recording: &Recording, case: &Case<'_>) -> Option<Missing> {
    if recording.traces.is_empty() && !recording.stages.is_empty() {
        return None;
    }
    let is_left = |probe: &Probe| !case.fast.was_probed(*probe) || !case.slow.was_probed(*probe);
    let titles: Vec<&str> =
        LOOKS.iter().filter(|probe| is_left(probe)).map(|probe| probe.known().title).collect();
    let (why, remedy) = match recording.explained {
        Some(Stop::Interrupted) | None => ("it was broken off before they looked", "run it again"),
        Some(_) => ("there was no time for them", "give it more: --budget 2m"),
    };
    let missing = Missing { what: titles.join(", "), why: why.to_owned(), remedy: Some(remedy.to_owned()) };
    (!titles.is_empty()).then_some(missing)
}

/// Without a difference nobody is accused, and whatever differs is innocent of more than could be seen.
fn cleared_by_nothing(case: &Case<'_>, found: &pair::Pair, margin: f64) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    // What is undecided clears nobody.
    if found.largest_difference.is_none_or(|largest| largest > margin) {
        return findings;
    }
    for (suspect, suspicion) in suspicions(case) {
        let Some(claim) = suspicion.claims.iter().find(|claim| claim.is_experiment) else { continue };
        findings.push(Finding {
            difference: Some(case.differences[claim.difference].title()),
            ..finding(suspect.name, Status::Cleared, "no difference to explain".to_owned())
        });
    }
    findings
}

/// Nothing was tried, so everything that the signs point at stays open, with the experiment that would tell.
fn untested_by_experiment(case: &Case<'_>) -> Vec<Finding> {
    let open = suspicions(case).into_iter().filter(|(_, suspicion)| suspicion.weight > LEAST_SHARE);
    open.map(|(suspect, suspicion)| Finding {
        evidence: suspicion.signs.clone(),
        ..finding(suspect.name, Status::Untested, words::how_to_test(case, &suspicion))
    })
    .collect()
}

/// What the stages showed, put together.
pub struct Investigation<'a> {
    recording: &'a Recording,
    case: &'a Case<'a>,
    /// What every suspect says of the case, strongest first.
    pub suspicions: Vec<(&'static Suspect, Suspicion)>,
    pub outcomes: Vec<Outcome<'a>>,
}

impl<'a> Investigation<'a> {
    pub fn new(recording: &'a Recording, case: &'a Case<'a>) -> Investigation<'a> {
        let outcomes = recording
            .stages
            .iter()
            .enumerate()
            .flat_map(|(number, stage)| outcomes(recording, number, stage, case.gap.metric))
            .collect();
        Investigation { recording, case, suspicions: suspicions(case), outcomes }
    }

    fn report(&self, diagnosis: &mut Diagnosis) {
        let whole = self.inseparable();
        let is_told =
            |one: &&Outcome<'_>| !one.is_joint() && !whole.is_some_and(|whole| one.is_part_of(whole));
        let apart =
            self.outcomes.iter().filter(is_told).flat_map(|one| self.findings_of(one, self.status(one)));
        let mut findings: Vec<Finding> = apart.collect();
        findings.extend(whole.into_iter().flat_map(|whole| self.findings_of(whole, Status::Located)));
        findings.extend(self.luck_of_layout());
        findings.extend(self.untried_differences());
        findings.extend(self.untested(&findings));
        merge(&mut findings);
        self.tell_failed_tries(&mut findings);
        self.call_by_title(&mut findings);
        drop_guesses(&mut findings);
        findings.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
        diagnosis.tried = self.outcomes.iter().filter(|outcome| outcome.effect.is_ok()).count();
        diagnosis.unexplained = self.unexplained(&findings);
        diagnosis.interaction = self.interaction(&findings);
        diagnosis.findings = findings;
        diagnosis.asked = tried(self);
    }

    /// Suspects of the user's own are in no table.
    fn call_by_title(&self, findings: &mut [Finding]) {
        for sign in &self.recording.custom {
            for finding in findings.iter_mut().filter(|finding| finding.suspect == sign.name) {
                finding.title.clone_from(&sign.title);
                finding.advice.clone_from(&sign.advice);
                if finding.evidence.is_empty() {
                    finding.evidence.clone_from(&sign.signs);
                }
            }
        }
    }

    /// Who is located has not been confirmed; where an experiment was tried and has no result, that belongs to it.
    fn tell_failed_tries(&self, findings: &mut [Finding]) {
        for finding in findings.iter_mut().filter(|finding| finding.status == Status::Located) {
            let tried = self.about(&finding.suspect).filter(|one| one.what_if.is_experiment);
            let failed: Vec<String> =
                tried.filter(|one| self.status(one) == Status::Untested).map(words::no_result).collect();
            finding.evidence.extend(failed);
        }
    }

    /// Differences in program and arguments that are nothing apart: with only one of them swapped, the command does less
    /// than either side (a script without its input reads nothing), so only all of them together tell.
    fn inseparable(&self) -> Option<&Outcome<'a>> {
        let joint = self.outcomes.iter().rev().find(|one| one.is_joint() && one.is_guilty())?;
        let mut parts = self.outcomes.iter().filter(|one| one.is_part_of(joint)).peekable();
        parts.peek()?;
        let does_less =
            |one: &Outcome<'_>| one.effect.ok().and_then(|effect| effect.removed.low) > Some(OVERSHOOT);
        let are_located = parts.clone().all(|one| !one.what_if.is_experiment);
        (are_located && parts.any(does_less)).then_some(joint)
    }

    fn findings_of(&self, outcome: &Outcome<'_>, status: Status) -> Vec<Finding> {
        let why = if status == Status::Untested { words::no_result(outcome) } else { String::new() };
        let experiment = if why.is_empty() { outcome.what_if.title.clone() } else { why };
        let effect = outcome.effect.ok();
        let is_about_difference = !outcome.what_if.differences.is_empty();
        // A difference that carries nothing is not named after what it might have been.
        let is_named_late = status == Status::Confirmed && !outcome.what_if.is_experiment;
        let names = if is_named_late {
            self.candidates(outcome).into_iter().take(1).collect()
        } else if status == Status::Located {
            self.candidates(outcome)
        } else {
            vec![self.planned_name(outcome)]
        };
        let named = |(place, (name, signs)): (usize, (String, Vec<String>))| Finding {
            share: effect.map(|effect| effect.removed).filter(|_| place == 0),
            added: effect.and_then(|effect| effect.added).filter(|_| place == 0),
            left: effect.map(|effect| effect.left).filter(|_| place == 0),
            fast_with: effect.and_then(|effect| effect.fast_with).filter(|_| place == 0),
            stage: Some(outcome.stage),
            evidence: signs,
            difference: is_about_difference.then(|| outcome.what_if.differences.join("; ")),
            advice: advice(&name, &outcome.what_if.advice),
            ..finding(&name, if place == 0 { status } else { Status::Untested }, experiment.clone())
        };
        names.into_iter().enumerate().map(named).collect()
    }

    /// A variable that may have been only a matter of layout is itself, once layout is cleared.
    fn is_proof(&self, outcome: &Outcome<'_>) -> bool {
        let is_of_variables = || {
            let titles = &outcome.what_if.differences;
            let mut swapped = self.case.differences.iter().filter(|one| titles.contains(&one.title()));
            !titles.is_empty() && swapped.all(|one| !one.variables().is_empty())
        };
        outcome.what_if.is_experiment || (self.is_cleared(LAYOUT) && is_of_variables())
    }

    fn status(&self, outcome: &Outcome<'_>) -> Status {
        match (outcome.is_guilty(), outcome.is_innocent()) {
            (true, _) if self.is_proof(outcome) => Status::Confirmed,
            (true, _) => Status::Located,
            (_, is_innocent) if outcome.may_be_hidden() => match self.is_hidden(outcome) {
                Some(true) => Status::Confirmed,
                None if !self.is_explained_by_one() => Status::Untested,
                _ if is_innocent => Status::Cleared,
                _ => Status::Untested,
            },
            (_, true) => Status::Cleared,
            _ => Status::Untested,
        }
    }

    /// Whether all culprits together close more than any of them alone, this one among them. `None`: they were not tried
    /// together.
    fn is_hidden(&self, outcome: &Outcome<'_>) -> Option<bool> {
        let name = outcome.what_if.suspects.first()?;
        let joint =
            self.outcomes.iter().rev().find(|one| one.is_joint() && one.what_if.suspects.contains(name))?;
        let alone = self.outcomes.iter().filter(|one| !one.is_joint() && one.is_guilty());
        let most = alone.filter_map(|one| one.effect.ok()?.removed.high).fold(LEAST_SHARE, f64::max);
        joint.effect.ok()?.removed.low.map(|low| low > most)
    }

    /// Then nobody is left to be hidden.
    pub fn is_explained_by_one(&self) -> bool {
        let experiments = self.outcomes.iter().filter(|one| one.is_guilty() && one.what_if.is_experiment);
        experiments.map(Outcome::share).fold(0.0, f64::max) >= EXPLAINED
    }

    /// What was tried on this suspect alone.
    fn about(&self, name: &str) -> impl Iterator<Item = &Outcome<'a>> {
        let is_about = move |suspect: &String| suspect == name;
        self.outcomes.iter().filter(move |one| !one.is_joint() && one.what_if.suspects.iter().any(is_about))
    }

    /// An experiment on the suspect itself closed nothing.
    fn is_cleared(&self, name: &str) -> bool {
        let mut experiments = self.about(name).filter(|one| one.what_if.is_experiment).peekable();
        experiments.peek().is_some() && experiments.all(|one| self.status(one) == Status::Cleared)
    }

    fn planned_name(&self, outcome: &Outcome<'_>) -> (String, Vec<String>) {
        let name = outcome.what_if.suspects.first().cloned().unwrap_or_default();
        let signs = self.signs(&name);
        (name, signs)
    }

    fn signs(&self, name: &str) -> Vec<String> {
        let of_it = self.suspicions.iter().find(|(suspect, _)| suspect.name == name);
        of_it.map_or_else(Vec::new, |(_, suspicion)| suspicion.signs.clone())
    }

    /// Names for a difference that carries a part of the gap, the most likely first: by looks at the slow side without
    /// it where there are any, else by the looks at both originals.
    fn candidates(&self, outcome: &Outcome<'_>) -> Vec<(String, Vec<String>)> {
        let stage = &self.recording.stages[outcome.stage];
        let looks = looks_at(self.recording, Some(outcome.stage), outcome.what_if.removed);
        if !looks.is_empty() {
            let part = stage.recording(self.recording);
            let variants = plan::variants(&stage.plan.experiment);
            let slow_looks = self.case.slow.entries().to_vec();
            let (fast, slow) = ((outcome.what_if.removed, looks), (stage.plan.slow, slow_looks));
            let case = Case::new(&part, &variants, fast, slow);
            return self.candidates_among(&suspicions(&case), &[]);
        }
        let titles = self.case.differences.iter().map(Difference::title).enumerate();
        let swapped = titles.filter(|(_, title)| outcome.what_if.differences.contains(title));
        let places: Vec<usize> = swapped.map(|(place, _)| place).collect();
        self.candidates_among(&self.suspicions, &places)
    }

    /// Without those that an experiment has cleared. A variable that has no other name left has its own.
    fn candidates_among(
        &self,
        seen: &[(&'static Suspect, Suspicion)],
        differences: &[usize],
    ) -> Vec<(String, Vec<String>)> {
        let left = seen.iter().filter(|(suspect, _)| !self.is_cleared(suspect.name));
        let is_work = |&place: &usize| self.case.differences[place].is_place_or_work();
        let custom = self.recording.custom.iter().filter(|sign| !self.is_cleared(&sign.name));
        let custom = custom.filter(|_| differences.is_empty() || differences.iter().any(is_work));
        let found = candidates(left, custom, differences);
        if !found.is_empty() {
            return found;
        }
        let variables = differences.first().map(|&place| self.case.differences[place].variables());
        let variables = variables.unwrap_or_default();
        let name = match variables.first() {
            Some((variable, _, _)) => format!("env.{variable}"),
            None => "code.more-work".to_owned(),
        };
        vec![(name, Vec::new())]
    }

    /// Other layouts do not have the gap, or not most of it.
    fn luck_of_layout(&self) -> Option<Finding> {
        let layouts = self.case.layouts.filter(Layouts::is_luck)?;
        Some(Finding {
            share: Some(layouts.luck),
            stage: self.recording.stages.iter().position(|stage| !stage.plan.layouts.is_empty()),
            evidence: self.signs(LAYOUT),
            ..finding(LAYOUT, Status::Confirmed, "another layout of memory on both sides".to_owned())
        })
    }

    /// A single difference in program or arguments carries the whole gap: swapping it makes the other side.
    fn untried_differences(&self) -> Vec<Finding> {
        let [difference] = self.case.differences.as_slice() else { return Vec::new() };
        if !self.outcomes.iter().all(|outcome| outcome.what_if.differences.is_empty()) {
            return Vec::new();
        }
        let whole = Share { point: 1.0, low: Some(1.0), high: Some(1.0) };
        let named = |(place, (name, signs)): (usize, (String, Vec<String>))| Finding {
            share: (place == 0).then_some(whole),
            evidence: signs,
            difference: Some(difference.title()),
            ..finding(
                &name,
                if place == 0 { Status::Located } else { Status::Untested },
                "nothing else differs between the sides".to_owned(),
            )
        };
        // What an experiment has confirmed is told already; another name has the rest.
        let mut names = self.candidates_among(&self.suspicions, &[0]);
        names.retain(|(name, _)| !self.is_confirmed(name));
        names.into_iter().enumerate().map(named).collect()
    }

    fn is_confirmed(&self, name: &str) -> bool {
        self.about(name).any(|one| self.status(one) == Status::Confirmed)
    }

    /// Suspects with strong signs that nothing was tried on.
    fn untested(&self, findings: &[Finding]) -> Vec<Finding> {
        let is_known = |name: &str| findings.iter().any(|finding| finding.suspect == name);
        self.suspicions
            .iter()
            .filter(|(suspect, seen)| {
                seen.weight > LEAST_SHARE && !seen.ideas.is_empty() && !is_known(suspect.name)
            })
            .map(|(suspect, seen)| Finding {
                evidence: seen.signs.clone(),
                ..finding(suspect.name, Status::Untested, "not tried".to_owned())
            })
            .collect()
    }

    /// By the round in which all culprits were removed together, else by the culprit itself.
    fn unexplained(&self, findings: &[Finding]) -> Option<Share> {
        let joint = self.outcomes.iter().rev().find(|outcome| outcome.is_joint() && outcome.effect.is_ok());
        let explained = match joint {
            Some(outcome) => outcome.effect.ok()?.removed,
            None => {
                findings.iter().filter(|finding| is_culprit(finding)).find_map(|finding| finding.share)?
            }
        };
        Some(Share {
            point: 1.0 - explained.point,
            low: explained.high.map(|high| 1.0 - high),
            high: explained.low.map(|low| 1.0 - low),
        })
    }

    fn interaction(&self, findings: &[Finding]) -> Option<String> {
        let joint = self.outcomes.iter().rev().find(|outcome| outcome.is_joint() && outcome.is_guilty())?;
        let apart: f64 =
            findings.iter().filter(|f| is_culprit(f)).filter_map(|f| f.share).map(|s| s.point).sum();
        words::interaction(joint.share(), apart)
    }
}

/// That of the table, else that of whoever wrote the suspect.
fn advice(name: &str, written: &str) -> String {
    known(name).map_or(written, |suspect| suspect.fix).to_owned()
}

/// Suspects that claim one of the differences (or any, where none is named), strongest first.
fn candidates<'a>(
    seen: impl Iterator<Item = &'a (&'static Suspect, Suspicion)>,
    custom: impl Iterator<Item = &'a CustomSign>,
    differences: &[usize],
) -> Vec<(String, Vec<String>)> {
    let is_about = |claim: &&Claim| differences.is_empty() || differences.contains(&claim.difference);
    let mut claims: Vec<(f64, &str, &[String])> = seen
        .filter_map(|(suspect, suspicion)| {
            let claims = suspicion.claims.iter().filter(is_about);
            let strongest = claims.map(|claim| claim.weight).max_by(f64::total_cmp)?;
            Some((strongest, suspect.name, suspicion.signs.as_slice()))
        })
        .collect();
    claims.extend(custom.map(|sign| (sign.weight, sign.name.as_str(), sign.signs.as_slice())));
    claims.sort_by(|one, other| other.0.total_cmp(&one.0));
    claims
        .into_iter()
        .take(MOST_CANDIDATES)
        .map(|(_, name, signs)| (name.to_owned(), signs.to_vec()))
        .collect()
}
