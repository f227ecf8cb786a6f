//! How small a difference means anything here, and what a start costs.

use super::super::quantity::{percent, seconds};
use super::{Finding, MachineNoise};
use crate::analysis::Sensitivity;
use crate::model::Floor;

/// The usual margin of a comparison: who cannot see that much in 100 blocks needs hundreds for a usual answer.
const USUAL_MARGIN: f64 = 0.02;

pub fn findings(noise: &MachineNoise) -> Vec<Finding> {
    let busy = "end other programs, go by CPU time (`--metric cpu`), or let it take longer";
    let clocks = "end other programs; if that does not help, CPU frequencies change: see turbo and governor";
    vec![judged("wall time noise", noise.loop_wall, busy), judged("CPU time noise", noise.loop_cpu, clocks)]
}

fn judged(subject: &str, sensitivity: Option<Sensitivity>, advice: &str) -> Finding {
    let Some(of) = sensitivity else { return Finding::unknown(subject) };
    let Some((at_10, at_100)) = of.at_10.zip(of.at_100) else {
        return Finding::unknown(subject)
            .advice(format!("{} blocks are too few to tell; give it more `--seconds`", of.blocks));
    };
    let seen = format!(
        "in a loop of {}, a difference means something from {} at 10 blocks, {} at 100",
        seconds(of.median),
        percent(at_10),
        percent(at_100)
    );
    if at_100 > USUAL_MARGIN { Finding::warning(subject, seen, advice) } else { Finding::fine(subject, seen) }
}

pub fn start(noise: MachineNoise, floor: Option<Floor>) -> Finding {
    let empty = floor.map(|floor| format!("{} for a program that does nothing", seconds(floor.wall_s)));
    let real = noise.start_wall.map(|of| {
        let cpu = noise.start_cpu.map(|cpu| format!(" ({} of CPU time)", seconds(cpu.median)));
        format!("{}{} for `true`", seconds(of.median), cpu.unwrap_or_default())
    });
    let known: Vec<String> = empty.into_iter().chain(real).collect();
    let mut seen = known.join(", ");
    if let Some(at_100) = noise.start_wall.and_then(|of| of.at_100) {
        seen.push_str(&format!("; means something from {} at 100 blocks", percent(at_100)));
    }
    if known.is_empty() { Finding::unknown("start") } else { Finding::fine("start", seen) }
}
