//! How busy the machine was during a run, by what the kernel tells everybody. Nothing here judges: a number
//! that the system does not give is unknown.
//!
//! The files stay open and are read into a buffer on the stack, because this happens before and after every
//! run; and what was read after a run is what was before the next one, if that follows at once. None of it is in
//! the timed window.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::host::allowed_cpus;
use crate::model::Conditions;

/// A file that takes longer to read is not read at all. Some grow with the machine (`/proc/stat` adds up
/// every interrupt of every CPU), and some kernels sleep for 10 ms to find out a frequency.
const READING_LIMIT: Duration = Duration::from_micros(25);

/// A state of the machine that is no older is the present one. Longer than whyslow takes from a run to the next if there
/// is nothing to do in between.
const FRESH: Duration = Duration::from_micros(500);

/// Frequencies of so many CPUs are read, spread over those that we may use.
const FREQUENCY_CPUS: usize = 4;

/// The open files, each `None` where the system does not have it or takes too long to give it.
pub struct Gauges {
    pressure: Option<File>,
    load: Option<File>,
    times: Option<File>,
    frequencies: Vec<File>,
    ticks_per_second: f64,
    /// As it was after the last run.
    last: Cell<Option<Before>>,
}

/// What is compared with the state after a run.
#[derive(Clone, Copy)]
pub struct Before {
    at: Instant,
    pressure_us: Option<u64>,
    steal_ticks: Option<u64>,
    asleep_ns: Option<i64>,
}

impl Gauges {
    pub fn open() -> Gauges {
        // SAFETY: a plain question to the C library. The unit of /proc/stat is this, not the kernel's tick.
        let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64;
        Gauges {
            pressure: open_quick("/proc/pressure/cpu", some_total_us),
            load: open_quick("/proc/loadavg", first_number),
            times: open_quick("/proc/stat", steal_ticks),
            frequencies: open_frequencies(&allowed_cpus()),
            ticks_per_second,
            last: Cell::new(None),
        }
    }

    pub fn before(&self) -> Before {
        match self.last.take().filter(|last| last.at.elapsed() <= FRESH) {
            // The clock of the age stands still while the computer sleeps.
            Some(last) => Before { asleep_ns: asleep_ns(), ..last },
            None => self.now(),
        }
    }

    fn now(&self) -> Before {
        Before {
            steal_ticks: read(&self.times, steal_ticks),
            pressure_us: read(&self.pressure, some_total_us),
            asleep_ns: asleep_ns(),
            at: Instant::now(),
        }
    }

    pub fn after(&self, before: &Before) -> Conditions {
        // The share is of the time between the two readings: dividing by the shorter time of the run itself
        // would blame the run for a wait that came before it.
        let now = self.now();
        self.last.set(Some(now));
        let window_us = (now.at - before.at).as_secs_f64() * 1e6;
        let pressure_us = difference(before.pressure_us, now.pressure_us);
        let steal_ticks = difference(before.steal_ticks, now.steal_ticks);
        Conditions {
            cpu_pressure: pressure_us.map(|us| share(us, window_us)),
            load: read(&self.load, first_number),
            steal_s: steal_ticks.map(|ticks| (ticks as f64 / self.ticks_per_second) as f32),
            frequency_hz: self.mean_frequency_hz(),
            suspended_s: suspended_s(before.asleep_ns, now.asleep_ns),
        }
    }

    fn mean_frequency_hz(&self) -> Option<f32> {
        let mut sum = 0.0;
        let mut count = 0.0;
        for khz in self.frequencies.iter().filter_map(|file| parse(file, first_number)) {
            sum += khz * 1e3;
            count += 1.0;
        }
        (count > 0.0).then(|| sum / count)
    }
}

/// How long the computer has slept since it was started: one clock counts that and the other does not.
fn asleep_ns() -> Option<i64> {
    Some(clock_ns(libc::CLOCK_BOOTTIME)? - clock_ns(libc::CLOCK_MONOTONIC)?)
}

fn clock_ns(clock: libc::clockid_t) -> Option<i64> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure; a clock that the kernel does not know is an error.
    let failed = unsafe { libc::clock_gettime(clock, &mut now) } != 0;
    (!failed).then(|| now.tv_sec * 1_000_000_000 + now.tv_nsec)
}

/// The two clocks are not read at the same moment, so a small difference is none.
fn suspended_s(before_ns: Option<i64>, after_ns: Option<i64>) -> Option<f32> {
    const SHORTEST_SLEEP_NS: i64 = 100_000_000;
    let slept_ns = after_ns? - before_ns?;
    (slept_ns >= SHORTEST_SLEEP_NS).then(|| (slept_ns as f64 / 1e9) as f32)
}

fn share(part_us: u64, window_us: f64) -> f32 {
    (part_us as f64 / window_us.max(1.0)).min(1.0) as f32
}

fn difference(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    after?.checked_sub(before?)
}

fn open_frequencies(cpus: &[usize]) -> Vec<File> {
    let step = cpus.len().div_ceil(FREQUENCY_CPUS).max(1);
    let name = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    cpus.iter().step_by(step).filter_map(|cpu| open_quick(&name(cpu), first_number)).collect()
}

/// Opens a file if it is there, says what it should, and is quick to read.
fn open_quick<T>(path: &str, parser: fn(&[u8]) -> Option<T>) -> Option<File> {
    let file = File::open(path).ok()?;
    // The best of several, because the first reading pays for what the later ones find in the caches.
    let quickest = (0..5).map(|_| time_of_reading(&file, parser)).min().flatten()?;
    (quickest <= READING_LIMIT).then_some(file)
}

