//! Sentences about experiments that the diagnosis itself is made of.

use super::case::{Case, Side};
use super::differences::Difference;
use super::findings::{Finding, Status};
use super::outcomes::Outcome;
use super::shares::{NoEffect, OVERSHOOT, Share};
use super::suspects::Suspicion;
use crate::analysis::Estimate;
use crate::model::{ByteText, Edit, Launch, Missing, Preload, Recording, Stop};

/// Several causes are called independent while their shares add up this well.
const ADDS_UP: f64 = 0.15;

/// Why a what-if has no result.
pub fn no_result(outcome: &Outcome<'_>) -> String {
    let title = &outcome.what_if.title;
    if let Some(missing) = &outcome.what_if.no_effect {
        return format!("{title}: it did not take effect, {}", missing.why);
    }
    match outcome.effect {
        Err(NoEffect::Fails) => format!("{title}: the command fails with it"),
        Err(NoEffect::GapGone) => format!("{title}: the gap was gone in that round"),
        Err(NoEffect::TooFewRuns) => format!("{title}: too few runs to tell"),
        Ok(effect) if effect.is_common => {
            format!("{title}: speeds up both sides nearly alike, so that it is no reason for the gap")
        }
        Ok(_) if outcome.may_be_hidden() => {
            format!("{title}: closes nothing, but opens a gap on the fast side; something else may hide it")
        }
        Ok(_) => format!("{title}: too few runs to tell it from nothing"),
    }
}

/// What an experiment does to the gap, behind its title. More than the whole gap is told by what becomes of the sides: of a
/// small gap beside a large cause, the share is a number that nobody can read.
pub fn closing(share: &Share, left: Option<&Estimate>, fast_with: Option<&Estimate>) -> String {
    let Some(left) = left.filter(|_| share.is_more_than_all()) else {
        return match share.point > OVERSHOOT {
            true => format!(" closes all of the gap, {}", share.text()),
            false => format!(" closes {} of the gap", share.text()),
        };
    };
    let gains = fast_with.filter(|ratio| ratio.high.is_some_and(|high| high < 1.0));
    let too = gains.map(|ratio| format!(", though that gains by it too and is then {}", faster(ratio)));
    format!(
        " takes away more than the whole gap: the slow side is then {} than the fast one{}",
        faster(left),
        too.unwrap_or_default()
    )
}

/// What it does on the fast side.
pub fn opening(added: &Share, fast_with: Option<&Estimate>) -> String {
    match fast_with.filter(|_| added.is_more_than_all()) {
        Some(ratio) => {
            let slower = times(ratio.point, ratio.low.zip(ratio.high), "slower");
            format!("; it makes the fast side {slower}, more than the gap")
        }
        None => format!("; on the fast side it opens {}", added.text()),
    }
}

/// "2.14x faster [2.05, 2.20]".
fn faster(ratio: &Estimate) -> String {
    let turned = |value: f64| 1.0 / value;
    times(turned(ratio.point), ratio.high.map(turned).zip(ratio.low.map(turned)), "faster")
}

fn times(point: f64, interval: Option<(f64, f64)>, what: &str) -> String {
    match interval {
        Some((low, high)) => format!("{point:.2}x {what} [{low:.2}, {high:.2}]"),
        None => format!("{point:.2}x {what}"),
    }
}

/// Another experiment on the same suspect that closes a part of the gap as well.
pub fn also(finding: &Finding) -> Option<String> {
    let share = finding.share.filter(|_| finding.status == Status::Confirmed)?;
    let part = |share: &Share| match share.is_more_than_all() {
        true => " takes away more than the whole gap".to_owned(),
        false => format!(" closes {:.0} %", share.point * 100.0),
    };
    Some(finding.experiment.clone() + &part(&share))
}

pub fn interaction(together: f64, apart: f64) -> Option<String> {
    let percent = |share: f64| match share > OVERSHOOT {
        true => "more than the whole gap".to_owned(),
        false => format!("{:.0} %", share * 100.0),
    };
    if (together - apart).abs() <= ADDS_UP {
        return None;
    }
    let how =
        if together > apart { "each alone closes less" } else { "each alone closes a part of the same" };
    Some(format!("together they close {}, apart {}: they interact, {how}", percent(together), percent(apart)))
}

/// Facts that differ between hosts or days; what every run has anew is none.
pub fn surroundings(case: &Case<'_>) -> Vec<String> {
    let (Some(fast), Some(slow)) = (case.fast.environment(), case.slow.environment()) else {
        return Vec::new();
    };
    let shown = |value: Option<&str>| value.unwrap_or("unset").to_owned();
    let is_of_interest = |name: &str| !name.starts_with("argv.");
    fast.differences(slow)
        .filter(|(name, _, _)| is_of_interest(name))
        .map(|(name, fast, slow)| format!("{name}: {} -> {}", shown(fast), shown(slow)))
        .collect()
}

