//! From a question to what is to be run: variants, block orders. Pure: no file, process, clock or environment.

mod orders;
mod question;
mod variants;

pub use orders::block_order;
pub use question::{PlanError, Question, compose};
pub use variants::variants;
