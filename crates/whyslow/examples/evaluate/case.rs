//! Cases on disk: a fast and a slow side, and the truth about them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// A folder of cases.
pub struct Folder {
    root: PathBuf,
    pub work: PathBuf,
}

#[derive(Debug, Deserialize)]
pub struct Case {
    pub id: String,
    #[serde(default)]
    pub setup: String,
    pub baseline: Side,
    pub slow: Side,
    pub truth: Truth,
}

#[derive(Debug, Deserialize)]
pub struct Side {
    pub cmd: String,
    #[serde(default)]
    pub shell: bool,
    #[serde(default)]
    pub env: BTreeMap<String, Value>,
    #[serde(default)]
    pub prepare: String,
    /// Exit codes that are a success.
    #[serde(default = "only_zero")]
    pub rc: Vec<i32>,
}

/// Of a variable.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `__unset__` removes it.
    Text(String),
    Repeated {
        repeat: String,
        times: usize,
    },
}

#[derive(Debug, Deserialize)]
pub struct Truth {
    /// `slower` or `same`.
    pub verdict: String,
    #[serde(default)]
    pub suspects: Vec<String>,
    #[serde(default)]
    pub innocent: Vec<String>,
    #[serde(default)]
    pub evidence: Vec<String>,
    /// `env`, `wrap`, `factor`, `point` or `none`: how far anybody can get from outside.
    pub auto: String,
}

fn only_zero() -> Vec<i32> {
    vec![0]
}

impl Folder {
    pub fn new(root: &Path) -> Result<Folder> {
        if !root.join("cases").is_dir() {
            bail!("{} has no folder `cases`", root.display());
        }
        let work = std::env::var_os("CORPUS_WORK").map_or_else(|| root.join(".work"), PathBuf::from);
        std::fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
        Ok(Folder { root: root.to_owned(), work })
    }

    pub fn cases(&self, wanted: &[String]) -> Result<Vec<Case>> {
        let mut names = wanted.to_vec();
        if names.is_empty() {
            for entry in std::fs::read_dir(self.root.join("cases"))? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "toml") {
                    names.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
                }
            }
            names.sort();
        }
        names.iter().map(|name| self.case(name)).collect()
    }

    fn case(&self, name: &str) -> Result<Case> {
        let path = self.root.join("cases").join(format!("{name}.toml"));
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not a case", path.display()))
    }

    /// What every command has around it, and nothing else.
    pub fn environment(&self) -> Vec<(String, String)> {
        let home = std::env::var("HOME").unwrap_or_else(|_| "/".to_owned());
        let mut variables = vec![
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned()),
            ("HOME", home),
            ("LANG", "C.UTF-8".to_owned()),
            ("S", self.sources()),
            ("W", self.work.display().to_string()),
            ("CORPUS_WORK", self.work.display().to_string()),
        ];
        if let Ok(root) = std::env::var("PYENV_ROOT") {
            variables.push(("PYENV_ROOT", root));
        }
        variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn sources(&self) -> String {
        self.root.join("src").display().to_string()
    }

    /// Puts the places in.
    pub fn expand(&self, text: &str) -> String {
        let home = std::env::var("HOME").unwrap_or_default();
        let pyenv = std::env::var("PYENV_ROOT").unwrap_or_else(|_| format!("{home}/.pyenv"));
        let work = self.work.display().to_string();
        text.replace("{S}", &self.sources()).replace("{W}", &work).replace("{PYENV}", &pyenv)
    }

    pub fn set_up(&self, case: &Case) -> Result<()> {
        if case.setup.trim().is_empty() {
            return Ok(());
        }
        let output = Command::new("/bin/sh")
            .args(["-ec", &self.expand(&case.setup)])
            .current_dir(&self.work)
            .env_clear()
            .envs(self.environment())
            .stdin(Stdio::null())
            .output()
            .context("cannot run sh")?;
        if !output.status.success() {
            bail!("its setup failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}
