//! How long one symbol takes to look up.

use super::evidence::specific;
use super::starting::{any_elf, both, is_alike};
use super::{Suspect, Suspicion, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "link.symbol-lookup",
    title: "lookup of symbols",
    about: "The loader compares names of symbols; with the old hash table (--hash-style=sysv), long common prefixes, or many \
            libraries to search, one lookup takes several times as long.",
    shows: "User time in do_lookup_x and strcmp of the loader; the same number of relocations and more cycles for each.",
    test: "Only another build is without it: the loader's own clock is compared.",
    fix: "link with --hash-style=gnu, hide symbols (-fvisibility=hidden), prelink or -Bsymbolic",
    report: "Ulrich Drepper, \"How To Write Shared Libraries\", on what the lookup of symbols costs.",
    look,
};

const FUNCTIONS: [&str; 5] =
    ["do_lookup_x", "_dl_lookup_symbol_x", "check_match", "_dl_relocate_object", "dl_new_hash"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = both(case)?;
    if !is_alike(fast.relocations, slow.relocations) || !is_alike(fast.libraries, slow.libraries) {
        return None;
    }
    let each = |side: &Side<'_>| {
        let loading = side.loading()?;
        Some(loading.relocation_cycles? as f64 / (loading.relocations as f64).max(1.0))
    };
    let (fast_each, slow_each) = (each(&case.fast)?, each(&case.slow)?);
    if slow_each < 1.3 * fast_each {
        return None;
    }
    let by_clock = slow.seconds.zip(fast.seconds).map(|(slow, fast)| slow - fast);
    let seconds = signs::more_in_functions(case, &FUNCTIONS).unwrap_or(0.0).max(by_clock.unwrap_or(0.0));
    let weight = specific(case.share(seconds))?;
    let mut signs = vec![format!("{slow_each:.0} cycles for each symbol against {fast_each:.0}")];
    let is_old = |side: &Side<'_>| any_elf(side, |elf| elf.hash_style.as_deref() == Some("sysv"));
    if is_old(&case.slow) && !is_old(&case.fast) {
        signs.push("the old hash table on the slow side".to_owned());
    }
    Some(Suspicion::located(case, weight, signs))
}

#[cfg(test)]
mod tests {
    use super::super::starting::tests::load;
    use super::super::testing::TestCase;
    use super::*;

    fn hashed(cycles: u64, seconds: f64) -> TestCase {
        TestCase::new("spawn 20 gnu/main", "spawn 20 sysv/main").seconds(0.1, 0.2).loading(|fast, slow| {
            for (side, cycles, seconds, style) in
                [(fast, 20_000_000, 0.01, "gnu"), (slow, cycles, seconds, "sysv")]
            {
                load(side, "main", 20, 40);
                side.relocations = 184_640;
                side.relocation_cycles = Some(cycles);
                side.startup_s = Some(seconds);
                side.programs[0].elf.as_mut().unwrap().hash_style = Some(style.to_owned());
            }
        })
    }

    #[test]
    fn three_times_the_cycles_for_the_same_symbols() {
        let found = hashed(66_000_000, 0.09).look(&SUSPECT).unwrap();
        assert!(found.weight > 0.7 && found.signs.len() == 2);
    }

    #[test]
    fn a_slow_lookup_that_costs_little_is_innocent() {
        assert!(hashed(66_000_000, 0.012).look(&SUSPECT).is_none());
        assert!(hashed(21_000_000, 0.09).look(&SUSPECT).is_none());
    }
}
