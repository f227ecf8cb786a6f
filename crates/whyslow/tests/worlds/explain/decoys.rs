//! Every suspect in worlds in which it is loud and innocent: it is never confirmed and never located first.

use super::rows::all;
use super::scene::{CULPRIT, Row};

fn told(row: &Row, what: &str, found: &super::scene::Found) -> String {
    format!("{} {what}:\n{}", row.suspect, found.text())
}

#[track_caller]
fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_loud_are_innocent_beside_the_real_cause() {
    let real = format!("env.{CULPRIT}");
    let mut wrong = Vec::new();
    for row in all() {
        let found = row.decoy().explained();
        let is_confirmed = found.confirmed().iter().all(|name| **name == real);
        if !is_confirmed || found.culprits().first() != Some(&real.as_str()) {
            wrong.push(told(&row, "beside the real cause", &found));
        }
    }
    none(&wrong);
}

#[test]
fn the_loud_are_innocent_where_nothing_is_slower() {
    let mut wrong = Vec::new();
    for row in all() {
        let found = row.idle().explained();
        if found.diagnosis.is_real || !found.culprits().is_empty() {
            wrong.push(told(&row, "without a gap", &found));
        }
    }
    none(&wrong);
}

/// The experiment on a suspect takes nothing away: something else that comes with the other arguments is the cause.
#[test]
fn who_is_cleared_by_experiment_is_not_located() {
    let mut wrong = Vec::new();
    for row in all().into_iter().filter(|row| row.cure.is_some()) {
        let found = row.hollow().explained();
        // Where only a variable differs that nobody knows, it is the cause itself.
        let is_innocent = |name: &&str| *name != "env.PAD";
        if found.confirmed().iter().any(is_innocent) || found.culprits().contains(&row.suspect) {
            wrong.push(told(&row, "cleared", &found));
        }
    }
    none(&wrong);
}
