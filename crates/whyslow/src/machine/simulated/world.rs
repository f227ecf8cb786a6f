//! The truth that a simulated machine follows: programs, noise, load, rights and a seed. Pure data that can be
//! written to a file and read back; the same world always gives the same runs.

use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::load::Load;
use super::noise::Noise;
use super::program::{Cost, Program};
use super::rights::Rights;
use crate::model::{ByteText, Circumstances, CpuQuota, Floor, Host};

/// Everything that decides how runs go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    pub programs: Vec<Program>,
    pub noise: Noise,
    /// A clock that changes its frequency, as a machine that becomes hot does: CPU time follows it and the
    /// conditions of the runs show it. For a drift that no sensor shows see [`Noise::Drifting`].
    pub drift: Drift,
    /// Beside the load that the noise may bring.
    pub load: Load,
    /// Seconds that a hypervisor takes for each second on a CPU.
    pub steal: f64,
    pub rights: Rights,
    pub seed: u64,
    /// Names that may stand in front of a program with words of their own, besides `env`. They start the first word
    /// that names a program, and cost nothing themselves.
    pub wrappers: Vec<ByteText>,
    /// What programs inherit; the edits of a launch change it.
    pub environment: Vec<(ByteText, ByteText)>,
    /// Length of a tick where the kernel books user and system time by it; otherwise the split is exact.
    pub tick_s: Option<f64>,
    /// What starting a program that does nothing costs; the programs' own costs include it.
    pub floor: Option<Floor>,
    /// Time between runs: starting, reaping, writing down.
    pub overhead_s: f64,
    /// Memory and page faults of a run vary by up to this many pages.
    pub stray_pages: u64,
    pub interrupt: Option<Interrupt>,
    pub sleep: Option<Sleep>,
}

/// The computer is suspended during one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sleep {
    /// So many whole runs come before it.
    pub after_runs: usize,
    pub seconds: f64,
}

/// When the user of the world has had enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    /// In the middle of the run that follows that many whole ones.
    AfterRuns(usize),
    /// At this time of the simulated clock.
    AtSecond(f64),
}

/// CPUs of every simulated machine.
pub const CPUS: usize = 2;
/// Their frequency while nothing slows them.
pub const FREQUENCY_HZ: f64 = 3e9;

impl Default for World {
    fn default() -> Self {
        World {
            programs: Vec::new(),
            noise: Noise::None,
            drift: Drift::None,
            load: Load::Idle,
            steal: 0.0,
            rights: Rights::default(),
            seed: 0,
            wrappers: Vec::new(),
            environment: Vec::new(),
            tick_s: None,
            floor: Some(Floor { wall_s: 0.0005, cpu_s: Some(0.0004), peak_rss_bytes: Some(1_048_576.0) }),
            overhead_s: 0.0005,
            stray_pages: 3,
            interrupt: None,
            sleep: None,
        }
    }
}

impl World {
    /// Two programs, "a" and "b"; the CPU time of "b" is `ratio` times that of "a".
    pub fn pair(fast_s: f64, ratio: f64) -> Self {
        World::default()
            .with_program(Program::new("a", Cost::of_cpu(fast_s)))
            .with_program(Program::new("b", Cost::of_cpu(fast_s * ratio)))
    }

    pub fn with_program(mut self, program: Program) -> Self {
        self.programs.push(program);
        self
    }

    pub fn with_noise(self, noise: Noise) -> Self {
        World { noise, ..self }
    }

    pub fn with_drift(self, drift: Drift) -> Self {
        World { drift, ..self }
    }

    pub fn with_load(self, load: Load) -> Self {
        World { load, ..self }
    }

    pub fn with_steal(self, steal: f64) -> Self {
        World { steal, ..self }
    }

    pub fn with_rights(self, rights: Rights) -> Self {
        World { rights, ..self }
    }

    pub fn with_seed(self, seed: u64) -> Self {
        World { seed, ..self }
    }

    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub fn with_wrapper(mut self, name: &str) -> Self {
        self.wrappers.push(name.into());
        self
    }

    pub fn with_tick(self, tick_s: f64) -> Self {
        World { tick_s: Some(tick_s), ..self }
    }

