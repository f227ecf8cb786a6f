//! What only the kernel's own records can do: millions of calls, and programs that trace.

use whyslow::model::Exit;

use super::programs::{program, recorded, records, turn};

#[test]
fn two_million_calls_are_counted_within_seconds() {
    let _turn = turn();
    if !records() {
        println!("not looked at: the numbers of tracepoints cannot be read");
        return;
    }
    let (seen, probed) =
        recorded(&program("for (int i = 0; i < 2000000; i++) syscall(SYS_getppid); return 3;"));
    assert_eq!(probed.exit, Exit::Code(3));
    match seen.partial {
        None => assert_eq!((seen.count("getppid"), probed.blind_spots.len()), (2_000_000, 0)),
        // On a busy machine nobody may have had the time to read all records. How many there were is known.
        Some(partial) => {
            assert!(partial.share.is_some() && !probed.blind_spots.is_empty(), "{partial:?}");
            assert!((1_990_000..2_010_000).contains(&seen.count("getppid")), "{partial:?}");
        }
    }
    println!("{:.2} s, {:?}", probed.wall_s, seen.partial);
}

#[test]
fn a_program_that_traces_can_do_so() {
    let _turn = turn();
    if !records() {
        return;
    }
    let body = "return syscall(SYS_ptrace, 0, 0, 0, 0) == 0 ? 3 : 4;";
    let (seen, probed) = recorded(&program(body));
    assert_eq!((probed.exit, seen.count("ptrace")), (Exit::Code(3), 1));
    assert!(probed.blind_spots.is_empty(), "{:?}", probed.blind_spots);
}
