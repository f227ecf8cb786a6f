//! Garbage collection that takes more time than it must.

use super::evidence::{claims_on_options, specific};
use super::settings::Setting;
use super::{Suspect, Suspicion, settings, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "rt.gc",
    title: "garbage collection",
    about: "The run time looks through the live objects to find dead ones, again and again: the heap is hardly larger than \
            what lives, or the collector runs while everything is still needed.",
    shows: "User time in functions or threads of the collector; less peak memory, or many objects that live long.",
    test: "The variable of the fast side on the slow side; GOGC=400 for Go. An option in the command line is located by \
           swapping it, and code that switches the collector off can only be located.",
    fix: "a larger heap (-Xmx, GOGC, --max-semi-space-size); gc.freeze() or a higher threshold in Python",
    report: "Instagram, \"Dismissing Python Garbage Collection at Instagram\"; Java in containers with a small default heap.",
    look,
};

/// Of CPython, Ruby, Perl, Go, V8, the JVM, OCaml, Lua and glib.
const FUNCTIONS: [&str; 31] = [
    // The collector of a stripped CPython has no names of its own.
    "after PyObject_GC_Del",
    "gc_collect",
    "gc_mark",
    "gc_sweep",
    "deduce_unreachable",
    "subtract_refs",
    "update_refs",
    "visit_decref",
    "visit_reachable",
    "move_unreachable",
    "untrack_tuples",
    "rb_gc",
    "runtime.gcBgMarkWorker",
    "runtime.gcDrain",
    "runtime.scanobject",
    "runtime.gcAssist",
    "runtime.bgsweep",
    "MarkCompact",
    "Scavenge",
    "IncrementalMarking",
    "MarkSweep",
    "DefNewGeneration",
    "GenCollectedHeap",
    "G1ParTask",
    "G1CollectedHeap",
    "PSPromotion",
    "caml_major",
    "caml_minor",
    "mark_slice",
    "luaC_step",
    "GC_mark",
];
const THREADS: [&str; 8] =
    ["GC Thread", "G1 ", "VM Thread", "GC task", "ZWorker", "Shenandoah", "gcBgMark", "ConcGC"];
const OPTIONS: [&str; 14] = [
    "-Xmx",
    "-Xms",
    "-Xmn",
    "-Xgc",
    "-XX:MaxHeap",
    "-XX:MinHeap",
    "-XX:NewSize",
    "-XX:NewRatio",
    "-XX:MaxRAM",
    "--max-old-space-size",
    "--max-semi-space-size",
    "--min-semi-space-size",
    "--gc-interval",
    "--max-heap-size",
];
const VARIABLES: [&str; 14] = [
    "GOGC",
    "GOMEMLIMIT",
    "OCAMLRUNPARAM",
    "GHCRTS",
    "PYPY_GC_NURSERY",
    "PYPY_GC_MAX",
    "PYTHON_GC",
    "DOTNET_gcServer",
    "DOTNET_gcConcurrent",
    "DOTNET_GCHeapHardLimit",
    "DOTNET_GCgen0size",
    "COMPlus_GCgen0size",
    "GC_INITIAL_HEAP_SIZE",
    "JULIA_HEAP_SIZE_HINT",
];

fn is_option(option: &str) -> bool {
    let is_collector = option.starts_with("-XX:") && option.contains("GC");
    is_collector || OPTIONS.iter().any(|known| option.starts_with(known))
}

fn is_mine(setting: &Setting) -> bool {
    let name = setting.name.as_str();
    VARIABLES.contains(&name) || name.starts_with("RUBY_GC_") || setting.is_option(is_option)
}

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let seen = case.more(collecting_s);
    let weight = seen.and_then(|seconds| specific(case.share(seconds)));
    let sign = weight.and(seen).map(|more| format!("{} more in the garbage collector", signs::seconds(more)));
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(sign);
        return Some(found);
    }
    let claims = claims_on_options(case, 0.9, is_option);
    if !claims.is_empty() {
        let signs =
            [Some("an option of the garbage collector".to_owned()), sign].into_iter().flatten().collect();
        return Some(Suspicion { weight: weight.unwrap_or(0.5), signs, claims, ideas: Vec::new() });
    }
    let mut found = Suspicion::located(case, weight?, sign.into_iter().collect());
    if is_go(&case.slow) && case.slow.env("GOGC").is_none() {
        // Not off: a program may need more memory than there is.
        found.ideas.extend(settings::on_both_sides(case, "GOGC", "400"));
    }
    Some(found)
}

/// CPU time of the collector, in its functions or in threads of its own.
fn collecting_s(side: &Side<'_>) -> Option<f64> {
    let is_function = |name: &&str| FUNCTIONS.iter().any(|function| name.contains(function));
    side.cpu_in_stacks(|thread, names| {
        THREADS.iter().any(|known| thread.starts_with(known)) || names.iter().any(is_function)
    })
}

fn is_go(side: &Side<'_>) -> bool {
    side.cpu().is_some_and(|profile| profile.frames.iter().any(|frame| frame.name.starts_with("runtime.gc")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn python(share: f64) -> TestCase {
        TestCase::new("python3 heavy.py 500000 nogc", "python3 heavy.py 500000 gc").seconds(0.14, 0.62).cpu(
            &[("main;_PyEval_EvalFrameDefault", 1.0)],
            &[
                ("main;_PyEval_EvalFrameDefault", 1.0 - share),
                ("main;_PyEval_EvalFrameDefault;gc_collect_main;subtract_refs", share),
            ],
        )
    }

    #[test]
    fn time_in_the_collector_is_located() {
        assert_eq!(python(0.75).candidates()[0], "rt.gc");
    }

    #[test]
    fn a_little_collecting_accuses_nobody() {
        assert!(python(0.02).look(&SUSPECT).is_none());
    }

    #[test]
    fn the_heap_of_a_virtual_machine() {
        let test = TestCase::new("java -Xmx256m -cp w Live", "java -Xmx14m -cp w Live");
        assert_eq!(test.candidates()[0], "rt.gc");
        let variable = TestCase::new("java Live", "java Live").slow_env("JAVA_TOOL_OPTIONS", "-Xmx14m");
        assert!(variable.claim_on(&SUSPECT, "JAVA_TOOL_OPTIONS").unwrap().is_experiment);
    }

    #[test]
    fn go_is_given_more_room() {
        let test = TestCase::new("./a 1", "./a 2")
            .seconds(0.1, 0.4)
            .cpu(&[("main.f", 1.0)], &[("runtime.gcBgMarkWorker", 1.0)]);
        assert_eq!(test.look(&SUSPECT).unwrap().ideas[0].title, "GOGC=400 on both sides");
    }
}
