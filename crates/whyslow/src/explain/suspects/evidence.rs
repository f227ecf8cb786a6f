//! What differs in the command lines, what the threads wait for, and how signs become weights: questions that suspects
//! ask of a case beside those in `signs`.

use super::signs::{base_name, names_functions_alike};
use super::{Claim, Suspicion};
use crate::explain::differences::Kind;
use crate::explain::{Case, Difference, Side};
use crate::model::{FileUse, Profile, WaitKind};

/// What accounts for less of the gap accuses nobody.
pub const LEAST: f64 = 0.05;

/// Weight of signs that hardly anything else shows: above what every pair of programs shows, and the more the better
/// they account for the gap. `None`: they are too cheap to matter.
pub fn specific(priced: f64) -> Option<f64> {
    // What accounts for less than a tenth is beside the point, however rare its signs.
    let is_little = priced < 0.1;
    (priced > LEAST).then(|| if is_little { priced } else { 0.25 + 0.75 * priced.min(1.0) })
}

/// Weight of signs that come with more work of any kind: more memory, more allocations. A small part of the gap comes after
/// more work itself.
pub fn specific_or_little(priced: f64) -> Option<f64> {
    const LITTLE: f64 = 0.2;
    specific(priced).map(|weight| if priced < LITTLE { weight.min(priced) } else { weight })
}

/// A difference in program and arguments: its index, the words of the fast side and those of the slow side.
pub struct Changed {
    pub index: usize,
    pub fast: Vec<String>,
    pub slow: Vec<String>,
}

/// Differences in program and arguments, without those that only set variables.
pub fn changed(case: &Case<'_>) -> Vec<Changed> {
    let words = |(index, difference): (usize, &Difference)| {
        let (fast, slow) = difference.words().filter(|_| !difference.is_surrounding())?;
        Some(Changed { index, fast, slow })
    };
    case.differences.iter().enumerate().filter_map(words).collect()
}

/// Whether the program itself is the same and only its arguments differ.
pub fn is_same_program(case: &Case<'_>) -> bool {
    !case.differences.iter().any(Difference::is_program)
}

/// Claims on differences with a word on the slow side that is wanted and that the fast side does not have.
pub fn claims_on_words(case: &Case<'_>, weight: f64, is_wanted: impl Fn(&str) -> bool) -> Vec<Claim> {
    let has = |changed: &Changed| changed.slow.iter().any(|word| is_wanted(word));
    let claim = |changed: Changed| Claim { difference: changed.index, weight, is_experiment: false };
    changed(case).into_iter().filter(has).map(claim).collect()
}

/// Claims on differences with a word that is wanted on either side: an option there may switch off what the other has.
pub fn claims_on_options(case: &Case<'_>, weight: f64, is_wanted: impl Fn(&str) -> bool) -> Vec<Claim> {
    let has = |changed: &Changed| changed.fast.iter().chain(&changed.slow).any(|word| is_wanted(word));
    let claim = |changed: Changed| Claim { difference: changed.index, weight, is_experiment: false };
    changed(case).into_iter().filter(has).map(claim).collect()
}

/// The difference that is a program with its options in front of what both sides run, by the name of that program.
pub fn wrapper(case: &Case<'_>, names: &[&str]) -> Option<(usize, String)> {
    changed(case).into_iter().find_map(|changed| {
        let name = base_name(changed.slow.first()?).to_owned();
        (changed.fast.is_empty() && names.contains(&name.as_str())).then_some((changed.index, name))
    })
}

/// A wrapper that does nothing else than what is suspected: taking it away is the experiment.
pub fn by_wrapper(case: &Case<'_>, names: &[&str]) -> Option<Suspicion> {
    let (index, name) = wrapper(case, names)?;
    Some(Suspicion::by_difference(index, format!("the slow side runs under {name}")))
}

/// Several variables that are about nothing else; the first that differs.
pub fn by_variable(case: &Case<'_>, names: &[&str]) -> Option<Suspicion> {
    let (index, difference) = names.iter().find_map(|name| case.variable(name))?;
    Some(Suspicion::by_difference(index, difference.title()))
}

/// What two kinds of signs of the same suspect say together.
pub fn joined(one: Option<Suspicion>, other: Option<Suspicion>) -> Option<Suspicion> {
    let (Some(one), Some(other)) = (&one, &other) else { return one.or(other) };
    Some(Suspicion {
        weight: one.weight.max(other.weight),
        signs: one.signs.iter().chain(&other.signs).cloned().collect(),
        claims: one.claims.iter().chain(&other.claims).copied().collect(),
        ideas: one.ideas.iter().chain(&other.ideas).cloned().collect(),
    })
}

