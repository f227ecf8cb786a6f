//! The end of the time that there is for something, whatever takes longer than was thought.

use crate::machine::Machine;
use crate::model::Launch;

/// What an explanation may take if nothing is said: this long, or so many times as long as one run of all commands,
/// whichever is more.
const USUAL_S: f64 = 30.0;
const USUAL_RUNS: f64 = 40.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    /// As long as it takes.
    Open,
    /// Until the machine's clock shows this.
    At(f64),
    /// This part of what an explanation takes if nothing is said, from that moment on; the reasons may then take another.
    Usual { from_s: f64, part: f64, reasons: f64 },
}

impl Bound {
    /// When it ends, where the shortest block so far took so long. Runs that become ever longer do not move it.
    pub(super) fn end_s(self, shortest_block_s: Option<f64>) -> f64 {
        match (self, shortest_block_s) {
            (Bound::At(end_s), _) => end_s,
            (Bound::Usual { from_s, part, .. }, Some(block_s)) => from_s + part * usual_s(block_s),
            (Bound::Usual { .. }, None) | (Bound::Open, _) => f64::INFINITY,
        }
    }

    /// When all of it ends at the latest, reasons included.
    pub(super) fn explained_by_s(self, shortest_block_s: Option<f64>) -> f64 {
        let whole = match self {
            Bound::Usual { from_s, part, reasons } => {
                Bound::Usual { from_s, part: part + reasons, reasons: 0.0 }
            }
            other => other,
        };
        whole.end_s(shortest_block_s)
    }
}

pub(super) fn usual_s(block_s: f64) -> f64 {
    USUAL_S.max(USUAL_RUNS * block_s)
}

/// The launch with what is left as its limit of time, and whether that comes before any limit of its own.
pub(super) fn limited(launch: &Launch, left_s: f64) -> (Launch, bool) {
    let is_shorter = launch.timeout_s.is_none_or(|timeout_s| left_s < timeout_s);
    let timeout_s = if is_shorter { Some(left_s) } else { launch.timeout_s };
    (Launch { timeout_s, ..launch.clone() }, is_shorter)
}

/// Seconds until then; 0 when it is past.
pub(super) fn left_s(machine: &mut dyn Machine, end_s: f64) -> f64 {
    (end_s - machine.now_s()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_block_says_how_long_it_may_take() {
        let usual = Bound::Usual { from_s: 5.0, part: 0.7, reasons: 0.5 };
        assert_eq!(usual.end_s(None), f64::INFINITY);
        assert_eq!(usual.end_s(Some(0.1)), 26.0);
        assert_eq!(usual.end_s(Some(10.0)), 285.0);
        assert_eq!(usual.explained_by_s(Some(0.1)), 41.0);
        assert_eq!((Bound::At(3.0).end_s(Some(1.0)), Bound::Open.end_s(Some(1.0))), (3.0, f64::INFINITY));
    }

    #[test]
    fn a_limit_of_the_user_stays() {
        let launch = |timeout_s| Launch { timeout_s, ..Launch::default() };
        assert_eq!(limited(&launch(None), 2.0), (launch(Some(2.0)), true));
        assert_eq!(limited(&launch(Some(1.0)), 2.0), (launch(Some(1.0)), false));
        assert_eq!(limited(&launch(Some(3.0)), 2.0), (launch(Some(2.0)), true));
    }
}
