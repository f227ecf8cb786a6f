//! Whether two rates differ: so many of one group against so many of another. Exact for any counts; it knows nothing of
//! order or time.

/// Two-sided p-value of Fisher's exact test: the chance of a table at least as uneven as this one, if each of the
/// `total_one + total_two` cases were equally likely to be one of the `hits_one + hits_two` hits.
///
/// Returns 1 where there is nothing to compare (an empty group, no hits at all, or more hits than cases).
/// Source: R. A. Fisher, *Statistical Methods for Research Workers*; two-sided by adding up all tables that are at most
/// as likely as the one that was seen, as R's `fisher.test` does.
///
/// ```
/// // 3 of 3 against 0 of 3 is not yet beyond chance: two of the twenty ways to pick 3 of 6 are as uneven
/// assert!((benchmath::rates_differ(3, 3, 0, 3) - 0.1).abs() < 1e-12);
/// assert!(benchmath::rates_differ(10, 10, 0, 10) < 1e-4);
/// ```
#[must_use]
pub fn rates_differ(hits_one: usize, total_one: usize, hits_two: usize, total_two: usize) -> f64 {
    if hits_one > total_one || hits_two > total_two || total_one == 0 || total_two == 0 {
        return 1.0;
    }
    let hits = hits_one + hits_two;
    let least = hits.saturating_sub(total_two);
    let most = hits.min(total_one);
    let logs = log_factorials(total_one + total_two);
    let choose = |n: usize, k: usize| logs[n] - logs[k] - logs[n - k];
    let log_chance = |in_one: usize| {
        choose(total_one, in_one) + choose(total_two, hits - in_one) - choose(total_one + total_two, hits)
    };
    // Tables that are equally likely differ by rounding only.
    let limit = log_chance(hits_one) + 1e-7;
    let p: f64 = (least..=most).map(log_chance).filter(|&log| log <= limit).map(f64::exp).sum();
    p.min(1.0)
}

/// ln(0!), ln(1!), ... ln(n!).
fn log_factorials(n: usize) -> Vec<f64> {
    let steps = (1..=n).scan(0.0, |sum, k| {
        *sum += (k as f64).ln();
        Some(*sum)
    });
    std::iter::once(0.0).chain(steps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tea tasting: all four cups of each kind told right, or three; p as in Fisher's book.
    #[test]
    fn the_tea_tasting() {
        assert!((rates_differ(4, 4, 0, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((rates_differ(3, 4, 1, 4) - 34.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn equal_or_empty_groups_do_not_differ() {
        assert!((rates_differ(5, 10, 5, 10) - 1.0).abs() < 1e-12);
        assert_eq!(rates_differ(0, 10, 0, 10), 1.0);
        assert_eq!(rates_differ(0, 0, 3, 10), 1.0);
        assert_eq!(rates_differ(7, 3, 0, 10), 1.0);
    }

    #[test]
    fn the_groups_can_be_exchanged() {
        for (a, n, b, m) in [(1, 7, 5, 9), (0, 20, 4, 20), (3, 1000, 30, 1000)] {
            assert!((rates_differ(a, n, b, m) - rates_differ(b, m, a, n)).abs() < 1e-12);
        }
    }
}
