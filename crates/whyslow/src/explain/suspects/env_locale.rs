//! Collation, character classes and multibyte text by the rules of a language.

use super::evidence::specific;
use super::{Suspect, Suspicion, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "env.locale",
    title: "locale",
    about: "A locale other than C makes programs compare, classify and convert text by the rules of a language, one \
            character at a time.",
    shows: "User time in strcoll, strxfrm, mbrtowc, towlower and the like; the same system calls on both sides.",
    test: "LC_ALL=C on both sides, or the variables of the locale of one side on the other.",
    fix: "run with LC_ALL=C where the order of bytes will do",
    report: "jlevy/the-art-of-command-line#22: sort is many times as fast with LC_ALL=C.",
    look,
};

/// Where a locale is looked for belongs to it.
const VARIABLES: [&str; 14] = [
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_MONETARY",
    "LC_MESSAGES",
    "LANG",
    "LANGUAGE",
    "LOCPATH",
    "NLSPATH",
    "I18NPATH",
    "PERL_UNICODE",
    "PYTHONUTF8",
];
const FUNCTIONS: [&str; 14] = [
    "strcoll",
    "strxfrm",
    "wcscoll",
    "wcsxfrm",
    "mbrtowc",
    "mbsrtowcs",
    "mbstowcs",
    "mbrlen",
    "mbtowc",
    "wcrtomb",
    "towlower",
    "towupper",
    "iswctype",
    "wctype",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let seen =
        signs::more_in_functions(case, &FUNCTIONS).filter(|more| specific(case.share(*more)).is_some());
    let sign = seen.map(|more| format!("{} more in functions of the locale", signs::seconds(more)));
    if has_no_other_locale(case) {
        return None;
    }
    if let Some(mut found) = settings::suspicion(case, |setting| VARIABLES.contains(&setting.name.as_str())) {
        found.signs.extend(sign);
        return Some(found);
    }
    let weight = specific(case.share(seen?))?;
    let mut found = Suspicion::located(case, weight, sign.into_iter().collect());
    found.ideas.extend(settings::on_both_sides(case, "LC_ALL", "C"));
    Some(found)
}

/// What is set differs, and what programs have of it does not: a locale that is not installed is C.
fn has_no_other_locale(case: &Case<'_>) -> bool {
    let (fast, slow) = (case.fast.environment(), case.slow.environment());
    let fact = |name: &str| Some((fast?.get(name), slow?.get(name)));
    let is_one_missing = fact("locale.missing").is_some_and(|(one, other)| one != other);
    is_one_missing && fact("locale").is_some_and(|(one, other)| one.is_some() && one == other)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn sort() -> TestCase {
        TestCase::new("sort words", "sort words").seconds(0.047, 0.364)
    }

    #[test]
    fn the_variable_that_differs_is_the_experiment() {
        let test = sort()
            .fast_env("LC_ALL", "C")
            .slow_env("LC_ALL", "en_US.UTF-8")
            .slow_env("LOCPATH", "/w/loc")
            .cpu(&[("sort;memcmp", 1.0)], &[("sort;libc.so.6!strcoll_l", 0.85), ("sort", 0.15)]);
        assert!(test.claim_on(&SUSPECT, "LC_ALL").unwrap().is_experiment);
        assert!(test.claim_on(&SUSPECT, "LOCPATH").unwrap().is_experiment, "useless without the other");
    }

    #[test]
    fn one_that_is_not_installed_is_no_other_locale() {
        let test = |slow: &'static [(&'static str, &'static str)]| {
            sort().fast_env("LC_ALL", "C").slow_env("LC_ALL", "xx_YY.UTF-8").facts(&[("locale", "C")], slow)
        };
        let missing = test(&[("locale", "C"), ("locale.missing", "xx_YY.UTF-8")]);
        assert!(missing.look(&SUSPECT).is_none());
        assert!(test(&[("locale", "xx_YY.UTF-8")]).look(&SUSPECT).is_some());
    }

    #[test]
    fn time_in_its_functions_is_worth_a_try() {
        let test = TestCase::new("sort words", "sort -f words")
            .seconds(0.1, 0.3)
            .cpu(&[("sort", 1.0)], &[("sort;libc.so.6!strcoll_l", 0.5), ("sort", 0.5)]);
        let found = test.look(&SUSPECT).unwrap();
        assert_eq!(found.ideas[0].title, "LC_ALL=C on both sides");
        assert!(found.weight > 0.5);
    }

    #[test]
    fn a_few_calls_accuse_nobody() {
        let test = TestCase::new("sort words", "sort -f words")
            .seconds(0.1, 0.3)
            .cpu(&[("sort", 1.0)], &[("sort;libc.so.6!strcoll_l", 0.01), ("sort", 0.99)]);
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
