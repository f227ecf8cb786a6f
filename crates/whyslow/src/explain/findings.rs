//! What an investigation tells of one suspect each, the culprits first.

use serde::Serialize;

use super::diagnosis::EXPLAINED;
use super::shares::Share;
use super::suspects::known;
use super::words;
use crate::analysis::Estimate;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the suspect.
    pub suspect: String,
    pub title: String,
    pub status: Status,
    pub share: Option<Share>,
    /// How much of the gap it opens on the fast side.
    pub added: Option<Share>,
    /// The slow side with the edit over what it is compared with: the fast side, with the same edit where that may act on it.
    pub left: Option<Estimate>,
    /// The fast side over itself: with the same edit, or with what was swapped.
    pub fast_with: Option<Estimate>,
    /// What was tried.
    pub experiment: String,
    /// The round whose runs the shares are from.
    pub stage: Option<usize>,
    pub evidence: Vec<String>,
    pub advice: String,
    /// What differs between the sides, where the finding is about that.
    pub difference: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Taking it away closes a part of the gap.
    Confirmed,
    /// The gap is in there, but nothing from outside can tell it from everything else that comes with it.
    Located,
    /// Suspected and not tried, or tried without a result.
    Untested,
    /// Taking it away closes nothing.
    Cleared,
}

pub fn finding(name: &str, status: Status, experiment: String) -> Finding {
    let known = known(name);
    Finding {
        suspect: name.to_owned(),
        title: known.map_or(name, |suspect| suspect.title).to_owned(),
        status,
        share: None,
        added: None,
        left: None,
        fast_with: None,
        experiment,
        stage: None,
        evidence: Vec::new(),
        advice: known.map_or("", |suspect| suspect.fix).to_owned(),
        difference: None,
    }
}

pub fn is_culprit(finding: &Finding) -> bool {
    matches!(finding.status, Status::Confirmed | Status::Located)
}

/// Culprits first, each kind by its share.
pub fn rank(finding: &Finding) -> f64 {
    let kind = match finding.status {
        Status::Confirmed => 0.0,
        Status::Located => 10.0,
        Status::Untested => 20.0,
        Status::Cleared => 30.0,
    };
    kind - finding.share.map_or(0.0, |share| share.point.clamp(-1.0, 1.0))
}

/// Where an experiment explains the gap, other names for it are noise.
pub fn drop_guesses(findings: &mut Vec<Finding>) {
    let explains = |finding: &&Finding| {
        finding.status == Status::Confirmed && finding.share.is_some_and(|share| share.point >= EXPLAINED)
    };
    let Some(culprit) = findings.iter().find(explains).map(|finding| finding.suspect.clone()) else { return };
    let is_guess = |finding: &Finding| {
        let is_untried = finding.status == Status::Untested && finding.share.is_none();
        is_untried
            || (finding.status == Status::Located
                && (finding.suspect == culprit || finding.share.is_none_or(|s| s.low == Some(1.0))))
    };
    findings.retain(|finding| !is_guess(finding));
}

/// A suspect that several experiments speak of is told once, by the one that says most.
pub fn merge(findings: &mut Vec<Finding>) {
    findings.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
    let mut kept: Vec<Finding> = Vec::new();
    for finding in findings.drain(..) {
        let twin = kept.iter_mut().find(|known| known.suspect == finding.suspect);
        match twin {
            Some(known)
                if is_culprit(known) && is_culprit(&finding) && known.difference != finding.difference =>
            {
                kept.push(finding);
            }
            Some(known) => {
                known.added = known.added.or(finding.added);
                known.evidence.extend(words::also(&finding).filter(|_| known.status == Status::Confirmed));
            }
            None => kept.push(finding),
        }
    }
    *findings = kept;
}
