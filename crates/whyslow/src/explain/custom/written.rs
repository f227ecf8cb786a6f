//! The form of the text, as serde reads it. What it means is not known here.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub suspect: Vec<Spanned<Written>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    pub name: Spanned<String>,
    pub title: Spanned<String>,
    #[serde(default)]
    pub about: String,
    pub advice: Spanned<String>,
    pub trigger: Spanned<Trigger>,
    pub edit: Option<Spanned<Edit>>,
    pub expect: Option<Spanned<Expect>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    pub program: Option<OneOrMore>,
    pub variable_set: Option<Spanned<String>>,
    pub variable_differs: Option<Spanned<String>>,
    pub metric: Option<Metric>,
    pub function: Option<Function>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    pub name: Spanned<String>,
    pub more_than: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    pub contains: Spanned<String>,
    /// Part of the gap.
    pub share: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    #[serde(default)]
    pub unset: Vec<String>,
    pub preload: Option<String>,
    pub wrap: Option<Vec<String>>,
    pub affinity: Option<Vec<usize>>,
    pub sides: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    pub fact: String,
    #[serde(default)]
    pub contains: String,
}
