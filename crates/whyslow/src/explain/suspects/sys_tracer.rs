//! Somebody watches the program.

use super::evidence::{by_wrapper, joined};
use super::signs::base_name;
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "sys.tracer",
    title: "a tracer",
    about: "The program runs under a debugger, a tracer or an instrumenting tool, which stops it at every system call or \
            interprets every instruction.",
    shows: "strace, gdb, perf or valgrind among the programs; TracerPid in /proc/PID/status; two switches for every call.",
    test: "the tool that only one side has in front of the command is taken away",
    fix: "run without it, or trace less (strace --seccomp-bpf -e trace=...)",
    report: "pchaigno's measurement of strace: a kernel build of 12m27 took 24m54 under strace, 12m48 with --seccomp-bpf.",
    look,
};

const TOOLS: [&str; 13] = [
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "perf",
    "valgrind",
    "rr",
    "uftrace",
    "trace-cmd",
    "bpftrace",
    "heaptrack",
    "catchsegv",
    "proot",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    joined(by_wrapper(case, &TOOLS), by_signs(case))
}

fn by_signs(case: &Case<'_>) -> Option<Suspicion> {
    let tracer = case.fact_difference("tracer").and_then(|(_, slow)| slow).filter(|name| *name != "none");
    let started = only_slow_starts(case);
    let calls = super::signs::more_calls(case, &["ptrace"]).unwrap_or(0.0);
    if tracer.is_none() && started.is_none() && calls < 10.0 {
        return None;
    }
    let switches = case.more(|side| side.median("voluntary_switches")).unwrap_or(0.0);
    let priced = case.share(switches * case.prices.switch_s + calls * case.prices.syscall_s);
    let name = tracer.map(str::to_owned).or(started).unwrap_or_else(|| "a tracer".to_owned());
    let weight = super::evidence::specific(priced)?;
    let sign =
        format!("{name} watches it; {switches:.0} voluntary switches and {calls:.0} ptrace calls more");
    Some(Suspicion::located(case, weight, vec![sign]))
}

fn only_slow_starts(case: &Case<'_>) -> Option<String> {
    let tool = |side: &Side<'_>| {
        let programs = &side.syscalls()?.programs;
        let names = programs.iter().map(|program| base_name(&program.path));
        names.into_iter().find(|name| TOOLS.contains(name)).map(str::to_owned)
    };
    tool(&case.slow).filter(|_| tool(&case.fast).is_none())
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn strace_in_front_is_an_experiment() {
        let test = TestCase::new("getppid 20000", "strace -f -c -o /dev/null getppid 20000");
        let suspicion = test.look(&SUSPECT).unwrap();
        assert!(suspicion.claims[0].is_experiment);
    }

    #[test]
    fn a_tracer_within_a_script_is_located() {
        let test = TestCase::new("plain.sh", "traced.sh")
            .seconds(0.005, 0.36)
            .median("voluntary_switches", 1.0, 80_011.0)
            .facts(&[("tracer", "none")], &[("tracer", "strace")]);
        let suspicion = test.look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.5 && suspicion.claims.iter().all(|claim| !claim.is_experiment));
    }

    #[test]
    fn a_tracer_that_costs_nothing_is_innocent() {
        let test = TestCase::new("plain.sh", "traced.sh").facts(&[("tracer", "none")], &[("tracer", "gdb")]);
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
