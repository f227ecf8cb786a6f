//! Numbers as people write them. Three significant digits, the unit that keeps them short.

/// A time with its unit: `41.2 ms`.
pub fn seconds(value_s: f64) -> String {
    let (scale, unit) = time_unit(value_s);
    format!("{} {unit}", three_digits(value_s * scale))
}

/// A time with its interval in the same unit: `41.2 ms [40.9, 41.8]`.
pub fn seconds_with_interval(value_s: f64, low: Option<f64>, high: Option<f64>) -> String {
    let (scale, _) = time_unit(value_s);
    let decimals = decimals(value_s * scale);
    match low.zip(high) {
        Some((low, high)) => {
            format!("{} [{:.decimals$}, {:.decimals$}]", seconds(value_s), low * scale, high * scale)
        }
        None => seconds(value_s),
    }
}

fn time_unit(value_s: f64) -> (f64, &'static str) {
    match value_s.abs() {
        s if s >= 0.9995 => (1.0, "s"),
        s if s >= 0.9995e-3 => (1e3, "ms"),
        s if s >= 0.9995e-6 || s == 0.0 => (1e6, "µs"),
        _ => (1e9, "ns"),
    }
}

/// A length of time as one says it: `40 s`, `12 min`, `2.5 h`.
pub fn duration(value_s: f64) -> String {
    match value_s {
        s if s < 1.0 => seconds(s),
        s if s < 99.5 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

/// A size in decimal units, as hyperfine and disks use them: `5.24 MB`.
pub fn bytes(value: f64) -> String {
    match value.abs() {
        b if b >= 999.5e6 => format!("{} GB", three_digits(value / 1e9)),
        b if b >= 999.5e3 => format!("{} MB", three_digits(value / 1e6)),
        b if b >= 999.5 => format!("{} kB", three_digits(value / 1e3)),
        _ => format!("{value:.0} B"),
    }
}

/// A number of things, with thousands apart: `1,234`; long ones are shortened: `1.23 M`.
pub fn count(value: f64) -> String {
    match value.abs() {
        n if n >= 999.5e6 => format!("{} G", three_digits(value / 1e9)),
        n if n >= 999_999.5 => format!("{} M", three_digits(value / 1e6)),
        _ => grouped(value.round() as i64),
    }
}

/// A number without a unit, in four digits where it has more.
pub fn number(value: f64) -> String {
    match value.abs() {
        n if n >= 1e6 || (n > 0.0 && n < 1e-3) => format!("{value:.3e}"),
        n if n >= 1e3 => grouped(value.round() as i64),
        n if n.fract() == 0.0 => format!("{value:.0}"),
        _ => three_digits(value),
    }
}

fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0 { format!("-{text}") } else { text }
}

/// A share as per cent: `0.012` is `1.2 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", percent_number(share))
}

/// The same without the sign: two digits are enough for a share, but small ones keep one that is not zero.
pub fn percent_number(share: f64) -> String {
    let value = share * 100.0;
    match value.abs() {
        p if p >= 9.95 => format!("{value:.0}"),
        p if p >= 0.0995 || p == 0.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A ratio of at least one: `1.23x`, `12.3x`, `123x`.
pub fn factor(ratio: f64) -> String {
    format!("{}x", factor_number(ratio))
}

pub fn factor_number(ratio: f64) -> String {
    match ratio {
        r if r >= 99.5 => format!("{r:.0}"),
        r if r >= 9.95 => format!("{r:.1}"),
        r => format!("{r:.2}"),
    }
}

fn three_digits(value: f64) -> String {
    format!("{value:.*}", decimals(value))
}

/// Decimals that make three significant digits of a number from 1 to 999.
fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_take_the_unit_that_keeps_them_short() {
        let cases = [
            (0.0, "0.00 µs"),
            (5e-9, "5.00 ns"),
            (0.000_492, "492 µs"),
            (0.000_999_9, "1.00 ms"),
            (0.041_23, "41.2 ms"),
            (0.999_9, "1.00 s"),
            (12.34, "12.3 s"),
            (3_600.0, "3600 s"),
        ];
        for (value, text) in cases {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn an_interval_has_the_unit_and_digits_of_its_centre() {
        assert_eq!(seconds_with_interval(0.0412, Some(0.0409), Some(0.0418)), "41.2 ms [40.9, 41.8]");
        assert_eq!(seconds_with_interval(0.0412, None, Some(0.0418)), "41.2 ms");
    }

    #[test]
    fn counts_sizes_and_shares() {
        assert_eq!(count(1_234.0), "1,234");
        assert_eq!(count(-1_234_567.0), "-1.23 M");
        assert_eq!(count(999_999.0), "999,999");
        assert_eq!(bytes(5_242_880.0), "5.24 MB");
        assert_eq!(bytes(12.0), "12 B");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.5), "50 %");
        assert_eq!(percent(0.0004), "0.04 %");
        assert_eq!(factor(1.234), "1.23x");
        assert_eq!(factor(12.34), "12.3x");
        assert_eq!(duration(40.2), "40 s");
        assert_eq!(duration(600.0), "10 min");
        assert_eq!(duration(9_000.0), "2.5 h");
    }
}
