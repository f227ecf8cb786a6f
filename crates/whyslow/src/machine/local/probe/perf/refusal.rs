//! Why perf events cannot be had, and what to do about it, in the user's words.

use std::io;

use super::super::super::abilities;
use super::super::missing;
use crate::model::{Missing, Probe};

pub fn refused(probe: Probe, error: &io::Error) -> Missing {
    let (why, remedy) = abilities::why_no_perf(error.raw_os_error().unwrap_or(0), paranoid());
    missing(probe, why, remedy.as_deref())
}

pub fn paranoid() -> Option<i32> {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    text.trim().parse().ok()
}
