//! Sleeping until something may have happened.

use super::evidence::{blocked_share, longest_wait, more_waiting, specific};
use super::signs::{more_calls, seconds};
use super::{Suspect, Suspicion};
use crate::explain::Case;
use crate::model::WaitKind;

pub const SUSPECT: Suspect = Suspect {
    name: "wait.sleep",
    title: "sleeping",
    about: "The program sleeps for fixed times: it asks again and again instead of being told, or waits for longer than it must.",
    shows: "Wall time far above CPU time; nanosleep and the like; the gap comes in steps of the same length.",
    test: "an option is swapped where it differs; a sleep in the program itself can only be located",
    fix: "wait for the event (wait without a timeout, a pidfd, inotify, a condition), or sleep less",
    report: "python/cpython#83069: Popen.wait(timeout=...) asked with growing sleeps; giampaolo/psutil#445.",
    look,
};

const CALLS: [&str; 4] = ["clock_nanosleep", "nanosleep", "usleep", "pause"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let blocked = blocked_share(case);
    if let Some(slept) = more_waiting(case, WaitKind::Sleep) {
        let weight = specific(case.share(slept).min(blocked))?;
        let mut signs = vec![format!("{} more asleep", seconds(slept))];
        signs.extend(longest_wait(&case.slow, WaitKind::Sleep).map(|what| format!("most of it in {what}")));
        return Some(Suspicion::located(case, weight, signs));
    }
    let calls = more_calls(case, &CALLS).filter(|calls| *calls >= 1.0 && blocked > 0.3)?;
    Some(Suspicion::located(case, 0.3 + 0.3 * blocked, vec![format!("{calls:.0} sleeps more")]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::WaitPlace;

    fn polls() -> TestCase {
        let test = TestCase::new("python3 popenwait.py 8 plain", "python3 popenwait.py 8 timeout");
        test.seconds(0.033, 0.036).syscalls(|fast, slow| {
            fast.call("clock_nanosleep", 8);
            slow.call("clock_nanosleep", 64);
        })
    }

    fn slept(test: TestCase, seconds: f64) -> TestCase {
        let place =
            move |seconds| WaitPlace { kind: WaitKind::Sleep, what: "clock_nanosleep".to_owned(), seconds };
        test.waiting(|fast, slow| {
            fast.places.push(place(0.288));
            slow.places.push(place(0.288 + seconds));
        })
    }

    #[test]
    fn sleeps_that_carry_the_gap() {
        let test = slept(polls().wall(0.353, 0.569), 0.5);
        assert!(test.weight(&SUSPECT) > 0.9);
        assert_eq!(test.candidates()[0], "wait.sleep");
        assert!(polls().wall(0.353, 0.569).weight(&SUSPECT) > 0.5);
    }

    #[test]
    fn sleeps_of_another_thread_are_innocent() {
        assert_eq!(slept(polls().seconds(0.3, 0.9), 0.5).weight(&SUSPECT), 0.0);
    }
}
