//! The tables of suspects put together, and the rows about code, CPUs and waiting.

use whyslow::machine::simulated::Condition;
use whyslow::model::{Edit, WaitKind};

use super::scene::Row;
use super::{rows_files, rows_memory, rows_runtimes, rows_system};

pub fn all() -> Vec<Row> {
    let others = [rows_files::rows(), rows_memory::rows(), rows_runtimes::rows(), rows_system::rows()];
    [code(), cpus(), waiting(), others.concat()].concat()
}

pub fn row(suspect: &str) -> Row {
    all().into_iter().find(|row| row.suspect == suspect).unwrap_or_else(|| panic!("no row for {suspect}"))
}

fn code() -> Vec<Row> {
    vec![
        Row::new("algo.hash-collision", "table spread", "table alike")
            .user(0.3)
            .signs(|s| s.cpu(&[("main;std::_Hashtable<int>::_M_find_before_node", 0.3)])),
        Row::new("algo.quadratic", "queue 60000 deque", "queue 60000 list")
            .user(0.4)
            .growing(60000.0, 2.0)
            .signs(|s| s.cpu(&[("main;insert;libc.so.6!__memmove_avx_unaligned_erms", 0.4)])),
        Row::new("algo.regex-backtrack", "perl match.pl good", "perl match.pl bad")
            .user(0.3)
            .signs(|s| s.cpu(&[("main;Perl_regexec_flags;0x123", 0.3)])),
        Row::new("code.alloc-count", "strings reference", "strings value")
            .user(0.32)
            .signs(|s| s.allocations(|seen| seen.malloc_calls = 16_000_000)),
        Row::new("code.exceptions", "parse good", "parse bad")
            .user(0.45)
            .signs(|s| s.cpu(&[("main;parse;__cxa_throw;libgcc_s.so.1!_Unwind_RaiseException", 0.45)])),
        Row::set("code.logging", "server", "RUST_LOG", "debug")
            .user(0.2)
            .system(0.05)
            .signs(|s| s.transfer("write", 150_000, 5_000_000).cpu(&[("main;log_msg", 0.25)])),
        Row::new("code.more-work", "gzip -1 text", "gzip -9 text")
            .user(0.3)
            .both(|s| s.cpu(&[("main;deflate;longest_match", 0.07)]))
            .signs(|s| s.cpu(&[("main;deflate;longest_match", 0.3)])),
        Row::new("cpu.branch-miss", "sum sorted", "sum shuffled")
            .among_three()
            .user(0.08)
            .signs(|s| s.cpu(&[("main", 0.08)])),
        Row::new("cpu.cache", "transpose 1023 20", "transpose 1024 20")
            .user(0.3)
            .signs(|s| s.cpu(&[("main", 0.3)])),
        Row::new("io.encoding-layer", "perl read.pl :raw", "perl read.pl :encoding(UTF-8)")
            .user(0.15)
            .signs(|s| s.cpu(&[("main;Perl_pp_readline;encoding.so!PerlIOEncode_fill", 0.15)])),
    ]
}

fn cpus() -> Vec<Row> {
    vec![
        Row::new("conc.affinity", "spin", "spin")
            .confirmed()
            .slow_edit(Edit::Affinity(vec![0]))
            .when(Condition::CpusAtMost(1))
            .blocked(0.1)
            .both(|s| s.tree(0, 1, 0)),
        Row::new("conc.false-sharing", "counters apart", "counters together")
            .cured_by(Condition::CpusAtMost(1))
            .user(0.3)
            .sharing(2)
            .both(|s| s.tree(0, 2, 0))
            .signs(|s| s.cpu(&[("main", 0.3)])),
        Row::new("conc.lock", "workers striped", "workers locked")
            .cured_by(Condition::CpusAtMost(1))
            .user(0.05)
            .system(0.15)
            .counts(|cost| cost.voluntary_switches = 60_000.0)
            .both(|s| s.tree(0, 1, 0))
            .signs(|s| s.calls(&[("futex", 120_000)]).cpu(&[("main;lock", 0.2)])),
        Row::set("conc.oversubscription", "omp", "OMP_NUM_THREADS", "8")
            .fast_edit(Edit::SetEnv("OMP_NUM_THREADS".into(), "2".into()))
            .user(0.5)
            .system(0.2)
            .counts(|cost| cost.voluntary_switches = 107_360.0)
            .both(|s| s.tree(0, 1, 0))
            .signs(|s| s.tree(0, 6, 0).calls(&[("futex", 200_000)]).cpu(&[("main;gomp_barrier", 0.7)])),
        Row::new("sched.contention", "spin", "nice -n 19 spin").wrapper("nice").confirmed().blocked(0.3),
        Row::new("sched.quota", "limited 0 spin", "limited 40 spin")
            .confirmed()
            .blocked(0.2)
            .both(|s| s.fact("cgroup.cpu_quota", "none"))
            .signs(|s| s.fact("cgroup.cpu_quota", "40000")),
    ]
}

fn waiting() -> Vec<Row> {
    vec![
        Row::new("wait.dns", "lookup files", "lookup dns")
            .blocked(1.0)
            .both(|s| s.waits(WaitKind::Other, "read", 0.0))
            .signs(|s| s.waits(WaitKind::NameLookup, "poll 127.0.0.1:53", 1.0)),
        Row::new("wait.network", "client whole", "client halves")
            .cured_by(Condition::Preloads("no-delay".into()))
            .blocked(0.8)
            .both(|s| s.calls(&[("sendto", 40)]).waits(WaitKind::Other, "read", 0.0))
            .signs(|s| s.calls(&[("sendto", 40)]).waits(WaitKind::Socket, "recvfrom 127.0.0.1:4000", 0.8)),
        Row::new("wait.sleep", "waiter plain", "waiter timeout")
            .blocked(0.5)
            .both(|s| s.waits(WaitKind::Other, "read", 0.0))
            .signs(|s| s.calls(&[("clock_nanosleep", 64)]).waits(WaitKind::Sleep, "clock_nanosleep", 0.5)),
    ]
}
