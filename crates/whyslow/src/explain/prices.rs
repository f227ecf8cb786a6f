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
            process_s: 0.5e-3,
            malloc_s: 20e-9,
            copied_byte_s: 0.1e-9,
            switch_s: 2e-6,
        }
    }
}

impl Prices {
    /// A process costs at least what starting a program that does nothing costs on this host.
    pub fn of(case: &Case<'_>, floor: Option<Floor>) -> Prices {
        let usual = Prices::default();
        let floor_s = floor.and_then(|floor| floor.cpu_s).unwrap_or(usual.process_s);
        Prices {
            process_s: usual.process_s.max(floor_s),
            fault_s: fault_s(case).unwrap_or(usual.fault_s),
            ..usual
        }
    }
}

/// Additional system time over additional faults, where that is within what a fault can cost.
fn fault_s(case: &Case<'_>) -> Option<f64> {
    let faults = case.more(|side| side.median("page_faults"))?;
    let price = case.gap.budget.system_s / faults;
    (faults > 1000.0 && (0.1e-6..=4e-6).contains(&price)).then_some(price)
}
