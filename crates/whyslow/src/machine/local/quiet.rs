//! Whether the rest of the machine is quiet, by how busy its CPUs are while nothing of ours runs.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::interrupt::Interrupt;

/// A machine whose CPUs are busier than this is not quiet.
const QUIET_SHARE: f64 = 0.2;
const LONGEST_WAIT_S: f64 = 5.0;
/// Long enough for some ticks of the kernel's accounts on one CPU.
const STEP_S: f64 = 0.1;

/// Ticks of all CPUs since the machine was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    all: u64,
}

/// Waits until the CPUs are idle, or the patience is over, or the user wants to stop. Where the kernel does not tell,
/// it does not wait.
pub fn wait(interrupt: &Interrupt) {
    let Ok(file) = File::open("/proc/stat") else { return };
    let mut waited_s = 0.0;
    while waited_s < LONGEST_WAIT_S && !interrupt.is_raised() {
        let before = read(&file);
        interrupt.wait(STEP_S);
        waited_s += STEP_S;
        match before.zip(read(&file)).and_then(|(before, after)| busy_share(before, after)) {
            Some(share) if share > QUIET_SHARE => {}
            _ => return,
        }
    }
}

fn read(file: &File) -> Option<Ticks> {
    let mut text = [0; 256];
    let length = file.read_at(&mut text, 0).ok()?;
    parse(&text[..length])
}

/// User, nice, system, idle, waiting for a disk, interrupts, soft interrupts, stolen, from
/// `cpu  3119 0 1431 114647 177 0 17 8 0 0`.
fn parse(text: &[u8]) -> Option<Ticks> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&text[..end]).ok()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_ascii_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    let idle = ticks.get(3)? + ticks.get(4)?;
    let all = ticks.iter().sum();
    Some(Ticks { busy: all - idle, all })
}

fn busy_share(before: Ticks, after: Ticks) -> Option<f64> {
    let all = after.all.checked_sub(before.all).filter(|all| *all > 0)?;
    // The kernel lets the time of waiting for a disk go back now and then.
    Some(after.busy.saturating_sub(before.busy) as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_busy() {
        let before = parse(b"cpu  100 10 50 1000 40 1 2 7 0 0\ncpu0 1\n").unwrap();
        assert_eq!(before, Ticks { busy: 170, all: 1210 });
        let after = Ticks { busy: 175, all: 1230 };
        assert_eq!(busy_share(before, after), Some(0.25));
        assert_eq!(busy_share(before, before), None);
        assert_eq!(busy_share(after, before), None);
        for garbage in [&b""[..], b"cpu 1 2\n", b"cpu  100 10 50 1000", b"cpu x\n"] {
            assert_eq!(parse(garbage), None);
        }
    }

    #[test]
    fn a_user_who_stops_does_not_wait() {
        let interrupt = Interrupt::new().unwrap();
        interrupt.raise();
        wait(&interrupt);
    }
}
