//! Libraries that are loaded before all others: where they are, and how they get into an environment.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use super::environment::{Prepared, Refused};
use crate::model::Preload;

const VARIABLE: &[u8] = b"LD_PRELOAD=";

/// Puts the libraries in front of those that the environment names already.
pub fn put(prepared: &mut Prepared, preloads: &[Preload]) -> Result<(), Refused> {
    let mut paths: Vec<Vec<u8>> = preloads.iter().map(path).collect::<Result<_, _>>()?;
    if paths.is_empty() {
        return Ok(());
    }
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
fn path(preload: &Preload) -> Result<Vec<u8>, Refused> {
    match preload {
        Preload::File(path) => Ok(path.as_os_str().as_bytes().to_vec()),
        Preload::Mimalloc | Preload::Shim(_) => Err(Refused { errno: libc::ENOSYS, step: "preload" }),
    }
}

/// Allocators that can be preloaded here, our own first.
pub fn allocators() -> Vec<Preload> {
    Vec::new()
}
