//! Numbers from other programs (R, SciPy, NIST, ministat); each file under `vectors/` says which.

#[path = "reference/vectors.rs"]
mod vectors;

#[path = "reference/bootstrap.rs"]
mod bootstrap;
#[path = "reference/dip.rs"]
mod dip;
#[path = "reference/distributions.rs"]
mod distributions;
#[path = "reference/factors.rs"]
mod factors;
#[path = "reference/looks.rs"]
mod looks;
#[path = "reference/multiplicity.rs"]
mod multiplicity;
#[path = "reference/series.rs"]
mod series;
#[path = "reference/signed_rank.rs"]
mod signed_rank;
#[path = "reference/summary.rs"]
mod summary;
#[path = "reference/two_samples.rs"]
mod two_samples;
#[path = "reference/verdict.rs"]
mod verdict;
