//! Numbers as C's `strtod` takes them, whole words only: decimal, hexadecimal, infinity and not-a-number.

/// The number that the word is, or `None` where a part of it is left over. White space before it is allowed, as in C.
pub(super) fn parse(word: &[u8]) -> Option<f64> {
    let start = word.iter().position(|byte| !is_space(*byte)).unwrap_or(word.len());
    let word = &word[start..];
    short_decimal(word).or_else(|| decimal(word)).or_else(|| hexadecimal(word)).or_else(|| not_a_number(word))
}

/// C's `isspace`.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0b' | b'\x0c' | b'\r')
}

fn short_decimal(word: &[u8]) -> Option<f64> {
    leading_decimal(word).filter(|(_, length)| *length == word.len()).map(|(value, _)| value)
}

/// A number of up to 19 digits without exponent at the start of the text, and its length: almost every number there is,
/// read in one pass. The text after it is not looked at.
pub(super) fn leading_decimal(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut mantissa, mut at) = digits(text, start, 0);
    let (mut count, mut places) = (at - start, 0);
    if text.get(at) == Some(&b'.') {
        let point = at + 1;
        (mantissa, at) = digits(text, point, mantissa);
        places = at - point;
        count += places;
    }
    if count == 0 || count > MOST_DIGITS {
        return None;
    }
    let value = decimal_fraction(mantissa, places);
    Some((if negative { -value } else { value }, at))
}

/// Appends the digits that begin at a place to a number, and tells where they end. Too many give any number.
fn digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

/// So many always fit into 64 bits.
const MOST_DIGITS: usize = 19;

/// Digits divided by a power of ten, rounded once.
fn decimal_fraction(digits: u64, places: usize) -> f64 {
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    let divisor = POWERS_OF_TEN[places];
    match digits <= EXACT {
        // Both are exact as floating-point numbers: powers of ten are up to the 22nd.
        true => digits as f64 / divisor as f64,
        false => quotient(digits, divisor),
    }
}

/// The quotient of two numbers, rounded once: 62 or more bits of it, of which the last one tells whether anything is
/// left, are more than the 55 that this takes.
fn quotient(number: u64, divisor: u64) -> f64 {
    let (number_shift, divisor_shift) = (number.leading_zeros(), divisor.leading_zeros());
    let number = u128::from(number << number_shift) << 63;
    let divisor = u128::from(divisor << divisor_shift);
    let whole = number / divisor;
    let bits = whole as u64 | u64::from(whole * divisor != number);
    let exponent = i64::from(divisor_shift) - i64::from(number_shift) - 63;
    bits as f64 * f64::from_bits(((1_023 + exponent) as u64) << 52)
}

const POWERS_OF_TEN: [u64; MOST_DIGITS + 1] = {
    let mut powers = [1; MOST_DIGITS + 1];
    let mut place = 1;
    while place <= MOST_DIGITS {
        powers[place] = 10 * powers[place - 1];
        place += 1;
    }
    powers
};

