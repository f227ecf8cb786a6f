//! Whole measurements on simulated machines, where the truth is known: each world with the verdict and the
//! concerns that it must lead to. Every world has a fixed seed, so nothing here depends on chance or on the
//! machine that runs the tests.

mod common;

#[path = "worlds/alone.rs"]
mod alone;
#[path = "worlds/effort.rs"]
mod effort;
#[path = "worlds/ends.rs"]
mod ends;
#[path = "worlds/explain/mod.rs"]
mod explain;
#[path = "worlds/metrics.rs"]
mod metrics;
#[path = "worlds/noise.rs"]
mod noise;
#[path = "worlds/rates.rs"]
mod rates;
