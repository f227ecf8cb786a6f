//! Two samples of a million and of ten million values: what one comparison costs, on one core.
//!
//! `cargo bench -p benchmath` prints seconds on the CPU where Linux tells them, and elapsed seconds elsewhere. It
//! asserts nothing, since a time is no property of the code alone.

use std::hint::black_box;
use std::time::Instant;

use benchmath::mann_whitney::{shift_between, u_test};
use benchmath::{SplitMix64, dip, median, median_interval, per_look_alpha, shift, summarize};

/// Log-normal times with a few interrupted runs.
fn sample(count: usize, level: f64, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut time = |_| {
        let interrupted = if random.below(50) == 0 { 1.5 } else { 1.0 };
        level * interrupted * (0.05 * random.normal()).exp()
    };
    (0..count).map(&mut time).collect()
}

/// Seconds that the scheduler gave to this process; waiting for a busy CPU does not count.
fn on_cpu_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    (nanoseconds > 0.0).then_some(nanoseconds / 1e9)
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> f64 {
    let (start, before) = (Instant::now(), on_cpu_s());
    black_box(work());
    let elapsed = start.elapsed().as_secs_f64();
    let seconds = on_cpu_s().zip(before).map_or(elapsed, |(after, before)| after - before);
    println!("    {what:<34} {seconds:9.4} s");
    seconds
}

/// Summaries, the interval of the shift and the test: what a two-sample comparison is made of.
fn compare(count: usize) -> f64 {
    let (first, second) = (sample(count, 1.0, 1), sample(count, 1.01, 2));
    println!("two samples of {count}");
    timed("two summaries", || [summarize(&first), summarize(&second)])
        + timed("interval of the shift", || shift_between(&first, &second, 0.05))
        + timed("rank test", || u_test(&first, &second))
}

fn main() {
    let million = compare(1_000_000);
    println!("    {:<34} {million:9.4} s", "the comparison");
    let ten_million = compare(10_000_000);
    println!("    {:<34} {ten_million:9.4} s", "the comparison");
    println!("    {:<34} {:9.1} times as long for 10 times as many", "", ten_million / million);
    let values = sample(1_000_000, 1.0, 3);
    println!("one sample of a million");
    timed("median", || median(&values));
    timed("interval of the median", || median_interval(&values, 0.95));
    timed("dip", || dip(&values));
    for count in [180, 1_000, 100_000, 1_000_000] {
        timed(&format!("signed-rank interval of {count}"), || shift(&values[..count], 0.05));
    }
    let looks = benchmath::look_schedule(10, 1.5, 100_000);
    timed(&format!("level for {} looks", looks.len()), || per_look_alpha(&looks, 0.05));
}
