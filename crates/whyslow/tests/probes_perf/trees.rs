//! More than one thread and process, and what a probed command sees of the probe: nothing.

use whyslow::model::{Exit, Probe};

use crate::{Program, probe, profile, share, with_burn};

#[test]
fn threads_forks_and_execs_are_told_apart() {
    let source = r#"
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>
        #include <sys/prctl.h>
        volatile unsigned long result;
        void *in_thread(void *none) { prctl(PR_SET_NAME, "worker"); result += burn(150000000ul); return none; }
        void in_child(void) { result += burn(150000000ul); }
        void after_exec(void) { result += burn(150000000ul); }
        int main(int count, char **words) {
            if (count > 1) { after_exec(); return 0; }
            pthread_t thread;
            pthread_create(&thread, 0, in_thread, 0);
            pthread_join(thread, 0);
            if (fork() == 0) { in_child(); _exit(0); }
            if (fork() == 0) { execl(words[0], "again", "x", (char *)0); _exit(1); }
            while (wait(0) > 0) ;
            return 5;
        }"#;
    let Some(probed) = Program::compile(&with_burn(source), &["-pthread"]).probe(Probe::Cpu) else { return };
    assert_eq!(probed.exit, Exit::Code(5));
    let profile = profile(&probed);
    for function in ["in_thread", "in_child", "after_exec"] {
        let seen = share(profile, function);
        assert!((0.2..0.5).contains(&seen), "{function}: {seen}");
    }
    let of_worker = profile.stacks.iter().filter(|stack| stack.thread == "worker");
    assert!(of_worker.map(|stack| stack.weight).sum::<f64>() / profile.sampled > 0.2);
    assert!(profile.rooted > 0.9, "{}", profile.rooted);
}

#[test]
fn of_short_processes_it_is_told_how_much_was_seen() {
    let script = "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done";
    let Some(probed) = probe(&["sh", "-c", script], Probe::Cpu) else { return };
    let profile = profile(&probed);
    assert!(profile.total.unwrap() > 0.01, "{:?}", profile.total);
    assert!(profile.rate_hz > 997.0, "{}", profile.rate_hz);
    let coverage = profile.coverage().unwrap();
    assert!(coverage > 0.1 && coverage < 1.1, "{coverage}");
    assert!(coverage > 0.75 || !probed.blind_spots.is_empty(), "{coverage}");
}

#[test]
fn a_flood_of_output_and_the_exit_code_go_their_way() {
    for with in [Probe::Cpu, Probe::Faults] {
        let Some(probed) = probe(&["sh", "-c", "head -c 50000000 /dev/zero; exit 7"], with) else { return };
        assert_eq!(probed.exit, Exit::Code(7));
    }
    let Some(probed) = probe(&["sh", "-c", "kill -9 $$"], Probe::Cpu) else { return };
    assert_eq!(probed.exit, Exit::Signal(9));
}
