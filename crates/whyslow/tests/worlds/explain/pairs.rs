//! Two culprits at once: both are named, and where they do more or less together than apart, that is told.

use whyslow::explain::Status;
use whyslow::machine::simulated::{Cause, Condition, Cost, Effect};
use whyslow::model::Edit;

use super::scene::{Found, Scene};

/// Suspects by a variable of theirs that is the experiment.
const VARIABLES: [(&str, &str, &str); 8] = [
    ("env.locale", "LC_ALL", "en_US.UTF-8"),
    ("alloc.perturb", "MALLOC_PERTURB_", "165"),
    ("alloc.arena-contention", "MALLOC_ARENA_MAX", "1"),
    ("alloc.trim", "MALLOC_TRIM_THRESHOLD_", "0"),
    ("link.bind-now", "LD_BIND_NOW", "1"),
    ("proc.startup-file", "BASH_ENV", "/w/rc"),
    ("code.logging", "RUST_LOG", "debug"),
    ("io.encoding-layer", "PYTHONIOENCODING", "utf-16"),
];

/// Fourteen pairs of them.
fn pairs() -> Vec<(usize, usize)> {
    let all = (0..VARIABLES.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    all.step_by(2).collect()
}

fn scene(pair: (usize, usize), causes: Vec<Cause>) -> Scene {
    let set = |place: usize| (VARIABLES[place].1, VARIABLES[place].2);
    let seed = (pair.0 * 10 + pair.1) as u64;
    Scene::of_variables(causes, &[set(pair.0), set(pair.1)]).with_seed(seed)
}

fn is_set(place: usize) -> Condition {
    Condition::env_is_set(VARIABLES[place].1)
}

fn extra(user_s: f64) -> Effect {
    Effect::adding(Cost { user_s, ..Cost::default() })
}

fn told(pair: (usize, usize), found: &Found) -> String {
    let names = (VARIABLES[pair.0].0, VARIABLES[pair.1].0);
    format!("{names:?}, {:?}:\n{}", found.diagnosis.interaction, found.text())
}

fn are_named(pair: (usize, usize), found: &Found) -> bool {
    [pair.0, pair.1].into_iter().all(|place| found.status(VARIABLES[place].0) == Some(Status::Confirmed))
}

#[track_caller]
fn check(of: impl Fn((usize, usize)) -> Vec<Cause>, is_right: impl Fn((usize, usize), &Found) -> bool) {
    let mut wrong = Vec::new();
    for pair in pairs() {
        let found = scene(pair, of(pair)).explained();
        if !is_right(pair, &found) || found.confirmed().len() != 2 {
            wrong.push(told(pair, &found));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Factors: each closes its part of the logarithm of the gap, and together they close it all.
#[test]
fn two_that_multiply_are_both_named() {
    let causes = |(one, other)| {
        vec![
            Cause::new("one", is_set(one), Effect::on_cpu(3.0)),
            Cause::new("other", is_set(other), Effect::on_cpu(2.0)),
        ]
    };
    check(causes, |pair, found| {
        let share = |place: usize| found.finding(VARIABLES[place].0).unwrap().share.unwrap().point;
        are_named(pair, found)
            && found.diagnosis.interaction.is_none()
            && (share(pair.0) - 0.613).abs() < 0.05
            && (share(pair.1) - 0.387).abs() < 0.05
    });
}

/// Sums: without the one, the other is most of what is left, so that each alone closes less than its part.
#[test]
fn two_that_add_up_are_both_named_and_told_to_interact() {
    let causes = |(one, other)| {
        vec![Cause::new("one", is_set(one), extra(0.4)), Cause::new("other", is_set(other), extra(0.4))]
    };
    check(causes, |pair, found| are_named(pair, found) && found.diagnosis.interaction.is_some());
}

/// The one hides the other: taking the hidden one away closes nothing while the other is there.
#[test]
fn one_that_hides_the_other_is_not_its_alibi() {
    let causes = |(one, other)| {
        let hidden = Condition::All(vec![is_set(other), is_set(one).negated()]);
        vec![Cause::new("one", is_set(one), extra(0.5)), Cause::new("other", hidden, extra(0.3))]
    };
    check(causes, |pair, found| are_named(pair, found) && found.diagnosis.interaction.is_some());
}

/// Only together do they slow anything down: each alone closes everything.
#[test]
fn two_that_need_each_other_are_both_named() {
    let causes =
        |(one, other)| vec![Cause::new("both", Condition::All(vec![is_set(one), is_set(other)]), extra(0.4))];
    check(causes, |pair, found| are_named(pair, found) && found.diagnosis.interaction.is_some());
}

/// A script reads a file or a pipe; with the words of one and the input of the other it reads nothing.
#[test]
fn what_is_nothing_apart_is_told_as_one() {
    let words = |one: &str, other: &str| {
        Condition::All(vec![Condition::HasArgument(one.into()), Condition::HasArgument(other.into())])
    };
    let causes = vec![
        Cause::new("file", words("file", "plain"), extra(0.1)),
        Cause::new("pipe", words("pipe", "piped"), extra(0.5)),
    ];
    let mut scene = Scene::of_variables(causes, &[]);
    let argv = |line: &str| vec![Edit::Argv(line.split(' ').map(Into::into).collect())];
    (scene.fast, scene.slow) = (argv("work file plain"), argv("work pipe piped"));
    let found = scene.explained();
    let culprits: Vec<_> =
        found.diagnosis.findings.iter().filter(|one| one.status == Status::Located).collect();
    let [culprit] = culprits.as_slice() else { panic!("{}", found.text()) };
    assert!((culprit.share.unwrap().point - 1.0).abs() < 0.1, "{}", found.text());
    assert!(found.confirmed().is_empty() && found.diagnosis.interaction.is_none(), "{}", found.text());
}
