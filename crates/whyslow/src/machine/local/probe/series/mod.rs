//! Not built yet.

use super::{Looker, not_yet};
use crate::model::{Missing, Probe, Probed};

pub fn can() -> Result<(), Missing> {
    Err(not_yet(Probe::Series))
}

pub fn look(_looker: &Looker<'_>) -> Result<Probed, Missing> {
    Err(not_yet(Probe::Series))
}