/// The hook before each run, where it differs.
pub fn prepare_hook(case: &Case<'_>) -> Option<usize> {
    let is_prepare = |difference: &Difference| matches!(difference.kind, Kind::Hook(kind) if kind == crate::model::HookKind::Prepare);
    case.differences.iter().position(is_prepare)
}

/// Seconds that threads were blocked on something of this kind; the slow side minus the fast one.
pub fn more_waiting(case: &Case<'_>, kind: WaitKind) -> Option<f64> {
    case.more(|side| {
        let places = side.waiting()?.places.iter().filter(|place| place.kind == kind);
        Some(places.map(|place| place.seconds).sum())
    })
}

/// What a side waits for most of this kind.
pub fn longest_wait(side: &Side<'_>, kind: WaitKind) -> Option<String> {
    let mut places = side.waiting()?.places.iter().filter(|place| place.kind == kind);
    places.next().map(|place| place.what.clone())
}

/// The part of the gap that is spent blocked, 0 where most of the gap is work.
pub fn blocked_share(case: &Case<'_>) -> f64 {
    if case.gap.metric != "wall_s" {
        return 0.0;
    }
    case.share(case.gap.budget.blocked_s).clamp(0.0, 1.0)
}

/// The part of the gap that is spent ready to run, without a CPU: by the kernel's books or by the switches; where neither
/// tells, what is left of the wait when everything that threads were seen to wait for is taken off. `None`: it is not known.
pub fn waited_for_cpu(case: &Case<'_>) -> Option<f64> {
    if case.gap.metric != "wall_s" {
        return None;
    }
    let preempted = case.more(|side| side.waiting()?.preempted_s).unwrap_or(0.0);
    let known = case.gap.budget.cpu_wait_s.max(preempted).max(0.0);
    let waits = case.more(|side| {
        Some(
            side.waiting()?
                .places
                .iter()
                .filter(|place| place.kind != WaitKind::Child)
                .map(|place| place.seconds)
                .sum(),
        )
    });
    let unseen = waits.map(|waits: f64| case.gap.budget.blocked_s - waits.max(0.0)).unwrap_or(0.0);
    let is_told = case.gap.budget.cpu_wait_s > 0.0 || preempted > 0.0;
    let seconds = if is_told { known } else { unseen };
    (is_told || waits.is_some()).then(|| case.share(seconds).clamp(0.0, 1.0))
}

/// Whether at least this part of the gap is time of the programs themselves, not of the kernel.
pub fn is_user_time(case: &Case<'_>, least: f64) -> bool {
    case.gap.metric == "cpu_s" && case.share(case.gap.budget.user_s) >= least
}

/// Whether both sides ask the kernel for about as much, where that was counted.
pub fn has_alike_syscalls(case: &Case<'_>) -> bool {
    let calls = case.more(|side| side.syscalls().map(|syscalls| syscalls.total() as f64));
    calls.is_none_or(|more| case.share(more * case.prices.syscall_s).abs() < LEAST)
}

/// Sum of a count over all files.
pub fn more_in_files(case: &Case<'_>, count: impl Fn(&FileUse) -> u64) -> Option<f64> {
    case.more(|side| side.files().map(|files| count(&files.total) as f64))
}

/// Innermost functions by how many seconds more the slow side spends in them: name, seconds more, seconds of the fast
/// side; most first.
pub fn hot_functions(case: &Case<'_>) -> Vec<(String, f64, f64)> {
    let (Some(fast), Some(slow)) = (case.fast.cpu(), case.slow.cpu()) else { return Vec::new() };
    if !names_functions_alike(case) {
        return Vec::new();
    }
    let (fast, slow) = (own(&case.fast, fast), own(&case.slow, slow));
    let mut all: Vec<(String, f64, f64)> = slow
        .into_iter()
        .map(|(name, slow_s)| {
            let fast_s = fast.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, seconds)| *seconds);
            (name, slow_s - fast_s, fast_s)
        })
        .collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

/// Seconds of an undisturbed run in each function alone, by `function (module)`.
fn own(side: &Side<'_>, profile: &Profile) -> Vec<(String, f64)> {
    let sampled: f64 = profile.stacks.iter().map(|stack| stack.weight).sum();
    let scale = side.sampled_part() * side.median("cpu_s").unwrap_or(0.0) / sampled.max(f64::MIN_POSITIVE);
    let named = profile.frames.iter().zip(profile.own());
    named.map(|(frame, weight)| (format!("{} ({})", frame.name, frame.module), weight * scale)).collect()
}

