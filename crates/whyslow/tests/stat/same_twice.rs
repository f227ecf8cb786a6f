//! One command against itself, as hyperfine measured it on a machine with other load. Whatever it is asked, `stat` must
//! not call either of the two faster or slower; the exports were made because ministat and hyperfine do.

use std::path::Path;

use whyslow::report::VIEWS;

use crate::{json, peer, shown};

/// Set to a folder with more files of the kind.
const MORE: &str = "WHYSLOW_SAME_TWICE";

fn files() -> Vec<String> {
    let mut files: Vec<String> = ["iso_split_3", "sort_2", "split_1"]
        .map(|name| peer(&format!("hyperfine-same-twice-{name}.json")))
        .to_vec();
    if let Some(folder) = std::env::var_os(MORE) {
        let entries = std::fs::read_dir(Path::new(&folder)).expect("a folder").flatten();
        let paths = entries.map(|entry| entry.path().to_str().unwrap().to_owned());
        files.extend(paths.filter(|path| path.ends_with(".json")));
    }
    files
}

/// The words of a claim; "cannot say faster or slower" is none.
fn claims(text: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = text.replace("cannot say faster or slower", "");
    rest.contains("faster") || rest.contains("slower")
}

#[test]
fn no_view_says_faster_or_slower() {
    for file in files() {
        let ways = VIEWS.iter().map(|view| vec!["--view", view.name]);
        for way in ways.chain([vec![], vec!["-q"], vec!["-c", "80"], vec!["--margin", "0.1"]]) {
            let text = shown(&[&[file.as_str()], &way[..]].concat());
            assert!(!text.is_empty() && !claims(&text), "{file} {way:?}\n{text}");
        }
    }
}

#[test]
fn json_says_unsafe() {
    for file in files() {
        let result = json(&[&file]);
        let comparisons = result["comparisons"].as_array().unwrap();
        assert_eq!(comparisons.len(), 1);
        assert_eq!(comparisons[0]["verdict"], "unsafe", "{file}");
        assert_eq!(comparisons[0]["schedule"], "blocked");
        assert!(comparisons[0]["ratio"]["low"].is_f64() && comparisons[0]["p"].is_f64());
    }
}

#[test]
fn no_export_says_faster_or_slower() {
    for file in files() {
        for form in ["json", "csv", "markdown"] {
            let text = shown(&[&file, "--quiet", "--export", &format!("{form}=-")]);
            assert!(text.contains("unsafe") && !claims(&text), "{file} {form}\n{text}");
        }
    }
}

/// The other tool's own numbers are beside it, digit for digit.
#[test]
fn the_numbers_of_hyperfine_are_unchanged() {
    for file in files() {
        let text = shown(&[&file]).split_whitespace().collect::<Vec<_>>().join(" ");
        let original: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for result in original["results"].as_array().unwrap() {
            for name in ["mean", "stddev", "median", "user", "system", "min", "max"] {
                let number = result[name].as_f64().unwrap();
                assert!(text.contains(&format!("{name} {number}")), "{name} {number}\n{text}");
            }
        }
    }
}
