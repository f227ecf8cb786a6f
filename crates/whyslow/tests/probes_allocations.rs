//! The probe of allocations on programs whose counts are known.

#[path = "probes_allocations/blind.rs"]
mod blind;
#[path = "probes_allocations/counts.rs"]
mod counts;
#[path = "probes_allocations/endings.rs"]
mod endings;
#[path = "probes_allocations/programs.rs"]
mod programs;
#[path = "probes_allocations/real.rs"]
mod real;
