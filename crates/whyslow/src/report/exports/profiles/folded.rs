//! Folded stacks: frames from the outermost one, apart by semicolons, then a whole number.

use std::io::{self, Write};

use super::{Gathered, gather};
use crate::model::{Probe, Recording};

/// Microseconds of CPU time; page faults where there is no profile of CPU time. Several variants are outermost frames.
pub fn folded(recording: &Recording, file: &mut dyn Write) -> io::Result<()> {
    let all = gather(recording);
    let Some(first) = all.first() else { return Ok(()) };
    let same: Vec<&Gathered> = all.iter().filter(|gathered| gathered.probe == first.probe).collect();
    let scale = if first.probe == Probe::Cpu { 1e6 } else { 1.0 };
    for gathered in &same {
        let variant = (same.len() > 1).then(|| frame(&gathered.variant));
        for (sites, weight) in gathered.with_threads() {
            let frames = variant.iter().cloned().chain(sites.iter().map(|site| frame(&site.name)));
            let count = (weight * scale).round();
            if count >= 1.0 {
                writeln!(file, "{} {count:.0}", frames.collect::<Vec<_>>().join(";"))?;
            }
        }
    }
    Ok(())
}

/// A name may hold neither what ends a frame nor what ends a line.
fn frame(name: &str) -> String {
    let text = crate::report::printable(name).replace(';', ":");
    if text.is_empty() { "?".to_owned() } else { text }
}
