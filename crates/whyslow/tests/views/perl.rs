//! The views of Benchmark.pm against the module itself.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use whyslow::model::{DataSet, PerlTimes};
use whyslow::report::views::{Conversion, Options, TimeStyle, cmpthese, timestr_line};

use super::samples::{cases, perl};

/// Reads lines of `style format`, or `name` and six numbers; prints the lines, then the chart.
const SCRIPT: &str = r#"
use Benchmark ':all';
my ($style, $format) = split / /, <STDIN> =~ s/\n//r;
my %all;
while (<STDIN>) {
    chomp;
    my ($name, @t) = split / /;
    my @n = map { $_ + 0 } @t;
    $all{$name} = bless [@n], 'Benchmark';
    print timestr($all{$name}, $style, $format), "\n";
}
cmpthese(\%all, $style eq 'auto' ? '' : $style);
"#;

/// `None` where there is no perl.
fn real(sets: &[DataSet], style: &str, format: &str) -> Option<String> {
    let mut child = Command::new("perl")
        .args(["-e", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = format!("{style} {format}\n");
    for set in sets {
        let t = set.perl_times.unwrap();
        let (real, user, system) = (t.real_s, t.user_s, t.system_s);
        let (children_user, children_system, count) = (t.children_user_s, t.children_system_s, t.iterations);
        let name = &set.name;
        writeln!(input, "{name} {real} {user} {system} {children_user} {children_system} {count}").unwrap();
    }
    child.stdin.take()?.write_all(input.as_bytes()).unwrap();
    Some(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
}

fn ours(sets: &[DataSet], style: &str, format: &str) -> String {
    let options = Options {
        compat: true,
        style: TimeStyle::parse(style).unwrap(),
        format: Conversion::parse(format).unwrap(),
        ..Options::default()
    };
    let line = |set: &DataSet| timestr_line(&set.perl_times.unwrap(), options.style, options.format) + "\n";
    sets.iter().map(line).collect::<String>() + &cmpthese(sets, &options)
}

fn ticks() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (0..1000_i32).prop_map(|ticks| f64::from(ticks) / 100.0),
        1 => (-100..0_i32).prop_map(|ticks| f64::from(ticks) / 100.0),
        1 => Just(0.0),
        1 => 0.0..1e9_f64,
        1 => 1e-6..1e-3_f64,
    ]
}

fn perl_times() -> impl Strategy<Value = PerlTimes> {
    let children = prop_oneof![2 => Just((0.0, 0.0)), 1 => (ticks(), ticks())];
    let count = prop_oneof![Just(1_i64), 1..100_i64, 100..1_000_000_i64, 1..1_000_000_000_000_000_i64];
    (ticks(), ticks(), ticks(), children, count).prop_map(|(real_s, user_s, system_s, children, count)| {
        PerlTimes {
            real_s,
            user_s,
            system_s,
            children_user_s: children.0,
            children_system_s: children.1,
            iterations: count as f64,
        }
    })
}

fn sets() -> impl Strategy<Value = Vec<DataSet>> {
    prop::collection::btree_map("[a-z_:]{1,14}", perl_times(), 1..9)
        .prop_map(|map| map.into_iter().map(|(name, times)| perl(&name, times)).collect())
}

/// Names in the first column of the chart, which perl takes out of a hash where rates are equal.
fn has_equal_rates(sets: &[DataSet], style: &str) -> bool {
    let rate = |set: &DataSet| {
        let t = set.perl_times.unwrap();
        let (own, children) = (t.user_s + t.system_s, t.children_user_s + t.children_system_s);
        let elapsed = match style {
            "noc" => own,
            "nop" => children,
            _ => t.user_s + t.system_s + t.children_user_s + t.children_system_s,
        };
        t.iterations / (elapsed + 1e-15)
    };
    let rates: Vec<f64> = sets.iter().map(rate).collect();
    (0..rates.len()).any(|i| (0..i).any(|j| rates[i] == rates[j]))
}

#[test]
fn random_times_look_as_perl_shows_them() {
    if Command::new("perl").arg("-v").output().is_err() {
        return;
    }
    let styles = prop::sample::select(vec!["auto", "auto", "all", "noc", "nop"]);
    let formats = prop::sample::select(vec!["5.2f", "5.2f", "7.3f", "g", "-8.1e", "09.4f"]);
    let outcome = TestRunner::new(cases(150)).run(&(sets(), styles, formats), |(sets, style, format)| {
        prop_assume!(!has_equal_rates(&sets, style));
        prop_assert_eq!(ours(&sets, style, format), real(&sets, style, format).unwrap());
        Ok(())
    });
    outcome.unwrap();
}

fn of(real_s: f64, user_s: f64, system_s: f64, children: (f64, f64), iterations: f64) -> PerlTimes {
    PerlTimes {
        real_s,
        user_s,
        system_s,
        children_user_s: children.0,
        children_system_s: children.1,
        iterations,
    }
}

#[test]
fn lines_that_were_seen() {
    let line = |times: PerlTimes, style| timestr_line(&times, style, Options::default().format);
    let seen = [
        (
            of(4.0, 3.59, 0.0, (0.0, 0.0), 250_000.0),
            TimeStyle::Auto,
            " 4 wallclock secs ( 3.59 usr +  0.00 sys =  3.59 CPU) @ 69637.88/s (n=250000)",
        ),
        (
            of(4.0, 3.59, 0.0, (1.0, 0.5), 250_000.0),
            TimeStyle::Auto,
            " 4 wallclock secs ( 3.59 usr  0.00 sys +  1.00 cusr  0.50 csys =  5.09 CPU) @ 49115.91/s (n=250000)",
        ),
        (
            of(4.0, 0.0, 0.0, (3.59, 0.5), 250_000.0),
            TimeStyle::Nop,
            " 4 wallclock secs ( 3.59 cusr +  0.50 csys =  4.09 CPU) @ 61124.69/s (n=250000)",
        ),
        (
            of(0.0, -0.01, 0.0, (0.0, 0.0), 1000.0),
            TimeStyle::Auto,
            " 0 wallclock secs (-0.01 usr +  0.00 sys = -0.01 CPU) @ -100000.00/s (n=1000)",
        ),
        (
            of(0.123_456, 0.11, 0.01, (0.0, 0.0), 1000.0),
            TimeStyle::Auto,
            "0.123456 wallclock secs ( 0.11 usr +  0.01 sys =  0.12 CPU) @ 8333.33/s (n=1000)",
        ),
        (
            of(1.0, 0.0, 0.0, (0.0, 0.0), 5.0),
            TimeStyle::Auto,
            " 1 wallclock secs ( 0.00 usr +  0.00 sys =  0.00 CPU)",
        ),
        (of(1.0, 1.0, 0.0, (0.0, 0.0), 5.0), TimeStyle::None, ""),
    ];
    for (times, style, text) in seen {
        assert_eq!(line(times, style), text);
    }
}

fn chart(rows: &[(&str, f64, f64)]) -> String {
    let sets: Vec<DataSet> =
        rows.iter().map(|(name, cpu, n)| perl(name, of(9.0, *cpu, 0.0, (0.0, 0.0), *n))).collect();
    cmpthese(&sets, &Options { compat: true, ..Options::default() })
}

#[test]
fn charts_that_were_seen() {
    assert_eq!(
        chart(&[("slow", 10.0, 1.0), ("fast", 4.0, 1.0)]),
        "     s/iter slow fast\nslow   10.0   -- -60%\nfast   4.00 150%   --\n"
    );
    assert_eq!(
        chart(&[("same2", 1.0, 100.0), ("same1", 1.0, 100.0)]),
        "         Rate same2 same1\nsame2 100.0/s    --    0%\nsame1 100.0/s    0%    --\n"
    );
    assert_eq!(
        chart(&[("one", 1.0, 100.0), ("neg", -1.0, 100.0)]),
        "       s/iter   neg   one\nneg -1.00e-02    -- -200%\none  1.00e-02 -200%    --\n"
    );
    assert_eq!(
        chart(&[("one", 1.0, 100.0), ("zero", 0.0, 100.0)]),
        "                     Rate                 one                zero\n\
         one               100.0/s                  --               -100%\n\
         zero 100000000000000000/s 100000000000000016%                  --\n"
    );
}

#[test]
fn code_that_is_over_before_the_clock_ticks_gets_a_bound() {
    let sets = [
        perl("zero", of(0.0, 0.0, 0.0, (0.0, 0.0), 100.0)),
        perl("one", of(1.0, 1.0, 0.0, (0.0, 0.0), 100.0)),
    ];
    let text = cmpthese(&sets, &Options::default());
    assert!(text.contains("note: zero: less CPU time than one tick (10 ms): > 1e+04/s\n"), "{text}");
    assert_eq!(cmpthese(&[], &Options::default()), "");
}
