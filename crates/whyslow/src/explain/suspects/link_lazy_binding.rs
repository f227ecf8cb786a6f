//! Calls into libraries that are bound again in every child.

use super::allocating::more_faults;
use super::evidence::specific;
use super::starting::{any_elf, forks};
use super::{Suspect, Suspicion, settings};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "link.lazy-binding",
    title: "binding again in every child",
    about: "A program that binds each call into a library when it is made for the first time does that again in every child \
            that it forks: what the child binds is lost with it, and each page of the table is copied.",
    shows: "Page faults and user time for each fork of a program that is linked dynamically and not with -z now.",
    test: "LD_BIND_NOW=1 on both sides: everything is bound before the first fork. Where it is bound at the start anyway, that \
           can change nothing and is not tried.",
    fix: "link with -z now, or set LD_BIND_NOW=1 where it forks",
    report: "A fork loop of a lazily bound dash takes 13 % less with LD_BIND_NOW=1; Debian's own is linked with -z now.",
    look,
};

/// Fewer forks have no price of their own.
pub const FEWEST_FORKS: u64 = 10;
/// What one child binds again, measured: 13 us for the nine calls of a shell.
const REBOUND_S: f64 = 10e-6;
/// What else a dynamic program does in its children has a name of its own.
const PART: f64 = 0.8;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let forks = forks(&case.slow).filter(|forks| *forks >= FEWEST_FORKS)?;
    if !binds_late(&case.slow) || binds_late(&case.fast) {
        return None;
    }
    let faults = more_faults(case);
    let weight = PART * specific(case.share(forks as f64 * REBOUND_S))?;
    let sign = format!(
        "{forks} forks of a program that binds late, {:.0} more page faults each",
        faults / forks as f64
    );
    let ideas = settings::on_both_sides(case, "LD_BIND_NOW", "1").into_iter().collect();
    Some(Suspicion { ideas, ..Suspicion::located(case, weight, vec![sign]) })
}

fn binds_late(side: &Side<'_>) -> bool {
    let is_set = side.env("LD_BIND_NOW").is_some_and(|value| !value.is_empty());
    !is_set && any_elf(side, |elf| !elf.is_static && !elf.is_bind_now)
}

#[cfg(test)]
mod tests {
    use super::super::link_dynamic::tests::shells;
    use super::*;

    #[test]
    fn a_late_one_is_tried_and_one_that_cannot_change_is_not() {
        assert_eq!(shells(500, false).look(&SUSPECT).unwrap().ideas[0].title, "LD_BIND_NOW=1 on both sides");
        assert!(shells(500, true).look(&SUSPECT).is_none(), "bound at the start");
        assert!(shells(500, false).slow_env("LD_BIND_NOW", "1").look(&SUSPECT).is_none());
    }

    #[test]
    fn without_forks_there_is_nothing_to_bind_again() {
        assert!(shells(0, false).look(&SUSPECT).is_none());
    }
}
