//! From a launch to what `execve` wants: the file, the arguments, the environment. It finds a program as
//! `execvp` would, but before the timed run, so that searching is never measured. It never starts anything.

use std::ffi::{CStr, CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::model::{ByteText, Launch};

/// Where `execvp` looks if the environment has no PATH at all (glibc's `_CS_PATH`).
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// What `execvp` runs a file with that is executable but not a program the kernel knows.
const SHELL: &CStr = c"/bin/sh";

/// Names and values, in order.
pub type Variables = Vec<(Vec<u8>, Vec<u8>)>;

/// A launch in the words of `execve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub program: CString,
    pub argv: Vec<CString>,
    pub env: Vec<CString>,
    pub cwd: Option<CString>,
}

/// Why a launch cannot even be tried; `step` says what was being done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub errno: i32,
    pub step: &'static str,
}

impl Prepared {
    pub fn new(launch: &Launch, inherited: &[(Vec<u8>, Vec<u8>)]) -> Result<Prepared, Refused> {
        let env = edited(inherited, &launch.env)?;
        let argv = launch
            .argv
            .iter()
            .map(|argument| c_string(&argument.0, "arguments"))
            .collect::<Result<_, _>>()?;
        let cwd =
            launch.cwd.as_deref().map(|path| c_string(path.as_os_str().as_bytes(), "chdir")).transpose()?;
        let name = launch.argv.first().map_or(&b""[..], |name| &name.0);
        let path = env.iter().find(|(name, _)| name == b"PATH").map_or(DEFAULT_PATH, |(_, value)| value);
        let found = find_program(name, path, launch.cwd.as_deref())
            .map_err(|errno| Refused { errno, step: "exec" })?;
        Ok(Prepared { program: c_string(&found, "exec")?, argv, env: joined(&env)?, cwd })
    }

    /// The same launch through the shell: what `execvp` does with a script that has no `#!` line.
    pub fn through_shell(&self) -> Prepared {
        let arguments = self.argv.iter().skip(1).cloned();
        let argv = [SHELL.to_owned(), self.program.clone()].into_iter().chain(arguments).collect();
        Prepared { program: SHELL.to_owned(), argv, ..self.clone() }
    }
}

/// The environment of this process, in its own order: the place of the variables moves the stack of the
/// program, so it must not change between the variants.
pub fn inherited() -> Variables {
    std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())).collect()
}

fn edited(
    inherited: &[(Vec<u8>, Vec<u8>)],
    edits: &[(ByteText, Option<ByteText>)],
) -> Result<Variables, Refused> {
    let mut env = inherited.to_vec();
    for (name, value) in edits {
        // The same names that setenv refuses: they could never be read back.
        if name.0.is_empty() || name.0.contains(&b'=') {
            return Err(Refused { errno: libc::EINVAL, step: "environment" });
        }
        apply(&mut env, &name.0, value.as_ref().map(|value| value.0.as_slice()));
    }
    Ok(env)
}

/// Sets or removes one variable. A name that is there twice is left there once.
fn apply(env: &mut Variables, name: &[u8], value: Option<&[u8]>) {
    let place = env.iter().position(|(old, _)| old == name).unwrap_or(env.len());
    env.retain(|(old, _)| old != name);
    if let Some(value) = value {
        env.insert(place, (name.to_vec(), value.to_vec()));
    }
}

fn joined(env: &[(Vec<u8>, Vec<u8>)]) -> Result<Vec<CString>, Refused> {
    env.iter().map(|(name, value)| c_string(&[name, &b"="[..], value].concat(), "environment")).collect()
}

fn c_string(bytes: &[u8], step: &'static str) -> Result<CString, Refused> {
    CString::new(bytes).map_err(|_| Refused { errno: libc::EINVAL, step })
}

/// The file that `execvp` would run for `name` in the directory `cwd`, or its error number.
///
/// One difference: where the interpreter of a script is missing, `execvp` goes on searching. This does not
/// try to run what it finds, so such a script is found and then reported as not started.
fn find_program(name: &[u8], path: &[u8], cwd: Option<&Path>) -> Result<Vec<u8>, i32> {
    if name.is_empty() {
        return Err(libc::ENOENT);
    }
    if name.contains(&b'/') {
        return Ok(name.to_vec());
    }
    let mut denied = false;
    for directory in path.split(|byte| *byte == b':') {
        let candidate = in_directory(directory, name);
        match try_candidate(&candidate, cwd) {
            Ok(()) => return Ok(candidate),
            Err(libc::EACCES) => denied = true,
            // The errors after which execvp looks further: this directory does not have it, or is not there.
            Err(libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT) => {}
            Err(errno) => return Err(errno),
        }
    }
    // A file that is there but not ours to run says more than "not found".
    Err(if denied { libc::EACCES } else { libc::ENOENT })
}

