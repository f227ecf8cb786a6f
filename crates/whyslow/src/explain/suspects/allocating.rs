//! What asking for memory costs: the evidence that the suspects about allocators share, so that each of them can leave to
//! the others what is theirs.

use super::{Claim, Expectation, Idea, Mirror, signs, starting};
use crate::explain::differences::Kind;
use crate::explain::{Case, Side};
use crate::model::{Allocations, Edit, Preload};

/// Blocks of this size and more get pages of their own from the usual allocators.
pub const LARGE_BYTES: u64 = 128 * 1024;
/// Fewer are nothing to talk about.
const FEWEST_CALLS: f64 = 50.0;
const PAGE_BYTES: f64 = 4096.0;
/// Above this, the number of calls is the difference and not their price.
const ALIKE: f64 = 1.2;
/// In the names of libraries that bring a malloc.
const ALLOCATORS: [&str; 8] =
    ["malloc", "hoard", "scudo", "snmalloc", "rpmalloc", "gperftools", "lockfree", "lfalloc"];

/// What both sides asked for, where it was counted on both: not in static programs and those with a malloc of their own.
pub fn counted<'a>(case: &Case<'a>) -> Option<(&'a Allocations, &'a Allocations)> {
    let seen = |side: &Side<'a>| {
        let is_whole = |seen: &&Allocations| seen.processes > 0 && seen.processes_unseen.unwrap_or(0) == 0;
        // A static program below another one is not counted, and its memory is no memory that nobody asks for.
        let is_seen = !has_own_malloc(side) && !starting::any_elf(side, |elf| elf.is_static);
        side.allocations().filter(is_whole).filter(|_| is_seen)
    };
    Some((seen(&case.fast)?, seen(&case.slow)?))
}

/// Whether a malloc is built into the program, where no other can be put in front of it.
pub fn has_own_malloc(side: &Side<'_>) -> bool {
    starting::any_elf(side, |elf| elf.own_malloc) || owner(side).is_some_and(|owner| owner == "the program")
}

/// The file whose malloc a side uses.
pub fn owner(side: &Side<'_>) -> Option<String> {
    let by_count = side.allocations().and_then(|seen| seen.allocators.first().cloned());
    let by_facts = || side.environment()?.get("malloc_owner").map(str::to_owned);
    by_count.or_else(by_facts)
}

/// Whether both sides ask about as often.
pub fn asks_alike(fast: &Allocations, slow: &Allocations) -> bool {
    let (one, other) = (fast.allocations() as f64, slow.allocations() as f64);
    one.max(other) <= one.min(other) * ALIKE
}

/// The malloc family and what it consists of, in the usual allocators.
pub fn is_malloc(name: &str) -> bool {
    const PARTS: [&str; 11] = [
        "operator new",
        "operator delete",
        "_int_",
        "tcache_",
        "je_",
        "mi_",
        "tc_",
        "tcmalloc",
        "Perl_malloc",
        "Perl_mfree",
        "Perl_realloc",
    ];
    // What has no name of its own in a stripped library is called after what stands before it.
    let name = name.rsplit(" after ").next().unwrap_or(name);
    let plain = name.trim_start_matches("__libc_").trim_start_matches("__GI_");
    let is_plain = matches!(
        plain,
        "malloc"
            | "free"
            | "cfree"
            | "calloc"
            | "realloc"
            | "posix_memalign"
            | "aligned_alloc"
            | "malloc_consolidate"
            | "unlink_chunk"
            | "sysmalloc"
            | "systrim"
    );
    is_plain || PARTS.iter().any(|part| plain.starts_with(part))
}

/// Seconds that the slow side spends more in the allocator, with all that it calls.
pub fn more_in_malloc(case: &Case<'_>) -> Option<f64> {
    signs::names_functions_alike(case).then_some(())?;
    case.more(|side| side.cpu_in(is_malloc))
}

/// Whether a profile shows the allocator at all: in a stripped static program it has no name.
pub fn shows_malloc(side: &Side<'_>) -> bool {
    side.cpu().is_some_and(|profile| profile.frames.iter().any(|frame| is_malloc(&frame.name)))
}

/// Cost of what realloc copies more on the slow side: the bytes, and the fresh pages that they go to.
pub fn copied_s(case: &Case<'_>) -> Option<f64> {
    let (fast, slow) = counted(case)?;
    let bytes = slow.realloc_moved_bytes as f64 - fast.realloc_moved_bytes as f64;
    let pages = more_faults(case).min(bytes / PAGE_BYTES).max(0.0);
    Some(bytes * case.prices.copied_byte_s + pages * case.prices.fault_s)
}

/// Calls of brk, or of mmap and munmap, by the loader and the first allocations of a program.
const CALLS_OF_A_START: f64 = 12.0;

pub fn more_faults(case: &Case<'_>) -> f64 {
    case.more(|side| side.median("page_faults")).unwrap_or(0.0).max(0.0)
}

