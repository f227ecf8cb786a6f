//! The code that touches memory first.

use whyslow::model::{KernelView, Probe};

use crate::{Program, profile};

#[test]
fn every_page_is_counted_where_it_is_touched() {
    let source = r"
        #include <sys/mman.h>
        void toucher(volatile char *memory) { for (long page = 0; page < 4000; page++) memory[page * 4096] = 1; }
        int main(void) {
            char *memory = mmap(0, 4000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            madvise(memory, 4000 * 4096, MADV_NOHUGEPAGE);
            toucher(memory);
            return 0;
        }";
    let Some(probed) = Program::compile(source, &[]).probe(Probe::Faults) else { return };
    let profile = profile(&probed);
    let touched = profile.own_where(|frame| frame.name == "toucher") + in_kernel_for(profile, "toucher");
    assert!((3960.0..4040.0).contains(&touched), "{touched} {:?}", probed.blind_spots);
    assert!((4000.0..4500.0).contains(&profile.total.unwrap()), "{:?}", profile.total);
    assert!(profile.rooted > 0.9, "{}", profile.rooted);
    assert_ne!(profile.kernel, KernelView::Unknown);
}

/// Should the kernel's entry be a frame of the stack.
fn in_kernel_for(profile: &whyslow::model::Profile, function: &str) -> f64 {
    let name = |frame: u32| &profile.frames[frame as usize];
    let is_wanted = |stack: &&whyslow::model::Stack| {
        let innermost = stack.frames.first().map(|frame| name(*frame));
        innermost.is_some_and(|frame| frame.module == "[kernel]")
            && stack.frames.iter().any(|frame| name(*frame).name == function)
    };
    profile.stacks.iter().filter(is_wanted).map(|stack| stack.weight).sum()
}
