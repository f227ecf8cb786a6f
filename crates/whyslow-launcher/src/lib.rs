//! Starts and reaps measured commands from a process so small that it does not show in the
//! measurement.
//!
//! Linux lets the peak memory of a new process begin at the memory of the process that started it,
//! and the start itself takes longer from a larger process. So whyslow does not start commands
//! itself: a [`Launcher`] is a second process of a few pages (a static program without standard
//! library, embedded in this crate and run from memory) that takes a [`Request`], starts the
//! command as vfork does, waits for its end, and answers with a [`Reply`]: clocks, processor time,
//! memory, faults and switches.
//!
//! ```no_run
//! use whyslow_launcher::{Launcher, Program, Request, Watch};
//!
//! let mut launcher = Launcher::start()?;
//! let request = Request::new(Program::Path(c"/bin/true".into()), vec![c"true".into()]);
//! let reply = launcher.run(&request, Watch::nothing())?;
//! println!("{:?} in {} ns", reply.outcome, reply.end_ns - reply.exec_ns);
//! # Ok::<(), whyslow_launcher::LauncherError>(())
//! ```
//!
//! # What a command finds
//!
//! Its own process group without controlling terminal (or with one of its own, [`Request::is_terminal`]), the three standard descriptors and no other,
//! no signal blocked or ignored, its parent's death as a SIGKILL. Limits, niceness, umask and
//! (unless the request says otherwise) directory and affinity are those that the caller had when
//! the launcher was started.
//!
//! # Limits
//!
//! * Linux on x86_64 and aarch64; elsewhere [`Launcher::start`] says [`LauncherError::Unsupported`].
//! * One command at a time per launcher.
//! * A stop (Ctrl-Z) of the caller does not stop the running command.
//! * A descendant that outlives its run is counted in [`Reply::leftovers`]; what it does afterwards is nobody's. It
//!   ends with the launcher, and with its run if that is ended by force.
//! * Without `/proc/thread-self/children` descendants cannot be counted, and one that leaves the process group is not
//!   found, and survives.
//! * A script (`#!`) cannot be executed as [`Program::Descriptor`], as the descriptor is closed by exec.
//! * The command's environment is exactly that of the request, and the program is not searched in `PATH`.

// Where there is no launcher program nothing is encoded or decoded, but it still has to compile.
#![cfg_attr(not(launcher_embedded), allow(dead_code))]

mod error;
mod reply;
mod request;
mod watch;
#[allow(dead_code)]
mod wire;

#[cfg(not(launcher_embedded))]
mod absent;
#[cfg(launcher_embedded)]
mod conversation;
#[cfg(launcher_embedded)]
mod process;
#[cfg(launcher_embedded)]
mod program;

// The program is compiled by `build.rs`; it is named here only so that `cargo fmt` finds its files.
#[cfg(any())]
mod launcher;

#[cfg(not(launcher_embedded))]
pub use absent::Launcher;
pub use error::LauncherError;
#[cfg(launcher_embedded)]
pub use process::Launcher;
pub use reply::{Counters, Ended, Reply, SchedStat};
pub use request::{Program, Request};
pub use watch::{CANCEL_GRACE_NS, Reader, Watch};