/// Numbers among the words that differ: the one of the fast side and the one of the slow side in the same place.
pub fn changed_numbers(case: &Case<'_>) -> Vec<(f64, f64)> {
    let numbers = |changed: Changed| match (changed.fast.as_slice(), changed.slow.as_slice()) {
        ([fast], [slow]) => fast.parse::<f64>().ok().zip(slow.parse::<f64>().ok()),
        _ => None,
    };
    changed(case).into_iter().filter_map(numbers).collect()
}

/// Whether both sides do the same outside of their own code: the gap is user time, and neither system calls, page faults
/// nor allocations differ by what would matter.
pub fn is_nothing_but_user_time(case: &Case<'_>) -> bool {
    let faults = case.more(|side| side.median("page_faults")).unwrap_or(0.0);
    let allocations =
        case.more(|side| side.allocations().map(|seen| seen.allocations() as f64)).unwrap_or(0.0);
    let price = faults * case.prices.fault_s + allocations * case.prices.malloc_s;
    is_user_time(case, 0.7) && has_alike_syscalls(case) && case.share(price).abs() < 2.0 * LEAST
}

/// Instructions of the slow side over those of the fast one, where they were counted.
pub fn instruction_ratio(case: &Case<'_>) -> Option<f64> {
    let (fast, slow) = (case.fast.instructions()?, case.slow.instructions()?);
    (fast.total > 0).then(|| slow.total as f64 / fast.total as f64)
}

/// Whether only what is typed differs: no variable, limit, library or hook.
pub fn has_no_surrounding_difference(case: &Case<'_>) -> bool {
    !case.differences.iter().any(|difference| !difference.is_place_or_work())
}

/// Whether a side runs an interpreter of this name, in any version, by what is typed.
pub fn runs(side: &Side<'_>, name: &str) -> bool {
    let words = side.launch().argv.iter().flat_map(|word| {
        let text = word.lossy().into_owned();
        text.split_whitespace().map(|word| base_name(word).to_owned()).collect::<Vec<_>>()
    });
    words.into_iter().any(|word| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
    })
}

/// Pins everything to one of the CPUs that the slow side may use: what comes of running at the same time is gone.
pub fn on_one_cpu(case: &Case<'_>) -> super::Idea {
    let allowed = case.slow.environment().and_then(|facts| facts.get("cpu.affinity"));
    let first = allowed.and_then(|list| list.split([',', '-']).next()?.trim().parse().ok()).unwrap_or(0);
    super::Idea {
        title: "one CPU for all threads, on both sides".to_owned(),
        slow: vec![crate::model::Edit::Affinity(vec![first])],
        fast: super::Mirror::Same,
        expect: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::{KernelView, Seen, Trace};

    #[test]
    fn a_wrapper_stands_in_front_of_the_same_command() {
        let test = TestCase::new("prog 5", "/usr/bin/strace -f -o /dev/null prog 5").build();
        assert_eq!(wrapper(&test.case(), &["strace"]), Some((0, "strace".to_owned())));
        let other = TestCase::new("prog 5", "strace 5").build();
        assert_eq!(wrapper(&other.case(), &["strace"]), None);
    }

    #[test]
    fn cheap_signs_have_no_weight() {
        assert_eq!(specific(0.05), None);
        assert!(specific(0.06).unwrap() < 0.1 && specific(0.11).unwrap() > 0.2);
        assert_eq!(specific(7.0), Some(1.0));
    }

    #[test]
    fn functions_are_ordered_by_what_they_add() {
        let test = TestCase::new("a 1", "a 2")
            .seconds(0.1, 0.3)
            .cpu(&[("main", 0.9), ("main;x", 0.1)], &[("main", 0.3), ("main;x", 0.7)])
            .build();
        let hot = hot_functions(&test.case());
        assert_eq!(hot[0].0, "x (program)");
        assert!((hot[0].1 - 0.2).abs() < 1e-9, "{hot:?}");
        assert_eq!(changed_numbers(&test.case()), vec![(1.0, 2.0)]);
    }

    #[test]
    fn samples_without_the_kernel_are_not_of_the_whole_cpu_time() {
        let mut test = TestCase::new("a 1", "a 2")
            .seconds(0.1, 0.4)
            .cpu(&[("main", 1.0)], &[("main;malloc;memset", 1.0)])
            .build();
        for entry in &mut test.recording.traces {
            let Seen::Probed(probed) = &mut entry.seen else { continue };
            let Trace::Cpu(profile) = &mut probed.trace else { continue };
            (profile.kernel, profile.total) = (KernelView::Missing, Some(2.0));
        }
        let case = test.case();
        assert!((hot_functions(&case)[0].1 - 0.2).abs() < 1e-9);
        let filling = case.slow.cpu_in_stacks(|_, names| names == ["memset", "malloc", "main"]);
        assert!((filling.unwrap() - 0.2).abs() < 1e-9);
    }
}
