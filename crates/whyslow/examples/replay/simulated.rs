//! Part 4: ten models of noise, each of which breaks some naive procedure.

use whyslow::analysis::Verdict;
use whyslow::machine::simulated::Noise;

use crate::bars::Bars;
use crate::sessions::tally;
use crate::tally::Tally;
use crate::trace::METRICS;

/// Sessions under each model; they are independent, unlike the experiments on one trace.
const SESSIONS: u64 = 1_000;

/// No more than 3 % of the sessions may claim a difference in either direction.
pub fn nothing_is_claimed(seed: u64, bars: &mut Bars) {
    let tallies = Noise::all_ten().map(|(name, noise)| (name, tally(noise, seed, SESSIONS)));
    for (metric, metric_name) in METRICS.iter().enumerate() {
        println!("\n4. Sessions on simulated machines, two equal programs, {metric_name}");
        println!("{}", Tally::heading("noise"));
        tallies.iter().for_each(|(name, tallies)| println!("{}", tallies[metric].line(name)));
        for (name, tallies) in &tallies {
            let share = |verdict| tallies[metric].share(verdict);
            let worse = share(Verdict::Slower).max(share(Verdict::Faster));
            bars.at_most(&format!("{name}, {metric_name}: false claims in the worse direction"), worse, 0.03);
        }
    }
}
