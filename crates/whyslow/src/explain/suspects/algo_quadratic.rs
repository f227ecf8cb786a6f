//! Work that grows faster than the input.

use super::evidence::{hot_functions, is_same_program, is_user_time};
use super::signs::{more_in_functions, more_in_functions_alone};
use super::{Suspect, Suspicion};
use crate::explain::{Case, Growths};

pub const SUSPECT: Suspect = Suspect {
    name: "algo.quadratic",
    title: "quadratic work",
    about: "For every item all the others are touched again: inserting at the front of an array, appending by copying, a \
            join without an index, strlen in a loop.",
    shows: "User time in one function that moves, compares or scans (memmove, strlen, a query engine's loop); the time \
            grows with the square of the size.",
    test: "Where both command lines share a number, smaller ones are measured and give the exponent. Nothing can be taken \
           away from outside, so it is located at most.",
    fix: "another data structure or an index; collect the pieces and join them once",
    report: "accidentallyquadratic.tumblr.com collects such cases; SQLite's documentation of its query planner on indices.",
    look,
};

/// Functions that walk over data, by parts of their names.
const SCANS: [&str; 16] = [
    "memmove",
    "memcpy",
    "strlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "memchr",
    "strchr",
    "memcmp",
    "strstr",
    "memmem",
    "wmemmove",
    "list_insert",
    "ins1",
    "strcat",
    "strcpy",
];
/// Searches from one end of a sequence to the other, which call something for each item.
pub const SEARCHES: [&str; 11] = [
    "list_contains",
    "tuplecontains",
    "list_index",
    "list_count",
    "list_remove",
    "_PySequence_IterSearch",
    "ArrayIncludes",
    "ArrayIndexOf",
    "rb_ary_includes",
    "rb_ary_index",
    "std::find",
];
/// Engines in which a scan within a scan is one loop.
const ENGINES: [&str; 3] = ["sqlite", "libpq", "duckdb"];
const MOST_OF_IT: f64 = 0.5;
/// One function that the fast side hardly enters, and nothing else: no more than code.more-work says, unless it is known
/// how it grows.
const NEARLY_ALL: f64 = 0.9;
const ALONE: f64 = 0.19;
/// What any pair of programs may show: less than code.more-work.
const UNSPECIFIC: f64 = 0.15;
/// Signs that speak for it, while the number that could be varied grows as it should: it may be another size.
const DOUBTFUL: f64 = 0.35;
/// A measured exponent is more than any sign.
const MEASURED: f64 = 0.85;
/// From this exponent on, the work is not in proportion to the input.
const STEEP: f64 = 1.6;
/// So much steeper than the fast side.
const STEEPER: f64 = 0.4;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    if !is_user_time(case, 0.4) {
        return None;
    }
    let found = scanning(case)
        .or_else(|| in_an_engine(case))
        .map(|(share, what)| (0.3 + 0.6 * share.min(1.0), share, what));
    let found = found.or_else(|| one_function(case));
    let Some((weight, share, what)) = found else { return by_growth(case) };
    let mut signs = vec![format!("{what} has {:.0} % of the gap", share * 100.0)];
    let weight = match case.growth {
        // One function and a measured growth like that of the input: nothing is left that speaks for it.
        Some(_) if !outgrows(case) && weight <= ALONE => return None,
        Some(growth) => {
            signs.push(growth.text());
            if outgrows(case) { weight.max(MEASURED) } else { weight.min(DOUBTFUL) }
        }
        None => {
            signs.push("how it grows with the input is not measured".to_owned());
            weight
        }
    };
    Some(Suspicion::located(case, weight, signs))
}

/// The slow side grows much faster than its input, and the fast side does not, as far as that could be measured.
pub fn outgrows(case: &Case<'_>) -> bool {
    let is_steep =
        |growth: Growths| growth.slow >= STEEP && growth.fast.is_none_or(|fast| growth.slow > fast + STEEPER);
    case.growth.is_some_and(is_steep)
}

fn by_growth(case: &Case<'_>) -> Option<Suspicion> {
    let growth = case.growth.filter(|_| outgrows(case))?;
    Some(Suspicion::located(case, MEASURED, vec![growth.text()]))
}

