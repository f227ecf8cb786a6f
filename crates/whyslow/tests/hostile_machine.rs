//! The local machine and programs that make trouble, and systems on which little works: nothing hangs, nothing stays
//! behind, and what cannot be known is unknown. No test here looks at how long something takes.

mod hostile_machine {
    pub mod common;
    mod impatience;
    mod output;
    mod processes;
    mod sandbox;
    mod settings;
    mod whole_program;
}
