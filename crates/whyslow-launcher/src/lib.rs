//! Starts measured commands from a tiny process.
