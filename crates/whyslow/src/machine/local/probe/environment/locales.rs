//! Whether a locale is there for the C library, by the files in which glibc looks for it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

const FOLDER: &str = "/usr/lib/locale";
const ARCHIVE: &str = "/usr/lib/locale/locale-archive";
/// The names stand at the beginning of the archive.
const NAMES_BYTES: u64 = 4 << 20;
/// These are a part of the library.
const BUILT_IN: [&str; 4] = ["C", "POSIX", "C.UTF-8", "C.utf8"];

/// Where glibc keeps no locales at all, another library has them, and nothing is known: then it counts as installed.
pub fn is_installed(name: &str, path: &str) -> bool {
    // A name that is a path is that of a directory.
    if BUILT_IN.contains(&name) || name.contains(['/', ',']) {
        return true;
    }
    let spellings = [name.to_owned(), normalized(name)];
    let is_in = |folder: &str| spellings.iter().any(|name| Path::new(folder).join(name).is_dir());
    if path.split(':').filter(|folder| !folder.is_empty()).any(is_in) || is_in(FOLDER) {
        return true;
    }
    if !Path::new(FOLDER).exists() {
        return true;
    }
    // With LOCPATH set, the archive is not looked at.
    path.is_empty() && is_archived(&spellings)
}

fn is_archived(spellings: &[String]) -> bool {
    let mut names = Vec::new();
    let read = File::open(ARCHIVE).and_then(|file| file.take(NAMES_BYTES).read_to_end(&mut names));
    let has = |name: &String| {
        let wanted = [name.as_bytes(), b"\0"].concat();
        names.windows(wanted.len()).any(|window| window == wanted)
    };
    read.is_ok() && spellings.iter().any(has)
}

/// As glibc writes it in the names of files: `de_DE.UTF-8@euro` is `de_DE.utf8@euro`.
fn normalized(name: &str) -> String {
    let Some((language, rest)) = name.split_once('.') else { return name.to_owned() };
    let (codeset, modifier) = rest.split_once('@').map_or((rest, None), |(set, more)| (set, Some(more)));
    let plain: String = codeset.chars().filter(char::is_ascii_alphanumeric).collect();
    let modifier = modifier.map(|more| format!("@{more}")).unwrap_or_default();
    format!("{language}.{}{modifier}", plain.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_library_or_in_a_folder_is_installed() {
        let folder = std::env::temp_dir().join(format!("whyslow-test-locales-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("xx_YY.utf8")).unwrap();
        let path = folder.display().to_string();
        assert!(is_installed("xx_YY.UTF-8", &path) && is_installed("C.UTF-8", ""));
        assert!(!is_installed("xx_ZZ.UTF-8", &path) || !Path::new(FOLDER).exists());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn character_sets_have_one_spelling() {
        assert_eq!(normalized("de_DE.ISO-8859-15@euro"), "de_DE.iso885915@euro");
        assert_eq!(normalized("en_US"), "en_US");
    }
}
