//! The random numbers of the synthesiser: SplitMix64, so that a seed gives the same run everywhere.
//!
//! Only additions, multiplications and divisions of `f64` are used below: they are exact to the bit
//! on every platform, which logarithms and powers are not.

/// A SplitMix64 generator (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*, 2014).
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    /// A generator whose whole sequence follows from `seed`.
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits: every value is exact in an f64.
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with probability `p`.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniform in `[low, high)`.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.unit() * (high - low) as f64) as i64
    }

    /// `mean_ns` with a symmetric spread of ± `spread` (a share of it), triangular around the mean.
    pub(crate) fn around(&mut self, mean_ns: i64, spread: f64) -> i64 {
        let t = self.unit() + self.unit() - 1.0;
        (mean_ns as f64 * (1.0 + spread * t)) as i64
    }

    /// The time of a piece of CPU work: mostly 15 % around the mean, one in fifty 1.5 to 4 times as long
    /// (a cache miss, a timer interrupt). Never below 1 ns.
    pub(crate) fn cpu_ns(&mut self, mean_ns: i64) -> i64 {
        let usual = self.around(mean_ns, 0.15);
        let slow = if self.chance(0.02) { 1.5 + 2.5 * self.unit() } else { 1.0 };
        ((usual as f64 * slow) as i64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn a_seed_gives_the_published_sequence() {
        // Reference values of SplitMix64 for seed 1234567 (prng.di.unimi.it/splitmix64.c).
        let mut rng = Rng::from_seed(1_234_567);
        assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn values_stay_in_range() {
        let mut rng = Rng::from_seed(1);
        for _ in 0..10_000 {
            assert!((0.0..1.0).contains(&rng.unit()));
            assert!((5..9).contains(&rng.between(5, 9)));
            assert!((900..=1100).contains(&rng.around(1000, 0.1)));
            assert!(0 < rng.cpu_ns(1));
        }
    }
}
