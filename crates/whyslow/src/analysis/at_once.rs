//! Work on several CPUs at the same time, where there are so many runs that it takes long.

use std::panic::resume_unwind;
use std::thread;

/// With fewer runs, starting threads takes longer than they save.
const RUNS_FOR_THREADS: usize = 50_000;
const MOST_THREADS: usize = 32;

/// The same work for every number below `count`: a variant, a comparison. The results are in that order.
pub fn of_each<T: Send>(count: usize, runs: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if runs < RUNS_FOR_THREADS || count > MOST_THREADS {
        return (0..count).map(work).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|number| scope.spawn(move || work(number))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Two different pieces of work.
pub fn both<A: Send, B>(runs: usize, one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    if runs < RUNS_FOR_THREADS {
        return (one(), other());
    }
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| resume_unwind(panic)), other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_change_nothing() {
        for (count, runs) in [(0, 0), (3, 10), (3, 1_000_000), (100, 1_000_000)] {
            let doubled = Vec::from_iter((0..count).map(|number| 2 * number));
            assert_eq!(of_each(count, runs, |number| 2 * number), doubled);
            assert_eq!(both(runs, || count, || runs), (count, runs));
        }
    }
}
