//! Code that a program makes while it runs.

#![cfg(target_arch = "x86_64")]

use whyslow::model::Probe;

use crate::{Program, probe, profile, share};

/// Calls a loop of its own making: with a name if there is a second word, where it leaves its number in any case.
const MAKER: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
int main(int count, char **words) {
    char *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, code, sizeof code);
    mprotect(memory, 4096, PROT_READ | PROT_EXEC);
    char name[64];
    FILE *file = fopen(words[1], "w");
    fprintf(file, "%d", getpid());
    fclose(file);
    if (count > 2) {
        snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
        file = fopen(name, "w");
        fprintf(file, "%lx %zx %s\n", (unsigned long)memory, sizeof code, words[2]);
        fclose(file);
    }
    ((unsigned long (*)(unsigned long))memory)(600000000ul);
    return 0;
}"#;

#[test]
fn names_come_from_the_map_that_the_program_wrote() {
    let program = Program::compile(MAKER, &[]);
    let number = program.directory.path().join("number");
    let number = number.to_str().unwrap();
    let Some(probed) = probe(&[&program.word(), number, "made at run time"], Probe::Cpu) else { return };
    let map = format!("/tmp/perf-{}.map", std::fs::read_to_string(number).unwrap());
    std::fs::remove_file(map).unwrap();
    let profile = profile(&probed);
    assert!(share(profile, "made at run time") > 0.9);
    assert!(profile.frames.iter().any(|frame| frame.module == "[jit]"));

    let Some(probed) = probe(&[&program.word(), number], Probe::Cpu) else { return };
    assert!(share(crate::profile(&probed), "[jit]") > 0.9);
}
