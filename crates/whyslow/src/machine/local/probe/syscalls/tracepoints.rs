//! Places in the kernel that tell of system calls and programs, by their numbers, which only those may read who may also
//! see what happens there.

use std::fs;

/// Where the file system of tracepoints is, now and on older systems.
const DIRECTORIES: [&str; 2] = ["/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracepoints {
    /// A call has returned.
    pub returned: u64,
    /// The two calls that never return begin.
    pub exit: u64,
    pub exit_group: u64,
    /// A process has become another program.
    pub program: u64,
}

/// What a tracepoint has noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted<'a> {
    Returned { number: i64, result: i64 },
    Exits { whole_process: bool },
    Program { path: &'a [u8] },
}

impl Tracepoints {
    pub fn find() -> Option<Tracepoints> {
        DIRECTORIES.iter().find_map(|directory| {
            let id = |name: &str| {
                fs::read_to_string(format!("{directory}/{name}/id")).ok()?.trim().parse::<u64>().ok()
            };
            Some(Tracepoints {
                returned: id("raw_syscalls/sys_exit")?,
                exit: id("syscalls/sys_enter_exit")?,
                exit_group: id("syscalls/sys_enter_exit_group")?,
                program: id("sched/sched_process_exec")?,
            })
        })
    }

    /// Foreign bytes: the number of the tracepoint, five bytes for every one of them, then its own fields.
    pub fn read<'a>(&self, data: &'a [u8]) -> Option<Noted<'a>> {
        let id = u64::from(u16::from_ne_bytes(data.get(..2)?.try_into().ok()?));
        if id == self.returned {
            let word = |at: usize| Some(i64::from_ne_bytes(data.get(at..at + 8)?.try_into().ok()?));
            return Some(Noted::Returned { number: word(8)?, result: word(16)? });
        }
        if id == self.exit || id == self.exit_group {
            return Some(Noted::Exits { whole_process: id == self.exit_group });
        }
        (id == self.program).then(|| Some(Noted::Program { path: text(data, 8)? }))?
    }
}

/// A field that says where a text is, and how long with its NUL.
fn text(data: &[u8], at: usize) -> Option<&[u8]> {
    let place = u32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?);
    let (start, length) = ((place & 0xffff) as usize, (place >> 16) as usize);
    let text = data.get(start..start.checked_add(length)?)?;
    text.split(|byte| *byte == 0).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: Tracepoints = Tracepoints { returned: 442, exit: 218, exit_group: 216, program: 365 };

    fn data(id: u16, fields: &[u8]) -> Vec<u8> {
        [&id.to_ne_bytes()[..], &[0; 6], fields].concat()
    }

    #[test]
    fn the_fields_of_each_kind_are_read() {
        let returned = data(442, &[2_i64.to_ne_bytes(), (-2_i64).to_ne_bytes()].concat());
        assert_eq!(POINTS.read(&returned), Some(Noted::Returned { number: 2, result: -2 }));
        assert_eq!(POINTS.read(&data(216, &[])), Some(Noted::Exits { whole_process: true }));
        assert_eq!(POINTS.read(&data(218, &[])), Some(Noted::Exits { whole_process: false }));
        let place = 20_u32 | 7 << 16;
        let program = data(365, &[&place.to_ne_bytes()[..], &[0; 8], b"/bin/x\0\0"].concat());
        assert_eq!(POINTS.read(&program), Some(Noted::Program { path: b"/bin/x" }));
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_nothing() {
        let place = 20_u32 | 700 << 16;
        let beyond = data(365, &[&place.to_ne_bytes()[..], &[0; 8]].concat());
        for bytes in [&[][..], &[1], &data(442, &[0; 15]), &data(7, &[0; 32]), &beyond] {
            assert_eq!(POINTS.read(bytes), None);
        }
    }
}
