//! What a check-up of a machine means for measuring on it: findings with a mark each, and what to do about them.

mod metrics;
mod noise;
mod probes;
mod settings;

use serde_json::{Value, json};

use super::document::{Definition, Document, Line, Part, Tone, plain, toned};
use crate::analysis::Sensitivity;
use crate::model::CheckUp;

/// Raised when a field of the JSON changes its meaning or goes away.
const DOCTOR_SCHEMA_VERSION: u32 = 1;

/// How a finding bears on measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    Fine,
    /// The system does not tell.
    Unknown,
    /// It weakens measurements.
    Warning,
    /// Nothing can be measured.
    Failure,
}

/// One line of the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub subject: String,
    pub mark: Mark,
    /// What there is.
    pub seen: String,
    /// What to do about it, or what it means.
    pub advice: Option<String>,
}

/// The scatter of this machine: a program that computes and one that does nothing, each beside itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineNoise {
    pub loop_wall: Option<Sensitivity>,
    pub loop_cpu: Option<Sensitivity>,
    pub start_wall: Option<Sensitivity>,
    pub start_cpu: Option<Sensitivity>,
}

/// Everything that was found, in the order in which it is shown; `noise` is `None` if it was not asked for.
pub fn findings(check_up: &CheckUp, noise: Option<&MachineNoise>) -> Vec<Finding> {
    let mut found = metrics::findings(check_up);
    found.extend(noise.map(noise::findings).unwrap_or_default());
    found.push(noise::start(noise.copied().unwrap_or_default(), check_up.floor));
    found.extend(settings::findings(check_up));
    found
}

impl Finding {
    fn new(subject: impl Into<String>, mark: Mark, seen: impl Into<String>) -> Self {
        Finding { subject: subject.into(), mark, seen: seen.into(), advice: None }
    }

    fn fine(subject: impl Into<String>, seen: impl Into<String>) -> Self {
        Finding::new(subject, Mark::Fine, seen)
    }

    fn warning(subject: impl Into<String>, seen: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding::new(subject, Mark::Warning, seen).advice(advice)
    }

    fn unknown(subject: impl Into<String>) -> Self {
        Finding::new(subject, Mark::Unknown, "unknown here")
    }

    fn advice(self, advice: impl Into<String>) -> Self {
        Finding { advice: Some(advice.into()), ..self }
    }
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Mark::Fine => "ok",
            Mark::Unknown => "?",
            Mark::Warning => "warning",
            Mark::Failure => "failure",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Mark::Fine => Tone::Plain,
            Mark::Unknown => Tone::Faint,
            Mark::Warning => Tone::Warning,
            Mark::Failure => Tone::Slower,
        }
    }
}

/// The findings for people.
pub fn doctor(findings: &[Finding]) -> Document {
    let definitions = findings.iter().map(definition).collect();
    Document { parts: vec![Part::Text(vec![headline(findings)]), Part::Definitions(definitions)] }
}

/// The same, and every probe.
pub fn doctor_with_probes(findings: &[Finding], check_up: &CheckUp) -> Document {
    let mut document = doctor(findings);
    document.parts.extend(probes::parts(&check_up.probes));
    document
}

fn headline(findings: &[Finding]) -> Line {
    let warnings = findings.iter().filter(|finding| finding.mark == Mark::Warning).count();
    let text = match worst(findings) {
        Mark::Failure => "nothing can be measured here".to_owned(),
        Mark::Warning if warnings == 1 => "this machine can measure; 1 thing weakens it".to_owned(),
        Mark::Warning => format!("this machine can measure; {warnings} things weaken it"),
        Mark::Unknown | Mark::Fine => "this machine is fit for measuring".to_owned(),
    };
    vec![toned(Tone::Strong, text)]
}

fn definition(finding: &Finding) -> Definition {
    let mark = toned(finding.mark.tone(), finding.mark.word());
    let gap = " ".repeat("warning  ".len() - finding.mark.word().len());
    let head = vec![mark, plain(gap), plain(&finding.subject)];
    let advice = finding.advice.iter().map(|advice| vec![toned(Tone::Faint, format!("-> {advice}"))]);
    let body = std::iter::once(vec![plain(&finding.seen)]).chain(advice).collect();
    Definition { head, body }
}

/// The worst mark of all.
pub fn worst(findings: &[Finding]) -> Mark {
    findings.iter().map(|finding| finding.mark).max().unwrap_or(Mark::Fine)
}

/// The findings for programs, with the numbers that they come from.
pub fn doctor_json(check_up: &CheckUp, noise: Option<&MachineNoise>, findings: &[Finding]) -> Value {
    let metrics = check_up.metrics.iter().map(|checked| {
        json!({
            "name": checked.metric.name,
            "measurable": checked.missing.is_none(),
            "why": checked.missing.as_ref().map(|missing| &missing.why),
            "remedy": checked.missing.as_ref().and_then(|missing| missing.remedy.as_ref()),
        })
    });
    json!({
        "schema": DOCTOR_SCHEMA_VERSION,
        "result": name(worst(findings)),
        "findings": findings.iter().map(|finding| json!({
            "subject": finding.subject,
            "mark": name(finding.mark),
            "seen": finding.seen,
            "advice": finding.advice,
        })).collect::<Vec<_>>(),
        "metrics": metrics.collect::<Vec<_>>(),
        "probes": check_up.probes.iter().map(probes::json).collect::<Vec<_>>(),
        "noise": noise.map(|noise| json!({
            "loop": { "wall_s": sensitivity(noise.loop_wall), "cpu_s": sensitivity(noise.loop_cpu) },
            "start": { "wall_s": sensitivity(noise.start_wall), "cpu_s": sensitivity(noise.start_cpu) },
        })),
        "floor": check_up.floor,
        "host": check_up.host,
        "circumstances": check_up.circumstances,
    })
}

fn name(mark: Mark) -> &'static str {
    match mark {
        Mark::Fine => "fine",
        Mark::Unknown => "unknown",
        Mark::Warning => "warning",
        Mark::Failure => "failure",
    }
}

fn sensitivity(sensitivity: Option<Sensitivity>) -> Option<Value> {
    sensitivity.map(|of| {
        json!({
            "median": of.median,
            "blocks": of.blocks,
            "smallest_difference_10": of.at_10,
            "smallest_difference_100": of.at_100,
        })
    })
}
