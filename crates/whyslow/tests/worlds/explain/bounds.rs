//! An explanation ends in its time, whatever becomes of the runs.

use whyslow::explain::diagnose;
use whyslow::machine::Machine;
use whyslow::machine::simulated::{Cause, Condition, Cost, Effect, Simulated};
use whyslow::model::{Recording, Stop};
use whyslow::session::{Inquiry, explain};

use super::scene::Scene;
use crate::common::{Nobody, stamp};

/// A locale makes the slow side slower, and from that run on every run takes this long.
fn ever_longer(run: usize, seconds: f64) -> Scene {
    let extra = |user_s| Effect::adding(Cost { user_s, ..Cost::default() });
    let causes = vec![
        Cause::new("locale", Condition::env_is_set("LC_ALL"), extra(0.2)),
        Cause::new("endless", Condition::UntilRun(run).negated(), extra(seconds)),
    ];
    Scene::of_variables(causes, &[("LC_ALL", "en_US.UTF-8")]).with_seed(3)
}

fn explained(scene: &Scene, budget_s: Option<f64>) -> (Recording, f64) {
    let mut machine = Simulated::new(scene.world.clone());
    let began_s = machine.now_s();
    let inquiry = Inquiry { budget_s, ..Inquiry::default() };
    let measured = explain(scene.experiment(), inquiry, &mut machine, &mut Nobody, stamp());
    assert!(measured.trouble.is_none(), "{:?}", measured.trouble);
    (measured.recording, machine.now_s() - began_s)
}

/// While it is decided, while it is looked at, and in a round.
#[test]
fn a_budget_bounds_all_of_it() {
    for run in [1, 12, 24, 30, 36, 60] {
        for budget_s in [10.0, 60.0] {
            let (recording, took_s) = explained(&ever_longer(run, 1e4), Some(budget_s));
            assert!(took_s < budget_s + 1.0, "from run {run} on, {budget_s}: {took_s}");
            assert!(recording.end.is_some());
        }
    }
}

/// What is usual counts from the shortest block: runs that become longer do not buy themselves more time.
#[test]
fn what_is_usual_bounds_it_too() {
    for run in [12, 24, 30, 36, 60] {
        let (recording, took_s) = explained(&ever_longer(run, 50.0), None);
        assert!(took_s < 1.3 * 30.0, "from run {run} on: {took_s}");
        assert!(recording.end.is_some());
    }
}

/// Long runs leave time for the verdict and not for the reasons: then it says so, with what one run takes.
#[test]
fn what_there_is_no_time_for_is_told() {
    let (recording, took_s) = explained(&ever_longer(0, 4.0), Some(90.0));
    assert!(took_s < 91.0, "{took_s}");
    assert_eq!(recording.explained, Some(Stop::BudgetSpent));
    let diagnosis = diagnose(&recording).unwrap();
    let told =
        diagnosis.not_checked.iter().find(|missing| missing.why.contains("not decided within the budget"));
    let told = told.unwrap_or_else(|| panic!("{:?}", diagnosis.not_checked));
    assert!(told.what.contains("LC_ALL") && told.why.contains("one run of both takes 8.4 s"), "{told:?}");
}
