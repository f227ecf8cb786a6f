//! The text of representative results, word for word. After a change that is meant, `WHYSLOW_BLESS=1 cargo test`
//! writes the files in `tests/golden` anew; the difference is then read in the diff of the commit.

use std::fs;
use std::path::PathBuf;

use unicode_width::UnicodeWidthStr;
use whyslow::machine::simulated::{
    Competition, Cost, Failure, How, Load, Noise, Program, Rights, When, World,
};

use crate::common::{PLAIN, Terminal, WHITE, whyslow, whyslow_on};

/// A result fits into the smallest usual terminal.
const COLUMNS: usize = 80;
const LINES: usize = 24;

/// A program of the world and what is typed to run it.
const OLD: &str = "perl -Ilib bin/render.pl page.tt";
const NEW: &str = "perl -Ilib bin/render.pl --cache page.tt";

#[track_caller]
pub fn assert_golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("WHYSLOW_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; if it should, run the tests with WHYSLOW_BLESS=1");
}

#[track_caller]
fn assert_fits(text: &str, lines: usize) {
    for line in text.lines() {
        assert!(line.width() <= COLUMNS, "{} columns: {line}", line.width());
        assert_eq!(line.trim_end(), line);
    }
    assert!(text.lines().count() <= lines, "{} lines:\n{text}", text.lines().count());
}

/// Two real-looking commands: one program, told apart by an argument that makes it faster.
fn cached(effect: f64) -> World {
    use whyslow::machine::simulated::{Cause, Condition, Effect};
    let with_cache = Condition::HasArgument("--cache".into());
    let cost = Cost { peak_rss_bytes: 18e6, page_faults: 3_412.0, ..Cost::of_cpu(0.041) };
    let program =
        Program::new("perl", cost).with_cause(Cause::new("cache", with_cache, Effect::on_cpu(effect)));
    World::default().with_program(program).with_noise(WHITE).with_tick(0.004)
}

#[test]
fn a_difference() {
    let text = whyslow(cached(0.82), &["compare", OLD, NEW, "--seed", "1"]).stdout;
    assert_fits(&text, LINES);
    assert_golden("faster", &text);
}

#[test]
fn no_difference() {
    let names = ["-n", "plain", "-n", "cache"];
    let arguments = [&["compare", OLD, NEW, "--seed", "1"], &names[..]].concat();
    let text = whyslow(cached(1.003), &arguments).stdout;
    assert_fits(&text, LINES);
    assert_golden("same", &text);
}

#[test]
fn a_busy_machine() {
    let load = Load::Steady(Competition { waiting: 4.0, slowdown: 0.02 });
    let text = whyslow(cached(1.06).with_load(load), &["compare", OLD, NEW, "--seed", "1"]).stdout;
    assert_fits(&text, 32);
    assert_golden("busy", &text);
}

#[test]
fn a_failure() {
    let message =
        Some("reading page.tt\npage.tt: line 3: no such tag at lib/Render.pm line 211.\n".to_owned());
    let failure = Failure { when: When::From(26), message, ..Failure::always(How::Exit(2)) };
    let mut world = cached(0.82);
    world.program_mut("perl").unwrap().failures.push(failure);
    let printed = whyslow(world, &["compare", OLD, NEW, "--seed", "1", "--runs", "20"]);
    assert_fits(&printed.stdout, 32);
    assert_golden("failed", &format!("{}--- on the error output:\n{}", printed.stdout, printed.stderr));
}

/// More variants than anybody reads sentences about, judged by three metrics, with something to say about all of them.
#[test]
fn twenty_variants_and_three_metrics() {
    use whyslow::machine::simulated::{Cause, Condition, Effect};
    let mut program = Program::new("sort", Cost { peak_rss_bytes: 18e6, ..Cost::of_cpu(0.041) });
    for step in 0..20_u32 {
        let has_step = Condition::HasArgument(format!("--threads={step}").into());
        let extra = Cost { peak_rss_bytes: 1e6 * f64::from(step), ..Cost::default() };
        let effect = Effect { extra, ..Effect::on_cpu(0.97_f64.powi(step as i32 / 3)) };
        program = program.with_cause(Cause::new(&format!("step {step}"), has_step, effect));
    }
    let noise = Noise::Bimodal { scatter: 0.01, step: 0.3, chance: 0.1 };
    let world = World::default().with_program(program).with_noise(noise).with_tick(0.004);
    let commands: Vec<String> = (0..20).map(|step| format!("sort --threads={step}")).collect();
    let names: Vec<String> = (0..20).map(|step| format!("threads={step}")).collect();
    let mut arguments = vec!["compare", "--seed", "1", "--runs", "40", "--metric", "peak_rss"];
    arguments.extend(commands.iter().map(String::as_str));
    arguments.extend(names.iter().flat_map(|name| ["-n", name.as_str()]));
    let text = whyslow(world.clone(), &arguments).stdout;
    assert_fits(&text, 100);
    assert_golden("many", &text);
    arguments.push("--quiet");
    assert_fits(&whyslow(world, &arguments).stdout, 22);
}

/// Everything at once, with names of every kind of length.
#[test]
fn no_line_is_wider_than_the_terminal() {
    let noise = Noise::Bimodal { scatter: 0.01, step: 0.3, chance: 0.4 };
    let load = Load::Steady(Competition { waiting: 1.0, slowdown: 0.0 });
    let slow = Cost { blocked_s: 1.0, peak_rss_bytes: 123e9, page_faults: 123_456.0, ..Cost::of_cpu(100.0) };
    let long = "x".repeat(300);
    let names: [&[&str]; 5] = [
        &["a", "b"],
        &["twelve chars", "12 characte2"],
        &["漢字漢字漢字", "é"],
        &[&long, "short"],
        &["18 characters long", "just 18 characters"],
    ];
    for names in names {
        for (width, rights) in [(80, Rights::default()), (100, Rights::none())] {
            let world = World::pair(0.001, 1.02)
                .with_program(Program::new("c", slow))
                .with_noise(noise)
                .with_load(load)
                .with_rights(rights)
                .with_tick(0.004);
            let arguments =
                ["compare", "a", "b", "c", "-n", names[0], "-n", names[1], "--runs", "60", "--seed", "1"];
            let terminal = Terminal { width, ..PLAIN };
            let text = whyslow_on(terminal, world, &arguments).stdout;
            for line in text.lines().filter(|line| !line.contains(&long)) {
                assert!(line.width() <= width, "{} columns: {line}\n{text}", line.width());
            }
        }
    }
}
