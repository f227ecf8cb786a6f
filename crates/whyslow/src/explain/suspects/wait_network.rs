//! Waiting for the other end of a connection.

use super::evidence::{blocked_share, longest_wait, more_waiting, specific};
use super::signs::{more_calls, seconds};
use super::{Idea, Suspect, Suspicion};
use crate::explain::Case;
use crate::model::{Shim, WaitKind};

pub const SUSPECT: Suspect = Suspect {
    name: "wait.network",
    title: "waiting for the network",
    about: "The program waits for the other end of a connection: small packets that are held back (Nagle's algorithm and \
            delayed acknowledgements, 40 ms each), one request after the other, a slow server.",
    shows: "Wall time far above CPU time; threads blocked in recv, poll or connect; steps of 40 ms.",
    test: "TCP_NODELAY on every socket, by a preloaded library on both sides; anything else can only be located",
    fix: "set TCP_NODELAY, write a request with one call, ask for several things at a time",
    report: "zonyitoo/memcached-rs#7: 40 ms for a command, until Nagle's algorithm was off.",
    look,
};

const CALLS: [&str; 8] =
    ["recvfrom", "recvmsg", "sendto", "sendmsg", "connect", "accept4", "accept", "recvmmsg"];
/// What the kernel waits before it acknowledges.
const STEP_S: f64 = 0.04;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let blocked = blocked_share(case);
    let (weight, mut signs) = match more_waiting(case, WaitKind::Socket) {
        Some(waited) => {
            let sign = format!("{} more blocked on sockets", seconds(waited));
            (specific(case.share(waited).min(blocked))?, vec![sign])
        }
        None => {
            let uses = case.slow.syscalls()?.count_of(&CALLS) > 0 && more_calls(case, &CALLS)? >= 0.0;
            let weight = (uses && blocked > 0.5).then_some(0.25)?;
            (weight, vec!["it waits, and has sockets".to_owned()])
        }
    };
    signs.extend(longest_wait(&case.slow, WaitKind::Socket).map(|what| format!("most of it in {what}")));
    let suspicion = Suspicion::located(case, weight, signs);
    Some(if may_be_held_back(case) { suspicion.with_idea(no_delay()) } else { suspicion })
}

/// At least one step of the kernel's patience; a shorter wait has another cause.
fn may_be_held_back(case: &Case<'_>) -> bool {
    let sends =
        case.slow.syscalls().map_or(1, |seen| seen.count_of(&["sendto", "sendmsg", "write", "writev"]));
    case.gap.budget.blocked_s >= STEP_S * 0.8 && sends > 0
}

fn no_delay() -> Idea {
    Idea::with_shim("TCP_NODELAY on every socket, on both sides", Shim::NoDelay)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::WaitPlace;

    fn requests() -> TestCase {
        TestCase::new("client 20 1", "client 20 2")
            .seconds(0.02, 0.02)
            .syscalls(|_, slow| slow.call("sendto", 40))
            .waiting(|_, slow| {
                let what = "recvfrom 127.0.0.1:4000".to_owned();
                slow.places.push(WaitPlace { kind: WaitKind::Socket, what, seconds: 0.8 });
            })
    }

    #[test]
    fn packets_that_are_held_back() {
        let suspicion = requests().wall(0.03, 0.83).look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.9 && suspicion.ideas.len() == 1);
    }

    #[test]
    fn a_wait_beside_the_work_is_innocent() {
        assert_eq!(requests().seconds(0.1, 0.9).weight(&SUSPECT), 0.0);
    }
}
