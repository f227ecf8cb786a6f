//! A diagnosis against the truth.

use serde::Serialize;
use whyslow::explain::{Class, Diagnosis, Finding, Status};

use super::case::Case;
use super::investigation::Explained;

/// What one evaluation of one case showed.
#[derive(Debug, Default, Serialize)]
pub struct Judgement {
    pub id: String,
    pub auto: String,
    /// Why it could not be evaluated.
    pub impossible: Option<String>,
    pub verdict_right: bool,
    pub truth: Vec<String>,
    /// Culprits of the truth by what became of them.
    pub confirmed: Vec<String>,
    pub located: Vec<String>,
    pub missed: Vec<String>,
    /// Culprits with the largest share of all findings, or among the first three.
    pub first: bool,
    pub among_three: bool,
    /// Confirmed, and not in the truth.
    pub wrong_confirmations: Vec<String>,
    /// Located, and not in the truth.
    pub wrong_locations: Vec<String>,
    /// Innocents that were accused.
    pub innocents_accused: Vec<String>,
    pub innocents: usize,
    pub class: String,
    pub class_right: bool,
    /// How far the parts of the budget are from the gap, as a share of it.
    pub budget_error: f64,
    pub unexplained: Option<f64>,
    pub findings: Vec<String>,
    pub took_s: f64,
    pub set_up_s: f64,
    pub pair_s: f64,
}

impl Judgement {
    pub fn impossible(case: &Case, why: &str) -> Judgement {
        Judgement {
            id: case.id.clone(),
            auto: case.truth.auto.clone(),
            impossible: Some(why.to_owned()),
            ..Judgement::default()
        }
    }

    pub fn of(case: &Case, explained: &Explained) -> Judgement {
        let Some(diagnosis) = &explained.diagnosis else {
            return Judgement::impossible(
                case,
                &format!("nothing to compare: it ended by {}", explained.stopped),
            );
        };
        let truth = &case.truth.suspects;
        let with = |status: Status| {
            let of = diagnosis.findings.iter().filter(move |finding| finding.status == status);
            of.map(|finding| finding.suspect.clone()).collect::<Vec<_>>()
        };
        let (confirmed, located) = (with(Status::Confirmed), with(Status::Located));
        let is_true = |name: &String| truth.contains(name);
        let candidates: Vec<&Finding> =
            diagnosis.findings.iter().filter(|finding| finding.status != Status::Cleared).collect();
        let places: Vec<Option<usize>> =
            truth.iter().map(|name| candidates.iter().position(|finding| finding.suspect == *name)).collect();
        let accused = |name: &&String| confirmed.contains(name) || located.contains(name);
        Judgement {
            id: case.id.clone(),
            auto: case.truth.auto.clone(),
            impossible: None,
            verdict_right: diagnosis.is_real == (case.truth.verdict == "slower")
                && is_direction_right(diagnosis),
            truth: truth.clone(),
            confirmed: confirmed.iter().filter(|name| is_true(name)).cloned().collect(),
            located: located.iter().filter(|name| is_true(name)).cloned().collect(),
            missed: truth.iter().filter(|name| !accused(name)).cloned().collect(),
            first: !truth.is_empty()
                && places.iter().all(|place| place.is_some_and(|place| place < truth.len())),
            among_three: !truth.is_empty() && places.iter().all(|place| place.is_some_and(|place| place < 3)),
            wrong_confirmations: confirmed.iter().filter(|name| !is_true(name)).cloned().collect(),
            wrong_locations: located.iter().filter(|name| !is_true(name)).cloned().collect(),
            innocents_accused: case.truth.innocent.iter().filter(accused).cloned().collect(),
            innocents: case.truth.innocent.len(),
            class: diagnosis.class.name().to_owned(),
            class_right: is_class_right(diagnosis.class, &case.truth.evidence),
            budget_error: budget_error(diagnosis),
            unexplained: diagnosis.unexplained.map(|share| share.point),
            findings: diagnosis.findings.iter().map(in_few_words).collect(),
            took_s: 0.0,
            set_up_s: 0.0,
            pair_s: explained.pair_s,
        }
    }

    /// Nothing was said that is not true.
    pub fn is_harmless(&self) -> bool {
        self.impossible.is_some() || (self.verdict_right && self.wrong_confirmations.is_empty())
    }

    pub fn time_is_kept(&self) -> bool {
        self.took_s <= (40.0 * self.pair_s).max(30.0)
    }

    pub fn line(&self) -> String {
        if let Some(why) = &self.impossible {
            return format!("{:22} {:6} not evaluated: {why}", self.id, self.auto);
        }
        let verdict = if self.verdict_right { "right" } else { "WRONG" };
        let mut line = format!("{:22} {:6} verdict {verdict}, {:.0} s", self.id, self.auto, self.took_s);
        let listed = |what: &str, names: &[String]| match names {
            [] => String::new(),
            names => format!(", {what} {}", names.join(" ")),
        };
        line += &listed("confirmed", &self.confirmed);
        line += &listed("located", &self.located);
        line += &listed("missed", &self.missed);
        line += &listed("WRONGLY CONFIRMED", &self.wrong_confirmations);
        line += &listed("wrongly located", &self.wrong_locations);
        line += &listed("INNOCENT", &self.innocents_accused);
        if !self.truth.is_empty() {
            let place = if self.first {
                "first"
            } else if self.among_three {
                "among three"
            } else {
                "NOT AMONG THREE"
            };
            let class = if self.class_right { "right" } else { "WRONG" };
            line += &format!(", {place}; class {} {class}", self.class);
        }
        line
    }
}

/// The first variant is the fast one.
fn is_direction_right(diagnosis: &Diagnosis) -> bool {
    !diagnosis.is_real || diagnosis.fast == 0
}

fn budget_error(diagnosis: &Diagnosis) -> f64 {
    let budget = &diagnosis.budget;
    let sum = budget.user_s + budget.system_s + budget.cpu_wait_s + budget.blocked_s;
    if budget.wall_s == 0.0 { 0.0 } else { ((sum - budget.wall_s) / budget.wall_s).abs() }
}

/// The evidence that the truth lists begins with where the time goes, in words of its own.
fn is_class_right(class: Class, evidence: &[String]) -> bool {
    let words: &[&str] = match class {
        Class::User => &["user"],
        Class::System => &["sys"],
        Class::Faults => &["minflt", "sys", "faults"],
        Class::Processes => &["number of processes", "process", "execve", "sys", "user"],
        Class::CpuWait | Class::Blocked => &["off-CPU", "wall"],
    };
    evidence.iter().any(|seen| words.iter().any(|word| seen.starts_with(word) || seen.contains(word)))
}

fn in_few_words(finding: &Finding) -> String {
    let share = finding.share.map_or_else(String::new, |share| format!(" {:.0} %", 100.0 * share.point));
    format!("{:?} {}{share}: {}", finding.status, finding.suspect, finding.evidence.join("; "))
}
