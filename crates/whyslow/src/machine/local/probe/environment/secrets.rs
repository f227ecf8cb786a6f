//! Values that nobody should find in a recording: they are replaced by a digest that still tells equal from different.
//! The digest has 32 bits, so many other values have the same one and no value can be told from it.

use std::sync::OnceLock;

use regex::bytes::Regex;
use twox_hash::XxHash3_64;

/// Longer values are cut; their digest tells whether the rest is the same.
const MOST_SHOWN_BYTES: usize = 2048;

const SECRET_NAMES: [&str; 10] =
    ["TOKEN", "SECRET", "PASSW", "PASSPHRASE", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "SIGNATURE", "PRIVATE"];

/// The value of a variable as it may be kept.
pub fn kept(name: &[u8], value: &[u8]) -> String {
    if is_secret(name, value) {
        return format!("hidden, digest {:08x}", digest(value));
    }
    shortened(value)
}

/// The beginning of a long value, with its length and digest.
pub fn shortened(value: &[u8]) -> String {
    if value.len() <= MOST_SHOWN_BYTES {
        return String::from_utf8_lossy(value).into_owned();
    }
    let begin = String::from_utf8_lossy(&value[..80]);
    format!("{begin}... ({} bytes, digest {:08x})", value.len(), digest(value))
}

pub fn digest(bytes: &[u8]) -> u32 {
    XxHash3_64::oneshot(bytes) as u32
}

fn is_secret(name: &[u8], value: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_uppercase();
    (SECRET_NAMES.iter().any(|word| name.contains(word)) && !value.is_empty()) || has_login(value)
}

/// An address with a password in it.
fn has_login(value: &[u8]) -> bool {
    static LOGIN: OnceLock<Option<Regex>> = OnceLock::new();
    let login = LOGIN.get_or_init(|| Regex::new(r"://[^/@\s:]*:[^/@\s]+@").ok());
    login.as_ref().is_none_or(|login| login.is_match(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_apart_but_not_told() {
        for name in ["GITHUB_TOKEN", "my_secret", "AWS_ACCESS_KEY_ID", "PGPASSWORD"] {
            let kept_value = kept(name.as_bytes(), b"hunter2");
            assert!(
                kept_value.starts_with("hidden, digest ") && !kept_value.contains("hunter"),
                "{kept_value}"
            );
            assert_eq!(kept_value, kept(name.as_bytes(), b"hunter2"));
            assert_ne!(kept_value, kept(name.as_bytes(), b"hunter3"));
        }
        assert!(kept(b"DATABASE_URL", b"postgres://me:hunter2@host/db").starts_with("hidden"));
        assert_eq!(kept(b"HTTP_PROXY", b"http://proxy:3128/"), "http://proxy:3128/");
        assert_eq!(kept(b"LANG", b"C.UTF-8"), "C.UTF-8");
    }

    #[test]
    fn long_values_are_cut_and_still_told_apart() {
        let [one, other] = [b'a', b'b'].map(|last| kept(b"PAD", &[&[b'x'; 5000][..], &[last]].concat()));
        assert!(one.len() < 200 && one.contains("5001 bytes"), "{one}");
        assert_ne!(one, other);
    }
}
