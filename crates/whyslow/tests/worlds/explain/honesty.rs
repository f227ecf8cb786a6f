//! What an investigation says where it can say little: no difference, no effect of an edit, a command that fails, denied
//! probes, and a gap that goes away.

use whyslow::explain::Status;
use whyslow::machine::simulated::{Cause, Condition, Cost, Effect, Failure, How, Interrupt, Rights};
use whyslow::model::{Edit, Stop};

use super::rows::{all, row};
use super::scene::{Answer, Scene};

fn plain(causes: Vec<Cause>, slow: &[(&str, &str)]) -> Scene {
    Scene::of_variables(causes, slow).with_seed(3)
}

/// Five settings that look suspicious, and no difference.
#[test]
fn without_a_difference_nobody_is_accused() {
    let settings = [
        ("LC_ALL", "en_US.UTF-8"),
        ("LD_BIND_NOW", "1"),
        ("MALLOC_ARENA_MAX", "1"),
        ("PYTHONUNBUFFERED", "1"),
        ("BASH_ENV", "/w/rc"),
    ];
    let found = plain(Vec::new(), &settings).explained();
    assert!(!found.diagnosis.is_real && found.culprits().is_empty(), "{}", found.text());
    let cleared = found.diagnosis.findings.iter().filter(|finding| finding.status == Status::Cleared);
    assert!(cleared.count() >= 5, "{}", found.text());
    assert!(found.diagnosis.largest_difference.is_some());
    assert!(found.recording.stages.is_empty() && found.recording.traces.is_empty(), "nothing to look for");
}

/// The library that would clear or convict never reaches the program.
#[test]
fn an_edit_that_does_not_take_effect_clears_nobody() {
    for name in ["io.fsync", "mem.first-touch", "wait.network"] {
        let mut scene = row(name).guilty();
        for program in &mut scene.world.programs {
            program.shields = ["no-sync", "populate", "no-delay"].map(Into::into).to_vec();
        }
        let found = scene.explained();
        let finding = found.finding(name).unwrap_or_else(|| panic!("{name}: {}", found.text()));
        assert!(found.confirmed().is_empty(), "{name}: {}", found.text());
        assert_ne!(finding.status, Status::Cleared, "{name}: {}", found.text());
        let tried = &found.recording.stages[0].plan.what_ifs;
        assert!(tried.iter().any(|tried| tried.no_effect.is_some()), "{name}");
    }
}

/// So does a variable that a script on the way takes away.
#[test]
fn a_variable_that_does_not_arrive_clears_nobody() {
    let row = row("env.locale");
    let words = |line: &str| Edit::Argv(line.split(' ').map(Into::into).collect());
    let mut scene = row.guilty();
    scene.fast = vec![words("sort words")];
    scene.slow = vec![words("sort -f words")];
    let program = &mut scene.world.programs[0];
    program.causes[0].when = Condition::HasArgument("-f".into());
    program.shields = vec!["LC_ALL".into()];
    let found = scene.explained();
    assert_ne!(found.status("env.locale"), Some(Status::Cleared), "{}", found.text());
    assert!(found.confirmed().is_empty(), "{}", found.text());
}

#[test]
fn an_edit_with_which_the_command_fails_clears_nobody() {
    for name in ["io.fsync", "mem.first-touch"] {
        let mut scene = row(name).guilty();
        let given =
            Condition::Any(["no-sync", "populate"].map(|text| Condition::Preloads(text.into())).to_vec());
        let fails = Failure { given, ..Failure::always(How::Signal(6)) };
        scene.world.programs[0].failures.push(fails);
        let found = scene.explained();
        assert!(found.confirmed().is_empty(), "{}", found.text());
        assert_ne!(found.status(name), Some(Status::Cleared), "{}", found.text());
        let is_told = |text: &String| text.contains("the command fails");
        let mut findings = found.diagnosis.findings.iter();
        let tells = findings.any(|one| is_told(&one.experiment) || one.evidence.iter().any(is_told));
        assert!(tells, "{}", found.text());
    }
}

/// Nothing may be traced, sampled or preloaded for a look: what differs is still confirmed by experiment.
#[test]
fn without_probes_experiments_still_confirm_and_the_probes_are_named() {
    let denied = Rights { preload: false, ..Rights::none() };
    let (mut confirmed, mut possible) = (0, 0);
    for row in all().into_iter().filter(|row| row.answer == Answer::Confirmed && row.cure.is_none()) {
        let found = row.guilty().with_rights(denied).explained();
        let others: Vec<&str> = found.confirmed().into_iter().filter(|name| *name != row.suspect).collect();
        assert!(others.is_empty(), "{}: {}", row.suspect, found.text());
        possible += 1;
        confirmed += usize::from(found.status(row.suspect) == Some(Status::Confirmed));
        let missing: Vec<&str> =
            found.diagnosis.not_checked.iter().map(|missing| missing.what.as_str()).collect();
        assert!(missing.len() >= 4, "{}: {missing:?}", row.suspect);
    }
    assert!(4 * confirmed >= 3 * possible, "{confirmed} of {possible}");
}

