//! What probes see of a run of a simulated program: what the program states, what the causes that apply add to it, and
//! facts that follow from the launch. Pure.

use std::ops::Add;

use super::cause::Surroundings;
use super::program::Program;
use crate::model::{
    Allocations, Environment, Files, Instructions, Loading, Probe, Profile, Series, Stack, SyscallCount,
    Syscalls, Trace, Waiting,
};

/// `None` where neither the program nor any of its causes states what the probe would see.
pub fn sight(program: &Program, surroundings: &Surroundings, probe: Probe) -> Option<Trace> {
    let of_causes = program.causes.iter().flat_map(|cause| &cause.traces);
    let is_stated = program.traces.iter().chain(of_causes).any(|trace| trace.probe() == probe);
    let active = program.active(surroundings).flat_map(|cause| &cause.traces);
    let mut stated = program.traces.iter().chain(active).filter(|trace| trace.probe() == probe);
    let mut seen = match probe {
        Probe::Environment => Trace::Environment(derived(surroundings)),
        _ if !is_stated => return None,
        // The first one as a whole: not everything can be added up.
        probe => stated.next().cloned().unwrap_or_else(|| nothing(probe)),
    };
    for trace in stated {
        add(&mut seen, trace);
    }
    if let Trace::Environment(seen) = &mut seen {
        limit(seen, surroundings);
    }
    Some(seen)
}

/// What follows from the launch: variables, preloaded libraries, and CPUs where the launch says which.
fn derived(surroundings: &Surroundings) -> Environment {
    let variables = surroundings.environment();
    let bytes: usize = variables.iter().map(|(name, value)| name.0.len() + value.0.len() + 2).sum();
    let mut facts = Environment::default().facts;
    if bytes > 0 {
        facts.insert("env.size".to_owned(), bytes.to_string());
    }
    for (name, value) in variables {
        facts.insert(format!("env.{}", name.lossy()), value.lossy().into_owned());
    }
    for library in surroundings.libraries() {
        let name = library.rsplit('/').next().unwrap_or(&library);
        facts.insert(format!("library.{name}"), library.clone());
    }
    if let Some(cpus) = &surroundings.launch.affinity {
        let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
        facts.insert("cpu.affinity".to_owned(), cpus.join(","));
    }
    Environment { facts }
}

/// The shim that lowers the number of open files does so.
fn limit(seen: &mut Environment, surroundings: &Surroundings) {
    if surroundings.libraries().iter().any(|library| library.contains("few-files")) {
        seen.facts.insert("limit.nofile.soft".to_owned(), "1024".to_owned());
    }
}

fn nothing(probe: Probe) -> Trace {
    match probe {
        Probe::Environment => Trace::Environment(Environment::default()),
        Probe::Loading => Trace::Loading(Loading::default()),
        Probe::Syscalls => Trace::Syscalls(Syscalls::default()),
        Probe::Files => Trace::Files(Files::default()),
        Probe::Allocations => Trace::Allocations(Allocations::default()),
        Probe::Cpu => Trace::Cpu(Profile::default()),
        Probe::Faults => Trace::Faults(Profile::default()),
        Probe::Waiting => Trace::Waiting(Waiting::default()),
        Probe::Series => Trace::Series(Series::default()),
        Probe::Instructions => Trace::Instructions(Instructions::default()),
    }
}

fn add(seen: &mut Trace, more: &Trace) {
    match (seen, more) {
        (Trace::Environment(seen), Trace::Environment(more)) => seen.facts.extend(more.facts.clone()),
        (Trace::Loading(seen), Trace::Loading(more)) => add_loading(seen, more),
        (Trace::Syscalls(seen), Trace::Syscalls(more)) => add_syscalls(seen, more),
        (Trace::Files(seen), Trace::Files(more)) => add_files(seen, more),
        (Trace::Allocations(seen), Trace::Allocations(more)) => add_allocations(seen, more),
        (Trace::Cpu(seen), Trace::Cpu(more)) | (Trace::Faults(seen), Trace::Faults(more)) => {
            add_profile(seen, more);
        }
        (Trace::Waiting(seen), Trace::Waiting(more)) => add_waiting(seen, more),
        (Trace::Series(seen), Trace::Series(more)) => *seen = more.clone(),
        (Trace::Instructions(seen), Trace::Instructions(more)) => {
            seen.total += more.total;
            seen.functions.extend(more.functions.clone());
        }
        _ => {}
    }
}

fn add_syscalls(seen: &mut Syscalls, more: &Syscalls) {
    for (name, count) in &more.calls {
        let known: &mut SyscallCount = seen.calls.entry(name.clone()).or_default();
        known.calls += count.calls;
        known.errors += count.errors;
        known.bytes += count.bytes;
        for (error, calls) in &count.by_error {
            *known.by_error.entry(error.clone()).or_default() += calls;
        }
    }
    seen.processes += more.processes;
    seen.threads += more.threads;
    seen.starts += more.starts;
    seen.programs.extend(more.programs.clone());
}

