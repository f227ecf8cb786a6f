//! The probe of loading on programs that were built in a known way.

#[path = "probes/common.rs"]
mod common;

use std::path::Path;

use common::{compiled, launch, probed, shell};
use whyslow::model::{ElfFacts, Exit, Launch, Loading, Probe, Probed, Trace};

const SMALL: &str = "#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }\n";

fn loading(probed: &Probed) -> &Loading {
    match &probed.trace {
        Trace::Loading(loading) => loading,
        other => panic!("{other:?}"),
    }
}

fn look(launch: &Launch) -> Loading {
    loading(&probed(launch, Probe::Loading)).clone()
}

fn facts(path: &Path) -> ElfFacts {
    let seen = look(&launch(&[path.to_str().unwrap()]));
    seen.programs[0].elf.clone().unwrap_or_else(|| panic!("{seen:?}"))
}

#[test]
fn every_start_is_counted_and_programs_are_told_apart() {
    let seen = look(&shell("for i in 1 2 3; do /bin/true; done; exec /bin/cat"));
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    assert_eq!(seen.loads, Some(5), "{seen:#?}");
    let true_program = seen.programs.iter().find(|program| program.path.ends_with("/true")).unwrap();
    assert_eq!(true_program.starts, Some(3));
    assert!(true_program.libraries.iter().any(|path| path.contains("libc.so")), "{seen:#?}");
    assert!(seen.relocations > 100 && seen.startup_cycles.unwrap() > 10_000, "{seen:#?}");
    let startup_s = seen.startup_s.unwrap();
    assert!((1e-5..1.0).contains(&startup_s), "{startup_s}");
}

#[test]
fn binding_at_once_costs_relocations() {
    let directory = tempfile::tempdir().unwrap();
    let Some(lazy) = compiled(directory.path(), "lazy", SMALL, &["-Wl,-z,lazy"]) else { return };
    let lazy_launch = launch(&[lazy.to_str().unwrap()]);
    let now_launch = Launch { env: vec![("LD_BIND_NOW".into(), Some("1".into()))], ..lazy_launch.clone() };
    let (lazy, now) = (look(&lazy_launch), look(&now_launch));
    assert!(now.relocations > lazy.relocations, "{lazy:?} {now:?}");
}

#[test]
fn places_searched_in_vain_are_counted() {
    let launch =
        Launch { env: vec![("LD_LIBRARY_PATH".into(), Some("/no/a:/etc:/var".into()))], ..launch(&["true"]) };
    let with = look(&launch);
    assert!(with.programs[0].search_misses >= 1, "{with:#?}");
}

#[test]
fn files_say_how_they_were_built() {
    let directory = tempfile::tempdir().unwrap();
    let build = |name: &str, flags: &[&str]| compiled(directory.path(), name, SMALL, flags);
    let Some(plain) = build("plain", &["-O2", "-fPIE", "-pie", "-Wl,-z,lazy"]) else { return };
    let plain = facts(&plain);
    assert!(plain.is_pie && !plain.is_static && !plain.is_bind_now && !plain.is_stripped, "{plain:?}");
    assert!(!plain.has_debug_info && !plain.own_malloc, "{plain:?}");
    assert!(plain.needed.contains(&"libc.so.6".to_owned()), "{plain:?}");
    assert!(plain.producers.iter().any(|text| text.starts_with("GCC")), "{plain:?}");

    let debug =
        facts(&build("debug", &["-O0", "-g", "-no-pie", "-Wl,-z,now", "-Wl,--hash-style=sysv"]).unwrap());
    assert!(!debug.is_pie && debug.is_bind_now && debug.has_debug_info, "{debug:?}");
    assert_eq!(debug.hash_style.as_deref(), Some("sysv"));
    let has_flags = |text: &String| text.starts_with("GNU C") && text.contains("-O0");
    assert!(debug.producers.iter().any(has_flags), "{debug:?}");

    let stripped = facts(&build("stripped", &["-s"]).unwrap());
    assert!(stripped.is_stripped);
    let profiled = facts(&build("profiled", &["-pg"]).unwrap());
    assert!(profiled.instrumentation.contains(&"gprof".to_owned()), "{profiled:?}");
    let covered = facts(&build("covered", &["--coverage"]).unwrap());
    assert!(covered.instrumentation.contains(&"gcov".to_owned()), "{covered:?}");
    if let Some(checked) = build("checked", &["-fsanitize=address"]) {
        let checked = facts(&checked);
        assert!(checked.instrumentation.contains(&"asan".to_owned()), "{checked:?}");
    }
    let own = "void *malloc(unsigned long n) { static char room[99999]; static long at; char *p = room + at; \
        at += (n + 15) & ~15ul; return p; } void free(void *p) { (void)p; }\n";
    let own = compiled(directory.path(), "own", &format!("{own}{SMALL}"), &["-fno-builtin"]).unwrap();
    assert!(facts(&own).own_malloc);
}

#[test]
fn a_static_program_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = compiled(directory.path(), "fixed", SMALL, &["-static"]) else { return };
    let probed = probed(&launch(&[program.to_str().unwrap()]), Probe::Loading);
    let seen = loading(&probed);
    assert!(seen.programs[0].elf.as_ref().unwrap().is_static, "{seen:?}");
    assert!(probed.blind_spots.iter().any(|spot| spot.what.contains("statistics")), "{probed:?}");
}

#[test]
fn scripts_name_their_interpreters() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("script");
    std::fs::write(&path, "#!/usr/bin/perl -w\nprint 1;\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let seen = look(&launch(&[path.to_str().unwrap()]));
    assert_eq!(seen.programs[0].script.as_deref(), Some("#!/usr/bin/perl -w"));
    assert!(
        seen.programs.iter().any(|program| program.path.contains("perl") && program.elf.is_some()),
        "{seen:#?}"
    );
}

/// What the loader would write at the end of a process must not get into files of the process.
#[test]
fn the_programs_never_come_across_the_loaders_text() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let script = format!(
        "exec 3>{}; echo hello >&3; /bin/true; ls /proc/self/fd | wc -l >&3; exec perl -e 'print \"x\"; exit 5'",
        file.display()
    );
    let exit = probed(&launch(&["bash", "-c", &script]), Probe::Loading).exit;
    assert_eq!(exit, Exit::Code(5));
    // Its three streams, the file, and the directory that is listed.
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "hello\n5\n");
}

#[test]
fn many_processes_and_signals_end_as_without_the_probe() {
    let end = |script: &str| probed(&shell(script), Probe::Loading);
    let many = end("i=0; while [ $i -lt 300 ]; do /bin/true & i=$((i+1)); done; wait; exit 7");
    assert_eq!(many.exit, Exit::Code(7));
    if cfg!(target_arch = "x86_64") {
        assert_eq!(loading(&many).loads, Some(301));
    }
    assert_eq!(end("kill -TRAP $$").exit, Exit::Signal(libc::SIGTRAP));
    assert_eq!(end("perl -e 'kill 9, $$'; exit 3").exit, Exit::Code(3));
    let names = || std::fs::read_dir(std::env::temp_dir()).unwrap().flatten().map(|entry| entry.file_name());
    let ours = format!("whyslow-loading-{}", std::process::id());
    // Other tests of this process may be looking just now.
    let is_left = || names().any(|name| name.to_string_lossy().starts_with(&ours));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while is_left() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!is_left());
}