/// An empty entry of PATH is the current directory.
fn in_directory(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// Whether the kernel would run this file, seen from the directory in which the run will start.
fn try_candidate(candidate: &[u8], cwd: Option<&Path>) -> Result<(), i32> {
    let relative = Path::new(std::ffi::OsStr::from_bytes(candidate));
    let seen_from_here = cwd.map_or_else(|| relative.to_path_buf(), |cwd| cwd.join(relative));
    let kind =
        std::fs::metadata(&seen_from_here).map_err(|error| error.raw_os_error().unwrap_or(libc::EINVAL))?;
    if !kind.is_file() {
        return Err(libc::EACCES);
    }
    let name = CString::new(OsString::from(seen_from_here).into_vec()).map_err(|_| libc::EINVAL)?;
    // The rights of the effective user count, as they do for exec; they also cover a noexec mount.
    // SAFETY: a string that ends in NUL and outlives the call.
    match unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), libc::X_OK, libc::AT_EACCESS) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EACCES)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn pairs(entries: &[(&str, &str)]) -> Variables {
        entries.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    fn executable(path: &Path, mode: u32) {
        fs::write(path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn edits_keep_the_order_and_apply_one_after_the_other() {
        let inherited = pairs(&[("A", "1"), ("B", "2"), ("A", "3"), ("C", "4")]);
        let edits = [
            ("A".into(), Some("new".into())),
            ("B".into(), None),
            ("D".into(), Some("5".into())),
            ("D".into(), Some("6".into())),
        ];
        assert_eq!(edited(&inherited, &edits).unwrap(), pairs(&[("A", "new"), ("C", "4"), ("D", "6")]));
    }

    #[test]
    fn names_and_bytes_that_no_program_could_read_are_refused() {
        let refused = Err(Refused { errno: libc::EINVAL, step: "environment" });
        for name in ["", "A=B"] {
            assert_eq!(edited(&[], &[(name.into(), Some("1".into()))]), refused);
        }
        let launch = Launch { argv: vec!["true".into(), ByteText(vec![b'a', 0])], ..Launch::default() };
        assert_eq!(Prepared::new(&launch, &[]).unwrap_err().step, "arguments");
    }

    #[test]
    fn a_name_with_a_slash_is_taken_as_it_is() {
        assert_eq!(find_program(b"./no/such", b"/bin", None), Ok(b"./no/such".to_vec()));
        assert_eq!(find_program(b"", b"/bin", None), Err(libc::ENOENT));
    }

    #[test]
    fn directories_and_files_that_cannot_be_run_are_passed_over_but_remembered() {
        let root = tempfile::tempdir().unwrap();
        for name in ["first", "second", "third"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        fs::create_dir(root.path().join("first/tool")).unwrap();
        executable(&root.path().join("second/tool"), 0o644);
        let path = format!("{0}/none:{0}/first:{0}/second", root.path().display());
        assert_eq!(find_program(b"tool", path.as_bytes(), None), Err(libc::EACCES));
        assert_eq!(find_program(b"other", path.as_bytes(), None), Err(libc::ENOENT));

        executable(&root.path().join("third/tool"), 0o755);
        let path = format!("{path}:{}/third", root.path().display());
        let expected = format!("{}/third/tool", root.path().display()).into_bytes();
        assert_eq!(find_program(b"tool", path.as_bytes(), None), Ok(expected));
    }

    #[test]
    fn relative_and_empty_entries_start_at_the_directory_of_the_launch() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        executable(&root.path().join("bin/inner"), 0o755);
        executable(&root.path().join("outer"), 0o755);
        let cwd = Some(root.path());
        assert_eq!(find_program(b"inner", b"bin", cwd), Ok(b"bin/inner".to_vec()));
        for path in ["", ":/nowhere", "/nowhere:", "/nowhere::bin"] {
            assert_eq!(find_program(b"outer", path.as_bytes(), cwd), Ok(b"outer".to_vec()), "{path:?}");
        }
    }

    #[test]
    fn the_path_of_the_variant_decides() {
        let root = tempfile::tempdir().unwrap();
        executable(&root.path().join("sh"), 0o755);
        let mine = root.path().to_str().unwrap();
        let launch = Launch {
            argv: vec!["sh".into()],
            env: vec![("PATH".into(), Some(mine.into()))],
            ..Launch::default()
        };
        let prepared = Prepared::new(&launch, &pairs(&[("PATH", "/bin")])).unwrap();
        assert_eq!(prepared.program.to_str().unwrap(), format!("{mine}/sh"));
        let without = Launch { env: vec![("PATH".into(), None)], ..launch };
        assert_eq!(
            Prepared::new(&without, &pairs(&[("PATH", mine)])).unwrap().program.as_c_str(),
            c"/bin/sh"
        );
    }

    #[test]
    fn a_script_without_a_first_line_goes_through_the_shell() {
        let launch = Launch { argv: vec!["/x/script".into(), "one".into()], ..Launch::default() };
        let prepared = Prepared::new(&launch, &pairs(&[("A", "1")])).unwrap().through_shell();
        assert_eq!(prepared.program.as_c_str(), c"/bin/sh");
        assert_eq!(prepared.argv, [c"/bin/sh", c"/x/script", c"one"].map(CStr::to_owned));
        assert_eq!(prepared.env, [c"A=1".to_owned()]);
    }
}
