//! A difference of layout in memory is told from one of code, where only user time of the same functions differs.

use whyslow::explain::Status;
use whyslow::machine::simulated::Condition;

use super::scene::{Found, Row};

/// Two programs with the same functions, of which the slow one takes so much longer.
fn programs(seconds: f64) -> Row {
    Row::new("mem.layout", "loop one", "loop two")
        .user(seconds)
        .both(|s| s.cpu(&[("main;hot", 0.05)]))
        .signs(|s| s.cpu(&[("main;hot", seconds)]))
}

fn text(found: &Found) -> &str {
    found.diagnosis.layouts.as_deref().unwrap_or("no other layouts")
}

#[test]
fn what_other_layouts_do_not_have_is_luck() {
    let padded = Condition::env_is_set("WHYSLOW_PADDING");
    let found = programs(0.01).cured_by(padded).guilty().explained();
    assert_eq!(found.status("mem.layout"), Some(Status::Confirmed), "{}", found.text());
    assert!(text(&found).contains("one of layout"), "{}", text(&found));
    assert_eq!(found.culprits(), ["mem.layout"], "{}", found.text());
}

#[test]
fn what_they_all_have_is_the_code() {
    let found = programs(0.01).guilty().explained();
    assert!(found.confirmed().is_empty(), "{}", found.text());
    assert!(text(&found).contains("does not depend on the layout"), "{}", text(&found));
}

/// Nothing is asked about layouts where calls, or functions that only one side has, account for the gap.
#[test]
fn other_signs_need_no_other_layouts() {
    let calls = programs(0.01).system(0.02).signs(|s| s.calls(&[("read", 100_000)])).guilty().explained();
    assert_eq!(calls.diagnosis.layouts, None, "{}", calls.text());
    let functions = programs(0.01).signs(|s| s.cpu(&[("main;other", 0.02)])).guilty().explained();
    assert_eq!(functions.diagnosis.layouts, None, "{}", functions.text());
}
