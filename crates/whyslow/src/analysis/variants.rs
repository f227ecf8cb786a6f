//! The same work for every variant, at the same time where it takes long.

use std::panic::resume_unwind;
use std::thread;

/// With fewer runs, starting threads takes longer than they save.
const RUNS_FOR_THREADS: usize = 50_000;
const MOST_THREADS: usize = 32;

/// The results in the order of the variants.
pub fn of_each<T: Send>(variants: usize, runs: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if runs < RUNS_FOR_THREADS || variants > MOST_THREADS {
        return (0..variants).map(work).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..variants).map(|variant| scope.spawn(move || work(variant))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_change_nothing() {
        for (variants, runs) in [(0, 0), (3, 10), (3, 1_000_000), (100, 1_000_000)] {
            assert_eq!(
                of_each(variants, runs, |variant| 2 * variant),
                Vec::from_iter((0..variants).map(|v| 2 * v))
            );
        }
    }
}
