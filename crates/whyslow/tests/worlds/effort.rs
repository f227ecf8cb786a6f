//! How many runs are made, and what few of them can say.

use whyslow::analysis::{Forecast, Verdict};
use whyslow::machine::simulated::{Cost, Noise, Program, World};
use whyslow::model::{Run, Stop};
use whyslow::plan::Question;

use crate::common::{Answer, WHITE, ask};

fn runs(count: usize) -> Answer {
    let question = Question { runs: Some(count), ..ask(&["a", "b"]) };
    Answer::of(World::pair(0.05, 1.5).with_noise(WHITE), &question)
}

#[test]
fn too_few_runs_decide_nothing_and_say_how_many_would() {
    for count in [1, 2, 5] {
        let answer = runs(count);
        assert_eq!((answer.analysis.blocks, answer.analysis.stop), (count, Some(Stop::RunsDone)));
        assert_eq!(answer.verdict("wall_s"), Verdict::Undecided, "{count} runs");
        let comparison = answer.comparison("wall_s");
        assert_eq!((comparison.ratio.low, comparison.ratio.high), (None, None));
        assert_eq!(comparison.forecast, Some(Forecast::MoreBlocks(6 - count as u64)));
        assert!(answer.has("too_few_blocks"));
    }
}

#[test]
fn six_runs_are_the_fewest_that_decide() {
    let answer = runs(6);
    assert_eq!(answer.verdict("wall_s"), Verdict::Slower);
    assert!(!answer.has("too_few_blocks"));
}

#[test]
fn exactly_so_many_runs_whatever_they_show() {
    let answer = runs(40);
    assert_eq!((answer.analysis.blocks, answer.analysis.stop), (40, Some(Stop::RunsDone)));
    assert_eq!(answer.recording.looks.as_ref().unwrap().at, [40]);
}

#[test]
fn the_bounds_on_the_runs_are_kept() {
    let world = || World::pair(0.05, 1.5).with_noise(WHITE);
    let at_least = Answer::of(world(), &Question { min_runs: Some(30), ..ask(&["a", "b"]) });
    assert!(at_least.analysis.blocks >= 30, "{}", at_least.analysis.blocks);
    let seven = Question { max_runs: Some(7), ..ask(&["a", "b"]) };
    let clear = Answer::of(world(), &seven);
    assert_eq!((clear.analysis.blocks, clear.analysis.stop), (7, Some(Stop::Decided)));
    let noisy = Answer::of(World::pair(0.05, 1.02).with_noise(Noise::White { scatter: 0.2 }), &seven);
    assert_eq!((noisy.analysis.blocks, noisy.analysis.stop), (7, Some(Stop::RunsDone)));
}

#[test]
fn the_warm_up_is_kept_and_not_analysed() {
    let question = Question { warmup: Some(3), runs: Some(6), ..ask(&["a", "b"]) };
    let answer = Answer::of(World::pair(0.05, 1.0), &question);
    assert_eq!(answer.recording.runs.len(), 2 * (3 + 6));
    assert_eq!((answer.analysis.blocks, answer.analysis.variants[0].runs), (6, 6));
    let none = Answer::of(World::pair(0.05, 1.0), &Question { warmup: Some(0), ..question });
    assert_eq!(none.recording.runs.len(), 2 * 6);
}

#[test]
fn every_block_holds_every_variant_once_in_its_place() {
    let answer = Answer::of(several(3), &ask(&["p1", "p2", "p3"]));
    for block in answer.recording.runs.chunks(3) {
        let mut variants: Vec<usize> = block.iter().map(|run| run.variant).collect();
        variants.sort_unstable();
        assert_eq!(variants, [0, 1, 2]);
        assert!(block.iter().enumerate().all(|(place, run)| run.position == place));
        assert!(block.iter().all(|run| run.block == block[0].block));
    }
    let starts = |pair: &[Run]| pair[0].start_s < pair[1].start_s;
    assert!(answer.recording.runs.windows(2).all(starts));
}

#[test]
fn the_same_seed_gives_the_same_recording() {
    let recording = |seed| {
        let question = Question { seed, ..ask(&["a", "b"]) };
        Answer::of(World::pair(0.05, 1.0).with_noise(WHITE), &question).recording
    };
    assert_eq!(recording(5), recording(5));
    assert_ne!(recording(5), recording(6));
}

/// Blocks of more than a tenth of the budget: as few as can decide at all, whatever the budget says.
#[test]
fn long_blocks_get_a_fixed_design() {
    let pair = Answer::of_pair(World::pair(4.0, 1.3).with_noise(WHITE));
    assert_eq!((pair.analysis.blocks, pair.verdict("wall_s")), (6, Verdict::Slower));
    let world = (1..=3).fold(World::default(), |world, number| {
        world.with_program(Program::new(&format!("p{number}"), Cost::of_cpu(2.0 * f64::from(number))))
    });
    let three = Answer::of(world.with_noise(WHITE), &ask(&["p1", "p2", "p3"]));
    assert_eq!(three.analysis.blocks, 7);
    let verdicts: Vec<Verdict> = three.analysis.comparisons.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Slower; 4]);
}

#[test]
fn hours_and_microseconds_are_times_too() {
    let long = Answer::of_pair(World::pair(3_600.0, 1.2).with_noise(WHITE));
    assert_eq!((long.analysis.blocks, long.verdict("wall_s")), (6, Verdict::Slower));
    let short = Answer::of_pair(World::pair(0.000_1, 1.2).with_noise(WHITE));
    assert_eq!(short.verdict("wall_s"), Verdict::Slower);
    assert!(short.has("short"), "the start of a program is most of it: {:?}", short.kinds());
}

fn several(count: usize) -> World {
    let add =
        |world: World, number| world.with_program(Program::new(&format!("p{number}"), Cost::of_cpu(0.05)));
    (1..=count).fold(World::default(), add).with_noise(WHITE)
}

#[test]
fn five_of_the_same_with_a_reference_give_no_claim() {
    let names = ["p1", "p2", "p3", "p4", "p5"];
    for seed in 0..10 {
        let question = Question { reference: Some("p3".into()), seed, ..ask(&names) };
        let answer = Answer::of(several(5).with_seed(seed), &question);
        assert_eq!((answer.analysis.base, answer.analysis.comparisons.len()), (2, 8));
        for comparison in &answer.analysis.comparisons {
            let is_claim = matches!(comparison.verdict, Verdict::Slower | Verdict::Faster);
            assert!(!is_claim && comparison.base == 2 && comparison.other != 2, "{comparison:?}");
        }
    }
}

#[test]
fn a_reference_outside_the_commands_is_run_first_in_the_list() {
    let question = Question { reference: Some("p3".into()), ..ask(&["p1", "p2"]) };
    let answer = Answer::of(several(3), &question);
    let names: Vec<&str> = answer.analysis.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!((names, answer.analysis.base), (vec!["p3", "p1", "p2"], 0));
}