/// Without what realloc copies: that is a suspect of its own.
fn scanning(case: &Case<'_>) -> Option<(f64, String)> {
    let copied =
        case.more(|side| side.allocations().map(|seen| seen.realloc_moved_bytes as f64)).unwrap_or(0.0);
    let scans = more_in_functions_alone(case, &SCANS)? - copied.max(0.0) * case.prices.copied_byte_s;
    let more = scans.max(more_in_functions(case, &SEARCHES).unwrap_or(0.0));
    let share = case.share(more);
    (share >= MOST_OF_IT).then(|| (share, "moving, comparing or searching memory".to_owned()))
}

fn in_an_engine(case: &Case<'_>) -> Option<(f64, String)> {
    let is_engine = |module: &str| ENGINES.iter().any(|engine| module.contains(engine));
    let more = case.more(|side| {
        side.cpu_own_where(|frame| is_engine(&frame.module) || frame.name.contains("sqlite3VdbeExec"))
    })?;
    let share = case.share(more);
    (share >= MOST_OF_IT && is_same_program(case)).then(|| (share, "the query engine itself".to_owned()))
}

/// With the weight that it has.
fn one_function(case: &Case<'_>) -> Option<(f64, f64, String)> {
    let (name, more, fast) = hot_functions(case).into_iter().next()?;
    let share = case.share(more);
    let is_scan = SCANS.iter().any(|scan| name.contains(scan));
    // What the fast side does as well is more of the same, not another growth.
    let is_other = !is_scan && fast < more * 0.2 && is_same_program(case);
    let weight = if share >= NEARLY_ALL && fast < more * 0.02 { ALONE } else { UNSPECIFIC };
    (share >= MOST_OF_IT && is_other).then(|| (weight, share, format!("one function, {name},")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn grown(test: &TestCase, slow: f64) -> f64 {
        let built = test.build();
        let mut case = built.case();
        case.growth = Some(Growths { fast: Some(1.0), slow, low: slow - 0.1, high: slow + 0.1 });
        look(&case).map_or(0.0, |suspicion| suspicion.weight)
    }

    #[test]
    fn one_function_without_a_name() {
        let test = TestCase::new("python3 queue.py 60000 deque", "python3 queue.py 60000 list")
            .seconds(0.017, 0.3)
            .cpu(&[("main", 1.0)], &[("main", 0.05), ("main;python3.11!0x646b00", 0.95)]);
        // Until its growth is measured it may be anything, such as another level of compression.
        assert_eq!(test.candidates()[..2], ["code.more-work", "algo.quadratic"]);
    }

    #[test]
    fn the_growth_decides() {
        assert!(grown(&inserts(0.1), 2.0) >= 0.6);
        assert!(grown(&inserts(0.9), 1.0) <= DOUBTFUL);
    }

    fn inserts(share: f64) -> TestCase {
        TestCase::new("python3 queue.py 60000 deque", "python3 queue.py 60000 list").seconds(0.017, 0.51).cpu(
            &[("main;_PyEval_EvalFrameDefault", 1.0)],
            &[
                ("main;_PyEval_EvalFrameDefault", 1.0 - share),
                ("main;_PyEval_EvalFrameDefault;libc.so.6!__memmove_avx_unaligned_erms", share),
            ],
        )
    }

    #[test]
    fn inserting_at_the_front() {
        let suspicion = inserts(0.9).look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.7 && suspicion.signs[1].contains("not measured"));
        assert_eq!(inserts(0.9).candidates()[0], "algo.quadratic");
    }

    #[test]
    fn some_copying_is_innocent() {
        // Less than what code.more-work says of any pair.
        assert!(inserts(0.1).weight(&SUSPECT) < 0.2);
    }

    #[test]
    fn what_realloc_copies_is_not_counted_twice() {
        let test = inserts(0.9).allocations(|_, slow| slow.realloc_moved_bytes = 4_500_000_000);
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn a_join_without_an_index() {
        let test = TestCase::new("sqlite3 q.db bi", "sqlite3 q.db b")
            .seconds(0.007, 0.54)
            .cpu(&[("main", 1.0)], &[("main;libsqlite3.so.0.8.6!0x1234", 1.0)]);
        assert_eq!(test.candidates()[0], "algo.quadratic");
    }
}
