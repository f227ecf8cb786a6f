//! Libraries that are loaded before all others: where they are, and how they get into an environment.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use whyslow_agent::Object;

use super::delivery::Delivery;
use super::environment::{Prepared, Refused};
use crate::model::{Preload, Shim};

const VARIABLE: &[u8] = b"LD_PRELOAD=";

/// Allocators that people install, by how their files are called: the first found of each row counts.
const ALLOCATORS: [&[&str]; 3] = [
    &["libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so.2.0"],
    &["libjemalloc.so.2"],
    &["libtcmalloc_minimal.so.4", "libtcmalloc.so.4"],
];

/// Where the loader looks even if its cache says nothing.
const DIRECTORIES: [&str; 6] =
    ["/usr/local/lib", "/usr/lib64", "/lib64", "/usr/lib", "/lib", "/usr/local/lib64"];

/// Puts the libraries in front of those that the environment names already.
pub fn put(prepared: &mut Prepared, preloads: &[Preload], delivery: &mut Delivery) -> Result<(), Refused> {
    let paths: Result<Vec<PathBuf>, io::Error> =
        preloads.iter().map(|preload| path(preload, delivery)).collect();
    let paths = paths
        .map_err(|error| Refused { errno: error.raw_os_error().unwrap_or(libc::EINVAL), step: "preload" })?;
    put_paths(prepared, paths)
}

/// The same for files that are known to be there.
pub fn put_paths(prepared: &mut Prepared, paths: Vec<PathBuf>) -> Result<(), Refused> {
    if paths.is_empty() {
        return Ok(());
    }
    let mut paths: Vec<Vec<u8>> = paths.into_iter().map(|path| path.into_os_string().into_vec()).collect();
    let place = prepared.env.iter().position(|variable| variable.as_bytes().starts_with(VARIABLE));
    if let Some(place) = place {
        paths.push(prepared.env.remove(place).as_bytes()[VARIABLE.len()..].to_vec());
    }
    let variable = [VARIABLE, &paths.join(&b':')].concat();
    let variable =
        CString::new(variable).map_err(|_| Refused { errno: libc::EINVAL, step: "environment" })?;
    prepared.env.insert(place.unwrap_or(prepared.env.len()), variable);
    Ok(())
}

/// Where the loader finds it.
fn path(preload: &Preload, delivery: &mut Delivery) -> io::Result<PathBuf> {
    match preload {
        Preload::File(path) => delivery.file(path),
        Preload::Mimalloc => delivery.object(Object::Mimalloc),
        Preload::Shim(shim) => delivery.object(object(*shim)),
    }
}

fn object(shim: Shim) -> Object {
    match shim {
        Shim::NoSync => Object::NoSync,
        Shim::Populate => Object::Populate,
        Shim::NoDelay => Object::NoDelay,
        Shim::FewFiles => Object::FewFiles,
    }
}

/// Allocators that can be preloaded here, our own first.
pub fn allocators() -> Vec<Preload> {
    let own = Object::Mimalloc.bytes().map(|_| Preload::Mimalloc);
    let cached = cached_libraries();
    // One of each kind is enough.
    let others = if own.is_some() { &ALLOCATORS[1..] } else { &ALLOCATORS[..] };
    let found = others.iter().filter_map(|names| find(names, &cached)).map(Preload::File);
    own.into_iter().chain(found).collect()
}

fn find(names: &[&str], cached: &[PathBuf]) -> Option<PathBuf> {
    names.iter().find_map(|name| {
        let in_cache = cached.iter().filter(|path| path.file_name().is_some_and(|found| found == *name));
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let usual = DIRECTORIES.iter().flat_map(|directory| {
            [Path::new(directory).join(&triplet).join(name), Path::new(directory).join(name)]
        });
        in_cache.cloned().chain(usual).find(|path| is_for_this_machine(path))
    })
}

/// The paths in the loader's cache. Its records point into a table of strings; the strings are all that is wanted.
fn cached_libraries() -> Vec<PathBuf> {
    let cache = fs::read("/etc/ld.so.cache").unwrap_or_default();
    let paths = cache.split(|byte| *byte == 0).filter(|text| text.starts_with(b"/"));
    paths.map(|text| PathBuf::from(std::ffi::OsStr::from_bytes(text))).collect()
}

/// The same, and one that the loader can map into a program.
pub fn is_library_for_this_machine(path: &Path) -> bool {
    let mut header = [0; 18];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[16..] == object::elf::ET_DYN.0.to_ne_bytes() && is_for_this_machine(path)
}

/// Whether it is an ELF file of the same class and machine as this program.
fn is_for_this_machine(path: &Path) -> bool {
    let header = |path: &Path| -> io::Result<[u8; 20]> {
        let mut header = [0; 20];
        fs::File::open(path)?.read_exact(&mut header)?;
        Ok(header)
    };
    let (Ok(theirs), Ok(ours)) = (header(path), header(Path::new("/proc/self/exe"))) else { return false };
    // Magic and class; then the machine.
    theirs[..5] == ours[..5] && theirs[18..] == ours[18..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Launch;

    fn prepared(env: &[(&str, &str)]) -> Prepared {
        let env: Vec<_> =
            env.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect();
        Prepared::new(&Launch { argv: vec!["/bin/true".into()], ..Launch::default() }, &env).unwrap()
    }

    #[test]
    fn ours_come_before_theirs() {
        let mut delivery = Delivery::default();
        let mut with = prepared(&[("A", "1"), ("LD_PRELOAD", "theirs.so"), ("B", "2")]);
        put(&mut with, &[Preload::File("libm.so.6".into())], &mut delivery).unwrap();
        assert_eq!(with.env[1].as_c_str(), c"LD_PRELOAD=libm.so.6:theirs.so");
        let mut without = prepared(&[("A", "1")]);
        put(&mut without, &[Preload::Shim(Shim::NoSync)], &mut delivery).unwrap();
        let path = without.env[1].to_str().unwrap().strip_prefix("LD_PRELOAD=").unwrap().to_owned();
        assert!(is_for_this_machine(Path::new(&path)), "{path}");
        drop(delivery);
        assert!(!Path::new(&path).exists());
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let none = [Preload::File("/no/such/file.so".into())];
        let refused = put(&mut prepared(&[]), &none, &mut Delivery::default()).unwrap_err();
        assert_eq!(refused, Refused { errno: libc::ENOENT, step: "preload" });
    }

    #[test]
    fn our_own_allocator_comes_first() {
        assert_eq!(allocators().first() == Some(&Preload::Mimalloc), cfg!(feature = "bundled-mimalloc"));
        assert!(
            allocators()[usize::from(cfg!(feature = "bundled-mimalloc"))..]
                .iter()
                .all(|found| { matches!(found, Preload::File(path) if is_for_this_machine(path)) })
        );
    }
}
