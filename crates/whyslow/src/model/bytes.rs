//! Text that the operating system does not promise to be UTF-8: arguments, paths, environment.
//! In JSON it is a plain string where it can be, and `{"hex": "..."}` where it cannot, so that a recording keeps
//! what was run to the byte and stays readable.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that are usually, but not always, UTF-8 text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteText(pub Vec<u8>);

impl ByteText {
    /// The text with invalid bytes replaced: for showing, never for running.
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    pub fn as_os_str(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }
}

impl fmt::Debug for ByteText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.lossy())
    }
}

impl From<&str> for ByteText {
    fn from(text: &str) -> Self {
        ByteText(text.as_bytes().to_vec())
    }
}

impl From<String> for ByteText {
    fn from(text: String) -> Self {
        ByteText(text.into_bytes())
    }
}

impl From<OsString> for ByteText {
    fn from(text: OsString) -> Self {
        ByteText(text.into_vec())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Hex { hex: String },
}

impl Serialize for ByteText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Written::Hex { hex: to_hex(&self.0) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ByteText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Text(text) => Ok(text.into()),
            Written::Hex { hex } => from_hex(&hex)
                .map(ByteText)
                .ok_or_else(|| serde::de::Error::custom("\"hex\" must be pairs of hexadecimal digits")),
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_and_other_bytes_survive() {
        let plain = ByteText::from("perl -e 1");
        assert_eq!(serde_json::to_string(&plain).unwrap(), "\"perl -e 1\"");
        let odd = ByteText(vec![b'a', 0xff, 0x00]);
        let written = serde_json::to_string(&odd).unwrap();
        assert_eq!(written, r#"{"hex":"61ff00"}"#);
        assert_eq!(serde_json::from_str::<ByteText>(&written).unwrap(), odd);
    }

    #[test]
    fn broken_hex_is_refused() {
        assert!(serde_json::from_str::<ByteText>(r#"{"hex":"6"}"#).is_err());
        assert!(serde_json::from_str::<ByteText>(r#"{"hex":"zz"}"#).is_err());
    }
}
