//! What a blocked thread waits for, from its system call and the files behind its descriptors.

use std::os::fd::RawFd;
use std::path::Path;

use super::super::proc;
use super::super::tracer::{self, Abi};
use super::sockets::Sockets;
use crate::model::WaitKind;

/// Descriptors of a poll that are looked at.
const MOST_POLLED: usize = 8;

const NAME_SERVICE_PORTS: [u16; 2] = [53, 853];

/// A system call that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InCall {
    pub number: usize,
    pub arguments: [u64; 6],
}

/// `35 0x7ffe 0x0 ... sp pc`, `running`, or `-1 sp pc` for a thread that is blocked outside of a call.
pub fn in_call(text: &[u8]) -> Option<InCall> {
    let text = std::str::from_utf8(text).ok()?;
    let mut fields = text.split_whitespace();
    let number = fields.next()?.parse().ok()?;
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    Some(InCall { number, arguments })
}

/// What is behind a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub kind: WaitKind,
    pub name: String,
}

/// Where a thread waits: the kind, and the call with what it waits for.
pub fn place(pid: i32, thread: i32, state: char, sockets: &mut Sockets) -> (WaitKind, String) {
    let text = proc::read(pid, &format!("task/{thread}/syscall"));
    match text.as_deref().and_then(in_call) {
        Some(call) => of_call(pid, &call, sockets),
        // Without a call it is a page that is fetched, or the kernel does not say.
        None => {
            let place = proc::read(pid, &format!("task/{thread}/wchan")).unwrap_or_default();
            of_kernel(state, String::from_utf8_lossy(&place).trim())
        }
    }
}

fn of_kernel(state: char, place: &str) -> (WaitKind, String) {
    let kinds: [(&str, WaitKind); 9] = [
        ("nanosleep", WaitKind::Sleep),
        ("futex", WaitKind::Lock),
        ("pipe", WaitKind::Pipe),
        ("do_wait", WaitKind::Child),
        ("poll", WaitKind::Event),
        ("skb", WaitKind::Socket),
        ("sk_wait", WaitKind::Socket),
        ("tty", WaitKind::Terminal),
        ("io_schedule", WaitKind::Disk),
    ];
    let known = kinds.iter().find(|(part, _)| place.contains(part)).map(|(_, kind)| *kind);
    let name = if matches!(place, "" | "0") { "in the kernel" } else { place };
    match (known, state) {
        (Some(kind), _) => (kind, name.to_owned()),
        (None, 'D') => (WaitKind::Disk, format!("memory: {name}")),
        (None, 'T' | 't') => (WaitKind::Other, "stopped by a signal".to_owned()),
        (None, _) => (WaitKind::Other, name.to_owned()),
    }
}

fn of_call(pid: i32, call: &InCall, sockets: &mut Sockets) -> (WaitKind, String) {
    let name = tracer::name(Abi::Native, call.number);
    let argument = |place: usize| call.arguments[place];
    let plain = |kind| (kind, name.clone());
    match name.as_str() {
        "nanosleep" | "clock_nanosleep" => plain(WaitKind::Sleep),
        "futex" | "futex_wait" | "futex_waitv" | "semop" | "semtimedop" => plain(WaitKind::Lock),
        "wait4" | "waitid" | "vfork" | "clone" | "clone3" => plain(WaitKind::Child),
        "poll" | "ppoll" => {
            let descriptors = polled(pid, argument(0), argument(1));
            with_targets(pid, &name, &descriptors, argument(1) == 0, sockets)
        }
        "select" | "pselect6" => {
            let descriptors = selected(pid, call);
            with_targets(pid, &name, &descriptors, descriptors.is_empty(), sockets)
        }
        "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => {
            with_targets(pid, &name, &in_epoll(pid, argument(0)), false, sockets)
        }
        "flock" | "fcntl" => with_file(pid, &name, argument(0), Some(WaitKind::Lock), sockets),
        "fsync" | "fdatasync" | "syncfs" | "sync_file_range" => {
            with_file(pid, &name, argument(0), Some(WaitKind::Disk), sockets)
        }
        "sync" | "msync" | "io_getevents" | "io_uring_enter" => plain(WaitKind::Disk),
        "pause" | "rt_sigsuspend" | "rt_sigtimedwait" => plain(WaitKind::Event),
        "sendfile" | "copy_file_range" | "splice" | "read" | "write" | "readv" | "writev" | "pread64"
        | "pwrite64" | "preadv" | "pwritev" | "preadv2" | "pwritev2" | "recvfrom" | "recvmsg"
        | "recvmmsg" | "sendto" | "sendmsg" | "sendmmsg" | "accept" | "accept4" | "connect"
        | "getdents64" | "ioctl" | "fallocate" | "ftruncate" => {
            with_file(pid, &name, argument(0), None, sockets)
        }
        "open" | "openat" | "stat" | "newfstatat" | "statx" | "unlink" | "unlinkat" | "rename"
        | "renameat2" | "mkdir" | "rmdir" | "execve" | "truncate" => plain(WaitKind::Disk),
        _ => plain(WaitKind::Other),
    }
}

