//! JSON as benchmark tools write it: with bare `NaN` and `Infinity`, numbers inside strings, and objects whose order
//! matters.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;

use super::error::Fault;
use super::number;

/// Reads the whole text as one value. Lines in the fault are right, columns are not given.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Fault> {
    Ok(serde_json::from_slice(&quote_non_numbers(bytes))?)
}

/// Python, C++ and C print non-finite numbers bare, which JSON does not know; between quotes they can be read.
fn quote_non_numbers(bytes: &[u8]) -> Cow<'_, [u8]> {
    let (mut quoted, mut copied, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        at += match bytes[at] {
            b'"' => string_length(&bytes[at..]),
            b'N' | b'n' | b'I' | b'i' | b'-' => match non_number_length(&bytes[at..]) {
                0 => 1,
                length => {
                    quoted.extend_from_slice(&bytes[copied..at]);
                    quoted.push(b'"');
                    quoted.extend_from_slice(&bytes[at..at + length]);
                    quoted.push(b'"');
                    copied = at + length;
                    length
                }
            },
            _ => 1,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(bytes);
    }
    quoted.extend_from_slice(&bytes[copied..]);
    Cow::Owned(quoted)
}

/// Bytes of the string that begins here, both quotes included.
pub(super) fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn non_number_length(text: &[u8]) -> usize {
    const WORDS: [&[u8]; 5] = [b"Infinity", b"inf", b"NaN", b"nan", b"Inf"];
    let sign = usize::from(text.first() == Some(&b'-'));
    let word = WORDS.iter().find(|word| text[sign..].starts_with(word));
    word.map_or(0, |word| sign + word.len())
}

/// A number, also one between quotes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number(pub f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(value as f64))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number(value as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        let value = number::parse(text.as_bytes());
        value.map(Number).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

/// An object in the order of the file.
#[derive(Debug)]
pub(super) struct Pairs<T>(pub Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Pairs(Vec::new())
    }
}

impl<T> Pairs<T> {
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

/// For keys that some versions of a tool write as `null`.
pub(super) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A setting as text: strings without quotes, anything else as JSON.
pub(super) fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Settings as text.
pub(super) fn settings(pairs: &Pairs<Value>) -> Vec<(String, String)> {
    pairs.0.iter().map(|(name, value)| (name.clone(), plain_text(value))).collect()
}

/// The numbers among the values, for what a tool prints beside its samples.
pub(super) fn numbers(pairs: &Pairs<Value>) -> Vec<(String, f64)> {
    pairs.0.iter().filter_map(|(name, value)| Some((name.clone(), number_of(value)?))).collect()
}

/// The number that a value is, also between quotes.
pub(super) fn number_of(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| number::parse(value.as_str()?.as_bytes()))
}

/// The number that a value has to be, for types that check their parts themselves.
pub(super) fn required_number<E: Error>(value: Option<&Value>, what: &str) -> Result<f64, E> {
    let value = value.ok_or_else(|| E::custom(format!("{what} is missing")))?;
    number_of(value).ok_or_else(|| E::custom(format!("{what} is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_finite_numbers_are_read_and_strings_left_alone() {
        let text = br#"{"a NaN \" nan":[NaN,-Infinity,inf,null,-1,"x -nan"]}"#;
        let quoted = String::from_utf8(quote_non_numbers(text).into_owned()).unwrap();
        assert_eq!(quoted, r#"{"a NaN \" nan":["NaN","-Infinity","inf",null,-1,"x -nan"]}"#);
        let values: Vec<Number> = parse(b"[-Infinity, 1, -2, 0.5, \"7\"]").unwrap();
        assert_eq!(
            values.iter().map(|value| value.0).collect::<Vec<_>>(),
            [f64::NEG_INFINITY, 1.0, -2.0, 0.5, 7.0]
        );
    }

    #[test]
    fn open_strings_end_with_the_text() {
        for text in ["\"", "\"\\", "\"a\\\"", "{\"N"] {
            assert_eq!(quote_non_numbers(text.as_bytes()), text.as_bytes());
        }
    }

    #[test]
    fn objects_keep_their_order() {
        let pairs: Pairs<Value> = parse(br#"{"z":1,"a":"b"}"#).unwrap();
        assert_eq!(settings(&pairs), [("z".to_owned(), "1".to_owned()), ("a".to_owned(), "b".to_owned())]);
    }
}
