//! The allocator itself: how long one malloc takes.

use super::{Expectation, Idea, Mirror, Suspect, Suspicion};
use crate::explain::Case;
use crate::model::{Edit, Preload};

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.allocator",
    title: "allocator",
    about: "Both sides ask for memory as often, but one of the allocators takes longer to give it.",
    shows: "User time in malloc and free; the same number of calls; another library owns malloc.",
    test: "another allocator preloaded on both sides",
    fix: "preload another allocator, or build with one",
    report: "hatoo/oha#208: the allocator of musl made the static build slower.",
    look,
};

/// Fewer calls are too cheap to matter.
const FEWEST_CALLS: u64 = 10_000;
/// Above this, the number of calls is the difference and not their price.
const ALIKE: f64 = 1.2;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = (case.fast.allocations()?, case.slow.allocations()?);
    let (few, many) =
        (fast.allocations().min(slow.allocations()), fast.allocations().max(slow.allocations()));
    let is_alike = many as f64 <= few as f64 * ALIKE;
    if few < FEWEST_CALLS || !is_alike || fast.allocators == slow.allocators {
        return None;
    }
    let weight = case.share(slow.allocations() as f64 * case.prices.malloc_s).min(1.0);
    let sign =
        format!("malloc is that of {} and of {}", fast.allocators.join(", "), slow.allocators.join(", "));
    let idea = Idea {
        title: "mimalloc preloaded on both sides".to_owned(),
        slow: vec![Edit::Preload(Preload::Mimalloc)],
        fast: Mirror::Same,
        add: None,
        expect: Some(Expectation { fact: "library.".to_owned(), contains: "mimalloc".to_owned() }),
    };
    Some(Suspicion { weight, signs: vec![sign], ..Suspicion::default() }.with_idea(idea))
}
