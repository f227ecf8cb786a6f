//! What /proc tells about one process, in the forms in which it tells it. These are parsers of foreign text: a line that
//! does not fit is left out, and nothing here fails, waits or changes anything.

use std::fs;
use std::path::PathBuf;

/// A file of the process; `None` where it is gone or not ours to read.
pub fn read(pid: i32, name: &str) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/{name}")).ok()
}

/// Where a link of the process leads to.
pub fn link(pid: i32, name: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/{name}")).ok()
}

/// What /proc/PID/stat says now.
pub fn stat_of(pid: i32) -> Option<Stat> {
    stat(&read(pid, "stat")?)
}

/// What of /proc/PID/stat is wanted here.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Stat {
    pub name: String,
    pub state: char,
    pub parent: i32,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    /// Of children that have ended and were waited for, and theirs.
    pub children_faults: u64,
    pub children_ticks: u64,
    pub nice: i64,
    pub threads: u64,
    pub start_ticks: u64,
    pub rss_pages: u64,
    pub realtime_priority: u64,
    pub policy: u64,
}

impl Stat {
    /// CPU time of the process itself, without its children.
    pub fn cpu_s(&self) -> f64 {
        (self.user_ticks + self.system_ticks) as f64 / ticks_per_s()
    }
}

/// The unit of the times in there.
pub fn ticks_per_s() -> f64 {
    // SAFETY: a plain question.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64
}

/// The name may hold spaces, brackets and line ends, so it is found from both sides.
pub fn stat(text: &[u8]) -> Option<Stat> {
    let opening = text.iter().position(|byte| *byte == b'(')?;
    let closing = text.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(text.get(opening + 1..closing)?).into_owned();
    let rest = std::str::from_utf8(text.get(closing + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The numbers are those of proc(5), where the state is the third field.
    let field = |number: usize| fields.get(number - 3).copied();
    let number = |place: usize| field(place).and_then(|text| text.parse::<u64>().ok());
    Some(Stat {
        name,
        state: field(3)?.chars().next()?,
        parent: field(4)?.parse().ok()?,
        minor_faults: number(10)?,
        major_faults: number(12)?,
        user_ticks: number(14)?,
        system_ticks: number(15)?,
        children_faults: number(11)?.saturating_add(number(13)?),
        // The kernel prints them with a sign.
        children_ticks: number(16).unwrap_or(0).saturating_add(number(17).unwrap_or(0)),
        nice: field(19)?.parse().ok()?,
        threads: number(20)?,
        start_ticks: number(22)?,
        rss_pages: number(24).unwrap_or(0),
        realtime_priority: number(40).unwrap_or(0),
        policy: number(41).unwrap_or(0),
    })
}

/// Of /proc/PID/schedstat: time on a CPU, time waiting for one (both in nanoseconds), and how often it got one.
pub fn schedstat(text: &[u8]) -> Option<[u64; 3]> {
    let text = std::str::from_utf8(text).ok()?;
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// The value of a line `Name:\tvalue`, as in /proc/PID/status and /proc/PID/io.
pub fn field<'a>(text: &'a [u8], name: &str) -> Option<&'a str> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let value = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))?;
    std::str::from_utf8(value).ok().map(str::trim)
}

/// One line of /proc/PID/limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// As in `RLIMIT_...`, in small letters.
    pub name: &'static str,
    pub soft: String,
    pub hard: String,
}

const LIMITS: [(&str, &str); 16] = [
    ("Max cpu time", "cpu"),
    ("Max file size", "fsize"),
    ("Max data size", "data"),
    ("Max stack size", "stack"),
    ("Max core file size", "core"),
    ("Max resident set", "rss"),
    ("Max processes", "nproc"),
    ("Max open files", "nofile"),
    ("Max locked memory", "memlock"),
    ("Max address space", "as"),
    ("Max file locks", "locks"),
    ("Max pending signals", "sigpending"),
    ("Max msgqueue size", "msgqueue"),
    ("Max nice priority", "nice"),
    ("Max realtime priority", "rtprio"),
    ("Max realtime timeout", "rttime"),
];

pub fn limits(text: &[u8]) -> Vec<Limit> {
    String::from_utf8_lossy(text).lines().filter_map(limit).collect()
}

fn limit(line: &str) -> Option<Limit> {
    let (title, name) = LIMITS.iter().find(|(title, _)| line.starts_with(title))?;
    let mut values = line[title.len()..].split_ascii_whitespace();
    Some(Limit { name, soft: values.next()?.to_owned(), hard: values.next()?.to_owned() })
}

/// Files that are mapped, each once, in the order of their addresses.
pub fn mapped_files(maps: &[u8]) -> Vec<Mapped> {
    let mut found: Vec<Mapped> = Vec::new();
    for line in maps.split(|byte| *byte == b'\n') {
        let Some((path, is_code)) = mapping(line) else { continue };
        match found.iter_mut().find(|mapped| mapped.path == path) {
            Some(mapped) => mapped.is_code |= is_code,
            None => found.push(Mapped { path, is_code }),
        }
    }
    found
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    pub path: String,
    /// Some of it can be executed.
    pub is_code: bool,
}

