//! Two recordings from two hosts or two days as one: what can be said without running anything again.

use crate::model::{
    Design, Edit, Experiment, Factor, Level, Recording, Role, Run, Stop, TraceEntry, Workload,
};
use crate::plan;

/// A recording with one variant of each. Their runs were not made side by side, so a block of the result is a pair by
/// its number alone, and what happened to one host or on one day is in every difference.
pub fn join(one: (&Recording, usize), other: (&Recording, usize)) -> Recording {
    let mut joined = Recording::new(one.0.header.clone());
    let experiment = &one.0.header.experiment;
    joined.header.experiment = Experiment {
        name: "two recordings".to_owned(),
        factors: vec![Factor {
            name: "recording".to_owned(),
            levels: vec![level("first", one), level("second", other)],
            role: Role::Asked,
        }],
        asks_why: true,
        is_joined: true,
        ..experiment.clone()
    };
    if plan::variants(experiment).len() == 1 {
        // Its margin was about its own median, and narrower than differences between days deserve.
        let margin = experiment.design.margin.max(Design::default().margin);
        joined.header.experiment.design.margin = margin;
    }
    joined.header.experiment.design.base = 0;
    joined.header.experiment.design.warmup = 0;
    joined.runs = [runs(one, 0, &joined), runs(other, 1, &joined)].concat();
    joined.runs.sort_by_key(|run| (run.block, run.variant));
    joined.traces = [traces(one, 0), traces(other, 1)].concat();
    joined.looks = one.0.looks.clone();
    joined.end = one.0.end.clone();
    joined.explained = Some(Stop::Decided);
    joined
}

/// The whole launch as edits, since the other recording begins with another workload.
fn level(place: &str, (recording, variant): (&Recording, usize)) -> Level {
    let variant = &plan::variants(&recording.header.experiment)[variant];
    let Workload::Command(base) = &recording.header.experiment.workload;
    let launch = &variant.launch;
    let mut edits = vec![Edit::Argv(launch.argv.clone()), Edit::Stdin(launch.stdin.clone())];
    edits.push(Edit::Stdout(launch.stdout.clone()));
    edits.extend(launch.env.iter().skip(base.env.len()).map(|(name, value)| match value {
        Some(value) => Edit::SetEnv(name.clone(), value.clone()),
        None => Edit::UnsetEnv(name.clone()),
    }));
    edits.extend(launch.cwd.clone().map(Edit::Directory));
    edits.extend(launch.affinity.clone().map(Edit::Affinity));
    let host = &recording.header.host.name;
    Level { name: format!("{place} ({} on {host})", variant.name), edits }
}

/// Successful measured runs, numbered anew, with the values in the order of the joined header.
fn runs((recording, variant): (&Recording, usize), place: usize, joined: &Recording) -> Vec<Run> {
    let design = &recording.header.experiment.design;
    let metrics = &joined.header.experiment.metrics;
    let indices: Vec<Option<usize>> =
        metrics.iter().map(|metric| recording.metric_index(&metric.name)).collect();
    let of_variant = recording
        .runs
        .iter()
        .filter(|run| run.variant == variant && run.block >= design.warmup && design.counts(&run.exit));
    of_variant
        .enumerate()
        .map(|(block, run)| {
            let values: Vec<Option<f64>> = run.values.iter().collect();
            let values: Vec<Option<f64>> = indices
                .iter()
                .map(|index| index.and_then(|index| values.get(index).copied().flatten()))
                .collect();
            Run { variant: place, block, position: place, values: values.into(), ..run.clone() }
        })
        .collect()
}

fn traces((recording, variant): (&Recording, usize), place: usize) -> Vec<TraceEntry> {
    let of_variant =
        recording.traces.iter().filter(|entry| entry.stage.is_none() && entry.variant == variant);
    of_variant.map(|entry| TraceEntry { variant: place, ..entry.clone() }).collect()
}
