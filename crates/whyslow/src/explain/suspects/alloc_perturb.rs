//! Blocks that are filled on malloc and free, to find errors.

use super::evidence::specific;
use super::settings::Setting;
use super::{Suspect, Suspicion, allocating, settings, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.perturb",
    title: "filling of blocks",
    about: "MALLOC_PERTURB_ and the like fill every block when it is given out and again when it is freed, so that programs \
            that use what is not theirs fail. Test harnesses set it.",
    shows: "User time in memset below malloc and free; more, the larger the blocks.",
    test: "The setting of the fast side on the slow side, or the variable away on both.",
    fix: "unset MALLOC_PERTURB_ (glibc.malloc.perturb, junk:true) where times are measured",
    report: "mesonbuild/meson#3034: meson sets it for benchmarks too, 0.21 s become 0.35 s; hercules-team/augeas#768: 20 \
             times as slow.",
    look,
};

const SETTINGS: [&str; 8] = [
    "MALLOC_PERTURB_",
    "glibc.malloc.perturb",
    "MALLOC_CHECK_",
    "glibc.malloc.check",
    "MALLOC_CONF:junk",
    "MALLOC_CONF:zero",
    "MALLOC_CONF:redzone",
    "MIMALLOC_SHOW_ERRORS",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = case.more(filling_s).filter(|more| specific(case.share(*more)).is_some());
    let sign = more.map(|more| format!("{} more in memset below malloc and free", signs::seconds(more)));
    if let Some(mut found) =
        settings::suspicion(case, |setting: &Setting| SETTINGS.contains(&setting.name.as_str()))
    {
        found.signs.extend(sign);
        return Some(found);
    }
    let mut found = Suspicion::located(case, specific(case.share(more?))?, sign.into_iter().collect());
    found.ideas.extend(settings::removed_on_both_sides(case, "MALLOC_PERTURB_"));
    Some(found)
}

/// Seconds in memset that malloc or free asks for; not in calloc, which must clear its blocks.
fn filling_s(side: &Side<'_>) -> Option<f64> {
    let asks = |name: &&str| allocating::is_malloc(name) && !name.contains("calloc");
    side.cpu_in_stacks(|_, names| {
        let is_memset = names.first().is_some_and(|name| name.contains("memset"));
        is_memset && names.iter().skip(1).take(3).any(asks)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn filled(share: f64) -> TestCase {
        TestCase::new("a 1", "a 1")
            .seconds(0.023, 0.049)
            .cpu(&[("main;malloc", 1.0)], &[("main;malloc;_int_malloc;memset", share), ("main", 1.0 - share)])
    }

    #[test]
    fn the_variable_is_the_experiment() {
        let test = filled(0.5).slow_env("MALLOC_PERTURB_", "165");
        assert!(test.claim_on(&SUSPECT, "MALLOC_PERTURB_").unwrap().is_experiment);
    }

    #[test]
    fn what_both_sides_inherit_is_taken_away_on_both() {
        let test = filled(0.5).facts(&[("env.MALLOC_PERTURB_", "1")], &[("env.MALLOC_PERTURB_", "1")]);
        assert_eq!(test.look(&SUSPECT).unwrap().ideas[0].title, "without MALLOC_PERTURB_ on both sides");
    }

    #[test]
    fn a_little_memset_accuses_nobody() {
        assert!(filled(0.01).look(&SUSPECT).is_none());
        let calloc = TestCase::new("a", "b").cpu(&[("main", 1.0)], &[("main;calloc;memset", 1.0)]);
        assert!(calloc.look(&SUSPECT).is_none());
    }
}
