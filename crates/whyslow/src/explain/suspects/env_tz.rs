//! Time zones: a file that is looked at again and again.

use super::evidence::specific;
use super::{Suspect, Suspicion, settings, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "env.tz",
    title: "time zone",
    about: "Without TZ the C library looks at /etc/localtime on every call of localtime, to see whether it has changed.",
    shows: "System time; one stat of /etc/localtime for each time that is formatted.",
    test: "TZ=:/etc/localtime on both sides, which names the same zone once; or the TZ of the fast side.",
    fix: "set TZ=:/etc/localtime (or the name of the zone) in the environment of the program",
    report: "packagecloud, 2017, \"How setting the TZ environment variable avoids thousands of system calls\".",
    look,
};

const FILE: &str = "/etc/localtime";
/// Calls that may look at the file.
const STATS: [&str; 5] = ["newfstatat", "stat", "statx", "lstat", "fstatat64"];
/// A program that looks at it once per start is not meant.
const FEWEST: f64 = 100.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let seen = more_looks(case);
    let sign = seen.map(|looks| format!("{looks:.0} more looks at {FILE}"));
    if let Some(mut found) =
        settings::suspicion(case, |setting| matches!(setting.name.as_str(), "TZ" | "TZDIR"))
    {
        found.signs.extend(sign);
        return Some(found);
    }
    // Where nobody watched the files, the calls may be about any of them.
    let certainty = if case.slow.files().is_some() { 1.0 } else { 0.5 };
    let weight = specific(signs::share_of_calls(case, seen?))? * certainty;
    let mut found = Suspicion::located(case, weight, sign.into_iter().collect());
    if case.slow.env("TZ").is_none() {
        found.ideas.extend(settings::on_both_sides(case, "TZ", ":/etc/localtime"));
    }
    Some(found)
}

/// By the files; where nobody watched those, every stat might be one of it.
fn more_looks(case: &Case<'_>) -> Option<f64> {
    let of_file = |side: &Side<'_>| {
        let files = &side.files()?.files;
        Some(files.iter().filter(|file| file.path == FILE).map(|file| file.stated).sum::<u64>() as f64)
    };
    let looks = case.more(of_file).or_else(|| signs::more_calls(case, &STATS))?;
    (looks > FEWEST).then_some(looks)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::explain::Mirror;
    use crate::model::FileUse;

    fn times(looks: u64) -> TestCase {
        TestCase::new("perl t.pl 1000", "perl t.pl 200000")
            .seconds(0.06, 0.39)
            .system(0.004, 0.288)
            .syscalls(|_, slow| slow.call("newfstatat", looks))
            .files(|_, slow| {
                slow.file(FileUse { path: FILE.to_owned(), stated: looks, ..FileUse::default() });
            })
    }

    #[test]
    fn many_looks_are_worth_a_try() {
        let found = times(200_000).look(&SUSPECT).unwrap();
        assert!(found.weight > 0.3, "{}", found.weight);
        assert_eq!(found.ideas[0].fast, Mirror::Same);
    }

    #[test]
    fn the_variable_is_the_experiment() {
        let test = TestCase::new("perl t.pl", "perl t.pl").fast_env("TZ", ":/etc/localtime");
        assert!(test.claim_on(&SUSPECT, "TZ").unwrap().is_experiment);
    }

    #[test]
    fn a_thousand_looks_accuse_nobody() {
        assert_eq!(times(1000).weight(&SUSPECT), 0.0);
        let set = times(200_000).env("TZ", "UTC");
        assert!(set.look(&SUSPECT).unwrap().ideas.is_empty(), "it is set already");
    }
}