fn with_file(
    pid: i32,
    name: &str,
    descriptor: u64,
    kind: Option<WaitKind>,
    sockets: &mut Sockets,
) -> (WaitKind, String) {
    match target(pid, descriptor as RawFd, sockets) {
        Some(target) => (kind.unwrap_or(target.kind), format!("{name} {}", target.name)),
        None => (kind.unwrap_or_default(), name.to_owned()),
    }
}

/// Something with a network at the other end says more than the rest.
fn with_targets(
    pid: i32,
    name: &str,
    descriptors: &[RawFd],
    is_timer: bool,
    sockets: &mut Sockets,
) -> (WaitKind, String) {
    if is_timer {
        return (WaitKind::Sleep, name.to_owned());
    }
    let targets: Vec<Target> = descriptors
        .iter()
        .take(MOST_POLLED)
        .filter_map(|descriptor| target(pid, *descriptor, sockets))
        .collect();
    let rank = |target: &&Target| match target.kind {
        WaitKind::NameLookup => 3,
        WaitKind::Socket => 2,
        WaitKind::Pipe | WaitKind::Terminal => 1,
        _ => 0,
    };
    match targets.iter().max_by_key(rank) {
        Some(target) if rank(&target) > 0 => (target.kind, format!("{name} {}", target.name)),
        Some(target) => (WaitKind::Event, format!("{name} {}", target.name)),
        None => (WaitKind::Event, name.to_owned()),
    }
}

fn target(pid: i32, descriptor: RawFd, sockets: &mut Sockets) -> Option<Target> {
    let link = proc::link(pid, &format!("fd/{descriptor}"))?;
    Some(of_link(&link, |inode| sockets.far_end(pid, inode)))
}

fn of_link(link: &Path, mut far_end: impl FnMut(u64) -> Option<std::net::SocketAddr>) -> Target {
    let text = link.to_string_lossy().into_owned();
    let number = |prefix: &str| text.strip_prefix(prefix)?.strip_suffix(']')?.parse::<u64>().ok();
    let named = |kind, name: &str| Target { kind, name: name.to_owned() };
    if text.starts_with("pipe:") {
        return named(WaitKind::Pipe, "pipe");
    }
    if text.starts_with("socket:") {
        return match number("socket:[").and_then(&mut far_end) {
            Some(end) if NAME_SERVICE_PORTS.contains(&end.port()) => {
                named(WaitKind::NameLookup, &end.to_string())
            }
            Some(end) => named(WaitKind::Socket, &end.to_string()),
            None => named(WaitKind::Socket, "socket"),
        };
    }
    if let Some(kind) = text.strip_prefix("anon_inode:") {
        return named(WaitKind::Event, kind.trim_matches(['[', ']']));
    }
    let is_terminal = text.starts_with("/dev/pts/") || text.starts_with("/dev/tty") || text == "/dev/console";
    named(if is_terminal { WaitKind::Terminal } else { WaitKind::Disk }, &text)
}

