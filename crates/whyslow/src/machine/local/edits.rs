//! Whether edits can be made at all on this machine. What cannot is told before anything runs.

use std::path::Path;

use super::preloads;
use crate::machine::MachineError;
use crate::model::{ByteText, Edit, Preload};

/// The first of them that cannot be made, with what to do about it.
pub fn check_edits(edits: &[Edit]) -> Result<(), MachineError> {
    edits.iter().try_for_each(check)?;
    let names: Vec<&ByteText> = edits.iter().filter_map(variable).collect();
    match names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
        Some((_, name)) => Err(MachineError::new(format!("{} is edited twice", name.lossy()))
            .hint("set it or remove it, and once")),
        None => Ok(()),
    }
}

fn variable(edit: &Edit) -> Option<&ByteText> {
    match edit {
        Edit::SetEnv(name, _) | Edit::UnsetEnv(name) => Some(name),
        _ => None,
    }
}

fn check(edit: &Edit) -> Result<(), MachineError> {
    match edit {
        Edit::SetEnv(name, value) => [name, value].into_iter().try_for_each(check_text),
        Edit::UnsetEnv(name) => check_text(name),
        Edit::Wrap(words) => {
            if words.first().is_none_or(|program| program.0.is_empty()) {
                return Err(MachineError::new("there is no program in front of the command")
                    .hint("begin with its name, as in nice -n 5"));
            }
            words.iter().try_for_each(check_text)
        }
        Edit::Affinity(cpus) => check_cpus(cpus),
        Edit::Preload(Preload::File(path)) => check_library(path),
        _ => Ok(()),
    }
}

fn check_text(text: &ByteText) -> Result<(), MachineError> {
    match text.0.contains(&0) {
        true => Err(MachineError::new(format!("{:?} holds a byte of 0", text.lossy()))
            .hint("no variable and no argument can have one")),
        false => Ok(()),
    }
}

fn check_cpus(cpus: &[usize]) -> Result<(), MachineError> {
    let known = Path::new("/sys/devices/system/cpu");
    // Without the list of the kernel, the first run tells.
    let is_known = |cpu: &&usize| !known.join("cpu0").exists() || known.join(format!("cpu{cpu}")).exists();
    match cpus.iter().find(|cpu| !is_known(cpu)) {
        Some(cpu) => Err(MachineError::new(format!("there is no CPU {cpu}"))
            .hint("CPUs count from 0; `nproc --all` tells how many there are")),
        None => Ok(()),
    }
}

/// A name without a slash is found by the loader, or not.
fn check_library(path: &Path) -> Result<(), MachineError> {
    let shown = path.display();
    if path.as_os_str().is_empty() {
        return Err(MachineError::new("there is no library to preload").hint("name one, or mimalloc"));
    }
    if !path.as_os_str().as_encoded_bytes().contains(&b'/') {
        return Ok(());
    }
    let about = std::fs::metadata(path).map_err(|error| {
        MachineError::new(format!("cannot preload {shown}")).because(error).hint("is the path right?")
    })?;
    if !about.is_file() || !preloads::is_library_for_this_machine(path) {
        return Err(MachineError::new(format!("{shown} is no library for this kind of processor"))
            .hint("name a shared library, such as libjemalloc.so.2"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(edits: &[Edit]) -> String {
        check_edits(edits).unwrap_err().what
    }

    #[test]
    fn what_no_machine_can_do_is_refused() {
        assert!(refusal(&[Edit::Wrap(vec!["".into()])]).contains("no program"));
        assert!(refusal(&[Edit::Affinity(vec![0, 99_999_999_999])]).contains("no CPU 99999999999"));
        assert!(refusal(&[Edit::SetEnv("A".into(), "x\0".into())]).contains("a byte of 0"));
        let both = [Edit::SetEnv("A".into(), "1".into()), Edit::UnsetEnv("A".into())];
        assert_eq!(refusal(&both), "A is edited twice");
    }

    #[test]
    fn only_libraries_are_preloaded() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            [Edit::Preload(Preload::File(path))]
        };
        assert!(refusal(&file("empty", b"")).contains("no library"));
        assert!(refusal(&file("text", &[b'x'; 100])).contains("no library"));
        assert!(refusal(&[Edit::Preload(Preload::File("".into()))]).contains("no library to preload"));
        assert!(refusal(&[Edit::Preload(Preload::File("/no/such.so".into()))]).contains("/no/such.so"));
        assert!(
            check_edits(&[
                Edit::Preload(Preload::Mimalloc),
                Edit::Preload(Preload::File("libm.so.6".into()))
            ])
            .is_ok()
        );
    }
}
