//! Instructions, where they can be counted.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Instructions {
    pub total: u64,
    /// What counted: `hardware counters` or `callgrind`.
    pub source: String,
    /// Most first; empty where only the total is known.
    pub functions: Vec<CountedFunction>,
}

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CountedFunction {
    pub name: String,
    pub module: String,
    pub own: u64,
}
