//! What /proc says about a process at one moment, as bytes: quick to take while the process is stopped, and read later.

use std::path::PathBuf;

use super::super::proc;
use super::facts::Facts;
use super::groups;

/// `None` where it was gone or not ours to read.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub program: Option<PathBuf>,
    pub argv: Option<Vec<u8>>,
    pub environ: Option<Vec<u8>>,
    pub cwd: Option<PathBuf>,
    pub maps: Option<Vec<u8>>,
    pub status: Option<Vec<u8>>,
    pub limits: Option<Vec<u8>>,
    pub stat: Option<Vec<u8>>,
    /// Of its first thread.
    pub schedstat: Option<Vec<u8>>,
    /// What its control groups limit.
    pub groups: Option<Facts>,
    pub personality: Option<Vec<u8>>,
    pub autogroup: Option<Vec<u8>>,
    /// Where standard input, output and error lead to.
    pub streams: [Option<PathBuf>; 3],
}

impl Snapshot {
    pub fn take(pid: i32) -> Snapshot {
        let read = |name| proc::read(pid, name).filter(|bytes| !bytes.is_empty());
        Snapshot {
            program: proc::link(pid, "exe"),
            argv: read("cmdline"),
            environ: proc::read(pid, "environ"),
            cwd: proc::link(pid, "cwd"),
            maps: read("maps"),
            status: read("status"),
            limits: read("limits"),
            stat: read("stat"),
            schedstat: read("schedstat"),
            groups: read("cgroup").map(|text| groups::limits(&text)),
            personality: read("personality"),
            autogroup: read("autogroup"),
            streams: ["fd/0", "fd/1", "fd/2"].map(|name| proc::link(pid, name)),
        }
    }

    /// CPU time of the process itself, without its children: of all threads by the clock ticks, or of the first one.
    pub fn own_cpu_s(&self) -> Option<f64> {
        let stat = proc::stat(self.stat.as_deref()?)?;
        let by_ticks_s = stat.cpu_s();
        let exact = self.schedstat.as_deref().and_then(proc::schedstat);
        Some(exact.map_or(by_ticks_s, |[on_cpu_ns, ..]| by_ticks_s.max(on_cpu_ns as f64 / 1e9)))
    }

    /// What is known of this moment, and where nothing is, of an earlier one.
    pub fn or(self, earlier: Snapshot) -> Snapshot {
        let [input, output, error] = self.streams;
        let [earlier_input, earlier_output, earlier_error] = earlier.streams;
        Snapshot {
            program: self.program.or(earlier.program),
            argv: self.argv.or(earlier.argv),
            environ: self.environ.or(earlier.environ),
            cwd: self.cwd.or(earlier.cwd),
            maps: self.maps.or(earlier.maps),
            status: self.status.or(earlier.status),
            limits: self.limits.or(earlier.limits),
            stat: self.stat.or(earlier.stat),
            schedstat: self.schedstat.or(earlier.schedstat),
            groups: self.groups.or(earlier.groups),
            personality: self.personality.or(earlier.personality),
            autogroup: self.autogroup.or(earlier.autogroup),
            streams: [input.or(earlier_input), output.or(earlier_output), error.or(earlier_error)],
        }
    }
}