fn time_of_reading<T>(file: &File, parser: fn(&[u8]) -> Option<T>) -> Option<Duration> {
    let start = Instant::now();
    parse(file, parser)?;
    Some(start.elapsed())
}

fn read<T>(file: &Option<File>, parser: fn(&[u8]) -> Option<T>) -> Option<T> {
    parse(file.as_ref()?, parser)
}

fn parse<T>(file: &File, parser: fn(&[u8]) -> Option<T>) -> Option<T> {
    // Enough for the first line of each of these files, which is all that is wanted of them.
    let mut buffer = [0; 256];
    let length = file.read_at(&mut buffer, 0).ok()?;
    parser(&buffer[..length])
}

/// Microseconds in which some task waited, from `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`.
fn some_total_us(text: &[u8]) -> Option<u64> {
    let words = first_line(text)?.strip_prefix("some ")?;
    words.split(' ').find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// Stolen ticks of all CPUs, the eighth number of `cpu  3119 0 1431 114647 177 0 17 8 0 0`.
fn steal_ticks(text: &[u8]) -> Option<u64> {
    let numbers = first_line(text)?.strip_prefix("cpu ")?;
    numbers.split_ascii_whitespace().nth(7)?.parse().ok()
}

/// The number at the start of `0.31 0.25 0.20 1/87 4566` or of `2400000`.
fn first_number(text: &[u8]) -> Option<f32> {
    let number: f32 = first_line(text)?.split_ascii_whitespace().next()?.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// The first line if it is complete and text: half a number must not be taken for a number.
fn first_line(text: &[u8]) -> Option<&str> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    std::str::from_utf8(&text[..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GARBAGE: &[&[u8]] = &[
        b"",
        b"\n",
        b"some\n",
        b"cpu\n",
        b"cpu 1 2 3 4 5 6 7\n",
        b"\xff\xfe\n",
        b"some total=-1\n",
        b"nan\n",
        b"-1\n",
    ];

    #[test]
    fn pressure() {
        let text = b"some avg10=0.53 avg60=0.23 avg300=0.31 total=4743582\nfull avg10=0.00 total=7\n";
        assert_eq!(some_total_us(text), Some(4_743_582));
        assert_eq!(some_total_us(b"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"), None);
        GARBAGE.iter().for_each(|text| assert_eq!(some_total_us(text), None, "{text:?}"));
    }

    #[test]
    fn steal() {
        assert_eq!(steal_ticks(b"cpu  3119 0 1431 114647 177 0 17 8 0 0\ncpu0 1\n"), Some(8));
        assert_eq!(steal_ticks(b"cpu0 1 2 3 4 5 6 7 8 9\n"), None);
        // An old kernel that has no such column, and a line that did not fit.
        assert_eq!(steal_ticks(b"cpu  3119 0 1431 114647 177 0 17\n"), None);
        assert_eq!(steal_ticks(b"cpu  3119 0 1431 114647 177 0 17 8"), None);
        GARBAGE.iter().for_each(|text| assert_eq!(steal_ticks(text), None, "{text:?}"));
    }

    #[test]
    fn load_and_frequency() {
        assert_eq!(first_number(b"0.31 0.25 0.20 1/87 4566\n"), Some(0.31));
        assert_eq!(first_number(b"2400000\n"), Some(2_400_000.0));
        assert_eq!(first_number(b"<unknown>\n"), None);
        GARBAGE.iter().for_each(|text| assert_eq!(first_number(text), None, "{text:?}"));
    }

    #[test]
    fn a_counter_that_went_back_is_unknown() {
        assert_eq!(difference(Some(5), Some(7)), Some(2));
        assert_eq!(difference(Some(7), Some(5)), None);
        assert_eq!(difference(None, Some(5)), None);
        assert_eq!(share(700, 500.0), 1.0);
        assert_eq!(share(0, 0.0), 0.0);
    }

    #[test]
    fn a_sleep_is_what_one_clock_has_more_than_the_other() {
        assert_eq!(suspended_s(Some(7), Some(3_000_000_007)), Some(3.0));
        assert_eq!(suspended_s(Some(7), Some(40_000)), None);
        assert_eq!(suspended_s(Some(40_000), Some(7)), None);
        assert_eq!(suspended_s(None, Some(3_000_000_000)), None);
    }

    #[test]
    fn files_that_are_not_there_are_unknown() {
        assert!(open_quick("/no/such/file", first_number).is_none());
        assert!(open_quick("/dev/null", first_number).is_none());
        let nothing = Gauges {
            pressure: None,
            load: None,
            times: None,
            frequencies: vec![],
            ticks_per_second: 100.0,
            last: Cell::new(None),
        };
        assert!(nothing.after(&nothing.before()).is_unknown());
    }

    /// Prints the figures in the text at the top: `cargo test --release cost_of_reading -- --ignored
    /// --nocapture`.
    #[test]
    #[ignore = "prints figures"]
    fn cost_of_reading() {
        let gauges = Gauges::open();
        let mut times: Vec<_> = (0..2000)
            .map(|_| {
                let start = Instant::now();
                std::hint::black_box(gauges.after(&gauges.before()));
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("before and after: median {:?}, 95 % below {:?}", times[1000], times[1900]);
    }
}
