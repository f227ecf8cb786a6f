//! What other tools are known to get wrong, each case on its small input. docs/cases.md is the table of all of them, with
//! the tests that hold them; here are those that have no better place.

mod common;

#[path = "cases/hands.rs"]
mod hands;
#[path = "cases/processes.rs"]
mod processes;
#[path = "cases/table.rs"]
mod table;
#[path = "cases/verdicts.rs"]
mod verdicts;
