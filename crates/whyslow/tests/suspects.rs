//! docs/suspects.md is made from the table of suspects, and stays equal to it: `WHYSLOW_BLESS=1 cargo test -p whyslow
//! --test suspects` writes it anew.

use std::fs;
use std::path::Path;

use whyslow::explain::{SUSPECTS, Suspect};

/// Groups by the first part of a name, in the order of the document.
const GROUPS: [(&str, &str); 16] = [
    ("env", "Environment"),
    ("alloc", "Allocators"),
    ("mem", "Memory"),
    ("link", "Linking"),
    ("build", "Builds"),
    ("rt", "Run times and interpreters"),
    ("io", "Input and output"),
    ("data", "Data"),
    ("proc", "Processes"),
    ("algo", "Algorithms"),
    ("code", "Code"),
    ("conc", "Threads"),
    ("sched", "Scheduling"),
    ("wait", "Waiting"),
    ("cpu", "The CPU"),
    ("sys", "The system"),
];

const INTRODUCTION: &str = "\
# Suspects

What `whyslow explain` knows as a cause. It names one when the signs of a run point at it, in numbers: time in functions,
system calls times what one costs here, page faults, files, settings that differ. *Confirmed* is a suspect only when taking
it away closes a part of the gap; where nothing can be taken away from outside, the cause is *located*. A difference that
could not account for 5 % of the gap accuses nobody, however loud it is.

Suspects of your own: [explain-your-own.md](explain-your-own.md).

<!-- Made from the table in crates/whyslow/src/explain/suspects by a test: change it there. -->
";

#[test]
fn the_document_says_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/suspects.md");
    let text = document();
    if std::env::var_os("WHYSLOW_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == written,
        "docs/suspects.md differs from the table; WHYSLOW_BLESS=1 cargo test -p whyslow --test suspects writes it anew"
    );
}

#[test]
fn every_suspect_is_in_a_group_of_the_document() {
    for suspect in SUSPECTS {
        let group = group(suspect);
        assert!(GROUPS.iter().any(|(name, _)| *name == group), "{} needs a row in GROUPS", suspect.name);
    }
}

fn document() -> String {
    let mut text = INTRODUCTION.to_owned();
    text += "\n| name | what |\n|:--|:--|\n";
    for suspect in GROUPS.iter().flat_map(|(group, _)| of_group(group)) {
        let anchor = suspect.name.replace('.', "");
        text += &format!("| [{}](#{anchor}) | {} |\n", suspect.name, suspect.title);
    }
    for (group, title) in GROUPS {
        text += &format!("\n## {title}\n");
        text.extend(of_group(group).map(page));
    }
    text
}

fn page(suspect: &Suspect) -> String {
    let parts = [
        ("Shows as", suspect.shows),
        ("Tested by", suspect.test),
        ("Fixed by", suspect.fix),
        ("Reported in", suspect.report),
    ];
    let (title, about) = (capital(suspect.title), one_line(suspect.about));
    let mut text = format!("\n### {}\n\n**{title}.** {about}\n\n", suspect.name);
    text.extend(parts.map(|(title, what)| format!("* **{title}:** {}\n", one_line(what))));
    text
}

fn of_group(name: &str) -> impl Iterator<Item = &'static Suspect> {
    SUSPECTS.iter().filter(move |suspect| group(suspect) == name)
}

fn group(suspect: &Suspect) -> &'static str {
    suspect.name.split('.').next().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What Markdown would take for emphasis or a tag.
fn escaped(text: &str) -> String {
    text.replace('*', "\\*").replace('_', "\\_").replace('<', "\\<")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
