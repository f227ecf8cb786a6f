//! Tables for Markdown, AsciiDoc and Org.

use super::samples::recording;
use super::write;

const ROWS: &[(&str, f64)] = &[("old", 0.010), ("a | `b`", 0.012), ("X=1 c", 0.010)];

#[test]
fn markdown_has_hyperfines_columns_and_honest_ratios() {
    let expected = "\
| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |
|:---|---:|---:|---:|---:|
| `old` | 10.1 ± 0.0 | 10.0 | 10.1 | 1.00 |
| `` a \\| `b` `` | 12.1 ± 0.0 | 12.0 | 12.1 | 1.201 [1.197, 1.201] slower |
| `X=1 c` | 10.0 ± 0.0 | 10.0 | 10.1 | 0.998 [0.998, 1.001] same |
";
    assert_eq!(write("markdown", &recording(ROWS)), expected);
}

#[test]
fn asciidoc_and_org_have_the_same_cells() {
    let asciidoc = write("asciidoc", &recording(ROWS));
    assert!(asciidoc.starts_with("[cols=\"<,>,>,>,>\"]\n|===\n| Command \n| Mean [ms] \n| Min [ms] \n| Max [ms] \n| Relative \n\n| `old` \n"), "{asciidoc}");
    assert!(
        asciidoc.contains("\n| `a &#124; &#96;b&#96;` \n") && asciidoc.ends_with(" same \n|===\n"),
        "{asciidoc}"
    );

    let org = write("org", &recording(ROWS));
    assert!(
        org.starts_with(
            "| Command  |  Mean [ms] |  Min [ms] |  Max [ms] |  Relative |\n|--+--+--+--+--|\n| =old=  |  "
        ),
        "{org}"
    );
    assert!(org.contains("\n| a \\vert{} `b`  |  ") && org.contains("\n| ~X=1 c~  |  "), "{org}");
    assert!(org.lines().all(|line| line.starts_with("|--") || line.matches('|').count() == 6), "{org}");
}

#[test]
fn ratios_are_relative_to_the_base_that_was_chosen() {
    let mut recording = recording(&[("fast", 0.010), ("base", 0.012)]);
    recording.header.experiment.design.base = 1;
    for form in ["markdown", "asciidoc", "org"] {
        let text = write(form, &recording);
        let (fast, base) = (text.find("fast").unwrap(), text.find("base").unwrap());
        assert!(text[fast..base].contains("] faster"), "{text}");
        assert!(text[base..].contains("1.00 ") && !text[base..].contains('['), "{text}");
    }
}

#[test]
fn the_unit_is_that_of_the_first_row() {
    let text = write("markdown", &recording(&[("long", 2.0), ("short", 0.010)]));
    assert!(text.contains("| Mean [s] |") && text.contains("| `short` | 0.010 ± 0.000 |"), "{text}");
}

#[test]
fn a_name_over_two_lines_stays_in_one_row() {
    for form in ["markdown", "org"] {
        let text = write(form, &recording(&[("a\nb", 0.010), ("c\r\n|d", 0.012)]));
        assert_eq!(text.lines().count(), 4, "{text}");
    }
}
