//! The views of a recording: the same numbers and the same verdicts as its analysis.

use whyslow::analysis::{Verdict, analyze};
use whyslow::model::{Exit, Schedule};
use whyslow::report::views::{Options, Said, VIEWS, from_recording, judge, show_recording, view};

use super::samples::recording;

#[test]
fn sets_hold_complete_blocks_in_order_with_the_base_first() {
    let mut recording = recording(&[("old", 0.010), ("new", 0.012), ("other", 0.010)]);
    recording.header.experiment.design.base = 1;
    // Block 3 fails in one variant and block 5 has no CPU time in another.
    let place =
        |variant, block| move |run: &whyslow::model::Run| run.variant == variant && run.block == block;
    let failed = recording.runs.iter().position(place(2, 3)).unwrap();
    recording.runs[failed].exit = Exit::Code(1);
    let unknown = recording.runs.iter().position(place(0, 5)).unwrap();
    recording.runs[unknown].values.set(1, None);

    let sets = from_recording::data_sets(&recording, &["wall_s", "cpu_s", "no such metric"]);
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(names, ["new", "old", "other", "new", "old", "other"]);
    let counts: Vec<usize> = sets.iter().map(|set| set.values.len()).collect();
    assert_eq!(counts, [11, 11, 11, 10, 10, 10]);
    assert!(sets.iter().all(|set| set.schedule == Schedule::Interleaved));
    let first = recording.runs.iter().find(|run| run.variant == 1 && run.block == 1).unwrap();
    assert_eq!(Some(sets[0].values[0]), first.values.get(0));
}

#[test]
fn views_judge_as_the_analysis_does() {
    for new in [0.008, 0.010, 0.0101, 0.012] {
        let mut recording = recording(&[("old", 0.010), ("new", new), ("other", 0.011)]);
        for with_looks in [true, false] {
            recording.looks = recording.looks.filter(|_| with_looks);
            let analysis = analyze(&recording);
            let options = from_recording::options(&recording, &Options::default());
            let sets = from_recording::data_sets(&recording, &["wall_s"]);
            for other in [1, 2] {
                let comparison = analysis.comparison(other, "wall_s").unwrap();
                let judgement = judge(&sets[0], &sets[other], options.alpha_against_base(2), options.margin);
                assert_eq!(judgement.said, Said::Verdict(comparison.verdict));
                assert_eq!(judgement.ratio, Some(comparison.ratio.point));
                assert_eq!(judgement.interval, comparison.ratio.low.zip(comparison.ratio.high));
            }
        }
    }
}

#[test]
fn every_view_of_a_recording_tells_the_verdict() {
    let recording = recording(&[("old", 0.010), ("new", 0.012)]);
    assert_eq!(analyze(&recording).comparison(1, "wall_s").unwrap().verdict, Verdict::Slower);
    for row in VIEWS {
        let text = show_recording(row, &recording, &Options::default());
        let tells = text.contains("slower") || text.contains("1.197 [1.197, 1.203]");
        assert!(tells, "{}:\n{text}", row.name);
    }
}

#[test]
fn the_chart_of_a_recording_divides_by_the_time_of_the_children() {
    let recording = recording(&[("old", 0.010), ("new", 0.020)]);
    let text = show_recording(view("cmpthese").unwrap(), &recording, &Options::default());
    assert!(text.contains("new 66."), "{text}");
    assert!(text.contains("old  133/s 100%   --"), "{text}");
    let line = show_recording(view("timestr").unwrap(), &recording, &Options::default());
    assert!(line.contains(" cusr ") && line.contains("(n=12)"), "{line}");
}

#[test]
fn names_cannot_move_the_cursor() {
    let recording = recording(&[("old", 0.010), ("new\u{1b}[2J", 0.012)]);
    for row in VIEWS {
        assert!(!show_recording(row, &recording, &Options::default()).contains('\u{1b}'), "{}", row.name);
    }
}