/// The gap is there while it is measured and gone when something is tried.
#[test]
fn a_gap_that_goes_away_convicts_nobody() {
    for runs in [24, 28, 40] {
        let when = Condition::All(vec![Condition::env_is_set("LC_ALL"), Condition::UntilRun(runs)]);
        let effect = Effect::adding(Cost { user_s: 0.3, ..Cost::default() });
        let scene = plain(vec![Cause::new("passing", when, effect)], &[("LC_ALL", "en_US.UTF-8")]);
        let found = scene.explained();
        let is_real = found.diagnosis.is_real;
        assert!(is_real && found.confirmed().is_empty(), "{runs}: {}", found.text());
        assert_ne!(found.status("env.locale"), Some(Status::Cleared), "{runs}: {}", found.text());
    }
}

/// It appears on both sides during the round.
#[test]
fn a_machine_that_becomes_slow_in_the_middle_convicts_nobody_else() {
    let late = Condition::UntilRun(60).negated();
    let causes = vec![
        Cause::new("locale", Condition::env_is_set("LC_ALL"), Effect::on_cpu(2.0)),
        Cause::new("late", late, Effect::on_cpu(1.5)),
    ];
    let found = plain(causes, &[("LC_ALL", "en_US.UTF-8"), ("LD_BIND_NOW", "1")]).explained();
    assert_eq!(found.confirmed(), ["env.locale"], "{}", found.text());
    assert_eq!(found.status("link.bind-now"), Some(Status::Cleared), "{}", found.text());
}

/// An interrupt while reasons are looked for: what was found out stays, and nothing is called finished.
#[test]
fn an_interrupted_search_is_no_finished_one() {
    for runs in [25, 40, 60] {
        let mut scene = row("env.locale").guilty();
        scene.world.interrupt = Some(Interrupt::AfterRuns(runs));
        let found = scene.explained();
        assert_eq!(found.recording.stop(), Some(Stop::Interrupted), "{runs}: {}", found.text());
        assert!(
            !found.diagnosis.is_real || found.diagnosis.tried > 0 || !found.diagnosis.not_checked.is_empty()
        );
    }
    let mut lost = row("env.locale").guilty().explained().recording;
    lost.explained = None;
    assert_eq!(lost.stop(), None, "it breaks off");
}

/// A locale that both sides have, and what it costs each of them, beside arguments that make a small gap.
fn locale_on_both(fast_factor: f64, slow_factor: f64, gap: f64) -> super::scene::Found {
    let in_locale = Condition::env_is("LC_ALL", "C").negated();
    let is_slow = Condition::HasArgument("-f".into());
    let both = |one: &Condition, other: Condition| Condition::All(vec![one.clone(), other]);
    let mut scene = row("env.locale").guilty();
    scene.fast = vec![argv("sort words")];
    scene.slow = vec![argv("sort -f words")];
    let program = &mut scene.world.programs[0];
    let traces = program.causes[0].traces.clone();
    program.causes = vec![
        Cause::new("fast", both(&in_locale, is_slow.clone().negated()), Effect::on_cpu(fast_factor)),
        Cause::new("slow", both(&in_locale, is_slow.clone()), Effect::on_cpu(slow_factor)),
        Cause::new("arguments", is_slow, Effect::on_cpu(gap)),
    ];
    program.causes[1].traces = traces;
    scene.explained()
}

fn argv(line: &str) -> Edit {
    Edit::Argv(line.split(' ').map(Into::into).collect())
}

/// Without the cause the slow side is the faster one: that is told by a ratio, and no negative part stays unexplained.
#[test]
fn more_than_the_whole_gap_is_told_in_words() {
    let found = locale_on_both(2.0, 4.0, 0.55);
    let finding = found.finding("env.locale").unwrap_or_else(|| panic!("{}", found.text()));
    assert_eq!(finding.status, Status::Confirmed, "{}", found.text());
    let share = finding.share.unwrap();
    assert!(share.is_more_than_all() && (finding.left.unwrap().point - 0.55).abs() < 0.02, "{finding:?}");
    let text = whyslow::explain::closing(&share, finding.left.as_ref(), finding.fast_with.as_ref());
    assert!(text.contains("more than the whole gap: the slow side is then 1.82x"), "{text}");
    assert!(text.contains("gains by it too and is then 1.99x"), "{text}");
    let rest = found.diagnosis.unexplained.unwrap();
    assert!(rest.point < 0.0 && rest.rest_text().starts_with("0 %"), "{}", rest.rest_text());
}

/// It is a way to make both faster, and no reason for the difference between them.
#[test]
fn what_speeds_up_both_sides_alike_is_not_guilty() {
    for (fast, slow) in [(3.0, 3.0), (3.0, 3.06), (3.0, 3.0 * 0.97)] {
        let found = locale_on_both(fast, slow, 1.1);
        assert!(found.confirmed().is_empty(), "{slow}: {}", found.text());
    }
}
