//! Distribution functions that stay right in the far tails and at extreme degrees of freedom.
//!
//! They are written here because p-values like 1e-300 and Student's t with half a degree of freedom or a
//! thousand million are exactly where common libraries lose their digits. Every function computes the tail
//! it is asked for and never as one minus the other tail.

mod beta;
pub mod chi_square;
pub mod fisher;
mod gamma;
pub mod normal;
pub mod student;
