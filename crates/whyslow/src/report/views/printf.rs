//! Numbers as C's printf writes them, because the programs whose faces are shown here are written in C and Perl.

/// How to write a number: width, precision and one of `f`, `e`, `g`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    pub left: bool,
    pub plus: bool,
    pub zeros: bool,
    pub width: usize,
    /// Digits after the point for `f` and `e`, significant ones for `g`.
    pub precision: usize,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Fixed,
    Exponent,
    General,
}

/// Limits that keep a line a line.
const WIDEST: usize = 200;
const DEFAULT_PRECISION: usize = 6;

impl Conversion {
    pub const fn new(width: usize, precision: usize, kind: Kind) -> Self {
        Conversion { left: false, plus: false, zeros: false, width, precision, kind }
    }

    /// What stands between `%` and the end of a conversion, such as `5.2f`. `None` if it is not one for numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let kind = match text.chars().last()? {
            'f' => Kind::Fixed,
            'e' => Kind::Exponent,
            'g' => Kind::General,
            _ => return None,
        };
        let rest = &text[..text.len() - 1];
        let sizes = rest.trim_start_matches(['-', '+', '0']);
        let flags = &rest[..rest.len() - sizes.len()];
        let (width, precision) = sizes.split_once('.').map_or((sizes, None), |(w, p)| (w, Some(p)));
        let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse().ok() };
        let within = |size: usize| (size <= WIDEST).then_some(size);
        Some(Conversion {
            left: flags.contains('-'),
            plus: flags.contains('+'),
            zeros: flags.contains('0'),
            width: number(width).and_then(within)?,
            precision: precision.map_or(Some(DEFAULT_PRECISION), number).and_then(within)?,
            kind,
        })
    }

    /// The number as C writes it; what is not a number is spelled as C does.
    pub fn write(&self, value: f64) -> String {
        self.write_with(value, ["inf", "nan"])
    }

    /// The same as Perl spells it.
    pub fn write_as_perl(&self, value: f64) -> String {
        self.write_with(value, ["Inf", "NaN"])
    }

    fn write_with(&self, value: f64, [infinite, not_a_number]: [&str; 2]) -> String {
        let size = value.abs();
        let digits = if value.is_nan() {
            not_a_number.to_owned()
        } else if size.is_infinite() {
            infinite.to_owned()
        } else {
            self.digits(size)
        };
        let is_negative = value.is_sign_negative() && !value.is_nan();
        let sign = if is_negative {
            "-"
        } else if self.plus {
            "+"
        } else {
            ""
        };
        self.pad(sign, digits, value.is_finite())
    }

    fn digits(&self, size: f64) -> String {
        match self.kind {
            Kind::Fixed => format!("{size:.*}", self.precision),
            Kind::Exponent => exponent(size, self.precision),
            Kind::General => general_digits(size, self.precision),
        }
    }

    fn pad(&self, sign: &str, digits: String, may_fill: bool) -> String {
        let (width, digits_width) = (self.width, self.width.saturating_sub(sign.len()));
        if self.left {
            format!("{:<width$}", format!("{sign}{digits}"))
        } else if self.zeros && may_fill {
            format!("{sign}{digits:0>digits_width$}")
        } else {
            format!("{:>width$}", format!("{sign}{digits}"))
        }
    }
}

/// `%.*g` of C, six digits being the usual number.
pub fn general(value: f64, precision: usize) -> String {
    Conversion::new(0, precision, Kind::General).write(value)
}

fn exponent(size: f64, precision: usize) -> String {
    let text = format!("{size:.precision$e}");
    let (mantissa, power) = split_power(&text);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.abs())
}

fn split_power(text: &str) -> (&str, i32) {
    let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
    (mantissa, power.parse().unwrap_or(0))
}

/// Shortest of both forms: a power below -4 or not below the number of digits makes it the one with an exponent.
fn general_digits(size: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let rounded = format!("{size:.*e}", precision - 1);
    let (_, power) = split_power(&rounded);
    if power < -4 || power >= precision as i32 {
        let text = exponent(size, precision - 1);
        let (mantissa, tail) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{tail}", without_trailing_zeros(mantissa));
    }
    let decimals = (precision as i32 - 1 - power) as usize;
    without_trailing_zeros(&format!("{size:.decimals$}")).to_owned()
}

fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(conversion: &str, value: f64) -> String {
        Conversion::parse(conversion).unwrap().write(value)
    }

    #[test]
    fn numbers_look_as_in_c() {
        let cases = [
            ("g", 0.0, "0"),
            ("g", 1e6, "1e+06"),
            ("g", 123_456.7, "123457"),
            ("g", 999_999.5, "1e+06"),
            ("g", 0.000_01, "1e-05"),
            ("g", -0.000_123_456_78, "-0.000123457"),
            ("2g", 3.0, " 3"),
            ("13.8g", 0.010_310_955_4, "  0.010310955"),
            ("5.2f", -0.005, "-0.01"),
            ("5.2f", 1.005, " 1.00"),
            ("0.2e", 0.012_34, "1.23e-02"),
            ("0.2e", 1e-100, "1.00e-100"),
            (".0f", 2.5, "2"),
            (".0f", -0.2, "-0"),
            ("+08.3f", 3.141_7, "+003.142"),
            ("-8.1f", 2.0, "2.0     "),
        ];
        for (conversion, value, text) in cases {
            assert_eq!(write(conversion, value), text, "%{conversion} of {value}");
        }
    }

    #[test]
    fn what_is_no_number_is_spelled_out() {
        assert_eq!(write("5.2f", f64::INFINITY), "  inf");
        assert_eq!(Conversion::parse("6.0f").unwrap().write_as_perl(f64::NEG_INFINITY), "  -Inf");
    }

    #[test]
    fn only_conversions_of_numbers_are_taken() {
        for wrong in ["", "d", "5.2", "x5f", "5.xf", "999f", "5.999f"] {
            assert_eq!(Conversion::parse(wrong), None, "{wrong}");
        }
    }
}
