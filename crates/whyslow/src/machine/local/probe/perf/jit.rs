//! Names of code that a process makes while it runs, as it writes them to `/tmp/perf-PID.map`: one line for each
//! function, with its start and length in hexadecimal digits and its name. It reads the file and leaves it there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;

/// More than that is not read.
const MOST_BYTES: u64 = 256 << 20;

#[derive(Default)]
pub struct JitNames {
    /// Start, to the end and the name. Code may be made anew at the same place; the last one counts.
    functions: BTreeMap<u64, (u64, String)>,
}

impl JitNames {
    /// `since` is when the command began: numbers of processes are used again, and these files stay.
    pub fn of(process: u32, since: SystemTime) -> JitNames {
        let text = read(Path::new(&format!("/tmp/perf-{process}.map")), since);
        JitNames::parse(&text.unwrap_or_default())
    }

    /// Lines that are none are passed over.
    pub fn parse(text: &[u8]) -> JitNames {
        let lines = String::from_utf8_lossy(text);
        let function = |line: &str| {
            let (start, rest) = line.split_once(' ')?;
            let (length, name) = rest.split_once(' ')?;
            let (start, length) = (hexadecimal(start)?, hexadecimal(length)?);
            Some((start, (start.checked_add(length)?, name.trim().to_owned())))
        };
        JitNames { functions: lines.lines().filter_map(function).collect() }
    }

    pub fn find(&self, address: u64) -> Option<String> {
        let (_, (end, name)) = self.functions.range(..=address).next_back()?;
        (address < *end && !name.is_empty()).then(|| name.clone())
    }
}

/// Anybody may leave anything at that place, so that only a plain file is read.
fn read(path: &Path, since: SystemTime) -> io::Result<Vec<u8>> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.modified()? < since {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = Vec::new();
    // What was read until an error is of use too.
    let _ = file.take(MOST_BYTES).read_to_end(&mut text);
    Ok(text)
}

fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_map_as_programs_write_it() {
        let names = JitNames::parse(
            b"7f00 10 LazyCompile:~add /x.js:3\nnonsense\n7f10 20 b\n0x7f40 8 c\n7f00 10 again\n\xff",
        );
        assert_eq!(names.find(0x7f00).as_deref(), Some("again"));
        assert_eq!(names.find(0x7f2f).as_deref(), Some("b"));
        assert_eq!(names.find(0x7f30), None);
        assert_eq!(names.find(0x7f47).as_deref(), Some("c"));
        assert_eq!(names.find(0), None);
        assert!(JitNames::of(u32::MAX, SystemTime::UNIX_EPOCH).functions.is_empty());
    }

    #[test]
    fn only_a_plain_file_of_this_run_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("map");
        std::fs::write(&file, "7f00 10 a").unwrap();
        let now = SystemTime::now();
        assert!(read(&file, now - Duration::from_secs(60)).is_ok());
        assert!(read(&file, now + Duration::from_secs(60)).is_err());
        assert!(read(directory.path(), SystemTime::UNIX_EPOCH).is_err());
    }
}
