//! Judges `whyslow explain` by slowdowns whose cause is known:
//! `cargo run --release --example evaluate -- FOLDER [--repeat N] [--json FILE] [CASE...]`.
//!
//! FOLDER holds `cases/*.toml` and `src`, in the form that docs/evaluation.md describes; generated files go to
//! `$CORPUS_WORK` (default FOLDER/.work). Every case is set up, measured and explained as the command would do it, in a
//! clean environment, and its diagnosis is compared with the truth. Exit code 0: no wrong confirmation and no wrong
//! verdict; 1: there was one; 2: it could not be done.

mod case;
mod investigation;
mod judgement;
mod options;
mod totals;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result};
use case::{Case, Folder};
use judgement::Judgement;
use options::Options;

/// Set in the clean environment, so that it is made only once.
const MARK: &str = "WHYSLOW_EVALUATES";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool> {
    let options = Options::parse(std::env::args().skip(1))?;
    let folder = Folder::new(&options.folder)?;
    if std::env::var_os(MARK).is_none() {
        return Err(clean_start(&folder).into());
    }
    // SAFETY: no other thread runs yet.
    unsafe { std::env::remove_var(MARK) };
    let cases = folder.cases(&options.cases)?;
    let mut judgements = Vec::new();
    for case in &cases {
        for _ in 0..options.repeats(case) {
            let judgement = evaluate(&folder, case, &options)?;
            println!("{}", judgement.line());
            judgements.push(judgement);
        }
    }
    println!("{}", totals::text(&judgements));
    if let Some(path) = &options.json {
        std::fs::write(path, serde_json::to_string_pretty(&judgements)?).context("cannot write the JSON")?;
    }
    Ok(judgements.iter().all(Judgement::is_harmless))
}

/// The same program in the environment that the commands are to have. Returns only if that fails.
fn clean_start(folder: &Folder) -> std::io::Error {
    let Ok(program) = std::env::current_exe() else {
        return std::io::Error::other("this program has no path");
    };
    Command::new(program)
        .args(std::env::args_os().skip(1))
        .env_clear()
        .envs(folder.environment())
        .env(MARK, "1")
        .exec()
}

fn evaluate(folder: &Folder, case: &Case, options: &Options) -> Result<Judgement> {
    let began = Instant::now();
    if let Err(error) = folder.set_up(case) {
        return Ok(Judgement::impossible(case, &format!("{error:#}")));
    }
    let set_up_s = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let explained = investigation::explain(folder, case, options)?;
    let mut judgement = Judgement::of(case, &explained);
    judgement.took_s = began.elapsed().as_secs_f64();
    judgement.set_up_s = set_up_s;
    Ok(judgement)
}
