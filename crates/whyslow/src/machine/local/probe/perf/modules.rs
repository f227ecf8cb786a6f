//! The things that code can be in: files, the vDSO, the kernel, memory without a file. Each file is read once.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::elf::{self, Elf};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    File(PathBuf),
    Vdso,
    Kernel,
    /// Code that a process has made itself.
    Made {
        process: u32,
    },
    /// Where nothing was seen to be mapped.
    Nowhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Module(u32);

#[derive(Default)]
pub struct Modules {
    all: Vec<(Kind, Option<Rc<Elf>>)>,
    by_kind: HashMap<Kind, Module>,
}

impl Modules {
    pub fn find(&mut self, kind: Kind) -> Module {
        if let Some(known) = self.by_kind.get(&kind) {
            return *known;
        }
        let elf = match &kind {
            Kind::File(path) => Elf::open(path),
            Kind::Vdso => elf::vdso(),
            Kind::Kernel | Kind::Made { .. } | Kind::Nowhere => None,
        };
        let module = Module(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push((kind.clone(), elf.map(Rc::new)));
        self.by_kind.insert(kind, module);
        module
    }

    pub fn kind(&self, module: Module) -> &Kind {
        &self.all[module.0 as usize].0
    }

    pub fn elf(&self, module: Module) -> Option<&Rc<Elf>> {
        self.all[module.0 as usize].1.as_ref()
    }
}

impl Kind {
    /// From the name that the kernel gives to what is mapped in a process.
    pub fn of_map(name: &[u8], process: u32) -> Kind {
        match name {
            b"[vdso]" => Kind::Vdso,
            _ if is_file(name) => Kind::File(PathBuf::from(OsStr::from_bytes(name))),
            _ => Kind::Made { process },
        }
    }

    /// For people.
    pub fn title(&self) -> String {
        match self {
            Kind::File(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            Kind::Vdso => "[vdso]".to_owned(),
            Kind::Kernel => "[kernel]".to_owned(),
            Kind::Made { .. } => "[jit]".to_owned(),
            Kind::Nowhere => "[unknown]".to_owned(),
        }
    }
}

/// Not memory that only looks like a file: nothing, shared memory, a file without a name.
fn is_file(name: &[u8]) -> bool {
    let without = [&b"//anon"[..], b"/dev/zero", b"/anon_hugepage", b"/SYSV", b"/memfd:"];
    name.starts_with(b"/") && !without.iter().any(|start| name.starts_with(start))
        || Path::new(OsStr::from_bytes(name)).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_maps() {
        assert_eq!(Kind::of_map(b"//anon", 7), Kind::Made { process: 7 });
        assert_eq!(Kind::of_map(b"[heap]", 7), Kind::Made { process: 7 });
        assert_eq!(Kind::of_map(b"/memfd:doublemapper (deleted)", 7).title(), "[jit]");
        assert_eq!(Kind::of_map(b"[vdso]", 7), Kind::Vdso);
        assert_eq!(Kind::of_map(b"/usr/lib/libc.so.6", 7).title(), "libc.so.6");
    }

    #[test]
    fn a_file_is_one_module_however_often_it_is_mapped() {
        let mut modules = Modules::default();
        let first = modules.find(Kind::File("/no/such/file".into()));
        assert_eq!(modules.find(Kind::File("/no/such/file".into())), first);
        assert_ne!(modules.find(Kind::Kernel), first);
        assert!(modules.elf(first).is_none());
    }
}
