//! All symbols are looked up at the start, also those that are never used.

use super::evidence::specific;
use super::settings::Setting;
use super::starting::{any_elf, both, is_alike, more_s};
use super::{Suspect, Suspicion, settings};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "link.bind-now",
    title: "binding at the start",
    about: "The loader looks up every symbol at the start (LD_BIND_NOW, -z now, full RELRO) instead of each one when it is \
            first called.",
    shows: "User time for each start; relocations up, with the same libraries.",
    test: "The LD_BIND_NOW of the fast side on the slow side. What is built in (-z now) can only be located.",
    fix: "unset LD_BIND_NOW, or link without -z now what is started often and uses little of its libraries",
    report: "ld.so(8), LD_BIND_NOW; Debian's hardening flags add -z now.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = both(case).map(|(fast, slow)| slow.relocations - fast.relocations).filter(|more| *more > 0.0);
    let sign = more.map(|more| format!("{more:.0} more symbols looked up at the start"));
    let is_mine = |setting: &Setting| matches!(setting.name.as_str(), "LD_BIND_NOW" | "LD_BIND_NOT");
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(sign);
        return Some(found);
    }
    let (fast, slow) = both(case)?;
    let is_built_in = |side: &Side<'_>| any_elf(side, |elf| elf.is_bind_now);
    let is_new = is_built_in(&case.slow) && !is_built_in(&case.fast);
    if !is_new || !is_alike(fast.libraries, slow.libraries) || slow.relocations < 2.0 * fast.relocations {
        return None;
    }
    let weight = specific(case.share(more_s(case, &fast, &slow)))?;
    Some(Suspicion::located(case, weight, sign.into_iter().chain(slow.in_loader()).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::starting::tests::load;
    use super::super::testing::TestCase;
    use super::*;

    fn bound(relocations: u64) -> TestCase {
        TestCase::new("spawn 100 lazy", "spawn 100 now").seconds(0.1, 0.15).loading(|fast, slow| {
            load(fast, "lazy", 100, 5);
            load(slow, "now", 100, 5);
            fast.relocations = 8_700;
            slow.relocations = relocations;
            slow.programs[0].elf.as_mut().unwrap().is_bind_now = true;
        })
    }

    #[test]
    fn the_variable_is_the_experiment() {
        let test = TestCase::new("a", "a").slow_env("LD_BIND_NOW", "1");
        assert!(test.claim_on(&SUSPECT, "LD_BIND_NOW").unwrap().is_experiment);
    }

    #[test]
    fn a_program_built_so_is_located() {
        let found = bound(300_000).look(&SUSPECT).unwrap();
        assert!(!found.claims[0].is_experiment && found.weight > 0.25);
    }

    #[test]
    fn a_few_symbols_accuse_nobody() {
        assert!(bound(18_000).look(&SUSPECT).is_none());
    }
}
