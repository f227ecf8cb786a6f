//! The launcher on systems that have none: it says so.

use crate::{Counters, LauncherError, Program, Reply, Request, Watch};
use std::convert::Infallible;

pub struct Launcher {
    never: Infallible,
}

impl Launcher {
    pub fn start() -> Result<Launcher, LauncherError> {
        Err(LauncherError::Unsupported)
    }

    pub fn counters(&self) -> &Counters {
        match self.never {}
    }

    pub fn run(&mut self, _request: &Request, _watch: Watch<'_>) -> Result<Reply, LauncherError> {
        match self.never {}
    }

    pub fn null_program(&self) -> Program {
        match self.never {}
    }

    pub fn process_id(&self) -> u32 {
        match self.never {}
    }
}
