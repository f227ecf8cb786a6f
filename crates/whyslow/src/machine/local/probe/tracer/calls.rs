//! System calls by number and name, for the programs of this machine and for the 32-bit programs that it runs as well.

/// What a task asks of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub abi: Abi,
    pub number: usize,
    pub arguments: [u64; 6],
}

/// Which table the number is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Abi {
    Native,
    /// A 32-bit program.
    Compat,
    /// 64-bit registers, 32-bit pointers: its numbers have a bit of their own.
    X32,
}

/// No table is as long; a program may ask for any number.
const TABLE_LIMIT: usize = 1024;

const X32_BIT: u64 = 0x4000_0000;

/// `AUDIT_ARCH_I386`, `AUDIT_ARCH_ARM`.
const COMPAT_ARCHITECTURES: [u32; 2] = [0x4000_0003, 0x4000_0028];

/// None of those above.
const NO_ARCHITECTURE: u32 = 0;

impl Call {
    pub fn new(architecture: u32, number: u64, arguments: [u64; 6]) -> Call {
        let has_x32_bit = cfg!(target_arch = "x86_64") && number < 1 << 31 && number & X32_BIT != 0;
        let (abi, number) = match architecture {
            _ if cfg!(target_pointer_width = "32") => (Abi::Native, number),
            architecture if COMPAT_ARCHITECTURES.contains(&architecture) => (Abi::Compat, number),
            _ if has_x32_bit => (Abi::X32, number & !X32_BIT),
            _ => (Abi::Native, number),
        };
        Call { abi, number: number as usize, arguments }
    }

    /// One of a program of this machine, of whose arguments nothing is known.
    pub fn native(number: u64) -> Call {
        Call::new(NO_ARCHITECTURE, number, [0; 6])
    }

    /// The one by which a program of this machine starts another.
    pub fn execve() -> Call {
        let number = (0..TABLE_LIMIT).find(|number| known(Abi::Native, *number) == Some("execve"));
        Call { abi: Abi::Native, number: number.unwrap_or(TABLE_LIMIT), arguments: [0; 6] }
    }

    /// A descriptor among the arguments: the upper half of the register is nobody's.
    pub fn descriptor(&self, place: usize) -> i32 {
        self.arguments[place] as i32
    }
}

/// With the kind of program where that is not the usual one.
pub fn name(abi: Abi, number: usize) -> String {
    let plain = known(abi, number).map_or_else(|| format!("syscall_{number}"), str::to_owned);
    match abi {
        Abi::Native => plain,
        Abi::Compat => format!("{plain} (32-bit)"),
        Abi::X32 => format!("{plain} (x32)"),
    }
}

fn known(abi: Abi, number: usize) -> Option<&'static str> {
    match abi {
        Abi::Native | Abi::X32 => syscalls::Sysno::new(number).map(|call| call.name()),
        Abi::Compat => compat(number),
    }
}

#[cfg(target_arch = "aarch64")]
fn compat(number: usize) -> Option<&'static str> {
    syscalls::arm::Sysno::new(number).map(|call| call.name())
}

#[cfg(not(target_arch = "aarch64"))]
fn compat(number: usize) -> Option<&'static str> {
    syscalls::x86::Sysno::new(number).map(|call| call.name())
}

/// Also of the errors that only a tracer sees, such as `ERESTARTSYS` of a call that a signal interrupts.
pub fn error_name(errno: i32) -> String {
    syscalls::Errno::new(errno).name().map_or_else(|| format!("errno_{errno}"), str::to_owned)
}

/// Something about every system call, found by its number.
pub struct Table<T> {
    native: Vec<T>,
    compat: Vec<T>,
}

impl<T: Copy + Default> Table<T> {
    pub fn by_name(about: impl Fn(&str) -> T) -> Table<T> {
        let of =
            |abi| (0..TABLE_LIMIT).map(|number| known(abi, number).map_or_else(T::default, &about)).collect();
        Table { native: of(Abi::Native), compat: of(Abi::Compat) }
    }

    pub fn of(&self, call: &Call) -> T {
        let table = if call.abi == Abi::Compat { &self.compat } else { &self.native };
        table.get(call.number).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_names_of_their_table() {
        let native = libc::SYS_getppid as usize;
        assert_eq!(name(Abi::Native, native), "getppid");
        assert_eq!(name(Abi::Native, 999), "syscall_999");
        #[cfg(target_arch = "x86_64")]
        {
            assert_eq!(name(Abi::Compat, 5), "open (32-bit)");
            assert_eq!(name(Abi::X32, native), "getppid (x32)");
            assert_eq!(Call::new(0xc000_003e, X32_BIT | 39, [0; 6]).abi, Abi::X32);
            assert_eq!(Call::new(0xc000_003e, 39, [0; 6]).abi, Abi::Native);
            assert_eq!(Call::new(0x4000_0003, 5, [0; 6]).abi, Abi::Compat);
            // What getppid(-1) would look like in a register.
            assert_eq!(Call::new(0xc000_003e, u64::MAX, [0; 6]).abi, Abi::Native);
        }
        assert_eq!(Call::execve().number, libc::SYS_execve as usize);
        assert_eq!(error_name(libc::ENOENT), "ENOENT");
        assert_eq!(error_name(512), "ERESTARTSYS");
    }

    #[test]
    fn tables_have_a_row_for_every_known_call() {
        let is_close = Table::by_name(|name| name == "close");
        let call = |number| Call { abi: Abi::Native, number, arguments: [0; 6] };
        assert!(is_close.of(&call(libc::SYS_close as usize)));
        assert!(!is_close.of(&call(libc::SYS_read as usize)) && !is_close.of(&call(usize::MAX)));
    }
}
