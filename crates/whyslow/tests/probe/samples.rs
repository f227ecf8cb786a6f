//! Programs with everything that probes can see: "a", and "b", which differs from it in each way there is.

use std::collections::BTreeMap;

use whyslow::machine::simulated::{Cost, Program, World};
use whyslow::model::{
    Allocations, CountedFunction, ElfFacts, Environment, FileUse, Files, Frame, Instructions, KernelView,
    LoadedProgram, Loading, Moment, Profile, Series, Stack, StartedProgram, SyscallCount, Syscalls,
    ThreadTime, Trace, WaitKind, WaitPlace, Waiting,
};

pub fn world() -> World {
    let a = traces(1).into_iter().fold(Program::new("a", Cost::of_cpu(0.1)), Program::with_trace);
    let b = traces(2).into_iter().fold(Program::new("b", Cost::of_cpu(0.15)), Program::with_trace);
    World::default().with_program(a).with_program(b)
}

/// One of every kind; `side` is 1 or 2.
pub fn traces(side: u64) -> Vec<Trace> {
    vec![
        Trace::Environment(environment(side)),
        Trace::Loading(loading(side)),
        Trace::Syscalls(syscalls(side)),
        Trace::Files(files(side)),
        Trace::Allocations(allocations(side)),
        Trace::Cpu(cpu(side)),
        Trace::Faults(faults(side)),
        Trace::Waiting(waiting(side)),
        Trace::Series(series(side)),
        Trace::Instructions(instructions(side)),
    ]
}

