//! A program of a simulated world: what it costs and when it fails. Pure data and arithmetic; what the machine
//! adds on top is not known here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cause::{Cause, Surroundings};
use super::failure::{Failure, How};
use super::streams::{Purpose, of_program};
use crate::model::{ByteText, Trace};

/// Something that can be launched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Found by exactly these bytes as the first argument.
    pub name: ByteText,
    /// What a run costs on a calm machine, without the planted causes.
    #[serde(default)]
    pub cost: Cost,
    /// Threads over which the CPU time is spread evenly; 0 counts as 1.
    #[serde(default = "one_thread")]
    pub threads: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_start: Option<ColdStart>,
    /// The first one that strikes decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Planted reasons for being slow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The numbers that it prints, by the metric whose source finds them. They vary with the pace of the machine,
    /// unless the metric is exact.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prints: BTreeMap<String, f64>,
    /// What it writes, as a digest; programs that write the same have the same.
    #[serde(default)]
    pub output: u64,
    /// Descendants that outlive each of its runs.
    #[serde(default)]
    pub leftovers: u32,
    /// What probes see of each of its runs; a probe of which there is none sees nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<Trace>,
    /// Variables, and parts of the names of libraries, that never reach it, as behind a script that cleans up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shields: Vec<ByteText>,
}

/// What a run uses. Counts may be fractions here; they are rounded when the run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cost {
    pub user_s: f64,
    pub system_s: f64,
    /// Off the CPU by its own doing: sleeping, waiting for a disk or a lock.
    pub blocked_s: f64,
    /// All page faults, major ones included.
    pub page_faults: f64,
    pub major_faults: f64,
    pub voluntary_switches: f64,
    pub blocks_read: f64,
    pub blocks_written: f64,
    pub peak_rss_bytes: f64,
    pub output_bytes: f64,
}

/// The first runs of a program cost more, because caches are still empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColdStart {
    pub runs: usize,
    pub extra: Cost,
}

fn one_thread() -> usize {
    1
}

impl Program {
    pub fn new(name: &str, cost: Cost) -> Self {
        Program {
            name: name.into(),
            cost,
            threads: 1,
            cold_start: None,
            failures: Vec::new(),
            causes: Vec::new(),
            prints: BTreeMap::new(),
            output: 0,
            leftovers: 0,
            traces: Vec::new(),
            shields: Vec::new(),
        }
    }

    pub fn printing(mut self, metric: &str, number: f64) -> Self {
        self.prints.insert(metric.to_owned(), number);
        self
    }

    pub fn with_output(self, output: u64) -> Self {
        Program { output, ..self }
    }

    pub fn with_leftovers(self, leftovers: u32) -> Self {
        Program { leftovers, ..self }
    }

    pub fn with_trace(mut self, trace: Trace) -> Self {
        self.traces.push(trace);
        self
    }

    pub fn shielded_from(mut self, name: &str) -> Self {
        self.shields.push(name.into());
        self
    }

    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.causes.push(cause);
        self
    }

    pub fn with_failure(mut self, failure: Failure) -> Self {
        self.failures.push(failure);
        self
    }

    pub fn with_cold_start(mut self, runs: usize, extra: Cost) -> Self {
        self.cold_start = Some(ColdStart { runs, extra });
        self
    }

    /// A program that hangs in every run.
    pub fn hanging(self) -> Self {
        self.with_failure(Failure::always(How::Hang))
    }

    /// What a run costs on a calm machine.
    pub fn cost_of(&self, surroundings: &Surroundings) -> Cost {
        let cost =
            self.active(surroundings).fold(self.cost, |cost, cause| cause.effect.on(cost, surroundings));
        match self.cold_start {
            Some(cold) if surroundings.run <= cold.runs => cost.plus(cold.extra),
            _ => cost,
        }
    }

    /// The causes that apply.
    pub fn active<'a>(&'a self, surroundings: &'a Surroundings) -> impl Iterator<Item = &'a Cause> + 'a {
        self.causes.iter().filter(|cause| cause.when.holds(surroundings))
    }

    /// The failure that strikes in a run.
    ///
    /// Every failure takes its draw, whether it strikes or not, so that they are independent of each other.
    pub fn failure_in(&self, seed: u64, surroundings: &Surroundings) -> Option<&Failure> {
        let number = surroundings.run;
        let mut random = of_program(seed, Purpose::Failure, &self.name.0, number);
        let mut strikes = |failure: &Failure| {
            let is_struck = failure.when.strikes(number, random.unit());
            is_struck && failure.given.holds(surroundings)
        };
        let strikes: Vec<bool> = self.failures.iter().map(&mut strikes).collect();
        self.failures.iter().zip(strikes).find(|(_, strikes)| *strikes).map(|(failure, _)| failure)
    }
}

