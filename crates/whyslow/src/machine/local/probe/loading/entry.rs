//! Stops a traced program where its loader hands over to it, and silences the loader there. The loader keeps the file of
//! LD_DEBUG_OUTPUT open and writes to it once more at the end of the process: a program that uses that descriptor for a
//! file of its own would find the text in there, and every program it starts would have one descriptor more. So, before
//! its first instruction, the descriptor is closed and the loader is told to be silent. For x86-64 only.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::super::{elf, proc, ptrace};

/// What LD_DEBUG=libs,statistics sets in the loader: to check that the right place was found.
const MASK_BITS: u32 = 1 | 1 << 7;

const AT_BASE: u64 = 7;
const AT_ENTRY: u64 = 9;

/// `int3`, and `syscall; int3`.
const TRAP: [u8; 1] = [0xcc];
const CALL_AND_TRAP: [u8; 3] = [0x0f, 0x05, 0xcc];

/// Places of registers in `struct user`.
const RAX: usize = 10 * 8;
const RDI: usize = 14 * 8;
const RIP: usize = 16 * 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Loading,
    Closing,
}

/// A program that will stop at its first instruction.
#[derive(Debug)]
pub struct Entry {
    pid: i32,
    address: u64,
    /// Of the loader.
    base: u64,
    original: [u8; CALL_AND_TRAP.len()],
    stage: Stage,
}

/// What a stop of the program means.
pub enum Stop {
    /// The loader is done, and the descriptor of its file is this.
    Loaded,
    /// The program begins now.
    Begins,
    /// It is none of ours.
    Other,
}

impl Entry {
    /// For a task that is stopped just after its exec; `None` where no loader is at work, or none that is known.
    pub fn arm(pid: i32) -> Option<Entry> {
        if !cfg!(target_arch = "x86_64") || !is_for_this_machine(pid) {
            return None;
        }
        let auxiliary = proc::read(pid, "auxv")?;
        let (base, address) = (value(&auxiliary, AT_BASE)?, value(&auxiliary, AT_ENTRY)?);
        let mut original = [0; CALL_AND_TRAP.len()];
        memory(pid)?.read_exact_at(&mut original, address).ok()?;
        let entry = Entry { pid, address, base, original, stage: Stage::Loading };
        (base != 0 && entry.write(&TRAP)).then_some(entry)
    }

    pub fn stopped(&self) -> Stop {
        let at = ptrace::register(self.pid, RIP);
        match self.stage {
            Stage::Loading if at == Some(self.address + TRAP.len() as u64) => Stop::Loaded,
            Stage::Closing if at == Some(self.address + CALL_AND_TRAP.len() as u64) => Stop::Begins,
            _ => Stop::Other,
        }
    }

    /// Makes the program close the descriptor before it begins; it will stop once more.
    pub fn close(&mut self, descriptor: u64) {
        if !self.write(&CALL_AND_TRAP) {
            return self.begin();
        }
        ptrace::set_register(self.pid, RAX, libc::SYS_close as u64);
        ptrace::set_register(self.pid, RDI, descriptor);
        ptrace::set_register(self.pid, RIP, self.address);
        self.stage = Stage::Closing;
    }

    /// Puts the program back as it was.
    pub fn begin(&self) {
        self.write(&self.original);
        ptrace::set_register(self.pid, RIP, self.address);
    }

    /// Keeps the loader from writing anything more. Whether that worked.
    pub fn silence(&self) -> bool {
        let loader = proc::link(self.pid, "exe").and_then(|program| elf::identity(&program)?.interpreter);
        let Some(loader) = loader else { return false };
        // The first field of this structure is the mask of what the loader tells; it was so in every glibc.
        let Some(offset) = elf::exported(Path::new(&loader), b"_rtld_global_ro") else { return false };
        let Some(memory) = memory(self.pid) else { return false };
        let place = self.base.wrapping_add(offset);
        let mut mask = [0; 4];
        let is_mask = memory.read_exact_at(&mut mask, place).is_ok()
            && u32::from_ne_bytes(mask) & MASK_BITS == MASK_BITS
            && u32::from_ne_bytes(mask) < 1 << 12;
        is_mask && memory.write_all_at(&[0; 4], place).is_ok()
    }

    fn write(&self, bytes: &[u8]) -> bool {
        memory(self.pid).is_some_and(|memory| memory.write_all_at(bytes, self.address).is_ok())
    }
}

/// Descriptor and path of the file in this directory that the process has open.
pub fn open_file(pid: i32, directory: &Path) -> Option<(u64, PathBuf)> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    descriptors.flatten().find_map(|descriptor| {
        let path = std::fs::read_link(descriptor.path()).ok()?;
        let number = descriptor.file_name().to_str()?.parse().ok()?;
        path.starts_with(directory).then_some((number, path))
    })
}

/// A tracer may write there, also to pages that the program may not write to.
fn memory(pid: i32) -> Option<File> {
    OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).ok()
}

/// An ELF file of 64 bits for this processor.
fn is_for_this_machine(pid: i32) -> bool {
    let mut header = [0; 20];
    let file = File::open(format!("/proc/{pid}/exe"));
    let is_read = file.is_ok_and(|file| file.read_exact_at(&mut header, 0).is_ok());
    is_read && header.starts_with(b"\x7fELF\x02\x01") && header[18..20] == [62, 0]
}

/// Pairs of numbers.
fn value(auxiliary: &[u8], wanted: u64) -> Option<u64> {
    let number = |bytes: &[u8]| Some(u64::from_ne_bytes(bytes.try_into().ok()?));
    let mut pairs = auxiliary.chunks_exact(16);
    pairs.find_map(|pair| (number(&pair[..8])? == wanted).then(|| number(&pair[8..]))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auxiliary_values() {
        let bytes: Vec<u8> =
            [7_u64, 4096, 9, 77, 0, 0].iter().flat_map(|number| number.to_ne_bytes()).collect();
        assert_eq!((value(&bytes, AT_BASE), value(&bytes, AT_ENTRY)), (Some(4096), Some(77)));
        assert_eq!(value(&bytes, 33), None);
        assert_eq!(value(&bytes[..20], AT_ENTRY), None);
    }
}