/// What to type on either host.
pub fn how_to_test(case: &Case<'_>, suspicion: &Suspicion) -> String {
    let line = |launch: &Launch| {
        let words: Vec<String> = launch.argv.iter().map(word).collect();
        quoted(&words.join(" "))
    };
    let mut claimed = suspicion.claims.iter().filter(|claim| claim.is_experiment);
    // An assignment within a command line wins over any edit, so only the other command line takes it away.
    if suspicion.ideas.is_empty()
        && claimed.clone().any(|claim| case.differences[claim.difference].words().is_some())
    {
        let (slow, fast) = (line(case.slow.launch()), line(case.fast.launch()));
        return format!("not tested by experiment; whyslow explain {slow} {fast}");
    }
    let edits = suspicion.ideas.first().map(|idea| edits(&idea.slow)).unwrap_or_else(|| {
        let variables = claimed.by_ref().flat_map(|claim| case.differences[claim.difference].variables());
        let back = |(name, fast, _): (String, Option<String>, Option<String>)| match fast {
            Some(value) => edit(&format!("{name}={value}")),
            None => edit(&format!("-{name}")),
        };
        variables.map(back).collect::<Vec<_>>().join(" ")
    });
    if edits.is_empty() {
        return "not tested by experiment".to_owned();
    }
    format!("not tested by experiment; whyslow try {edits} {}", line(case.slow.launch()))
}

/// An argument of a command line that is split into words once more; what needs no quotes has none.
fn word(word: &ByteText) -> String {
    let text = word.lossy();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./=:,+@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into_owned();
    }
    shell_words::quote(&text).into_owned()
}

/// One argument as a shell takes it.
fn quoted(text: &str) -> String {
    if text.contains('\'') { shell_words::quote(text).into_owned() } else { format!("'{text}'") }
}

fn edit(text: &str) -> String {
    let is_plain = text.chars().all(|letter| letter.is_alphanumeric() || "=,-".contains(letter));
    if is_plain { format!("--edit {text}") } else { format!("--edit {}", quoted(text)) }
}

fn edits(edits: &[Edit]) -> String {
    let text = |one: &Edit| match one {
        Edit::SetEnv(name, value) => Some(edit(&format!("{}={}", name.lossy(), value.lossy()))),
        Edit::UnsetEnv(name) => Some(edit(&format!("-{}", name.lossy()))),
        Edit::Preload(Preload::Mimalloc) => Some(edit("preload=mimalloc")),
        Edit::Preload(Preload::Shim(shim)) => Some(edit(&format!("preload={}", shim.name()))),
        Edit::Preload(Preload::File(path)) => Some(edit(&format!("preload={}", path.display()))),
        Edit::Affinity(cpus) => {
            let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
            Some(edit(&format!("cpus={}", cpus.join(","))))
        }
        _ => None,
    };
    edits.iter().filter_map(text).collect::<Vec<_>>().join(" ")
}

/// Differences that there was no time to swap.
pub fn not_tried(recording: &Recording, case: &Case<'_>) -> Option<Missing> {
    let tried = recording.stages.iter().flat_map(|stage| &stage.plan.what_ifs);
    let tried: Vec<&String> = tried.flat_map(|what_if| &what_if.differences).collect();
    let titles: Vec<String> = case.differences.iter().map(Difference::title).collect();
    let left: Vec<String> = titles.into_iter().filter(|title| !tried.contains(&title)).collect();
    let run_s = case.fast.median("wall_s")? + case.slow.median("wall_s")?;
    (recording.explained == Some(Stop::BudgetSpent) && !left.is_empty()).then(|| Missing {
        what: left.join(", "),
        why: format!("not decided within the budget: one run of both takes {run_s:.1} s"),
        remedy: Some("give it more by --budget".to_owned()),
    })
}

/// Locales that are set and not there.
fn missing_locales(case: &Case<'_>) -> Vec<Missing> {
    let of = |side: &Side<'_>| side.environment()?.get("locale.missing").map(str::to_owned);
    let mut names: Vec<String> = [&case.fast, &case.slow].into_iter().filter_map(of).collect();
    names.dedup();
    let missing = |name: String| Missing {
        what: format!("the locale {name}"),
        why: "it is not installed, so that programs of the C library have C instead".to_owned(),
        remedy: Some("`locale -a` lists those that are".to_owned()),
    };
    names.into_iter().map(missing).collect()
}

/// What could not be looked at on either side, each once.
pub fn not_checked(case: &Case<'_>) -> Vec<Missing> {
    let mut all: Vec<Missing> = missing_locales(case);
    for missing in case.fast.missing().chain(case.slow.missing()) {
        if !all.iter().any(|known| known.what == missing.what && known.why == missing.why) {
            all.push(missing.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_typed_is_read_back_as_it_was() {
        let argv = ["env", "A=1", "python3", "-c", "import json; print('x y')", ""];
        let words: Vec<String> = argv.iter().map(|text| word(&ByteText::from(*text))).collect();
        let typed = shell_words::split(&quoted(&words.join(" "))).unwrap();
        assert_eq!(typed.len(), 1);
        assert_eq!(shell_words::split(&typed[0]).unwrap(), argv);
        assert_eq!(quoted("env LC_ALL=C sort words"), "'env LC_ALL=C sort words'");
    }
}
