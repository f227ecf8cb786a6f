//! From the options of `compare` and `probe` to a question: what was typed is sorted, and read where it has a form of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Trouble;
use super::arguments::{Compare, Hooks, Parameters, Variants};
use super::probe::Probe;
use super::values::OutputPolicy;
use crate::model::{ByteText, FailurePolicy, HookKind, Input, Metric, Output};
use crate::plan::{Parameter, PlanError, Question, Surroundings, Typed, metric_from, parameters};

pub fn question(options: &Compare) -> Result<Question, Trouble> {
    let effort = &options.effort;
    let commands = commands(&options.commands, &options.words);
    Ok(Question {
        metrics: metrics(&effort.metric_from)?,
        warmup: effort.warmup,
        runs: effort.runs,
        min_runs: effort.min_runs,
        max_runs: effort.max_runs,
        budget_s: effort.budget.map(|budget| budget.as_secs_f64()),
        confidence: effort.confidence,
        margin: effort.margin,
        seed: effort.seed.unwrap_or_else(seed_from_clock),
        leading: effort.metric.clone(),
        failures: failures(options.runs.ignore_failure.as_deref())?,
        success_codes: options.runs.success_codes.clone(),
        timeout_s: options.runs.timeout.map(|limit| limit.as_secs_f64()),
        wait_for_descendants_s: options.runs.wait_descendants.map(|limit| limit.as_secs_f64()),
        gap_s: options.runs.gap.map_or(0.0, |gap| gap.as_secs_f64()),
        digest_output: options.runs.check_output,
        ..work(commands, &options.variants, &options.parameters, &options.hooks)?
    })
}

/// What probes look at. No run is timed, so nothing is asked about runs.
pub fn work_to_probe(options: &Probe) -> Result<Question, Trouble> {
    let commands = commands(&options.commands, &options.words);
    Ok(Question {
        timeout_s: options.timeout.map(|limit| limit.as_secs_f64()),
        may_be_alone: true,
        ..work(commands, &options.variants, &options.parameters, &options.hooks)?
    })
}

/// The commands with what is around them.
fn work(
    commands: Vec<Typed>,
    variants: &Variants,
    parameters: &Parameters,
    hooks: &Hooks,
) -> Result<Question, PlanError> {
    Ok(Question {
        commands,
        names: variants.names.clone(),
        reference: variants.reference.clone().map(Into::into),
        reference_name: variants.reference_name.clone(),
        surroundings: surroundings(variants, hooks),
        parameters: values(parameters)?,
        with_twin: variants.twin,
        ..Question::default()
    })
}

pub fn commands(lines: &[OsString], words: &[OsString]) -> Vec<Typed> {
    let lines = lines.iter().map(|line| Typed::Line(line.clone().into()));
    let words = words.split(|word| word == "--").filter(|words| !words.is_empty());
    lines.chain(words.map(|words| Typed::Words(texts(words)))).collect()
}

fn texts(words: &[OsString]) -> Vec<ByteText> {
    words.iter().cloned().map(ByteText::from).collect()
}

fn surroundings(variants: &Variants, hooks: &Hooks) -> Surroundings {
    let hooks = [
        (HookKind::Setup, &hooks.setup),
        (HookKind::Prepare, &hooks.prepare),
        (HookKind::Conclude, &hooks.conclude),
        (HookKind::Cleanup, &hooks.cleanup),
    ];
    Surroundings {
        shell: variants.shell.clone(),
        wrapper: variants.wrapper.clone(),
        env: variants.env.clone(),
        unset: variants.unset.clone(),
        directory: variants.directory.clone(),
        input: variants.input.iter().map(|path| input(path)).collect(),
        output: outputs(variants),
        affinity: variants.affinity.iter().map(|cpus| cpus.0.clone()).collect(),
        hooks: BTreeMap::from(hooks.map(|(kind, commands)| (kind, texts(commands)))),
    }
}

fn input(path: &Path) -> Input {
    if path == Path::new("null") { Input::Null } else { Input::File(path.to_owned()) }
}

fn outputs(variants: &Variants) -> Vec<Output> {
    if variants.tty {
        return vec![Output::Terminal];
    }
    if variants.show_output {
        return vec![Output::Inherit];
    }
    let output = |policy: &OutputPolicy| match policy {
        OutputPolicy::Pipe => Output::Pipe,
        OutputPolicy::Null => Output::Null,
        OutputPolicy::Inherit => Output::Inherit,
        OutputPolicy::File(path) => Output::File(path.clone()),
    };
    variants.stdout.iter().map(output).collect()
}

/// Lists first, then scans, then geometric scans; the first varies fastest.
fn values(options: &Parameters) -> Result<Vec<Parameter>, PlanError> {
    let lists = options.lists.chunks_exact(2).map(|list| Ok(parameters::list(&list[0], &list[1])));
    let step = |index: usize| match options.steps.as_slice() {
        [only] => Some(only.as_str()),
        steps => steps.get(index).map(String::as_str),
    };
    let scans = options.scans.chunks_exact(3).enumerate();
    let scans = scans.map(|(index, scan)| parameters::scan(&scan[0], &scan[1], &scan[2], step(index)));
    let geometric = options.geometric.chunks_exact(4);
    let geometric = geometric.map(|scan| parameters::geometric(&scan[0], &scan[1], &scan[2], &scan[3]));
    lists.chain(scans).chain(geometric).collect()
}

fn metrics(typed: &[String]) -> Result<Vec<Metric>, PlanError> {
    typed.iter().map(|text| metric_from(text)).collect()
}

fn failures(typed: Option<&str>) -> Result<FailurePolicy, Trouble> {
    let Some(typed) = typed else { return Ok(FailurePolicy::Abort) };
    if typed == "all-non-zero" || typed == "all" {
        return Ok(FailurePolicy::CountAll);
    }
    let codes: Result<Vec<i32>, _> = typed.split(',').map(|code| code.trim().parse()).collect();
    codes.map(FailurePolicy::CountCodes).map_err(|_| {
        Trouble::new(format!("`--ignore-failure={typed}` is not a list of exit codes"))
            .hint("write --ignore-failure for all failures, or --ignore-failure=1,2")
    })
}

/// Below 2^32, so that the seed is short to type and exact in every reader of JSON.
fn seed_from_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(since.subsec_nanos() ^ (since.as_secs() as u32).rotate_left(16))
}
