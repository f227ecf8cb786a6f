//! The probe of the course of a run, on programs that use something known.

#[path = "probes/common.rs"]
mod common;

use common::{launch, probed, shell};
use whyslow::model::{Exit, Moment, Probe, Probed, Trace};

fn moments(probed: &Probed) -> &[Moment] {
    match &probed.trace {
        Trace::Series(series) => &series.moments,
        other => panic!("{other:?}"),
    }
}

fn most(moments: &[Moment], part: fn(&Moment) -> Option<f64>) -> f64 {
    moments.iter().filter_map(part).fold(0.0, f64::max)
}

#[test]
fn cpu_time_is_that_of_the_whole_tree() {
    let busy = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";
    let probed = probed(&shell(&format!("({busy}) & ({busy}) & wait; {busy}; exit 3")), Probe::Series);
    assert_eq!(probed.exit, Exit::Code(3));
    let last = moments(&probed).last().unwrap();
    let (seen_s, known_s) = (last.cpu_s.unwrap(), probed.cpu_s.unwrap());
    assert!((seen_s - known_s).abs() < 0.3 * known_s + 0.02, "{seen_s} {known_s}");
    assert!(most(moments(&probed), |moment| moment.processes) >= 2.0, "{probed:?}");
    assert!(moments(&probed).windows(2).all(|pair| pair[0].cpu_s <= pair[1].cpu_s), "{probed:?}");
    assert!(moments(&probed).windows(2).all(|pair| pair[0].at_s <= pair[1].at_s), "{probed:?}");
}

#[test]
fn memory_faults_and_bytes() {
    let script = "$x = 'x' x 50_000_000; select(undef, undef, undef, 0.2); print substr($x, 0, 2_000_000)";
    let probed = probed(&launch(&["/usr/bin/perl", "-e", script]), Probe::Series);
    let moments = moments(&probed);
    let rss_bytes = most(moments, |moment| moment.rss_bytes);
    assert!((50e6..300e6).contains(&rss_bytes), "{rss_bytes}");
    let faults = most(moments, |moment| moment.faults);
    assert!((100.0..100_000.0).contains(&faults), "{faults}");
    assert!(most(moments, |moment| moment.read_bytes) > 1000.0, "{moments:?}");
    assert!(moments.last().unwrap().at_s >= 0.2, "{moments:?}");
}
