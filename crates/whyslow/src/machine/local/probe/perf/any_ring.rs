//! A ring of any content, read as all probes together would: for tests and fuzzers.

use super::events::give_on;
use super::fold::Folder;
use super::hidden::Hidden;
use super::processes::Processes;
use super::record::{Body, Layout, Record};
use super::switches;

/// The times of its records, and how many bytes were none. Every sample is in the profile.
pub fn read(bytes: &[u8], layout: Layout) -> (Vec<u64>, usize) {
    let (mut processes, mut folder, mut course) =
        (Processes::default(), Folder::default(), switches::Course::default());
    let (mut times, mut hidden) = (Vec::new(), Hidden::default());
    let mut take = |record: Record<'_>| {
        times.push(record.time_ns);
        course.take(&record);
        hidden.take(&record.body);
        match &record.body {
            Body::Sample(sample) => folder.take(sample, &mut processes),
            other => processes.take(other),
        }
    };
    let kept = give_on(bytes, layout, 50_000, &mut take);
    let rest = give_on(&kept, layout, u64::MAX, &mut take);
    let samples = folder.samples;
    let folded = folder.finish(&processes, 1.0);
    assert_eq!(folded.stacks.iter().map(|stack| stack.weight).sum::<f64>(), samples as f64);
    course.finish(u64::MAX);
    (times, rest.len())
}
