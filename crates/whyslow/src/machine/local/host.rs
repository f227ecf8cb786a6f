//! What kind of machine this is, so that a reader of a recording can tell whether it is comparable with
//! another. Whatever the system does not tell is unknown; nothing is guessed and nothing is changed.

use std::ffi::{CStr, c_char};
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

use crate::model::Host;

const CPUS: &str = "/sys/devices/system/cpu";

/// Looks at everything once. It takes about a millisecond.
pub fn host() -> Host {
    let names = system_names();
    let cpu_text = fs::read("/proc/cpuinfo").map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let cpu_text = cpu_text.unwrap_or_default();
    Host {
        cpu_model: cpu_model(&cpu_text),
        cpus: allowed_cpus().len(),
        memory_bytes: memory_bytes(),
        governor: word_in(&format!("{CPUS}/cpu0/cpufreq/scaling_governor")),
        clocksource: word_in("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        hypervisor: hypervisor(&cpu_text),
        tick_accounting: tick_accounting(&names.architecture),
        tick_s: tick_s(),
        name: names.name,
        kernel: names.kernel,
        architecture: names.architecture,
    }
}

/// The CPUs that the scheduler may give us, in order; never empty.
pub fn allowed_cpus() -> Vec<usize> {
    // Room for 65,536 CPUs: the call fails if the kernel's own mask is longer.
    let mut mask = [0_u64; 1024];
    // SAFETY: the length is that of the buffer, and the call writes no more than that.
    let failed = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) } != 0;
    let cpus: Vec<usize> = (0..mask.len() * 64).filter(|cpu| mask[cpu / 64] >> (cpu % 64) & 1 == 1).collect();
    if failed || cpus.is_empty() { vec![0] } else { cpus }
}

struct SystemNames {
    name: String,
    kernel: String,
    architecture: String,
}

fn system_names() -> SystemNames {
    let mut names = MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: the call fills the structure, and zeroes are valid for it should it fail.
    let names = unsafe {
        libc::uname(names.as_mut_ptr());
        names.assume_init()
    };
    SystemNames {
        name: text_of(&names.nodename),
        kernel: format!("{} {}", text_of(&names.sysname), text_of(&names.release)),
        architecture: text_of(&names.machine),
    }
}

fn text_of(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|character| *character as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

fn memory_bytes() -> Option<u64> {
    // SAFETY: plain questions to the C library.
    let (pages, page_bytes) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let bytes = u64::try_from(pages).ok()?.checked_mul(u64::try_from(page_bytes).ok()?)?;
    (bytes > 0).then_some(bytes)
}

/// The content of a file that holds one word.
fn word_in(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let word = text.trim();
    (!word.is_empty()).then(|| word.to_owned())
}

/// The value of the first line `key : value` of /proc/cpuinfo.
fn cpu_field<'a>(cpu_text: &'a str, wanted: &str) -> Option<&'a str> {
    let mut fields = cpu_text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(key, _)| key.trim() == wanted)?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

fn cpu_model(cpu_text: &str) -> Option<String> {
    // x86, MIPS, POWER, RISC-V each have their own word for it; ARM has none, only numbers.
    let named = ["model name", "cpu model", "cpu", "uarch"].iter().find_map(|key| cpu_field(cpu_text, key));
    let numbered = || {
        let maker = cpu_field(cpu_text, "CPU implementer")?;
        Some(format!("implementer {maker} part {}", cpu_field(cpu_text, "CPU part")?))
    };
    named.map(str::to_owned).or_else(numbered)
}

/// Whether the machine is virtual. A bare one can only be told on x86, where the absence of the flag means
/// that.
fn hypervisor(cpu_text: &str) -> Option<bool> {
    if let Some(flags) = cpu_field(cpu_text, "flags") {
        return Some(flags.split(' ').any(|flag| flag == "hypervisor"));
    }
    let signs = ["/sys/hypervisor/type", "/proc/device-tree/hypervisor"];
    signs.iter().any(|path| Path::new(path).exists()).then_some(true)
}

/// Whether user and system time are booked by the tick.
///
/// POWER and s390 can book exactly and only their configuration says whether they do. Everywhere else the
/// kernel books by the tick except on the CPUs that run without one, and those are listed in a file, if there
/// can be any.
fn tick_accounting(architecture: &str) -> Option<bool> {
    let books_exactly = ["ppc", "s390", "ia64"].iter().any(|prefix| architecture.starts_with(prefix));
    if books_exactly || !Path::new(CPUS).is_dir() {
        return None;
    }
    match fs::read_to_string(format!("{CPUS}/nohz_full")) {
        Ok(list) => list_is_empty(&list).then_some(true),
        Err(error) => (error.kind() == std::io::ErrorKind::NotFound).then_some(true),
    }
}

/// An empty list of CPUs is printed as nothing or, through a kernel bug, as a null pointer.
fn list_is_empty(list: &str) -> bool {
    matches!(list.trim(), "" | "(null)")
}

/// The length of a tick is the resolution of the clocks that the tick drives.
fn tick_s() -> Option<f64> {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure.
    let failed = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut resolution) } != 0;
    let tick_s = resolution.tv_sec as f64 + resolution.tv_nsec as f64 * 1e-9;
    // A kernel that only imitates Linux answers with something that no tick ever was.
    (!failed && (0.000_5..=0.1).contains(&tick_s)).then_some(tick_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor\t: 0\nmodel\t\t: 167\nmodel name\t: Some CPU @ 2:00\n\
        flags\t\t: fpu hypervisor lm\n\nprocessor\t: 1\nmodel name\t: other\n";
    const ARM: &str = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\nFeatures\t: fp asimd\n";

    #[test]
    fn models() {
        assert_eq!(cpu_model(X86).as_deref(), Some("Some CPU @ 2:00"));
        assert_eq!(cpu_model(ARM).as_deref(), Some("implementer 0x41 part 0xd0c"));
        assert_eq!(cpu_model("cpu\t\t: POWER9\n").as_deref(), Some("POWER9"));
        for garbage in ["", ":", "model name", "model name\t:\n", "\0\0:\0"] {
            assert_eq!(cpu_model(garbage), None, "{garbage:?}");
        }
    }

    #[test]
    fn virtual_or_not() {
        assert_eq!(hypervisor(X86), Some(true));
        assert_eq!(hypervisor("flags : fpu nohypervisor lm\n"), Some(false));
    }

    #[test]
    fn lists_of_cpus() {
        assert!(list_is_empty("\n") && list_is_empty("  (null)\n") && list_is_empty(""));
        assert!(!list_is_empty("1-3\n"));
    }

    #[test]
    fn this_machine_has_a_name_and_a_cpu() {
        let host = host();
        assert!(!host.kernel.is_empty() && !host.architecture.is_empty());
        assert!(host.cpus >= 1);
        assert_eq!(tick_accounting("s390x"), None);
    }
}
