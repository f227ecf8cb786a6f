//! What one of something costs here. A count that differs accuses nobody until it is priced: difference times unit cost,
//! against the gap.

use super::case::Case;
use crate::model::Floor;

/// Seconds of CPU time each. Where nothing of this recording tells, a figure of ordinary machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    pub syscall_s: f64,
    pub fault_s: f64,
    /// A fork, an exec and an end.
    pub process_s: f64,
    pub malloc_s: f64,
    /// One byte copied by realloc.
    pub copied_byte_s: f64,
    /// A switch to another thread and back.
    pub switch_s: f64,
}

impl Default for Prices {
    fn default() -> Self {
        Prices {
            syscall_s: 0.3e-6,
            fault_s: 0.7e-6,
            process_s: 0.9e-3,
            malloc_s: 20e-9,
            copied_byte_s: 0.1e-9,
            switch_s: 2e-6,
        }
    }
}

impl Prices {
    /// A process costs at least what starting a program that does nothing costs on this host, where there is so much
    /// additional CPU time: a fork that is not followed by an exec costs less.
    pub fn of(case: &Case<'_>, floor: Option<Floor>) -> Prices {
        let usual = Prices::default();
        let floor_s = floor.and_then(|floor| floor.cpu_s).unwrap_or(usual.process_s);
        let known = Prices {
            process_s: usual.process_s.max(floor_s).min(bound_s(case)),
            fault_s: fault_s(case).unwrap_or(usual.fault_s),
            ..usual
        };
        Prices { syscall_s: syscall_s(case, &known).unwrap_or(usual.syscall_s), ..known }
    }
}

/// Additional CPU time over additional processes.
fn bound_s(case: &Case<'_>) -> f64 {
    let processes = case.more(|side| side.processes().map(|count| count as f64)).unwrap_or(0.0);
    if processes >= 1.0 { case.gap.budget.cpu_s().max(0.0) / processes } else { f64::INFINITY }
}

/// Additional system time over additional system calls, without what faults and processes cost, where that is within what
/// a call can cost.
fn syscall_s(case: &Case<'_>, prices: &Prices) -> Option<f64> {
    let calls = case.more(|side| side.syscalls().map(|syscalls| syscalls.total() as f64))?;
    let more = |count: Option<f64>| count.unwrap_or(0.0).max(0.0);
    let faults_s = more(case.more(|side| side.median("page_faults"))) * prices.fault_s;
    let processes = more(case.more(|side| side.processes().map(|count| count as f64)));
    let price = (case.gap.budget.system_s - faults_s - processes * prices.process_s) / calls;
    (calls > 1000.0 && (0.05e-6..=10e-6).contains(&price)).then_some(price)
}

/// Additional system time over additional faults, where that is within what a fault can cost.
fn fault_s(case: &Case<'_>) -> Option<f64> {
    let faults = case.more(|side| side.median("page_faults"))?;
    let price = case.gap.budget.system_s / faults;
    (faults > 1000.0 && (0.1e-6..=4e-6).contains(&price)).then_some(price)
}
