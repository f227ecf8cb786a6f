//! The probe of system calls: counts every call of the whole tree with its errors and bytes. Where the kernel lets us, it
//! records them, which costs about a microsecond each; else the tracer sees them. It says nothing about time, since a
//! call takes longer under both.

mod counting;
mod course;
mod recorded;
mod traced;
mod tracepoints;

use super::Looker;
use super::tracer;
use crate::model::{Missing, Probe, Probed};

pub use self::counting::{Moves, unseen_ring};
use self::recorded::Recorded;

pub fn can() -> Result<(), Missing> {
    if recorded::can() { Ok(()) } else { tracer::can(Probe::Syscalls) }
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    match recorded::look(looker)? {
        Recorded::Whole(probed) => Ok(*probed),
        // Rather most of it than nothing, where the other way cannot be gone.
        Recorded::Part(probed) => traced::look(looker).or(Ok(*probed)),
        Recorded::Nothing => traced::look(looker),
    }
}
