//! Perf events of a held command and all that comes of it: samples with whole stacks, and when its threads come and go.
//! Everything here works for an ordinary user, as far as the system lets it.

mod event;
mod events;
mod record;
mod refusal;
mod registers;
mod ring;
pub mod switches;