/// Rust takes all decimal forms of C, `inf`, `infinity` and `nan` in any case, and nothing else.
fn decimal(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn hexadecimal(word: &[u8]) -> Option<f64> {
    let (sign, word) = signed(word);
    let digits = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X"))?;
    let end = digits.iter().position(|byte| matches!(byte, b'p' | b'P'));
    let exponent = end.map_or(Some(0), |end| binary_exponent(&digits[end + 1..]))?;
    let (mantissa, shift) = hexadecimal_digits(&digits[..end.unwrap_or(digits.len())])?;
    Some(sign * times_power_of_two(mantissa as f64, exponent.saturating_add(shift)))
}

fn signed(word: &[u8]) -> (f64, &[u8]) {
    match word {
        [b'-', rest @ ..] => (-1.0, rest),
        [b'+', rest @ ..] => (1.0, rest),
        _ => (1.0, word),
    }
}

/// A mantissa and the power of two that it is to be multiplied with. What does not fit is remembered in the last
/// bit, which is enough to round correctly.
fn hexadecimal_digits(digits: &[u8]) -> Option<(u64, i64)> {
    let (mut mantissa, mut shift, mut any, mut after_point) = (0_u64, 0_i64, false, false);
    for &byte in digits {
        if byte == b'.' && !after_point {
            after_point = true;
            continue;
        }
        let digit = u64::from((byte as char).to_digit(16)?);
        any = true;
        if mantissa >> 59 == 0 {
            mantissa = mantissa << 4 | digit;
            shift -= if after_point { 4 } else { 0 };
        } else {
            mantissa |= u64::from(digit != 0);
            shift += if after_point { 0 } else { 4 };
        }
    }
    any.then_some((mantissa, shift))
}

fn binary_exponent(text: &[u8]) -> Option<i64> {
    let (sign, digits) = signed(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let fold = |exponent: i64, byte: &u8| exponent.saturating_mul(10).saturating_add(i64::from(byte - b'0'));
    Some(sign as i64 * digits.iter().fold(0, fold))
}

fn times_power_of_two(mut value: f64, exponent: i64) -> f64 {
    let mut left = exponent.clamp(-3_000, 3_000) as i32;
    while left.abs() > 1_000 {
        let step = 1_000 * left.signum();
        value *= 2_f64.powi(step);
        left -= step;
    }
    value * 2_f64.powi(left)
}

/// `nan(...)` with letters, digits and underscores between the brackets; a plain `nan` is done before.
fn not_a_number(word: &[u8]) -> Option<f64> {
    let (_, word) = signed(word);
    let (name, rest) = word.split_at_checked(3)?;
    let inside = rest.strip_prefix(b"(")?.strip_suffix(b")")?;
    let plain = inside.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (plain && name.eq_ignore_ascii_case(b"nan")).then_some(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(word: &str) -> Option<f64> {
        parse(word.as_bytes())
    }

    #[test]
    fn what_strtod_takes() {
        for (word, expected) in [
            ("1", 1.0),
            ("-1.5", -1.5),
            ("+2", 2.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("1e3", 1e3),
            ("1E-3", 1e-3),
            ("0x10", 16.0),
            ("-0x1.8p1", -3.0),
            ("0X.8", 0.5),
            ("0x1p-1074", 5e-324),
            ("0x1p99999", f64::INFINITY),
            ("0x1.00000000000008p0", 1.0),
            ("0x1.000000000000080000001p0", 1.0 + f64::EPSILON),
            ("1e999", f64::INFINITY),
            ("inf", f64::INFINITY),
            ("-INFINITY", f64::NEG_INFINITY),
            ("\x0b 7", 7.0),
            ("9007199254740993", 9007199254740992.0),
            ("0x100000000000000000000", 2_f64.powi(80)),
        ] {
            assert_eq!(value(word), Some(expected), "{word}");
        }
        assert!(value("-0").unwrap().is_sign_negative());
        for word in ["nan", "NaN", "-nan", "nan(0x7)", "NAN()"] {
            assert!(value(word).unwrap().is_nan(), "{word}");
        }
    }

    #[test]
    fn what_strtod_leaves_a_rest_of() {
        for word in [
            "", " ", ".", "-", "+", "e5", "1e", "1x", "0x", "0x.p1", "0x1p", "1_000", "1,5", "infin", "nan(",
            "nan(a-b)", "1 ", "--1", "١",
        ] {
            assert_eq!(value(word), None, "{word:?}");
        }
    }

    #[test]
    fn the_short_way_gives_what_the_long_way_gives() {
        for index in 0..200_000_u64 {
            let digits = index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (index % 64);
            let text = format!("{digits:0width$}", width = (index % 19) as usize);
            let (before, after) = text.split_at(text.len() * (index % 7) as usize / 7);
            let word = format!("{before}.{after}");
            let short = short_decimal(word.as_bytes());
            assert!(short.is_some() || text.len() == 20);
            assert_eq!(short.map_or_else(|| word.parse::<f64>(), Ok), word.parse(), "{word}");
        }
    }

    /// Halves between two floating-point numbers, and one digit beside them.
    #[test]
    fn halves_go_to_the_even_side() {
        for word in [
            "9007199254740993",
            "9007199254740995",
            "9007199254740992.5",
            "9007199254740993.001",
            "4503599627370497.5",
            "4503599627370496.5",
            "1125899906842624.125",
            "1125899906842624.124",
            "1125899906842624.126",
            "0.000000000000000001",
            "184467440737095516.5",
            "9999999999999999999",
        ] {
            assert_eq!(short_decimal(word.as_bytes()), word.parse().ok(), "{word}");
        }
    }
}