fn environment(side: u64) -> Environment {
    let locale = if side == 1 { "C" } else { "de_DE.UTF-8" };
    let mut facts: BTreeMap<String, String> = [
        ("env.HOME", "/root"),
        ("env.LC_ALL", locale),
        ("limit.nofile.soft", "1024"),
        ("kernel.thp", "madvise"),
        ("library.libc.so.6", "2.36"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    if side == 2 {
        facts.insert("env.LANGUAGE".into(), "de:en".into());
    }
    Environment { facts }
}

fn loading(side: u64) -> Loading {
    let elf = ElfFacts {
        is_pie: true,
        is_bind_now: side == 1,
        is_stripped: true,
        interpreter: Some("/lib64/ld-linux-x86-64.so.2".into()),
        needed: vec!["libc.so.6".into()],
        hash_style: Some("gnu".into()),
        build_id: Some("0123456789abcdef".into()),
        instrumentation: vec!["stack protector".into()],
        producers: vec!["GCC 12.2.0 -O2".into()],
        text_bytes: 123_456,
        imports: 87,
        ..ElfFacts::default()
    };
    let libraries = ["/lib/libm.so.6", "/lib/libc.so.6"][2 - side as usize..].iter();
    Loading {
        loads: Some(10 * side),
        relocations: 1_240 * side,
        relocations_from_cache: 400,
        relative_relocations: 900,
        startup_cycles: Some(1_610_000 * side),
        relocation_cycles: Some(800_000),
        load_cycles: Some(500_000),
        startup_s: Some(0.0008 * side as f64),
        programs: vec![
            LoadedProgram {
                path: format!("/usr/bin/{}", if side == 1 { "a" } else { "b" }),
                starts: Some(side),
                libraries: libraries.map(|path| (*path).to_owned()).collect(),
                search_misses: 3,
                elf: Some(elf),
                script: None,
            },
            LoadedProgram {
                path: "/usr/bin/script".into(),
                starts: Some(9),
                script: Some("#!/bin/sh".into()),
                ..LoadedProgram::default()
            },
        ],
    }
}

fn syscalls(side: u64) -> Syscalls {
    let call = |calls, missed: u64, bytes| SyscallCount {
        calls,
        errors: missed,
        by_error: if missed > 0 { BTreeMap::from([("ENOENT".to_owned(), missed)]) } else { BTreeMap::new() },
        bytes,
        seconds: Some(0.0001),
        is_estimate: false,
    };
    let calls = [
        ("openat", call(20 + 1_000 * (side - 1), 12 * side, 0)),
        ("read", call(100 * side, 0, 4_096 * side)),
        ("write", call(7, 0, 70)),
        ("mmap", call(30, 0, 0)),
    ];
    Syscalls {
        calls: calls.map(|(name, count)| (name.to_owned(), count)).into(),
        processes: side,
        threads: 3,
        programs: vec![
            StartedProgram { path: "/bin/sh".into(), starts: 1 },
            StartedProgram { path: "/bin/true".into(), starts: 4 * side },
        ],
        starts: 1 + 4 * side,
        partial: None,
    }
}

fn files(side: u64) -> Files {
    let locale = FileUse {
        path: "/usr/lib/locale/locale-archive".into(),
        opened: side,
        stated: 2,
        reads: 3,
        read_bytes: 9_000,
        ..FileUse::default()
    };
    let missed = FileUse {
        path: "/usr/share/locale/de/LC_MESSAGES/b.mo".into(),
        missed: 5 * (side - 1),
        stat_missed: 1,
        exec_missed: 1,
        ..FileUse::default()
    };
    let log = FileUse {
        path: "/tmp/log".into(),
        opened: 1,
        writes: 10,
        written_bytes: 1_000 * side,
        synced: side,
        direct: 1,
        created: 1,
        removed: 1,
        ..FileUse::default()
    };
    let total = FileUse {
        path: String::new(),
        opened: 1 + side,
        missed: missed.missed,
        stated: 2,
        stat_missed: 1,
        exec_missed: 1,
        reads: 3,
        read_bytes: 9_000,
        writes: 10,
        written_bytes: 1_000 * side,
        synced: side,
        direct: 1,
        created: 1,
        removed: 1,
    };
    Files {
        files: vec![log, locale, missed],
        total,
        paths: 3,
        disk_read_bytes: Some(0),
        disk_written_bytes: Some(8_192 * side),
    }
}

fn allocations(side: u64) -> Allocations {
    let mut sizes = vec![0; 25];
    (sizes[3], sizes[8], sizes[20]) = (1_000, 200 * side, 10);
    Allocations {
        processes: 1,
        processes_unseen: Some(side - 1),
        allocators: vec![if side == 1 { "libc.so.6" } else { "libjemalloc.so.2" }.into()],
        malloc_calls: 1_000 + 200 * side,
        calloc_calls: 9,
        realloc_calls: 330,
        aligned_calls: 1,
        free_calls: 1_150,
        asked_bytes: 11_000_000,
        sizes,
        realloc_in_place: 310,
        realloc_moved: 10 * side,
        realloc_moved_bytes: 146_000 + 110_000_000 * (side - 1),
        realloc_remapped: 20 / side,
        realloc_remapped_bytes: 25_000_000 * (2 - side),
        peak_live_bytes: 1_500_000,
        sbrk_calls: 2,
        ..Allocations::default()
    }
}

/// Functions with their modules, and stacks of their numbers from the innermost one with weights.
fn profile(functions: &[(&str, &str)], stacks: &[(&[u32], f64)], total: f64, rate_hz: f64) -> Profile {
    let sampled: f64 = stacks.iter().map(|(_, weight)| weight).sum();
    let stack = |(frames, weight): &(&[u32], f64)| Stack {
        frames: frames.to_vec(),
        weight: *weight,
        thread: "main".into(),
    };
    let frame = |(name, module): &(&str, &str)| Frame { name: (*name).into(), module: (*module).into() };
    Profile {
        rate_hz,
        samples: if rate_hz > 0.0 { (sampled * rate_hz) as u64 } else { sampled as u64 },
        lost: 0,
        sampled,
        total: Some(total),
        kernel: KernelView::Missing,
        rooted: 1.0,
        frames: functions.iter().map(frame).collect(),
        stacks: stacks.iter().map(stack).collect(),
    }
}

fn cpu(side: u64) -> Profile {
    if side == 1 {
        let functions = [
            ("main", "a"),
            ("render(std::string const&)", "a"),
            ("__memmove_avx_unaligned_erms", "libc.so.6"),
            ("old_cache", "a"),
        ];
        return profile(&functions, &[(&[1, 0], 0.05), (&[2, 1, 0], 0.02), (&[3, 0], 0.01)], 0.1, 1000.0);
    }
    let functions = [
        ("main", "b"),
        ("render(std::string const&)", "b"),
        ("__memmove_evex_unaligned_erms", "libc.so.6"),
        ("new;cache", "b"),
    ];
    profile(&functions, &[(&[1, 0], 0.051), (&[2, 1, 0], 0.07), (&[3, 0], 0.03)], 0.16, 1000.0)
}

fn faults(side: u64) -> Profile {
    let program = if side == 1 { "a" } else { "b" };
    let functions = [("main", program), ("memmove", "libc.so.6")];
    profile(&functions, &[(&[0], 100.0), (&[1, 0], 400.0 * side as f64)], 100.0 + 400.0 * side as f64, 0.0)
}

fn waiting(side: u64) -> Waiting {
    let place = |kind, what: &str, seconds| WaitPlace { kind, what: what.into(), seconds };
    Waiting {
        on_cpu_s: Some(0.1),
        preempted_s: Some(0.01),
        blocked_s: Some(0.2 * side as f64),
        threads: vec![ThreadTime {
            name: "main".into(),
            process: 10,
            thread: 10,
            on_cpu_s: 0.1,
            preempted_s: 0.01,
            blocked_s: 0.2 * side as f64,
            switches: 40,
        }],
        places: vec![
            place(WaitKind::Sleep, "clock_nanosleep", 0.2),
            place(WaitKind::NameLookup, "poll 127.0.0.1:53", 0.2 * (side - 1) as f64),
        ],
        looks: 100,
        look_s: 0.002,
    }
}

fn series(side: u64) -> Series {
    let moment = |tick: u64| {
        let at_s = 0.01 * tick as f64;
        Moment {
            at_s,
            cpu_s: Some(if tick < 5 { 0.0 } else { at_s - 0.05 }),
            faults: Some(10.0 * (tick * tick) as f64),
            switches: None,
            rss_bytes: Some(1e6 * (tick + 1) as f64),
            read_bytes: Some(0.0),
            written_bytes: Some(1e3 * tick as f64),
            processes: Some(1.0),
        }
    };
    Series { tick_s: 0.01, moments: (0..=10 * side).map(moment).collect() }
}

fn instructions(side: u64) -> Instructions {
    let function = |name: &str, own| CountedFunction { name: name.into(), module: "a".into(), own };
    Instructions {
        total: 5_000_000 * side,
        source: "callgrind".into(),
        functions: vec![function("render", 4_000_000 * side), function("main", 1_000)],
    }
}
