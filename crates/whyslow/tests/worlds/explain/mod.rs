//! Whole investigations on simulated machines: for every suspect a world in which it is guilty, worlds in which it is loud
//! and innocent, worlds with two culprits, and worlds in which little can be seen. Everything is fixed by seeds, and takes
//! simulated time only.

mod bounds;
mod coverage;
mod decoys;
mod guilty;
mod honesty;
mod layouts;
mod pairs;
mod rows;
mod rows_files;
mod rows_memory;
mod rows_runtimes;
mod rows_system;
mod scene;
mod signs;
