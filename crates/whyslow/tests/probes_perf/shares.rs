//! Where the time goes in one thread.

use whyslow::model::{KernelView, Probe};

use crate::{Program, probe, profile, share, with_burn, write};

#[test]
fn shares_of_functions_without_frame_pointers() {
    let source = r"
        volatile unsigned long result;
        void half(void) { result += burn(50000000ul); }
        void third(void) { result += burn(30000000ul); }
        void fifth(void) { result += burn(20000000ul); }
        int main(void) { for (int i = 0; i < 5; i++) { half(); third(); fifth(); } return 0; }";
    let Some(probed) = Program::compile(&with_burn(source), &[]).probe(Probe::Cpu) else { return };
    let profile = profile(&probed);
    for (function, truth) in [("half", 0.5), ("third", 0.3), ("fifth", 0.2)] {
        let seen = share(profile, function);
        assert!((seen - truth).abs() < 0.08, "{function}: {seen}");
    }
    assert!(share(profile, "main") > 0.95);
    assert!(profile.rooted > 0.95, "{}", profile.rooted);
    let burned = profile.own_where(|frame| frame.name == "burn" && frame.module == "program");
    assert!(burned / profile.sampled > 0.9);
    assert_eq!(profile.stacks[0].thread, "program");
    let coverage = profile.coverage().unwrap();
    assert!((0.8..1.1).contains(&coverage) || profile.kernel != KernelView::Seen, "{coverage}");
}

#[test]
fn of_a_stack_too_deep_to_be_copied_the_innermost_part_is_kept() {
    let source = r"
        volatile unsigned long result;
        void deeper(int depth) {
            volatile char room[64]; room[0] = 1;
            if (depth > 0) deeper(depth - 1); else for (int i = 0; i < 10; i++) result += burn(20000000ul);
            result += room[0];
        }
        int main(void) { deeper(20000); return 0; }";
    let Some(probed) = Program::compile(&with_burn(source), &[]).probe(Probe::Cpu) else { return };
    let profile = profile(&probed);
    assert!(share(profile, "burn") > 0.9);
    assert!(share(profile, "deeper") > 0.9);
    assert!(profile.rooted < 0.2, "{}", profile.rooted);
    assert!(profile.stacks[0].frames.len() > 20);
}

#[test]
fn stacks_of_interpreters_reach_their_start() {
    let directory = tempfile::tempdir().unwrap();
    let perl = "my $n = 0; for (1 .. 700000) { my @f = split /,/, 'a,b,c,d,e,f'; $n += @f } print $n";
    let python = "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint(fib(27), ','.join(map(str, range(500000)))[:9])\n";
    for (program, text) in [("/usr/bin/perl", perl), ("/usr/bin/python3", python)] {
        let script = write(directory.path(), "script", text);
        if !std::path::Path::new(program).exists() {
            continue;
        }
        let Some(probed) = probe(&[program, &script], Probe::Cpu) else { return };
        let profile = profile(&probed);
        assert!(profile.samples > 50, "{program}: {}", profile.samples);
        assert!(profile.rooted > 0.9, "{program}: {}", profile.rooted);
        assert!(share(profile, "_start") > 0.9, "{program}");
    }
}