impl Cost {
    /// CPU time in the usual mix, nine parts user and one part system, and a small footprint.
    pub fn of_cpu(cpu_s: f64) -> Self {
        Cost {
            user_s: 0.9 * cpu_s,
            system_s: 0.1 * cpu_s,
            page_faults: 500.0,
            voluntary_switches: 1.0,
            peak_rss_bytes: 4e6,
            output_bytes: 12.0,
            ..Cost::default()
        }
    }

    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }

    /// Every quantity added to its like; for the peak of memory that is right when both parts live at once.
    pub fn plus(self, other: Cost) -> Self {
        Cost {
            user_s: self.user_s + other.user_s,
            system_s: self.system_s + other.system_s,
            blocked_s: self.blocked_s + other.blocked_s,
            page_faults: self.page_faults + other.page_faults,
            major_faults: self.major_faults + other.major_faults,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            blocks_read: self.blocks_read + other.blocks_read,
            blocks_written: self.blocks_written + other.blocks_written,
            peak_rss_bytes: self.peak_rss_bytes + other.peak_rss_bytes,
            output_bytes: self.output_bytes + other.output_bytes,
        }
    }

    /// The cost of the first part of a run that is cut off: everything in proportion, except the peak of memory,
    /// which most programs reach early.
    pub fn first_part(self, share: f64) -> Self {
        Cost {
            user_s: self.user_s * share,
            system_s: self.system_s * share,
            blocked_s: self.blocked_s * share,
            page_faults: self.page_faults * share,
            major_faults: self.major_faults * share,
            voluntary_switches: self.voluntary_switches * share,
            blocks_read: self.blocks_read * share,
            blocks_written: self.blocks_written * share,
            peak_rss_bytes: self.peak_rss_bytes,
            output_bytes: self.output_bytes * share,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::failure::When;
    use super::*;
    use crate::model::{Exit, Launch};

    fn plain() -> Launch {
        Launch { argv: vec!["a".into()], ..Launch::default() }
    }

    #[test]
    fn only_the_first_runs_are_cold() {
        let extra = Cost { blocked_s: 1.0, major_faults: 9.0, ..Cost::default() };
        let program = Program::new("a", Cost::of_cpu(1.0)).with_cold_start(2, extra);
        let launch = plain();
        let blocked =
            |run| program.cost_of(&Surroundings { run, ..Surroundings::plain(&launch, &[]) }).blocked_s;
        assert_eq!([blocked(1), blocked(2), blocked(3)], [1.0, 1.0, 0.0]);
    }

    #[test]
    fn the_first_failure_that_strikes_decides() {
        let every_second = Failure { when: When::Every(2), ..Failure::always(How::Exit(3)) };
        let program = Program::new("a", Cost::default())
            .with_failure(every_second)
            .with_failure(Failure::always(How::Signal(9)));
        let launch = plain();
        let exit = |run| {
            let around = Surroundings { run, ..Surroundings::plain(&launch, &[]) };
            program.failure_in(1, &around).and_then(|failure| failure.how.exit())
        };
        assert_eq!([exit(1), exit(2)], [Some(Exit::Signal(9)), Some(Exit::Code(3))]);
    }

    #[test]
    fn a_program_needs_nothing_but_a_name() {
        let program: Program = serde_json::from_str(r#"{"name": "a"}"#).unwrap();
        assert_eq!(program, Program::new("a", Cost::default()));
        assert!(serde_json::from_str::<Program>(r#"{"name": "a", "cots": {}}"#).is_err());
    }
}
