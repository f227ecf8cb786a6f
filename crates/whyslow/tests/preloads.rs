//! Libraries of our own that are preloaded: each does to a real program what it says, and nothing is left behind.

#[path = "preloads/effects.rs"]
mod effects;
#[path = "preloads/programs.rs"]
mod programs;
