//! Where results and messages go, and what those places can show.

use std::io::{BufWriter, ErrorKind, IsTerminal, Write};

use super::Trouble;
use super::arguments::{ColourPolicy, Output};
use crate::report::Style;

/// Wider than this, lines are hard to follow.
const WIDEST: usize = 100;
const USUAL_WIDTH: usize = 80;

/// The two outputs of the program.
pub struct Screen<'a> {
    pub stdout: &'a mut dyn Write,
    pub stderr: &'a mut dyn Write,
    pub width: usize,
    pub unicode: bool,
    /// What each output shows unless the user says otherwise.
    pub colour: bool,
    pub error_colour: bool,
    /// Whether a line on the error output can be drawn over.
    pub can_redraw: bool,
}

impl<'a> Screen<'a> {
    /// What the terminal, the environment and the locale allow.
    pub fn of_process(stdout: &'a mut std::fs::File, stderr: &'a mut std::io::Stderr) -> Self {
        let width = terminal_size::terminal_size().map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
        let has_colour = |choice: anstream::ColorChoice| choice != anstream::ColorChoice::Never;
        Screen {
            width: width.min(WIDEST),
            unicode: is_unicode(|name| std::env::var(name).ok()),
            colour: has_colour(anstream::AutoStream::choice(&*stdout)),
            error_colour: has_colour(anstream::AutoStream::choice(&*stderr)),
            can_redraw: stderr.is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb"),
            stdout,
            stderr,
        }
    }

    /// A plain screen of 80 columns, as a file has.
    pub fn plain(stdout: &'a mut dyn Write, stderr: &'a mut dyn Write) -> Self {
        Screen {
            stdout,
            stderr,
            width: USUAL_WIDTH,
            unicode: true,
            colour: false,
            error_colour: false,
            can_redraw: false,
        }
    }

    pub fn style(&self, output: &Output) -> Style {
        self.style_in(output.color)
    }

    pub fn style_in(&self, policy: ColourPolicy) -> Style {
        let colour = match policy {
            ColourPolicy::Always => true,
            ColourPolicy::Never => false,
            ColourPolicy::Auto => self.colour,
        };
        Style { width: self.width, colour, unicode: self.unicode }
    }

    /// Prints a result. A reader that has seen enough (`| head`) is no error.
    pub fn print(&mut self, text: &str) -> Result<(), Trouble> {
        self.print_from(|stdout| stdout.write_all(text.as_bytes()))
    }

    /// The same for a result that is long and comes in pieces.
    pub fn print_from(
        &mut self,
        content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Trouble> {
        let mut output = BufWriter::new(&mut *self.stdout);
        let written = content(&mut output).and_then(|()| output.flush());
        // What is left in the buffer after an error has no place to go.
        let _ = output.into_parts();
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Trouble::new(format!("cannot write the result: {error}")))
            }
            _ => Ok(()),
        }
    }
}

/// The locale decides which characters a terminal can be expected to show.
fn is_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    set.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_variable_that_is_set_decides() {
        let with = |pairs: &'static [(&str, &str)]| {
            is_unicode(|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(with(&[("LANG", "C.UTF-8")]));
        assert!(with(&[("LC_ALL", ""), ("LANG", "de_DE.utf8")]));
        assert!(!with(&[("LC_ALL", "C"), ("LANG", "C.UTF-8")]));
        assert!(!with(&[]));
    }
}
