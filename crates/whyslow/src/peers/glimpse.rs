//! A first look at a file, from which its form is told. It never fails: a file that was cut off is still recognised,
//! so that the reader of its form can say what is missing.

use super::json::string_length;
use super::number::is_space;

/// What the forms are told by.
pub(super) struct Glimpse<'a> {
    pub shape: Shape,
    /// Keys of the first object, outermost only.
    keys: Vec<&'a [u8]>,
    /// The lines of the first 64 KiB.
    head: Vec<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing but white space.
    Empty,
    /// JSON that begins with an object; maybe more of them follow.
    Object,
    /// JSON that begins with a list.
    List,
    Text,
}

impl<'a> Glimpse<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        let shape = match bytes.iter().find(|byte| !is_space(**byte)) {
            None => Shape::Empty,
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::List,
            Some(_) => Shape::Text,
        };
        let keys = if matches!(shape, Shape::Object | Shape::List) { first_keys(bytes) } else { Vec::new() };
        Glimpse { shape, keys, head: head(bytes) }
    }

    pub fn has(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.keys.contains(&key.as_bytes()))
    }

    pub fn first_key(&self) -> Option<&[u8]> {
        self.keys.first().copied()
    }

    /// Lines of text near the start of the file; none where it is JSON.
    pub fn lines(&self) -> impl Iterator<Item = &'a str> {
        let text = self.shape == Shape::Text;
        self.head.iter().copied().filter(move |_| text)
    }
}

/// The lines of the start of the file that are UTF-8. Benchmark results come after a screenful of words, not later.
fn head(bytes: &[u8]) -> Vec<&str> {
    const LENGTH: usize = 64 * 1024;
    let start = &bytes[..bytes.len().min(LENGTH)];
    start.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()).collect()
}

/// Keys of the first object, however deep the lists before it. One pass, no recursion.
fn first_keys(bytes: &[u8]) -> Vec<&[u8]> {
    /// More than any form has; a file of other origin may have millions.
    const MOST: usize = 64;
    let (mut keys, mut objects, mut lists_inside, mut expects_key, mut at) = (Vec::new(), 0, 0, false, 0);
    while at < bytes.len() && keys.len() < MOST {
        let outermost = objects == 1 && lists_inside == 0;
        match bytes[at] {
            b'"' => {
                let length = string_length(&bytes[at..]);
                let closed = length >= 2 && bytes[at + length - 1] == b'"';
                if expects_key && outermost && closed {
                    keys.push(&bytes[at + 1..at + length - 1]);
                }
                expects_key = false;
                at += length;
                continue;
            }
            b'{' => (objects, expects_key) = (objects + 1, true),
            b',' => expects_key = true,
            b'}' if outermost => break,
            b'}' => objects -= i64::from(objects > 0),
            b'[' if objects > 0 => lists_inside += 1,
            b']' if objects > 0 => lists_inside -= 1,
            _ => {}
        }
        at += 1;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        first_keys(text.as_bytes()).iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect()
    }

    #[test]
    fn only_the_outermost_keys_of_the_first_object_count() {
        assert_eq!(keys(r#"{"a":{"b":[{"c":1}]},"d":["e","f"],"g":"h"}{"i":1}"#), ["a", "d", "g"]);
        assert_eq!(keys(r#"[[{"a":1,"b":{"c":2}},{"d":1}]]"#), ["a", "b"]);
        assert_eq!(keys(r#"{"a":[1,2],"b"#), ["a"]);
        assert_eq!(keys(r#"}]}{"a"#), Vec::<String>::new());
    }
}
