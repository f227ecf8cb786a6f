//! What can be typed.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::case::Case;

#[derive(Debug, Default)]
pub struct Options {
    pub folder: PathBuf,
    pub cases: Vec<String>,
    /// How often cases without a difference are evaluated.
    pub repeat: Option<usize>,
    pub json: Option<PathBuf>,
    /// Where the recordings go, for `whyslow report`.
    pub keep: Option<PathBuf>,
    /// Prints the explanations as well.
    pub verbose: bool,
}

impl Options {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Options> {
        let mut options = Options::default();
        let mut plain = Vec::new();
        while let Some(word) = words.next() {
            let mut value = |name: &str| words.next().with_context(|| format!("{name} needs a value"));
            match word.as_str() {
                "--repeat" => {
                    options.repeat = Some(value("--repeat")?.parse().context("--repeat takes a number")?)
                }
                "--json" => options.json = Some(value("--json")?.into()),
                "--keep" => options.keep = Some(value("--keep")?.into()),
                "--verbose" => options.verbose = true,
                other if other.starts_with("--") => bail!("there is no option {other}"),
                _ => plain.push(word),
            }
        }
        let mut plain = plain.into_iter();
        let folder = plain.next().context("which folder of cases? evaluate FOLDER [CASE...]")?;
        options.folder = std::fs::canonicalize(&folder).with_context(|| format!("cannot find {folder}"))?;
        options.cases = plain.collect();
        Ok(options)
    }

    /// Only a case without a difference says more when it is asked again.
    pub fn repeats(&self, case: &Case) -> usize {
        if case.truth.auto == "none" { self.repeat.unwrap_or(1) } else { 1 }
    }
}
