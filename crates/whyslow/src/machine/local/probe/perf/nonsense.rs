//! Whatever is in a ring: every record is given on once or is none, and nothing panics.

use perf_event_open_sys::bindings;
use proptest::prelude::*;

use super::super::super::environment::{Prepared, inherited};
use super::super::super::interrupt::Interrupt;
use super::super::super::settings::Settings;
use super::super::Looker;
use super::super::held::Held;
use super::super::mutated::mutated;
use super::any_ring::read;
use super::event::{Event, Kind};
use super::events::Events;
use super::record::Layout;
use crate::model::Launch;

/// Records of the kinds that we know with bodies of any kind, and a length that may be wrong.
fn record() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![1..=20_u32, Just(bindings::PERF_RECORD_SAMPLE), Just(bindings::PERF_RECORD_MMAP2)];
    // Small numbers are what lengths and numbers of processes look like.
    let word = prop_oneof![0..5_u64, 0..100_000_u64, any::<u64>(), Just(-128_i64 as u64)];
    let error = prop_oneof![20 => Just(0_i32), 1 => -40..40];
    (kind, any::<u16>(), prop::collection::vec(word, 0..60), error).prop_map(|(kind, flags, words, error)| {
        let size = 8 + 8 * words.len() as i32 + error;
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(flags.to_ne_bytes());
        bytes.extend((size.max(0) as u16).to_ne_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    })
}

/// A ring of a real run, where we may: a shell with children, sampled with some of their stacks, and its switches.
fn recorded() -> Vec<Vec<u8>> {
    let launch = Launch { argv: ["sh", "-c", SCRIPT].map(Into::into).to_vec(), ..Launch::default() };
    let prepared = Prepared::new(&launch, &inherited()).unwrap();
    let (interrupt, settings) = (&Interrupt::new().unwrap(), &Settings::default());
    let record = |kind, stack_bytes| {
        let looker = Looker { launch: &launch, prepared: &prepared, interrupt, settings, least_hz: None };
        let held = Held::start(&looker).ok()?;
        let event = |_| Event { kind, with_kernel: false, stack_bytes, watermark_bytes: 0 };
        let mut events = Events::open(held.pid(), 1 << 20, event).ok()?;
        held.wait(None, |_| {}).ok()?;
        let mut bytes = events.raw();
        bytes.truncate(MOST_BYTES);
        Some(bytes)
    };
    let kinds = [(Kind::CpuClock { period_ns: 200_000 }, 512), (Kind::Switches, 0)];
    kinds.into_iter().filter_map(|(kind, stack_bytes)| record(kind, stack_bytes)).collect()
}

const SCRIPT: &str = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; /bin/true; /bin/true | /bin/cat";
const MOST_BYTES: usize = 20_000;

#[test]
fn a_real_ring_has_records() {
    for bytes in recorded() {
        let (times, _) = read(&bytes, Layout::Stack);
        assert!(times.len() > 3 && times.is_sorted(), "{}", times.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_of_a_real_run_that_are_broken(bytes in mutated(recorded())) {
        for layout in [Layout::Stack, Layout::Traced] {
            prop_assert!(read(&bytes, layout).0.is_sorted());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_of_any_content(records in prop::collection::vec(record(), 0..40)) {
        for layout in [Layout::Stack, Layout::Traced] {
            let (times, rest) = read(&records.concat(), layout);
            prop_assert!(times.is_sorted());
            prop_assert_eq!(rest, 0);
        }
    }

    #[test]
    fn bytes_of_any_kind(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        for layout in [Layout::Stack, Layout::Traced] {
            let (times, _) = read(&bytes, layout);
            prop_assert!(times.is_sorted());
        }
    }
}
