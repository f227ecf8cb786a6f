//! The program: everything is in the library.

use std::process::ExitCode;

use whyslow::machine::local::OrEnd;

#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

fn main() -> ExitCode {
    whyslow::cli::main()
}
