//! Completions and manual pages, made from the table of arguments.

use std::io::Write;

use clap::CommandFactory;

use super::arguments::{Arguments, Completions, Man};
use super::{Screen, Status, Trouble};

pub fn completions(options: &Completions, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "whyslow", &mut script);
    screen.print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}

/// Each subcommand has a page of its own.
fn program_pages(program: &clap::Command) -> String {
    let pages = program.get_subcommands().filter(|command| command.get_name() != "help");
    pages.map(|command| format!("\\fBwhyslow man {}\\fR\n.br\n", command.get_name())).collect()
}

/// The page of the program, or of one subcommand.
pub fn man(options: &Man, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    let mut program = Arguments::command();
    program.build();
    let command = match &options.subcommand {
        None => program,
        Some(name) => program.find_subcommand(name).cloned().ok_or_else(|| {
            Trouble::new(format!("there is no subcommand `{name}`")).hint("see `whyslow --help`")
        })?,
    };
    let see_also = match &options.subcommand {
        None => program_pages(&command),
        Some(_) => "\\fBwhyslow man\\fR\n".to_owned(),
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .and_then(|()| write!(page, ".SH \"SEE ALSO\"\n{see_also}"))
        .map_err(|error| Trouble::new(format!("cannot make the manual page: {error}")))?;
    screen.print(&String::from_utf8_lossy(&page))?;
    Ok(Status::Done)
}
