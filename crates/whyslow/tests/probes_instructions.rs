//! The probe of instructions, where they can be counted at all.

#[path = "probes/common.rs"]
mod common;

use common::{compiled, launch, seen, shell};
use whyslow::model::{Exit, Instructions, Probe, Trace};

fn instructions(trace: &Trace) -> &Instructions {
    match trace {
        Trace::Instructions(instructions) => instructions,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_loop_has_its_instructions() {
    let source = "static volatile int x; __attribute__((noinline)) static void work(void) { for (int i = 0; i < 1000000; i++) x++; }\n\
        int main(void) { work(); return 3; }";
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = compiled(directory.path(), "loop", source, &["-O1"]) else { return };
    match seen(&launch(&[program.to_str().unwrap()]), Probe::Instructions) {
        Err(missing) => assert!(missing.remedy.is_some(), "{missing:?}"),
        Ok(probed) => {
            assert_eq!(probed.exit, Exit::Code(3));
            let seen = instructions(&probed.trace);
            assert!((3_000_000..20_000_000).contains(&seen.total), "{}", seen.total);
            if seen.source == "callgrind" {
                assert_eq!(seen.functions[0].name, "work", "{seen:?}");
                assert!(seen.functions[0].module.ends_with("/loop"), "{seen:?}");
            }
        }
    }
}

#[test]
fn children_count_and_the_end_is_the_same() {
    let total = |script: &str, exit: Exit| {
        let probed = seen(&shell(script), Probe::Instructions).ok()?;
        assert_eq!(probed.exit, exit);
        Some(instructions(&probed.trace).total)
    };
    let Some(alone) = total("exit 5", Exit::Code(5)) else { return };
    let with_child = total("/bin/true; exit 6", Exit::Code(6)).unwrap();
    assert!(with_child > alone + alone / 4, "{alone} {with_child}");
    total("kill -9 $$", Exit::Signal(9));
}
