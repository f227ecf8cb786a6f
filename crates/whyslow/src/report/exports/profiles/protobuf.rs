//! As much of the protocol buffer encoding as a profile needs: numbers, texts, lists of numbers and nested messages.
//! <https://protobuf.dev/programming-guides/encoding>

/// One message that is being written.
#[derive(Default)]
pub struct Message {
    pub bytes: Vec<u8>,
}

/// Wire types.
const VARINT: u64 = 0;
const LENGTH_FIRST: u64 = 2;

impl Message {
    /// 0 is what a field has that is left out.
    pub fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3 | VARINT);
            self.varint(value);
        }
    }

    pub fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | LENGTH_FIRST);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.bytes);
    }

    /// Numbers without their fields, all in one.
    pub fn packed(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut list = Message::default();
        values.into_iter().for_each(|value| list.varint(value));
        self.message(field, &list);
    }

    /// Seven bits in a byte, the lowest first.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the description of the encoding.
    #[test]
    fn numbers_texts_and_lists_are_as_described() {
        let mut message = Message::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        message.packed(6, [3, 270, 86_942]);
        message.number(7, 0);
        let expected: Vec<u8> = [
            &[0x08, 0x96, 0x01][..],
            &[0x12, 0x07],
            b"testing",
            &[0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
        ]
        .concat();
        assert_eq!(message.bytes, expected);
    }
}
