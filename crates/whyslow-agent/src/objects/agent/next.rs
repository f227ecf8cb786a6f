//! The functions behind ours: those that the program would have called without this library.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};

use crate::counters::{OWN_MALLOC, OWN_NEW, PERL_MALLOC, PYTHON};
use crate::elf::{self, Object};

type Sized = unsafe extern "C" fn(usize) -> *mut c_void;
type Twice = unsafe extern "C" fn(usize, usize) -> *mut c_void;

/// All null where they are not known yet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Next {
    pub malloc: Option<Sized>,
    pub free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub calloc: Option<Twice>,
    pub realloc: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    pub posix_memalign: Option<unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int>,
    pub aligned_alloc: Option<Twice>,
    pub memalign: Option<Twice>,
    pub valloc: Option<Sized>,
    pub pvalloc: Option<Sized>,
    pub sbrk: Option<unsafe extern "C" fn(isize) -> *mut c_void>,
    pub brk: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    pub usable_size: Option<unsafe extern "C" fn(*mut c_void) -> usize>,
    pub owner: Owner,
    /// realloc is in the same file as malloc. One that somebody put in front of it copies, whatever blocks look like.
    pub is_realloc_of_owner: bool,
}

/// Who owns malloc, as far as blocks can be understood.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Owner {
    /// Nothing was looked for yet, or fork has emptied the table.
    Unknown,
    Other,
    /// The word before a block says how long it is, and whether it is a mapping of its own.
    Glibc,
    /// Blocks of 128 kB and more are mappings of their own.
    Musl,
}

pub const EMPTY: Next = Next {
    malloc: None,
    free: None,
    calloc: None,
    realloc: None,
    posix_memalign: None,
    aligned_alloc: None,
    memalign: None,
    valloc: None,
    pvalloc: None,
    sbrk: None,
    brk: None,
    usable_size: None,
    owner: Owner::Unknown,
    is_realloc_of_owner: false,
};

/// Whole pages, so that fork can empty them: a look at the table tells a forked process that it is one.
#[repr(C)]
#[cfg_attr(target_arch = "x86_64", repr(align(4096)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(align(65536)))]
struct Pages(UnsafeCell<Next>);

// SAFETY: written by one thread while no other has begun, or to what it was already.
unsafe impl Sync for Pages {}

static TABLE: Pages = Pages(UnsafeCell::new(EMPTY));

pub const TABLE_BYTES: usize = size_of::<Pages>();

#[inline(always)]
pub fn table() -> &'static Next {
    // SAFETY: whoever writes it writes what the reader may find at any time.
    unsafe { &*TABLE.0.get() }
}

/// For the one who fills it.
pub fn place() -> *mut Next {
    TABLE.0.get()
}

/// What a search through the loaded objects finds.
pub struct Found {
    pub next: Next,
    pub flags: u64,
    /// Of the file that owns malloc.
    pub owner: *const core::ffi::c_char,
    /// Of this library.
    pub own: *const core::ffi::c_char,
}

pub fn find() -> Found {
    let mut found = Found { next: EMPTY, flags: 0, owner: core::ptr::null(), own: core::ptr::null() };
    let mut is_behind = false;
    let mut owner_of_new = core::ptr::null::<core::ffi::c_char>();
    elf::for_each(|object, is_own| {
        found.look_for_others(object);
        if is_own {
            is_behind = true;
            found.own = object.name;
        } else if is_behind {
            found.look_for_ours(object);
            if owner_of_new.is_null() && object.function(OPERATOR_NEW) != 0 {
                owner_of_new = object.name;
            }
        } else if object.function(b"malloc") != 0 {
            found.flags |= OWN_MALLOC;
        }
    });
    if !owner_of_new.is_null() && owner_of_new == found.owner && is_new_used(found.owner) {
        found.flags |= OWN_NEW;
    }
    found
}

/// `operator new(unsigned long)`, and that of arrays.
const OPERATOR_NEW: &[u8] = b"_Znwm";
const OPERATOR_NEW_OF_ARRAYS: &[u8] = b"_Znam";

/// Whether anybody wants operator new but the library that has it and that of C++, which comes with some allocators.
fn is_new_used(owner: *const core::ffi::c_char) -> bool {
    let mut is_used = false;
    elf::for_each(|object, _| {
        // SAFETY: the loader's string.
        let name = file_name(unsafe { elf::bytes(object.name) });
        let is_of_language = name.starts_with(b"libstdc++.") || name.starts_with(b"libc++");
        let wants = || object.wants(OPERATOR_NEW) || object.wants(OPERATOR_NEW_OF_ARRAYS);
        is_used |= object.name != owner && !is_of_language && wants();
    });
    is_used
}

impl Found {
    /// Allocators within the program.
    fn look_for_others(&mut self, object: &Object) {
        self.flags |= if object.function(b"PyObject_Malloc") != 0 { PYTHON } else { 0 };
        self.flags |= if object.function(b"Perl_malloced_size") != 0 { PERL_MALLOC } else { 0 };
    }

    fn look_for_ours(&mut self, object: &Object) {
        let next = &mut self.next;
        // SAFETY: functions of these names have these types.
        unsafe {
            if fill(&mut next.malloc, object, b"malloc") {
                self.owner = object.name;
                next.owner = owner(elf::bytes(object.name));
            }
            fill(&mut next.free, object, b"free");
            fill(&mut next.calloc, object, b"calloc");
            if fill(&mut next.realloc, object, b"realloc") {
                next.is_realloc_of_owner = self.owner == object.name;
            }
            fill(&mut next.posix_memalign, object, b"posix_memalign");
            fill(&mut next.aligned_alloc, object, b"aligned_alloc");
            fill(&mut next.memalign, object, b"memalign");
            fill(&mut next.valloc, object, b"valloc");
            fill(&mut next.pvalloc, object, b"pvalloc");
            fill(&mut next.sbrk, object, b"sbrk");
            fill(&mut next.brk, object, b"brk");
            fill(&mut next.usable_size, object, b"malloc_usable_size");
        }
    }
}

/// Whether it is this object that the function was found in.
///
/// # Safety
/// `F` must be the type of functions of that name.
unsafe fn fill<F>(place: &mut Option<F>, object: &Object, name: &[u8]) -> bool {
    const { assert!(size_of::<Option<F>>() == size_of::<usize>()) };
    if place.is_some() {
        return false;
    }
    let address = object.function(name);
    if address != 0 {
        // SAFETY: by the contract; a function pointer is an address, and not null.
        *place = Some(unsafe { core::mem::transmute_copy::<usize, F>(&address) });
    }
    address != 0
}

fn owner(path: &[u8]) -> Owner {
    let name = file_name(path);
    if name == b"libc.so.6" {
        Owner::Glibc
    } else if name.starts_with(b"ld-musl-") || name.starts_with(b"libc.musl-") || name == b"libc.so" {
        Owner::Musl
    } else {
        Owner::Other
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
