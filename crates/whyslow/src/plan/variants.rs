//! The variants of an experiment: one level of every factor, with its edits applied to the workload.

use std::collections::BTreeMap;

use super::parameters::{Binding, bind_launch, placeholders, substitute};
use crate::model::{Edit, Experiment, Launch, Variant, Workload};

/// Every combination of levels; the first factor varies fastest.
pub fn variants(experiment: &Experiment) -> Vec<Variant> {
    combinations(experiment).into_iter().map(|levels| variant(experiment, levels)).collect()
}

fn combinations(experiment: &Experiment) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for factor in experiment.factors.iter().rev() {
        all = all
            .iter()
            .flat_map(|rest: &Vec<usize>| {
                (0..factor.levels.len()).map(move |level| {
                    let mut levels = vec![level];
                    levels.extend(rest);
                    levels
                })
            })
            .collect();
    }
    all
}

fn variant(experiment: &Experiment, levels: Vec<usize>) -> Variant {
    let Workload::Command(base) = &experiment.workload;
    let mut variant = Variant {
        name: String::new(),
        levels,
        launch: base.clone(),
        hooks: BTreeMap::new(),
        parameters: Vec::new(),
    };
    let mut names = Vec::new();
    for (factor, &level) in experiment.factors.iter().zip(&variant.levels.clone()) {
        let level = &factor.levels[level];
        if !level.edits.iter().any(|edit| matches!(edit, Edit::Parameter(..))) {
            names.push(level.name.as_str());
        }
        level.edits.iter().for_each(|edit| apply(edit, &mut variant));
    }
    bind(&mut variant, &names.join(" "));
    variant
}

fn apply(edit: &Edit, variant: &mut Variant) {
    let launch = &mut variant.launch;
    match edit {
        Edit::Argv(argv) => launch.argv = argv.clone(),
        Edit::SetEnv(name, value) => launch.env.push((name.clone(), Some(value.clone()))),
        Edit::UnsetEnv(name) => launch.env.push((name.clone(), None)),
        Edit::Directory(path) => launch.cwd = Some(path.clone()),
        Edit::Stdin(input) => launch.stdin = input.clone(),
        Edit::Stdout(output) => launch.stdout = output.clone(),
        Edit::Affinity(cpus) => launch.affinity = Some(cpus.clone()),
        Edit::Preload(preload) => launch.preloads.push(preload.clone()),
        Edit::Wrap(words) => drop(launch.argv.splice(0..0, words.iter().cloned())),
        Edit::Timeout(seconds) => launch.timeout_s = Some(*seconds),
        Edit::Hook(kind, argv) => {
            variant.hooks.insert(*kind, Launch { argv: argv.clone(), ..Launch::default() });
        }
        Edit::Parameter(name, value) => variant.parameters.push((name.clone(), value.clone())),
    }
}

/// Puts the values of the parameters in, last of all, and gives the hooks the surroundings of the command.
fn bind(variant: &mut Variant, name: &str) {
    let bindings: Vec<Binding<'_>> =
        variant.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    bind_launch(&mut variant.launch, &bindings);
    for hook in variant.hooks.values_mut() {
        bind_launch(hook, &bindings);
        hook.env = variant.launch.env.clone();
        hook.cwd = variant.launch.cwd.clone();
    }
    variant.name = bound_name(name, &bindings);
}

/// A parameter that the name does not show is added, so that variants can be told apart.
fn bound_name(name: &str, bindings: &[Binding<'_>]) -> String {
    let shown = placeholders(name.as_bytes());
    let unseen: Vec<String> = bindings
        .iter()
        .filter(|(parameter, _)| !shown.iter().any(|name| name == parameter))
        .map(|(parameter, value)| format!("{parameter} = {value}"))
        .collect();
    let bound = String::from_utf8_lossy(&substitute(name.as_bytes(), bindings)).into_owned();
    if unseen.is_empty() { bound } else { format!("{bound} ({})", unseen.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Design, Factor, Level, Role};

    fn factor(name: &str, levels: &[(&str, Edit)]) -> Factor {
        let level = |(name, edit): &(&str, Edit)| Level { name: (*name).into(), edits: vec![edit.clone()] };
        Factor { name: name.into(), levels: levels.iter().map(level).collect(), role: Role::Asked }
    }

    #[test]
    fn two_factors_make_every_combination() {
        let experiment = Experiment {
            name: String::new(),
            workload: Workload::Command(Launch { argv: vec!["sort".into()], ..Launch::default() }),
            factors: vec![
                factor(
                    "program",
                    &[("sort", Edit::Argv(vec!["sort".into()])), ("msort", Edit::Argv(vec!["msort".into()]))],
                ),
                factor(
                    "locale",
                    &[
                        ("C", Edit::SetEnv("LC_ALL".into(), "C".into())),
                        ("none", Edit::UnsetEnv("LC_ALL".into())),
                    ],
                ),
            ],
            metrics: Vec::new(),
            design: Design::default(),
            asks_why: false,
            is_joined: false,
        };
        let variants = variants(&experiment);
        let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["sort C", "msort C", "sort none", "msort none"]);
        assert_eq!(variants[3].launch.argv, ["msort".into()]);
        assert_eq!(variants[3].launch.env, [("LC_ALL".into(), None)]);
        assert_eq!(variants[3].levels, [1, 1]);
    }
}
