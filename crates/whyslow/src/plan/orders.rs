//! The order of the variants inside a block.

use benchmath::random::SplitMix64;

/// A fresh random order of `variants` variants for one block.
///
/// It depends on the seed and the number of the block alone, so that a recording can be continued, or its blocks
/// spread over machines, without remembering the state of a generator.
pub fn block_order(seed: u64, block: usize, variants: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..variants).collect();
    block_generator(seed, block).shuffle(&mut order);
    order
}

/// Seeds that differ by one must not give shifted copies of the same stream, so the block number goes through the
/// generator once before it is mixed in.
fn block_generator(seed: u64, block: usize) -> SplitMix64 {
    let mixed = SplitMix64::new(block as u64).next_u64();
    SplitMix64::new(seed ^ mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_holds_every_variant_once() {
        for block in 0..50 {
            let mut order = block_order(7, block, 5);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_orders_and_another_seed_others() {
        let orders = |seed| (0..40).map(|block| block_order(seed, block, 3)).collect::<Vec<_>>();
        assert_eq!(orders(1), orders(1));
        assert_ne!(orders(1), orders(2));
    }

    /// The tests of the decision rest on each variant coming first equally often.
    #[test]
    fn a_pair_comes_in_either_order_equally_often() {
        let first = (0..10_000).filter(|&block| block_order(42, block, 2)[0] == 0).count();
        assert!((4_800..5_200).contains(&first), "{first}");
    }
}