fn add_files(seen: &mut Files, more: &Files) {
    for file in &more.files {
        seen.total.add(file);
    }
    seen.files.extend(more.files.clone());
    seen.paths = seen.files.len() as u64;
    seen.disk_read_bytes = sum(seen.disk_read_bytes, more.disk_read_bytes);
    seen.disk_written_bytes = sum(seen.disk_written_bytes, more.disk_written_bytes);
}

fn add_allocations(seen: &mut Allocations, more: &Allocations) {
    seen.processes += more.processes;
    seen.processes_unseen = sum(seen.processes_unseen, more.processes_unseen);
    if !more.allocators.is_empty() {
        seen.allocators = more.allocators.clone();
    }
    seen.malloc_calls += more.malloc_calls;
    seen.calloc_calls += more.calloc_calls;
    seen.realloc_calls += more.realloc_calls;
    seen.aligned_calls += more.aligned_calls;
    seen.free_calls += more.free_calls;
    seen.asked_bytes += more.asked_bytes;
    seen.sizes.resize(seen.sizes.len().max(more.sizes.len()), 0);
    for (known, count) in seen.sizes.iter_mut().zip(&more.sizes) {
        *known += count;
    }
    seen.realloc_moved += more.realloc_moved;
    seen.realloc_moved_bytes += more.realloc_moved_bytes;
    seen.peak_live_bytes += more.peak_live_bytes;
}

/// A program that is told of again is the same one with other facts.
fn add_loading(seen: &mut Loading, more: &Loading) {
    seen.loads = sum(seen.loads, more.loads);
    seen.relocations += more.relocations;
    seen.relocation_cycles = sum(seen.relocation_cycles, more.relocation_cycles);
    seen.startup_cycles = sum(seen.startup_cycles, more.startup_cycles);
    seen.startup_s = sum(seen.startup_s, more.startup_s);
    for program in &more.programs {
        seen.programs.retain(|known| known.path != program.path);
        seen.programs.push(program.clone());
    }
}

fn add_waiting(seen: &mut Waiting, more: &Waiting) {
    seen.on_cpu_s = sum(seen.on_cpu_s, more.on_cpu_s);
    seen.preempted_s = sum(seen.preempted_s, more.preempted_s);
    seen.blocked_s = sum(seen.blocked_s, more.blocked_s);
    seen.threads.extend(more.threads.clone());
    seen.places.extend(more.places.clone());
    seen.places.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
}

fn add_profile(seen: &mut Profile, more: &Profile) {
    for stack in &more.stacks {
        let frames = stack.frames.iter().filter_map(|&frame| more.frames.get(frame as usize));
        let frames = frames.map(|frame| seen.place(frame)).collect();
        seen.stacks.push(Stack { frames, ..stack.clone() });
    }
    seen.rate_hz = seen.rate_hz.max(more.rate_hz);
    seen.samples += more.samples;
    seen.sampled += more.sampled;
    seen.total = sum(seen.total, more.total);
    seen.kernel = more.kernel;
    seen.rooted = 1.0;
}

/// Of what is known.
fn sum<T: Add<Output = T>>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cause::{Cause, Condition, Effect};
    use super::super::program::Cost;
    use super::*;
    use crate::model::{Launch, Preload};

    fn calls(name: &str, calls: u64) -> Trace {
        let count = SyscallCount { calls, ..SyscallCount::default() };
        Trace::Syscalls(Syscalls { calls: [(name.to_owned(), count)].into(), ..Syscalls::default() })
    }

    fn program() -> Program {
        let storm = Cause::new("storm", Condition::env_is_set("TZ").negated(), Effect::default());
        Program::new("a", Cost::default())
            .with_trace(calls("read", 5))
            .with_cause(storm.with_trace(calls("newfstatat", 200_000)))
    }

    fn seen(launch: &Launch, probe: Probe) -> Option<Trace> {
        sight(&program(), &Surroundings::plain(launch, &[]), probe)
    }

    #[test]
    fn a_cause_adds_what_it_states_while_it_applies() {
        let count = |launch: &Launch| match seen(launch, Probe::Syscalls) {
            Some(Trace::Syscalls(seen)) => (seen.count("read"), seen.count("newfstatat")),
            other => panic!("{other:?}"),
        };
        let set = Launch { env: vec![("TZ".into(), Some("UTC".into()))], ..Launch::default() };
        assert_eq!(count(&Launch::default()), (5, 200_000));
        assert_eq!(count(&set), (5, 0));
        assert_eq!(seen(&set, Probe::Files), None, "nothing is stated");
    }

    #[test]
    fn facts_follow_from_the_launch() {
        let launch = Launch {
            env: vec![("TZ".into(), Some("UTC".into()))],
            affinity: Some(vec![1]),
            preloads: vec![Preload::Mimalloc],
            ..Launch::default()
        };
        let Some(Trace::Environment(seen)) = seen(&launch, Probe::Environment) else { panic!("nothing") };
        assert_eq!(seen.get("env.TZ"), Some("UTC"));
        assert_eq!(seen.get("cpu.affinity"), Some("1"));
        assert!(seen.get("library.libmimalloc.so").is_some());
    }
}
