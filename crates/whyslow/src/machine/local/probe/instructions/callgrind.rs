//! What valgrind's callgrind writes about one process: instructions by function. A parser of foreign text: what does not
//! fit is left out.

use std::collections::HashMap;
use std::io::{self, BufRead};

/// Sums over the files of all processes.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Counts {
    pub total: u64,
    /// Own instructions by module and function.
    pub functions: HashMap<(String, String), u64>,
}

/// Functions that are told apart.
const MOST_FUNCTIONS: usize = 100_000;

/// Longer lines are not read to their end.
const MOST_LINE_BYTES: u64 = 64 * 1024;

#[derive(Default)]
struct Names {
    known: HashMap<u64, String>,
}

impl Names {
    /// `(12) name` gives a number to a name, `(12)` is the name again; a name may also stand alone.
    fn resolve(&mut self, text: &str) -> String {
        let Some((number, rest)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
            return text.to_owned();
        };
        let Ok(number) = number.parse::<u64>() else { return text.to_owned() };
        let name = rest.trim();
        if !name.is_empty() && self.known.len() < MOST_FUNCTIONS {
            self.known.insert(number, name.to_owned());
        }
        self.known.get(&number).cloned().unwrap_or_else(|| "unknown".to_owned())
    }
}

/// Adds what the file of one process says.
pub fn add(mut text: impl BufRead, counts: &mut Counts) -> io::Result<()> {
    let (mut functions, mut modules) = (Names::default(), Names::default());
    let (mut function, mut module) = (String::new(), String::new());
    let mut is_inclusive = false;
    let mut line = Vec::new();
    loop {
        line.clear();
        if io::Read::take(&mut text, MOST_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if let Some(name) = line.strip_prefix("fn=") {
            function = functions.resolve(name);
        } else if let Some(name) = line.strip_prefix("ob=") {
            module = modules.resolve(name);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            // The names of the called have the same numbers.
            functions.resolve(name);
        } else if let Some(name) = line.strip_prefix("cob=") {
            modules.resolve(name);
        } else if line.starts_with("calls=") {
            is_inclusive = true;
        } else if let Some(cost) = cost(line) {
            // The line after a call has what the called function cost.
            if !std::mem::take(&mut is_inclusive) {
                own(counts, &module, &function, cost);
            }
        }
    }
}

fn own(counts: &mut Counts, module: &str, function: &str, cost: u64) {
    counts.total = counts.total.saturating_add(cost);
    let key = (module.to_owned(), function.to_owned());
    if counts.functions.len() < MOST_FUNCTIONS || counts.functions.contains_key(&key) {
        let known = counts.functions.entry(key).or_default();
        *known = known.saturating_add(cost);
    }
}

/// A position (a number, also relative to the last one, or the same), then the number of instructions.
fn cost(line: &str) -> Option<u64> {
    if !line.starts_with(|letter: char| letter.is_ascii_digit() || "+-*".contains(letter)) {
        return None;
    }
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::mutated::mutated;
    use super::*;

    const TEXT: &[u8] = b"# callgrind format\nversion: 1\npositions: line\nevents: Ir\nsummary: 125\n\n\
        ob=(1) /bin/x\nfl=(1) x.c\nfn=(1) main\n1 10\n+1 5\ncfn=(2) work\ncalls=2 4\n* 110\n3 10\n\n\
        fn=(2)\n4 60\n-1 40\n\ntotals: 125\n";

    #[test]
    fn own_instructions() {
        let mut counts = Counts::default();
        add(TEXT, &mut counts).unwrap();
        add(TEXT, &mut counts).unwrap();
        let of = |name: &str| counts.functions[&("/bin/x".to_owned(), name.to_owned())];
        assert_eq!((counts.total, of("main"), of("work")), (250, 50, 200));
    }

    proptest! {
        #[test]
        fn nothing_panics_on_broken_text(bytes in mutated(vec![TEXT.to_vec()])) {
            add(&bytes[..], &mut Counts::default()).unwrap();
        }

        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0..TEXT.len()) {
            let mut counts = Counts::default();
            add(&bytes[..], &mut counts).unwrap();
            add(&[&TEXT[..cut], &bytes].concat()[..], &mut counts).unwrap();
        }
    }
}
