//! The loaded objects of this process, in the order in which the loader searches them, and their symbols. This is what
//! `dlsym(RTLD_NEXT)` does, but that allocates, and in an old glibc it is in a library that not every program has.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null;

/// struct dl_phdr_info; there is more behind it.
#[repr(C)]
struct Info {
    base: usize,
    name: *const c_char,
    headers: *const ProgramHeader,
    header_count: u16,
}

#[repr(C)]
struct ProgramHeader {
    kind: u32,
    flags: u32,
    offset: u64,
    address: usize,
    physical: usize,
    file_bytes: usize,
    memory_bytes: usize,
    align: usize,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    bytes: usize,
}

type Visit = unsafe extern "C" fn(*const Info, usize, *mut c_void) -> c_int;

unsafe extern "C" {
    fn dl_iterate_phdr(visit: Visit, data: *mut c_void) -> c_int;
}

/// A loaded object.
pub struct Object {
    pub name: *const c_char,
    base: usize,
    symbols: *const Symbol,
    strings: *const u8,
    gnu_hash: *const u32,
    hash: *const u32,
    has_own_code: bool,
}

/// Calls `each` for every object; `is_own` says that it is this library.
pub fn for_each<F: FnMut(&Object, bool)>(mut each: F) {
    // SAFETY: `visit` gets the closure back as what it is, within this call.
    unsafe { dl_iterate_phdr(visit::<F>, (&raw mut each).cast()) };
}

unsafe extern "C" fn visit<F: FnMut(&Object, bool)>(info: *const Info, _: usize, each: *mut c_void) -> c_int {
    // SAFETY: the libc describes an object that is loaded, and `each` is that of `for_each`.
    unsafe {
        let object = Object::new(&*info);
        (*each.cast::<F>())(&object, object.has_own_code);
    }
    0
}

impl Object {
    unsafe fn new(info: &Info) -> Object {
        const PT_LOAD: u32 = 1;
        const PT_DYNAMIC: u32 = 2;
        let mut object = Object {
            name: info.name,
            base: info.base,
            symbols: null(),
            strings: null(),
            gnu_hash: null(),
            hash: null(),
            has_own_code: false,
        };
        let own = crate::at_start as *const () as usize;
        for index in 0..usize::from(info.header_count) {
            // SAFETY: there are so many headers.
            let header = unsafe { &*info.headers.add(index) };
            let begin = info.base.wrapping_add(header.address);
            match header.kind {
                PT_LOAD => object.has_own_code |= own.wrapping_sub(begin) < header.memory_bytes,
                // SAFETY: the dynamic section is loaded.
                PT_DYNAMIC => unsafe { object.read(begin as *const [usize; 2]) },
                _ => {}
            }
        }
        object
    }

    /// Pairs of a tag and a value up to the tag 0.
    unsafe fn read(&mut self, mut entry: *const [usize; 2]) {
        loop {
            // SAFETY: the section ends with the tag 0.
            let [tag, value] = unsafe { *entry };
            // glibc has put addresses there, musl has left what the file says.
            let address = if value < self.base { self.base.wrapping_add(value) } else { value };
            match tag {
                0 => return,
                4 => self.hash = address as *const u32,
                5 => self.strings = address as *const u8,
                6 => self.symbols = address as *const Symbol,
                0x6fff_fef5 => self.gnu_hash = address as *const u32,
                _ => {}
            }
            // SAFETY: as above.
            entry = unsafe { entry.add(1) };
        }
    }

    /// The address of a function that the object defines; 0 if it does not.
    pub fn function(&self, name: &[u8]) -> usize {
        if self.symbols.is_null() || self.strings.is_null() {
            return 0;
        }
        // SAFETY: the tables are those of a loaded object, which the loader reads in the same way.
        unsafe {
            if !self.gnu_hash.is_null() {
                self.by_gnu_hash(name)
            } else if !self.hash.is_null() {
                self.by_hash(name)
            } else {
                0
            }
        }
    }