    pub fn with_interrupt(self, interrupt: Interrupt) -> Self {
        World { interrupt: Some(interrupt), ..self }
    }

    /// The program of that name, to be changed in place.
    pub fn program_mut(&mut self, name: &str) -> Option<&mut Program> {
        self.programs.iter_mut().find(|program| program.name.0 == name.as_bytes())
    }

    /// The program that a command line starts, and the word that names it.
    pub fn find(&self, argv: &[ByteText]) -> Option<(usize, usize)> {
        let named = |word: &ByteText| self.programs.iter().position(|program| program.name == *word);
        let is_wrapper = |word: &ByteText| *word == "env".into() || self.wrappers.contains(word);
        match named(argv.first()?) {
            Some(program) => Some((program, 0)),
            None if is_wrapper(&argv[0]) => {
                argv.iter().enumerate().find_map(|(place, word)| Some((named(word)?, place)))
            }
            None => None,
        }
    }

    /// An invented machine, the same for every world except for its bookkeeping, so that what is printed about
    /// it does not depend on where it is printed.
    pub fn host(&self) -> Host {
        Host {
            name: "simulated".into(),
            kernel: "simulated 1.0".into(),
            architecture: "simulated".into(),
            cpu_model: Some("Simulated CPU at 3 GHz".into()),
            cpus: CPUS,
            memory_bytes: Some(8 << 30),
            governor: Some("performance".into()),
            clocksource: Some("simulated".into()),
            hypervisor: Some(self.steal > 0.0),
            tick_accounting: Some(self.tick_s.is_some()),
            tick_s: self.tick_s,
        }
    }

    /// A machine that nothing can be said against, except that it may be busy.
    pub fn circumstances(&self) -> Circumstances {
        Circumstances {
            online_cpus: Some(CPUS),
            cpu_quota: Some(CpuQuota::Unlimited),
            turbo: Some(false),
            huge_pages: Some("madvise".into()),
            load: Some(if self.load == Load::Idle { 0.0 } else { CPUS as f64 + 1.0 }),
            autogroup: Some(true),
            address_randomization: Some(2),
            available_bytes: Some(7 << 30),
            swap_used_bytes: Some(0),
            perf_event_paranoid: Some(if self.rights.perf { 1 } else { 3 }),
            ptrace_scope: Some(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cause::{Cause, Condition, Effect};
    use super::super::failure::{Failure, How};
    use super::*;

    #[test]
    fn a_world_survives_being_written_down() {
        let cause = Cause::new("malloc", Condition::env_is_set("POOL").negated(), Effect::on_cpu(1.5));
        let failing = Program::new("c", Cost::of_cpu(0.01)).with_cause(cause).hanging();
        let not_started = Failure::always(How::NotStarted { errno: 13, step: "exec".into() });
        let world = World::pair(0.02, 1.1)
            .with_noise(Noise::all_ten()[7].1)
            .with_drift(Drift::Step { change: 0.1, at_run: 5 })
            .with_program(failing.with_failure(not_started))
            .with_variable("LANG", "C")
            .with_tick(0.004)
            .with_interrupt(Interrupt::AtSecond(3.0));
        let written = serde_json::to_string(&world).unwrap();
        assert_eq!(serde_json::from_str::<World>(&written).unwrap(), world);
    }

    #[test]
    fn a_world_file_says_only_what_is_special() {
        let text = r#"{
            "programs": [{"name": "a", "cost": {"user_s": 0.02}}],
            "noise": {"white": {"scatter": 0.02}},
            "load": {"steady": {"waiting": 0.5}},
            "interrupt": {"after_runs": 3}
        }"#;
        let cost = Cost { user_s: 0.02, ..Cost::default() };
        let expected = World::default()
            .with_program(Program::new("a", cost))
            .with_noise(Noise::White { scatter: 0.02 })
            .with_load(Load::Steady(super::super::load::Competition { waiting: 0.5, slowdown: 0.0 }))
            .with_interrupt(Interrupt::AfterRuns(3));
        assert_eq!(serde_json::from_str::<World>(text).unwrap(), expected);
    }

    #[test]
    fn a_misspelt_world_is_refused() {
        assert!(serde_json::from_str::<World>(r#"{"sede": 1}"#).is_err());
    }
}
