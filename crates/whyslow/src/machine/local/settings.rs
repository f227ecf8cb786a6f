//! What is done to the machine for an experiment: the commands get their CPUs before everybody else, or only some of
//! the CPUs. Everything is done to the launcher, from which the commands inherit it, so it ends with the launcher
//! and there is nothing to undo; and to each command that a probe looks at, which is started in another way. A wish that cannot be fulfilled is an error: measured without it, the experiment
//! would be another one than the one that was asked for.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

use super::affinity;
use super::host::allowed_cpus;
use crate::machine::MachineError;
use crate::model::Launch;

/// Wishes for the whole experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub isolate: Option<Isolation>,
    /// Wait before each block until the rest of the machine is quiet, for some seconds at most.
    pub wait_quiet: bool,
    /// The CPUs that the commands may use; a launch with an affinity of its own is not bound by it.
    pub pin: Option<Vec<usize>>,
    /// System calls are counted by tracing also where the kernel would record them.
    pub only_traces: bool,
}

/// How the commands get their CPUs before everybody else. Niceness alone does not do it on most systems, because it
/// only ranks within one login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// The scheduler's group of the commands gets the highest weight.
    Autogroup,
    /// The commands are real-time tasks of the lowest priority. The kernel still keeps a twentieth of each CPU for
    /// the others, so that a command that never ends does not lock the machine.
    Fifo,
}

impl Settings {
    /// Says what was done, in words for people.
    pub fn apply(&self, launcher: u32) -> Result<Vec<String>, MachineError> {
        let mut done = Vec::new();
        if let Some(cpus) = &self.pin {
            done.push(pin(launcher, cpus)?);
        }
        match self.isolate {
            Some(Isolation::Autogroup) => done.push(raise_autogroup(launcher)?),
            Some(Isolation::Fifo) => done.push(make_real_time(launcher)?),
            None => {}
        }
        if self.wait_quiet {
            done.push(
                "before each block, waited up to 5 s for the rest of the machine to be quiet".to_owned(),
            );
        }
        Ok(done)
    }

    /// The same for a command that a probe looks at. It is still held, and of a session of its own for an autogroup.
    pub fn apply_to_look(&self, command: libc::pid_t, launch: &Launch) -> io::Result<()> {
        if let Some(cpus) = self.pin.as_deref().filter(|_| launch.affinity.is_none()) {
            pin(command.cast_unsigned(), cpus).map_err(io::Error::other)?;
        }
        match self.isolate {
            Some(Isolation::Autogroup) => {
                wait_for_session(command)?;
                raise_autogroup(command.cast_unsigned()).map_err(io::Error::other)?;
            }
            Some(Isolation::Fifo) => {
                make_real_time(command.cast_unsigned()).map_err(io::Error::other)?;
            }
            None => {}
        }
        Ok(())
    }
}

/// A new process makes its session itself, as the first thing that it does.
fn wait_for_session(leader: libc::pid_t) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let until = Instant::now() + PATIENCE;
    // SAFETY: no memory is involved.
    while unsafe { libc::getsid(leader) } != leader {
        if Instant::now() >= until {
            return Err(io::Error::other("cannot isolate by autogroup: it has no session of its own"));
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

fn pin(launcher: u32, cpus: &[usize]) -> Result<String, MachineError> {
    let allowed = allowed_cpus();
    let list = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if let Some(absent) = cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        let what = format!("cannot pin to CPU {absent}: this process may use {}", list(&allowed));
        return Err(MachineError::new(what).hint("--pin takes CPUs out of these"));
    }
    affinity::set(launcher, cpus).map_err(|error| failed("cannot pin the commands", error))?;
    Ok(format!("commands ran on CPU {} only", list(cpus)))
}

/// The launcher leads a session, and each session is a group.
fn raise_autogroup(launcher: u32) -> Result<String, MachineError> {
    const REMEDY: &str = "sysctl kernel.sched_autogroup_enabled=1, or --isolate=fifo";
    let is_on =
        fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").is_ok_and(|text| text.trim() == "1");
    if !is_on {
        return Err(MachineError::new("cannot isolate by autogroup: this system does not group by sessions")
            .hint(REMEDY));
    }
    let path = format!("/proc/{launcher}/autogroup");
    fs::write(&path, "-20").map_err(|error| failed("cannot isolate by autogroup", error))?;
    let now = fs::read_to_string(&path).unwrap_or_default();
    if !now.trim_end().ends_with("nice -20") {
        let what = format!("cannot isolate by autogroup: {path} says \"{}\"", now.trim_end());
        return Err(MachineError::new(what).hint("--isolate=fifo is the other way"));
    }
    Ok("commands ran in a scheduler group of their own at priority -20 (autogroup)".to_owned())
}

fn make_real_time(launcher: u32) -> Result<String, MachineError> {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the call reads the structure. The process is our child and not reaped.
    let result = unsafe { libc::sched_setscheduler(launcher as libc::pid_t, libc::SCHED_FIFO, &lowest) };
    if result != 0 {
        return Err(failed("cannot isolate by real-time priority", io::Error::last_os_error()));
    }
    Ok("commands ran as real-time tasks of the lowest priority (SCHED_FIFO 1)".to_owned())
}

fn failed(what: &str, error: io::Error) -> MachineError {
    let is_refusal = matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES));
    let error = MachineError::new(what).because(error);
    if is_refusal { error.hint("run as root (or with CAP_SYS_NICE), or leave --isolate out") } else { error }
}
