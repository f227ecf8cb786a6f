//! Collation, character classes and multibyte text by the rules of a language.

use super::{Expectation, Idea, Mirror, Suspect, Suspicion};
use crate::explain::Case;
use crate::model::Edit;

pub const SUSPECT: Suspect = Suspect {
    name: "env.locale",
    title: "locale",
    about: "A locale other than C makes programs compare, classify and convert text by the rules of a language, one \
            character at a time.",
    shows: "User time in strcoll, strxfrm, mbrtowc, towlower and the like; the same system calls on both sides.",
    test: "LC_ALL=C on the slow side; the slow side's locale on the fast side.",
    fix: "run with LC_ALL=C where the order of bytes will do",
    report: "GNU coreutils FAQ, \"sort is slow\": LC_ALL=C makes it many times as fast.",
    look,
};

const VARIABLES: [&str; 6] = ["LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_NUMERIC", "LC_MESSAGES", "LANG"];
const FUNCTIONS: [&str; 8] =
    ["strcoll", "strxfrm", "wcscoll", "mbrtowc", "mbstowcs", "towlower", "towupper", "mbsrtowcs"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    if let Some((index, difference)) = VARIABLES.iter().find_map(|name| case.variable(name)) {
        let mut suspicion = Suspicion::by_difference(index, difference.title());
        suspicion.signs.extend(in_functions(case).map(|(sign, _)| sign));
        return Some(suspicion);
    }
    let (sign, weight) = in_functions(case)?;
    let idea = Idea {
        title: "LC_ALL=C on both sides".to_owned(),
        slow: vec![Edit::SetEnv("LC_ALL".into(), "C".into())],
        fast: Mirror::Same,
        add: None,
        expect: Some(Expectation { fact: "env.LC_ALL".to_owned(), contains: "C".to_owned() }),
    };
    let suspicion = Suspicion { weight, signs: vec![sign], ..Suspicion::default() };
    Some(suspicion.with_idea(idea))
}

/// Time in functions of the locale, as a part of the gap.
fn in_functions(case: &Case<'_>) -> Option<(String, f64)> {
    let is_locale = |name: &str| FUNCTIONS.iter().any(|function| name.contains(function));
    let (fast, slow) = (case.fast.cpu_in(is_locale)?, case.slow.cpu_in(is_locale)?);
    let weight = case.share(slow - fast);
    (weight > 0.05)
        .then(|| (format!("{:.0} ms more in functions of the locale", (slow - fast) * 1e3), weight))
}
