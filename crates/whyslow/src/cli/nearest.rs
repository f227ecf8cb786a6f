//! The program that somebody may have meant: only looked for after one was not found.

use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Less alike than this is another word.
const LIKENESS: f64 = 0.87;

/// The executable in PATH whose name is most like this one.
pub fn nearest_program(name: &str) -> Option<String> {
    if name.contains('/') {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    let programs =
        std::env::split_paths(&path).filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let named = programs.filter_map(|entry| {
        let program = entry.file_name().into_string().ok()?;
        let likeness = strsim::jaro_winkler(name, &program);
        (likeness > LIKENESS && is_executable(&entry)).then_some((likeness, program))
    });
    named.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, program)| program)
}

fn is_executable(entry: &fs::DirEntry) -> bool {
    fs::metadata(entry.path()).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood_and_nonsense_is_not() {
        assert_eq!(nearest_program("grpe").as_deref(), Some("grep"));
        assert_eq!(nearest_program("qqqqxxzz"), None);
        assert_eq!(nearest_program("./grpe"), None);
    }
}
