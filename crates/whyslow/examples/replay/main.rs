//! Shows that the decision procedure keeps its promises: `cargo run --release --example replay -- [FOLDER]`.
//!
//! Recorded noise of a real machine is replayed through the very functions that a session uses, with effects that
//! are known because nothing, or a known share, was added. The bars are those of METHODOLOGY.md. The same folder
//! gives the same figures every time. Exit code 0: all bars hold; 1: one does not; 2: it could not be done.

mod adaptive;
mod bars;
mod injected;
mod relabelled;
mod sessions;
mod simulated;
mod table;
mod tally;
mod trace;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use bars::Bars;
use trace::Trace;

const OWN_TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces");
const SEED: u64 = 20_260;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).map_or_else(|| OWN_TRACES.into(), PathBuf::from);
    match run(&folder) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(folder: &Path) -> Result<bool> {
    let began = Instant::now();
    let mut bars = Bars::default();
    let (same, blocks) = read(folder)?;
    relabelled::nothing_is_claimed(&same, SEED, &mut bars);
    relabelled::effects_are_found(&same, SEED, &mut bars);
    injected::work_is_measured(&blocks, &mut bars);
    simulated::nothing_is_claimed(SEED, &mut bars);
    eprintln!("took {:.0} s", began.elapsed().as_secs_f64());
    Ok(bars.finish())
}

/// The traces of one command (`aa_*.csv`) and of randomised blocks (`rcb_*.csv`), by name.
fn read(folder: &Path) -> Result<(Vec<Trace>, Vec<Trace>)> {
    let (mut same, mut blocks) = (Vec::new(), Vec::new());
    println!("Traces in {}", folder.display());
    for path in csv_files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = match name.split_once('_') {
            Some(("aa", _)) => &mut same,
            Some(("rcb", _)) => &mut blocks,
            _ => {
                println!("  {name}: not of a kind that is replayed, ignored");
                continue;
            }
        };
        let trace = Trace::read(&path)?;
        println!("  {name}: {} runs, {} failed and left out", trace.runs.len(), trace.failed);
        kind.push(trace);
    }
    anyhow::ensure!(!same.is_empty(), "there is no trace aa_*.csv in {}", folder.display());
    Ok((same, blocks))
}

fn csv_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot read the folder {}", folder.display());
    let entries = std::fs::read_dir(folder).with_context(unreadable)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "csv"));
    paths.sort();
    Ok(paths)
}
