//! Perf events of a held command and all that comes of it: samples with whole stacks, and when its threads come and go.
//! Everything here works for an ordinary user, as far as the system lets it.

#[cfg(any(test, fuzzing))]
pub mod any_ring;
pub mod elf;
pub mod event;
pub mod events;
mod fold;
pub mod hidden;
pub mod jit;
mod modules;
mod names;
#[cfg(test)]
mod nonsense;
mod processes;
pub mod record;
pub mod refusal;
mod registers;
mod ring;
pub mod sampling;
pub mod switches;

pub use ring::page_bytes;
