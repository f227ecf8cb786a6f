//! Pure statistics of measurements.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
