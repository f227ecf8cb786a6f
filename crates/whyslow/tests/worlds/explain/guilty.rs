//! Every suspect in a world in which it is guilty: it is named.

use whyslow::explain::{SUSPECTS, Status};

use super::rows::{all, row};
use super::scene::{Answer, Found, Row};

fn is_right(row: &Row, found: &Found) -> bool {
    let place = found.names().iter().position(|name| *name == row.suspect);
    match row.answer {
        Answer::Confirmed => found.status(row.suspect) == Some(Status::Confirmed),
        Answer::Located => found.culprits().first() == Some(&row.suspect),
        Answer::AmongThree => place.is_some_and(|place| place < 3),
    }
}

#[test]
fn every_suspect_has_a_row() {
    for suspect in SUSPECTS {
        assert!(all().iter().any(|row| row.suspect == suspect.name), "{} has none", suspect.name);
    }
}

#[test]
fn the_guilty_are_named() {
    let mut wrong = Vec::new();
    for row in all() {
        let found = row.guilty().explained();
        // Nobody else is confirmed.
        let others = found.confirmed().iter().filter(|name| **name != row.suspect).count();
        if !found.diagnosis.is_real || !is_right(&row, &found) || others > 0 {
            wrong.push(format!("{} should be {:?}:\n{}", row.suspect, row.answer, found.text()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The whole gap goes with the only cause.
#[test]
fn confirmed_shares_are_the_whole_gap() {
    for name in ["env.locale", "io.fsync", "conc.false-sharing", "env.tz", "sys.tracer"] {
        let found = row(name).guilty().explained();
        let share = found.finding(name).and_then(|finding| finding.share).expect(name);
        let (low, high) = share.low.zip(share.high).expect(name);
        assert!(low <= 1.0 && high >= 1.0 && high - low < 0.2, "{name}: {share:?}");
        let left = found.diagnosis.unexplained.expect(name);
        assert!(left.point.abs() < 0.1, "{name}: {left:?}");
    }
}
