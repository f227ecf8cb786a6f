//! The variants of an experiment: one level of every factor, with its edits applied to the workload.

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
    let mut launch = base.clone();
    let mut names = Vec::new();
    for (factor, &level) in experiment.factors.iter().zip(&levels) {
        let level = &factor.levels[level];
        names.push(level.name.as_str());
        level.edits.iter().for_each(|edit| apply(edit, &mut launch));
    }
    Variant { name: names.join(" "), levels, launch }
}

fn apply(edit: &Edit, launch: &mut Launch) {
    match edit {
        Edit::Argv(argv) => launch.argv = argv.clone(),
        Edit::SetEnv(name, value) => launch.env.push((name.clone(), Some(value.clone()))),
        Edit::UnsetEnv(name) => launch.env.push((name.clone(), None)),
        Edit::Directory(path) => launch.cwd = Some(path.clone()),
        Edit::Stdin(input) => launch.stdin = input.clone(),
    }
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
        };
        let variants = variants(&experiment);
        let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["sort C", "msort C", "sort none", "msort none"]);
        assert_eq!(variants[3].launch.argv, ["msort".into()]);
        assert_eq!(variants[3].launch.env, [("LC_ALL".into(), None)]);
        assert_eq!(variants[3].levels, [1, 1]);
    }
}
