//! A small random number generator with a fixed algorithm.
//!
//! Schedules and resamples are part of a recording: the seed must give the same order on every machine and
//! in every later version. That is why the algorithm is written down here and is not whatever a library
//! currently thinks best. It is never used for secrets.

/// The SplitMix64 generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators"
/// (OOPSLA 2014).
///
/// ```
/// let mut random = benchmath::random::SplitMix64::new(0);
/// assert_eq!(random.next_u64(), 0xE220_A839_7B1D_CDAF); // the published first output for seed 0
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator whose whole sequence follows from `seed`; every seed is as good as any other.
    ///
    /// ```
    /// use benchmath::random::SplitMix64;
    /// assert_eq!(SplitMix64::new(7).next_u64(), SplitMix64::new(7).next_u64());
    /// ```
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 uniform bits.
    ///
    /// ```
    /// let mut random = benchmath::random::SplitMix64::new(1);
    /// assert_ne!(random.next_u64(), random.next_u64());
    /// ```
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A uniform integer in `0..n`, and 0 when `n` is 0.
    ///
    /// The bias is below `n / 2^64`, far under anything a resample can show, and the plain multiplication
    /// keeps one draw per number, so that others can reproduce a sequence from this sentence alone.
    ///
    /// ```
    /// let mut random = benchmath::random::SplitMix64::new(1);
    /// assert!((0..100).all(|_| random.below(6) < 6));
    /// ```
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// A uniform number in `[0, 1)` with 53 random bits.
    ///
    /// ```
    /// let mut random = benchmath::random::SplitMix64::new(1);
    /// assert!((0..100).all(|_| (0.0..1.0).contains(&random.unit())));
    /// ```
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller 1958; the second of each pair is not kept, so that the
    /// state is one word).
    ///
    /// ```
    /// let mut random = benchmath::random::SplitMix64::new(1);
    /// let mean = (0..10_000).map(|_| random.normal()).sum::<f64>() / 10_000.0;
    /// assert!(mean.abs() < 0.05);
    /// ```
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Put `items` into a uniformly random order (Fisher and Yates, from the last place to the first).
    ///
    /// ```
    /// let mut order = [0, 1, 2, 3];
    /// benchmath::random::SplitMix64::new(1).shuffle(&mut order);
    /// order.sort();
    /// assert_eq!(order, [0, 1, 2, 3]);
    /// ```
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_three_is_equally_likely() {
        let mut random = SplitMix64::new(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut order = [0, 1, 2];
            random.shuffle(&mut order);
            *seen.entry(order).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&count| (850..1150).contains(&count)));
    }

    #[test]
    fn a_range_of_nothing_gives_nothing() {
        assert_eq!(SplitMix64::new(1).below(0), 0);
        SplitMix64::new(1).shuffle::<u8>(&mut []);
    }

    #[test]
    fn normal_numbers_have_unit_variance() {
        let mut random = SplitMix64::new(9);
        let squares: f64 = (0..20_000).map(|_| random.normal().powi(2)).sum();
        assert!((squares / 20_000.0 - 1.0).abs() < 0.03);
    }
}