    /// Whether the object needs this symbol of another one. Only where it has the hash table of GNU, before whose symbols
    /// are those that it needs.
    pub fn wants(&self, name: &[u8]) -> bool {
        if self.symbols.is_null() || self.strings.is_null() || self.gnu_hash.is_null() {
            return false;
        }
        // SAFETY: as in `function`.
        unsafe {
            let first = *self.gnu_hash.add(1);
            (1..first).any(|index| {
                let symbol = &*self.symbols.add(index as usize);
                symbol.section == 0 && is_string(self.strings.add(symbol.name as usize), name)
            })
        }
    }

    unsafe fn by_gnu_hash(&self, name: &[u8]) -> usize {
        let hash =
            name.iter().fold(5381u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)));
        // SAFETY: by the contract of `function`.
        unsafe {
            let table = self.gnu_hash;
            let [buckets, first, words, shift] = [0, 1, 2, 3].map(|index| *table.add(index));
            let filter = table.add(4).cast::<u64>();
            let word = *filter.add((hash / 64 % words) as usize);
            if word >> (hash % 64) & word >> ((hash >> shift) % 64) & 1 == 0 {
                return 0;
            }
            let bucket = filter.add(words as usize).cast::<u32>();
            let chain = bucket.add(buckets as usize);
            let mut index = *bucket.add((hash % buckets) as usize);
            if index < first {
                return 0;
            }
            loop {
                let entry = *chain.add((index - first) as usize);
                if entry | 1 == hash | 1 && self.is_function(index, name) {
                    return self.address(index);
                }
                if entry & 1 == 1 {
                    return 0;
                }
                index += 1;
            }
        }
    }

    unsafe fn by_hash(&self, name: &[u8]) -> usize {
        let hash = name.iter().fold(0u32, |hash, byte| {
            let next = (hash << 4).wrapping_add(u32::from(*byte));
            let high = next & 0xf000_0000;
            (next ^ high >> 24) & !high
        });
        // SAFETY: by the contract of `function`.
        unsafe {
            let [buckets, _] = [0, 1].map(|index| *self.hash.add(index));
            let chain = self.hash.add(2 + buckets as usize);
            let mut index = *self.hash.add(2 + (hash % buckets.max(1)) as usize);
            while index != 0 {
                if self.is_function(index, name) {
                    return self.address(index);
                }
                index = *chain.add(index as usize);
            }
        }
        0
    }

    unsafe fn is_function(&self, index: u32, name: &[u8]) -> bool {
        const FUNCTION: u8 = 2;
        // SAFETY: by the contract of `function`.
        unsafe {
            let symbol = &*self.symbols.add(index as usize);
            symbol.section != 0
                && symbol.info & 0xf == FUNCTION
                && is_string(self.strings.add(symbol.name as usize), name)
        }
    }

    unsafe fn address(&self, index: u32) -> usize {
        // SAFETY: by the contract of `function`.
        self.base.wrapping_add(unsafe { (*self.symbols.add(index as usize)).value })
    }
}

/// Whether the string that ends in NUL is `wanted`.
unsafe fn is_string(text: *const u8, wanted: &[u8]) -> bool {
    for (index, byte) in wanted.iter().enumerate() {
        // SAFETY: all bytes before were equal and not zero, so this one is still inside the string.
        if unsafe { *text.add(index) } != *byte {
            return false;
        }
    }
    // SAFETY: as above.
    unsafe { *text.add(wanted.len()) == 0 }
}

/// The bytes of a string that ends in NUL.
///
/// # Safety
/// It must be one, and live on.
pub unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    let mut length = 0;
    if text.is_null() {
        return &[];
    }
    // SAFETY: the string ends with a zero byte.
    unsafe {
        while *text.add(length) != 0 {
            length += 1;
        }
        core::slice::from_raw_parts(text.cast(), length)
    }
}