/// Address, rights, offset, device, inode, path: only files have an inode.
fn mapping(line: &[u8]) -> Option<(String, bool)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut rest = line;
    let mut fields = [""; 5];
    for field in &mut fields {
        let trimmed = rest.trim_start_matches(' ');
        let end = trimmed.find(' ')?;
        (*field, rest) = trimmed.split_at(end);
    }
    let path = rest.trim_start_matches(' ');
    (fields[4] != "0" && path.starts_with('/')).then(|| (path.to_owned(), fields[1].contains('x')))
}

/// Strings that each end in NUL, as in cmdline and environ.
pub fn strings(bytes: &[u8]) -> Vec<&[u8]> {
    let whole = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    if bytes.is_empty() { Vec::new() } else { whole.split(|byte| *byte == 0).collect() }
}

/// Whatever the bytes are, nothing may panic: for tests and fuzzers.
#[cfg(any(test, fuzzing))]
pub fn read_all(bytes: &[u8]) {
    stat(bytes);
    limits(bytes);
    mapped_files(bytes);
    field(bytes, "x");
    strings(bytes);
    schedstat(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::mutated;
    use super::*;

    const STAT: &[u8] =
        b"42 (a ) (b)\n) S 1 42 42 0 -1 4194304 137 0 3 0 5 7 0 0 20 -5 2 0 8831 2609152 226 \
        18446744073709551615 1 1 0 0 0 0 0 0 65536 0 0 0 17 1 9 2 0 0 0\n";

    #[test]
    fn a_stat_line_with_a_nasty_name() {
        let stat = stat(STAT).unwrap();
        assert_eq!((stat.name.as_str(), stat.state, stat.parent), ("a ) (b)\n", 'S', 1));
        assert_eq!((stat.minor_faults, stat.major_faults), (137, 3));
        assert_eq!((stat.user_ticks, stat.system_ticks, stat.nice, stat.threads), (5, 7, -5, 2));
        assert_eq!((stat.start_ticks, stat.rss_pages), (8831, 226));
        assert_eq!((stat.realtime_priority, stat.policy), (9, 2));
    }

    #[test]
    fn limits_have_the_names_that_programs_give_them() {
        let text = b"Limit                     Soft Limit           Hard Limit           Units     \n\
            Max open files            512                  524288               files     \n\
            Max cpu time              unlimited            unlimited            seconds   \n\
            Max of the future         1                    2                    \n";
        let limits = limits(text);
        assert_eq!(limits.len(), 2);
        assert_eq!(limits[0], Limit { name: "nofile", soft: "512".into(), hard: "524288".into() });
    }

    #[test]
    fn files_are_mapped_once_and_names_may_hold_spaces() {
        let maps = b"55d0-55d1 r--p 00000000 fe:00 1181 /usr/bin/a b\n55d1-55d2 r-xp 00001000 fe:00 1181 /usr/bin/a b\n\
            7ffd-7ffe rw-p 00000000 00:00 0          [stack]\n7f00-7f01 rw-p 00000000 00:00 0 \n\
            7f02-7f03 r--p 00000000 fe:00 9          /x/data.mo\n";
        let mapped = |path: &str, is_code| Mapped { path: path.into(), is_code };
        assert_eq!(mapped_files(maps), [mapped("/usr/bin/a b", true), mapped("/x/data.mo", false)]);
    }

    #[test]
    fn fields_and_strings() {
        assert_eq!(field(b"Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n", "Seccomp"), Some("2"));
        assert_eq!(field(b"rchar: 12\n", "wchar"), None);
        assert_eq!(strings(b"a\0\0b\0"), [&b"a"[..], b"", b"b"]);
        assert_eq!(strings(b""), Vec::<&[u8]>::new());
        assert_eq!(strings(b"\0"), [b""]);
    }

    #[test]
    fn what_the_kernel_says_about_ourselves() {
        let own = std::process::id();
        let status = read(own as i32, "status").unwrap();
        assert_eq!(field(&status, "Tgid"), Some(own.to_string().as_str()));
        assert_eq!(field(&status, "None"), None);
        assert_eq!(read(0, "status"), None);
    }

    #[test]
    fn books_of_the_scheduler() {
        assert_eq!(schedstat(b"12 34 5\n"), Some([12, 34, 5]));
        assert_eq!(schedstat(b"12 34\n"), None);
        assert_eq!(schedstat(b"x 1 2\n"), None);
    }

    fn real() -> Vec<Vec<u8>> {
        let names = ["stat", "status", "limits", "maps", "schedstat", "cmdline", "environ", "io", "cgroup"];
        mutated::of_this_process(&names)
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            read_all(&bytes);
        }

        #[test]
        fn nothing_panics_on_real_files_that_are_broken(bytes in mutated::mutated(real())) {
            read_all(&bytes);
        }

        #[test]
        fn nothing_panics_on_nearly_right_text(cut in 0..STAT.len(), byte in any::<u8>()) {
            let mut bytes = STAT.to_vec();
            bytes[cut] = byte;
            read_all(&bytes);
            read_all(&bytes[..cut]);
            read_all(&bytes[cut..]);
        }
    }
}
