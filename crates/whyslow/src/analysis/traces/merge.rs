//! Several looks at one variant as one profile.

use std::collections::BTreeMap;

use crate::model::{Frame, KernelView, Profile, Stack};

/// The mean of the looks; counts of samples are their sum. Equal stacks become one.
pub fn mean_profile(profiles: &[&Profile]) -> Profile {
    let share = 1.0 / profiles.len().max(1) as f64;
    let mean = |of: fn(&Profile) -> f64| profiles.iter().map(|profile| of(profile) * share).sum();
    let totals: Option<f64> = profiles.iter().map(|profile| profile.total.map(|total| total * share)).sum();
    let first = profiles.first();
    let kernel = first.map(|profile| profile.kernel);
    let is_same = profiles.iter().all(|profile| Some(profile.kernel) == kernel);
    let (frames, stacks) = together(profiles, share);
    Profile {
        rate_hz: first.map_or(0.0, |profile| profile.rate_hz),
        samples: profiles.iter().map(|profile| profile.samples).sum(),
        lost: profiles.iter().map(|profile| profile.lost).sum(),
        sampled: mean(|profile| profile.sampled),
        total: totals.filter(|_| !profiles.is_empty()),
        kernel: kernel.filter(|_| is_same).unwrap_or(KernelView::Unknown),
        rooted: mean(|profile| profile.rooted),
        frames,
        stacks,
    }
}

/// Frames without repetition, and stacks of them, heaviest first.
fn together(profiles: &[&Profile], share: f64) -> (Vec<Frame>, Vec<Stack>) {
    let mut frames: Vec<Frame> = Vec::new();
    let mut places: BTreeMap<&Frame, u32> = BTreeMap::new();
    let mut weights: BTreeMap<(&str, Vec<u32>), f64> = BTreeMap::new();
    for profile in profiles {
        for stack in &profile.stacks {
            let of = stack.frames.iter().filter_map(|&frame| profile.frames.get(frame as usize));
            let of = of.map(|frame| {
                *places.entry(frame).or_insert_with(|| {
                    frames.push(frame.clone());
                    frames.len() as u32 - 1
                })
            });
            *weights.entry((&stack.thread, of.collect())).or_insert(0.0) += stack.weight * share;
        }
    }
    let stack = |((thread, frames), weight): ((&str, Vec<u32>), f64)| Stack {
        frames,
        weight,
        thread: thread.to_owned(),
    };
    let mut stacks: Vec<Stack> = weights.into_iter().map(stack).collect();
    stacks.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    (frames, stacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_their_mean() {
        let profile = |name: &str, weight: f64| Profile {
            samples: 10,
            sampled: weight,
            total: Some(2.0 * weight),
            kernel: KernelView::Seen,
            rooted: 1.0,
            frames: vec![
                Frame { name: "main".into(), module: "a".into() },
                Frame { name: name.into(), module: "a".into() },
            ],
            stacks: vec![Stack { frames: vec![1, 0], weight, thread: "a".into() }],
            ..Profile::default()
        };
        let (one, two, three) = (profile("x", 1.0), profile("y", 2.0), profile("x", 3.0));
        let mean = mean_profile(&[&one, &two, &three]);
        assert_eq!((mean.samples, mean.sampled, mean.total), (30, 2.0, Some(4.0)));
        assert_eq!((mean.stacks.len(), mean.frames.len(), mean.kernel), (2, 3, KernelView::Seen));
        let heaviest = &mean.stacks[0];
        assert_eq!(mean.frames[heaviest.frames[0] as usize].name, "x");
        assert!((heaviest.weight - 4.0 / 3.0).abs() < 1e-12);
    }
}