/// Cost of giving memory back and getting it again, by system calls that the allocator makes for it.
pub fn returned_s(case: &Case<'_>, calls: &[&str]) -> Option<f64> {
    let starts = signs::more_starts(case).unwrap_or(0.0).max(0.0);
    // What every program does once when it starts is the price of starting it.
    let more = signs::more_calls(case, calls)? - CALLS_OF_A_START * starts;
    if more <= FEWEST_CALLS || more < starts {
        return None;
    }
    Some(more * case.prices.syscall_s + more_faults(case) * case.prices.fault_s)
}

/// The same for blocks that are mapped one by one, where malloc was asked for so many large ones.
pub fn mapped_s(case: &Case<'_>) -> Option<f64> {
    let (_, slow) = counted(case)?;
    let maps = signs::more_calls(case, &["mmap"])?;
    let large = slow.at_least(LARGE_BYTES) + slow.realloc_moved;
    (large as f64 >= 0.5 * maps).then(|| returned_s(case, &["mmap", "munmap", "mremap"]))?
}

/// Whether something more specific about memory accounts for the gap than how long one malloc takes.
pub fn is_about_pages(case: &Case<'_>) -> bool {
    let calls = ["brk", "madvise"];
    let seconds = [copied_s(case), mapped_s(case), returned_s(case, &calls)];
    seconds.into_iter().flatten().any(|seconds| case.share(seconds) > 0.2)
}

/// Libraries that only one of the sides preloads: the difference, those of the fast side, those of the slow side.
pub struct Preloaded {
    pub difference: usize,
    pub fast: Vec<String>,
    pub slow: Vec<String>,
}

impl Preloaded {
    /// Those of both sides.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.fast.iter().chain(&self.slow)
    }

    pub fn claim(&self, weight: f64, is_experiment: bool) -> Claim {
        Claim { difference: self.difference, weight, is_experiment }
    }
}

/// By LD_PRELOAD, or by what the experiment itself preloads.
pub fn preloaded(case: &Case<'_>) -> Option<Preloaded> {
    let files = |value: &Option<String>| -> Vec<String> {
        let value = value.clone().unwrap_or_default();
        value.split([':', ' ']).filter(|file| !file.is_empty()).map(str::to_owned).collect()
    };
    let by_variable = case.variable("LD_PRELOAD").and_then(|(difference, found)| {
        let variables = found.variables();
        let (_, fast, slow) = variables.iter().find(|(name, _, _)| name == "LD_PRELOAD")?;
        Some(Preloaded { difference, fast: files(fast), slow: files(slow) })
    });
    by_variable.or_else(|| {
        let difference = case.differences.iter().position(|found| found.kind == Kind::Preloads)?;
        let named = |side: &Side<'_>| side.launch().preloads.iter().map(preload_name).collect::<Vec<_>>();
        Some(Preloaded { difference, fast: named(&case.fast), slow: named(&case.slow) })
    })
}

fn preload_name(preload: &Preload) -> String {
    match preload {
        Preload::Mimalloc => "mimalloc".to_owned(),
        Preload::File(path) => path.display().to_string(),
        Preload::Shim(shim) => shim.name().to_owned(),
    }
}

/// Whether a library of this name brings an allocator.
pub fn is_allocator(file: &str) -> bool {
    let name = signs::base_name(file);
    ALLOCATORS.iter().any(|part| name.contains(part))
}

/// Another allocator on both sides. It stands for any that is here.
pub fn mimalloc() -> Idea {
    swapped_to(&Preload::Mimalloc)
}

fn swapped_to(allocator: &Preload) -> Idea {
    let file = preload_name(allocator);
    let file = signs::base_name(&file);
    // `libjemalloc.so.2` is jemalloc.
    let name = file.split(".so").next().unwrap_or(file);
    Idea {
        title: format!("{} preloaded on both sides", name.strip_prefix("lib").unwrap_or(name)),
        slow: vec![Edit::Preload(allocator.clone())],
        fast: Mirror::Same,
        expect: Some(Expectation { fact: "library.".to_owned(), contains: file.to_owned() }),
    }
}

/// The idea with each of the allocators that are here, where it is about another one; else the idea.
pub fn with_each(idea: &Idea, here: &[Preload]) -> Vec<Idea> {
    if *idea == mimalloc() { here.iter().map(swapped_to).collect() } else { vec![idea.clone()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_allocator_that_is_here_is_tried() {
        let here = [Preload::Mimalloc, Preload::File("/usr/lib/libjemalloc.so.2".into())];
        let ideas = with_each(&mimalloc(), &here);
        let titles: Vec<&str> = ideas.iter().map(|idea| idea.title.as_str()).collect();
        assert_eq!(titles, ["mimalloc preloaded on both sides", "jemalloc preloaded on both sides"]);
        assert_eq!(ideas[1].expect.as_ref().unwrap().contains, "libjemalloc.so.2");
        assert!(with_each(&mimalloc(), &[]).is_empty(), "nothing can be swapped where there is none");
        let other = Idea { title: "one CPU".to_owned(), slow: vec![Edit::Affinity(vec![0])], ..mimalloc() };
        assert_eq!(with_each(&other, &here), [other]);
    }
}
