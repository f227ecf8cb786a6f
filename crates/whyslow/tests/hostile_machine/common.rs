//! Short ways to say a launch and to ask about its outcome.

use std::path::Path;
use std::time::Duration;

use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::machine::{Machine, Outcome};
use whyslow::model::{Direction, Launch, Metric, Noise, Output, Pattern, Source, Unit};

pub fn machine() -> Local {
    Local::start(Interrupt::new().unwrap(), Settings::default()).unwrap()
}

pub fn shell(script: &str) -> Launch {
    Launch { argv: ["sh", "-c", script].map(Into::into).to_vec(), ..Launch::default() }
}

pub fn shell_to(stdout: Output, script: &str) -> Launch {
    Launch { stdout, ..shell(script) }
}

/// A number that the program prints.
pub fn printed(pattern: Pattern, scale: f64) -> Metric {
    Metric {
        name: "printed".into(),
        unit: Unit::Number,
        better: Direction::Less,
        noise: Noise::Noisy,
        source: Some(Source { pattern, scale }),
    }
}

pub fn number(expression: &str) -> Metric {
    printed(Pattern::Regex(expression.into()), 1.0)
}

/// The number that the script prints.
pub fn number_of(machine: &mut Local, launch: &Launch, expression: &str) -> Option<f64> {
    machine.run(launch, &[number(expression)]).unwrap().values[0]
}

pub fn value(outcome: &Outcome, name: &str) -> Option<f64> {
    let index = Metric::all_known().iter().position(|metric| metric.name == name).unwrap();
    outcome.values[index]
}

/// Waits for a process to be gone, for at most 20 seconds.
pub fn is_soon_gone(pid: &str) -> bool {
    soon(|| !Path::new("/proc").join(pid).exists())
}

pub fn soon(mut is_so: impl FnMut() -> bool) -> bool {
    (0..2000).any(|_| {
        let now = is_so();
        if !now {
            std::thread::sleep(Duration::from_millis(10));
        }
        now
    })
}

/// The first word in a file, once it is there.
pub fn word_in(path: &Path) -> String {
    let mut word = String::new();
    assert!(soon(|| {
        word = std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        !word.is_empty()
    }));
    word
}
