//! Draws curves: one row each on a common axis of time, higher where there is more.

use unicode_width::UnicodeWidthStr;

use super::{ASCII_BARS, BARS, GAP, Style, pad, painted};
use crate::report::document::{Curve, Curves, Tone};

/// Fewer columns show no course.
const NARROWEST_CURVE: usize = 8;

pub fn draw(curves: &Curves, style: Style) -> Vec<String> {
    let widest = |of: &dyn Fn(&Curve) -> usize| curves.rows.iter().map(of).max().unwrap_or(0);
    let name = widest(&|row| row.name.width());
    let remark = widest(&|row| row.remark.width());
    let points = widest(&|row| row.values.len());
    let room = style.width.saturating_sub(name + remark + 2 * GAP.len()).min(points);
    if room < NARROWEST_CURVE {
        return Vec::new();
    }
    let line = |row: &Curve| {
        format!("{}{GAP}{}{GAP}{}", pad(&row.name, name, false), bars(row, room, style), row.remark)
    };
    let (low, high) = &curves.ends;
    let between = " ".repeat(room.saturating_sub(low.width() + high.width()));
    let axis = painted(&format!("{low}{between}{high}"), Tone::Faint, style);
    let axis = format!("{}{GAP}{axis}", " ".repeat(name));
    curves.rows.iter().map(line).chain([axis]).collect()
}

/// What is not known is blank; so is nothing at all.
fn bars(row: &Curve, room: usize, style: Style) -> String {
    let glyphs: &[char] = if style.unicode { &BARS } else { &ASCII_BARS };
    let glyph = |value: Option<f64>| match value {
        Some(value) if value > 0.0 && row.top > 0.0 => {
            let height = (value / row.top * glyphs.len() as f64).ceil();
            glyphs[(height as usize).clamp(1, glyphs.len()) - 1]
        }
        _ => ' ',
    };
    squeeze(&row.values, room).into_iter().map(glyph).collect()
}

/// Fewer columns than points: each is the mean of those that are known.
fn squeeze(values: &[Option<f64>], room: usize) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0); room];
    for (point, value) in values.iter().enumerate() {
        if let Some(value) = value {
            let (sum, count) = &mut sums[point * room / values.len()];
            *sum += value;
            *count += 1;
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_shares_of_the_top_and_the_unknown_is_blank() {
        let values: Vec<Option<f64>> =
            [0.0, 1.0, 2.0, 4.0, 8.0, 4.0, 1.0, 0.0].into_iter().map(Some).chain([None]).collect();
        let row = Curve { name: "CPU".into(), values, top: 8.0, remark: "8 max".into() };
        let curves = Curves { rows: vec![row], ends: ("0".into(), "9 s".into()) };
        let style = Style { width: 40, colour: false, unicode: true };
        assert_eq!(draw(&curves, style), ["CPU   ▁▂▄█▄▁    8 max", "     0     9 s"]);
        let ascii = Style { unicode: false, ..style };
        assert_eq!(draw(&curves, ascii)[0], "CPU   ..:#:.    8 max");
        assert!(draw(&curves, Style { width: 16, ..style }).is_empty());
    }
}
