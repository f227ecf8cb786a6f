use benchmath::{Verdict, judge};

use crate::vectors::{items, load, number};

#[test]
fn the_verdict_table() {
    for case in items(&load("verdicts")["cases"]) {
        let want = match case["verdict"].as_str().unwrap() {
            "faster" => Verdict::Faster,
            "slower" => Verdict::Slower,
            "undecided" => Verdict::Undecided,
            _ => Verdict::Same,
        };
        let [low, high, margin] = ["lo", "hi", "margin_log"].map(|key| number(&case[key]));
        assert_eq!(judge(low, high, margin), want, "{case}");
    }
}
