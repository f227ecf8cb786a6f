//! When and how a simulated program fails. Pure: the chance is decided by a number that is handed in.

use serde::{Deserialize, Serialize};

use super::cause::Condition;
use crate::model::{ByteText, Exit};

/// A way to fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub when: When,
    pub how: How,
    /// Share of its work that the run has done by then.
    #[serde(default = "all_of_it")]
    pub after: f64,
    /// What it writes to its standard error; where absent, a sentence for exit codes and nothing for signals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// It fails only where this is true of the launch.
    #[serde(default)]
    pub given: Condition,
}

/// In which runs of the program, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Run n, 2n, 3n ...; never for 0.
    Every(usize),
    /// Run n and all later ones.
    From(usize),
    /// Each run for itself.
    Chance(f64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Exit(i32),
    Signal(i32),
    Stop(i32),
    NotStarted {
        errno: i32,
        step: String,
    },
    /// Does its work and then waits for ever: a timeout or an interrupt must end it.
    Hang,
}

fn all_of_it() -> f64 {
    1.0
}

impl Failure {
    /// In every run, after all the work.
    pub fn always(how: How) -> Self {
        Failure { when: When::From(1), how, after: 1.0, message: None, given: Condition::Always }
    }

    /// What the run with this number leaves on its standard error.
    pub fn stderr(&self, name: &ByteText, number: usize) -> Vec<u8> {
        let default = || match self.how {
            How::Exit(code) if code != 0 => {
                format!("{}: simulated failure in run {number}\n", name.lossy())
            }
            _ => String::new(),
        };
        self.message.clone().unwrap_or_else(default).into_bytes()
    }
}

impl When {
    /// Whether it is this run; `draw` is uniform in 0..1.
    pub fn strikes(self, number: usize, draw: f64) -> bool {
        match self {
            When::Every(step) => step > 0 && number.is_multiple_of(step),
            When::From(first) => number >= first,
            When::Chance(chance) => draw < chance,
        }
    }
}

impl How {
    /// How the run ends; `None` when it does not.
    pub fn exit(&self) -> Option<Exit> {
        match self {
            How::Exit(code) => Some(Exit::Code(*code)),
            How::Signal(signal) => Some(Exit::Signal(*signal)),
            How::Stop(signal) => Some(Exit::Stopped(*signal)),
            How::NotStarted { errno, step } => Some(Exit::NotStarted { errno: *errno, step: step.clone() }),
            How::Hang => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn struck(when: When) -> Vec<usize> {
        (1..=6).filter(|&number| when.strikes(number, 0.5)).collect()
    }

    #[test]
    fn failures_strike_when_they_should() {
        assert_eq!(struck(When::Every(3)), [3, 6]);
        assert!(struck(When::Every(0)).is_empty());
        assert_eq!(struck(When::From(5)), [5, 6]);
        assert!(struck(When::Chance(0.5)).is_empty());
        assert_eq!(struck(When::Chance(0.51)).len(), 6);
    }

    #[test]
    fn only_a_failing_program_complains() {
        let text = |how| String::from_utf8(Failure::always(how).stderr(&"a".into(), 2)).unwrap();
        assert_eq!(text(How::Exit(1)), "a: simulated failure in run 2\n");
        assert_eq!(text(How::Signal(9)), "");
        let own = Failure { message: Some("oh".into()), ..Failure::always(How::Signal(6)) };
        assert_eq!(own.stderr(&"a".into(), 1), b"oh");
    }
}
