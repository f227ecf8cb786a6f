//! Whether time went into work: the one definition for all who ask.

/// Whether CPU time is most of the time that was not spent waiting for a CPU, of a run or of a difference between runs:
/// then it is what is felt, and on a busy machine it may stand in for wall time. Half is enough, because what else there
/// is (a disk, a sleep) is then the smaller part. An unknown wait is taken for none, which makes it harder to be work.
pub fn is_mostly_work(cpu_s: f64, wall_s: f64, wait_s: Option<f64>) -> bool {
    2.0 * cpu_s > wall_s - wait_s.unwrap_or(0.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_a_cpu_does_not_count_against_work_and_any_other_does() {
        assert!(is_mostly_work(0.6, 1.0, None));
        assert!(is_mostly_work(0.3, 1.0, Some(0.5)), "the machine was busy");
        assert!(!is_mostly_work(0.3, 1.0, None), "nobody knows what it waited for");
        assert!(!is_mostly_work(0.1, 1.0, Some(0.5)), "it slept");
        assert!(!is_mostly_work(0.5, 1.0, Some(-0.5)), "less waiting takes nothing from the rest");
    }
}
