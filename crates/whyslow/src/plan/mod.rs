//! From a question to what is to be run: variants, block orders. Pure: no file, process, clock or environment.

mod effort;
mod error;
mod orders;
mod output_metrics;
pub mod parameters;
mod question;
mod surroundings;
mod variants;
mod words;
mod yardsticks;

pub use error::PlanError;
pub use orders::block_order;
pub use output_metrics::metric_from;
pub use parameters::Parameter;
pub use question::{Question, Surroundings, Typed, compose};
pub use variants::variants;
pub use yardsticks::{CPU_LOOP, JUST_A_START, yardsticks};
