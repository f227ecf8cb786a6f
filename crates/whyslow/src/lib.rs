//! whyslow runs the same work in several ways, says which is faster, whether the difference is real, and why.
//! ARCHITECTURE.md is the map; the order of the modules below is the order in which data flows.

pub mod analysis;
pub mod cli;
pub mod explain;
pub mod machine;
pub mod model;
pub mod peers;
pub mod plan;
pub mod report;
pub mod session;
pub mod store;
