//! The one word for where a gap lies.

use serde::Serialize;

use super::case::Case;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    User,
    System,
    /// Most of it is the price of the additional page faults.
    Faults,
    /// Most of it is the price of the additional processes.
    Processes,
    /// Ready to run, without a CPU.
    CpuWait,
    /// Blocked: a disk, a lock, a socket, a sleep.
    Blocked,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Class::User => "user time",
            Class::System => "system time",
            Class::Faults => "page faults",
            Class::Processes => "starting processes",
            Class::CpuWait => "waiting for a CPU",
            Class::Blocked => "blocked",
        }
    }
}

/// The part that is most of the gap.
pub fn classify(case: &Case<'_>) -> Class {
    let budget = case.gap.budget;
    if case.gap.metric == "wall_s" {
        return if budget.cpu_wait_s > budget.blocked_s { Class::CpuWait } else { Class::Blocked };
    }
    let prices = &case.prices;
    let starts = case.more(|side| side.processes().map(|count| count as f64)).unwrap_or(0.0);
    if case.share(starts * prices.process_s) > 0.5 {
        return Class::Processes;
    }
    let faults = case.more(|side| side.median("page_faults")).unwrap_or(0.0);
    let is_system = budget.system_s > budget.user_s;
    if is_system && case.share(faults * prices.fault_s) > 0.5 {
        return Class::Faults;
    }
    if is_system { Class::System } else { Class::User }
}
