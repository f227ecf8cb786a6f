//! Names of code that a process makes while it runs, as it writes them to `/tmp/perf-PID.map`: one line for each
//! function, with its start and length in hexadecimal digits and its name. It reads the file and leaves it there.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// More than that is not read.
const MOST_BYTES: u64 = 256 << 20;

#[derive(Default)]
pub struct JitNames {
    /// Start, to the end and the name. Code may be made anew at the same place; the last one counts.
    functions: BTreeMap<u64, (u64, String)>,
}

impl JitNames {
    pub fn of(process: u32) -> JitNames {
        use std::io::Read;
        let path = PathBuf::from(format!("/tmp/perf-{process}.map"));
        let mut text = Vec::new();
        if let Ok(file) = std::fs::File::open(path) {
            // What was read until an error is of use too.
            let _ = file.take(MOST_BYTES).read_to_end(&mut text);
        }
        JitNames::parse(&text)
    }

    /// Lines that are none are passed over.
    fn parse(text: &[u8]) -> JitNames {
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

fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()
}

#[cfg(test)]
mod tests {
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
        assert!(JitNames::of(u32::MAX).functions.is_empty());
    }
}