/// An array of descriptors with eight bytes each.
fn polled(pid: i32, address: u64, count: u64) -> Vec<RawFd> {
    let count = (count as usize).min(MOST_POLLED);
    let bytes = tracer::bytes(pid, address, count * 8).unwrap_or_default();
    let descriptor = |entry: &[u8]| Some(RawFd::from_ne_bytes(entry[..4].try_into().ok()?));
    bytes.chunks_exact(8).filter_map(descriptor).filter(|descriptor| *descriptor >= 0).collect()
}

/// Bits in up to three sets.
fn selected(pid: i32, call: &InCall) -> Vec<RawFd> {
    let count = (call.arguments[0] as usize).min(1024);
    let mut found = Vec::new();
    for address in call.arguments[1..4].iter().filter(|address| **address != 0) {
        let bytes = tracer::bytes(pid, *address, count.div_ceil(64) * 8).unwrap_or_default();
        let is_set = |place: &usize| bytes.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1);
        found.extend((0..count).filter(is_set).map(|place| place as RawFd));
    }
    found
}

/// `tfd:        5 events: ...`.
fn in_epoll(pid: i32, descriptor: u64) -> Vec<RawFd> {
    let text = proc::read(pid, &format!("fdinfo/{descriptor}")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let watched = |line: &str| line.strip_prefix("tfd:")?.split_whitespace().next()?.parse().ok();
    text.lines().filter_map(watched).take(MOST_POLLED).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::mutated::mutated;
    use super::*;

    #[test]
    fn calls() {
        let call = in_call(b"0 0x3 0x7ffd 0x20000 0x0 0x1 0x2 0x7ffe 0x7f18\n").unwrap();
        assert_eq!((call.number, call.arguments[0], call.arguments[2]), (0, 3, 0x20000));
        for text in ["running\n", "-1 0x7ffe 0x7f18\n", "", "0 0x3\n", "0 3 4 5 6 7 8 9\n"] {
            assert_eq!(in_call(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn links() {
        let end = |text: &str| {
            let far = if text == "socket:[53]" { "9.9.9.9:53" } else { "9.9.9.9:443" };
            let target = of_link(Path::new(text), |_| far.parse().ok());
            (target.kind, target.name)
        };
        assert_eq!(end("pipe:[1]"), (WaitKind::Pipe, "pipe".into()));
        assert_eq!(end("socket:[53]"), (WaitKind::NameLookup, "9.9.9.9:53".into()));
        assert_eq!(end("socket:[9]"), (WaitKind::Socket, "9.9.9.9:443".into()));
        assert_eq!(end("anon_inode:[eventfd]"), (WaitKind::Event, "eventfd".into()));
        assert_eq!(end("/dev/pts/3").0, WaitKind::Terminal);
        assert_eq!(end("/var/x"), (WaitKind::Disk, "/var/x".into()));
    }

    #[test]
    fn places_in_the_kernel() {
        assert_eq!(of_kernel('S', "hrtimer_nanosleep").0, WaitKind::Sleep);
        assert_eq!(of_kernel('D', "folio_wait_bit").0, WaitKind::Disk);
        assert_eq!(of_kernel('S', "0"), (WaitKind::Other, "in the kernel".into()));
    }

    proptest! {
        #[test]
        fn nothing_panics_on_a_call_that_is_broken(
            bytes in mutated(vec![b"0 0x3 0x7ffd 0x20000 0x0 0x1 0x2 0x7ffe 0x7f18\n".to_vec()])
        ) {
            in_call(&bytes);
        }

        #[test]
        fn nothing_panics(text in "[-0-9a-fx ]{0,120}") {
            in_call(text.as_bytes());
        }
    }
}
