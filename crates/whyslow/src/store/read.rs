//! Reading recordings: on all CPUs, since some have a million runs.

use std::io::{BufRead, Read};
use std::panic::resume_unwind;
use std::thread;

use serde::Deserialize;

use super::Line;
use crate::model::{
    Experiment, FORMAT_VERSION, Header, Looks, Metric, Recording, Run, SizePlan, Stage, StagePlan, WhatIf,
};

/// Tables have a place for each of them, so a broken file must not ask for any number.
const MOST_VARIANTS: usize = 10_000;
const MOST_BLOCKS: usize = 10_000_000;
const MOST_LOOKS: usize = 10_000;

/// Above every count that a computer keeps (64 bits), every size and every time.
const LARGEST_VALUE: f64 = 1e20;

/// Thirty thousand years after the first run.
const LATEST_START_S: f64 = 1e12;

/// What has no ends of lines must not fill the memory. The header names every variant.
const LONGEST_HEADER: u64 = 64 << 20;
/// A profile is one line with all its stacks.
const LONGEST_LINE: usize = 16 << 20;

/// Enough to be worth a thread, and little beside what is kept of it.
const BLOCK_BYTES: u64 = 1 << 20;
/// A short line of a run, so that lists of lines and texts seldom have to grow.
const USUAL_LINE_BYTES: usize = 256;

/// A file that is no recording, or a broken one.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read it: {0}")]
    Io(#[from] std::io::Error),
    #[error("it is empty")]
    Empty,
    #[error("line 1 is not the header of a recording")]
    NoHeader,
    #[error("line 1 is not a header that can be read: {0}")]
    BrokenHeader(serde_json::Error),
    #[error("it was written by a newer whyslow (form {0}, this one reads up to {FORMAT_VERSION})")]
    Newer(u32),
    #[error("line {line}: {source}")]
    Broken { line: usize, source: serde_json::Error },
    #[error("line {line}: longer than any line of a recording")]
    TooLong { line: usize },
    #[error("line {line}: a second header")]
    SecondHeader { line: usize },
    #[error("line {line}: {what}")]
    Inconsistent { line: usize, what: &'static str },
}

/// Reads a recording. A broken last line, as a killed program leaves it, is dropped; any other is an error.
pub fn read(input: impl BufRead) -> Result<Recording, ReadError> {
    read_on(thread::available_parallelism().map_or(1, usize::from), BLOCK_BYTES, input)
}

/// The same on so many CPUs, with so much text at once for each of them. All but the header is parsed in blocks of
/// whole lines, while the last blocks are added in the order of the file and the next ones are read.
pub fn read_on(cpus: usize, block_bytes: u64, mut input: impl BufRead) -> Result<Recording, ReadError> {
    let mut text = Vec::new();
    let mut recording = match (&mut input).take(LONGEST_HEADER).read_until(b'\n', &mut text)? {
        0 => return Err(ReadError::Empty),
        _ => Recording::new(header(&text)?),
    };
    let mut number = 1;
    let mut blocks = read_blocks(&mut input, cpus, block_bytes)?;
    let mut parsed = Vec::new();
    while !blocks.is_empty() {
        let (now, next) = parse_while(&blocks, || -> Result<_, ReadError> {
            add_blocks(&mut recording, parsed, &mut number)?;
            Ok(read_blocks(&mut input, cpus, block_bytes)?)
        });
        (parsed, blocks) = (now, next?);
    }
    add_blocks(&mut recording, parsed, &mut number)?;
    Ok(recording)
}

/// `number` is that of the last line before them, and then of their last one.
fn add_blocks(recording: &mut Recording, blocks: Vec<Block>, number: &mut usize) -> Result<(), ReadError> {
    for block in blocks {
        for line in block.lines {
            *number += 1;
            add(recording, line, *number)?;
        }
        let line = *number + 1;
        match block.fault {
            Some(Fault::Broken(source)) => return Err(ReadError::Broken { line, source }),
            Some(Fault::TooLong) => return Err(ReadError::TooLong { line }),
            None => {}
        }
    }
    Ok(())
}

/// Up to so many blocks of whole lines; none at the end of the input.
fn read_blocks(input: &mut impl BufRead, most: usize, block_bytes: u64) -> std::io::Result<Vec<Vec<u8>>> {
    let mut blocks = Vec::new();
    while blocks.len() < most {
        let mut block = Vec::with_capacity(block_bytes as usize + USUAL_LINE_BYTES);
        input.take(block_bytes).read_to_end(&mut block)?;
        if block.is_empty() {
            break;
        }
        if !block.ends_with(b"\n") {
            input.take(LONGEST_LINE as u64).read_until(b'\n', &mut block)?;
        }
        blocks.push(block);
    }
    Ok(blocks)
}

/// Parses every block on a CPU of its own, and does something else meanwhile.
fn parse_while<T>(blocks: &[Vec<u8>], meanwhile: impl FnOnce() -> T) -> (Vec<Block>, T) {
    if let [block] = blocks {
        return (vec![parse(block)], meanwhile());
    }
    thread::scope(|scope| {
        let workers: Vec<_> = blocks.iter().map(|block| scope.spawn(|| parse(block))).collect();
        let other = meanwhile();
        let parsed =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        (parsed.collect(), other)
    })
}

/// What a block of lines holds, up to the first broken one.
struct Block {
    lines: Vec<Line>,
    fault: Option<Fault>,
}

enum Fault {
    Broken(serde_json::Error),
    TooLong,
}

fn parse(mut text: &[u8]) -> Block {
    let mut block = Block { lines: Vec::with_capacity(text.len() / USUAL_LINE_BYTES), fault: None };
    while !text.is_empty() {
        let line = first_line(&mut text);
        if line.len() >= LONGEST_LINE {
            return Block { fault: Some(Fault::TooLong), ..block };
        }
        match serde_json::from_slice(line) {
            Ok(line) => block.lines.push(line),
            // Only the last line of a file can lack its end.
            Err(_) if !line.ends_with(b"\n") => break,
            Err(error) => return Block { fault: Some(Fault::Broken(error)), ..block },
        }
    }
    block
}

/// Whether the last line of a recording lacks nothing but its end. It counts then, and may get its end.
pub fn is_whole(line: &[u8]) -> bool {
    serde_json::from_slice::<Line>(line).is_ok()
}

/// Takes the first line off the text.
fn first_line<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let all = *text;
    // Reading from memory cannot fail.
    let length = text.skip_until(b'\n').unwrap_or(all.len());
    &all[..length]
}

/// The version is read first, since a newer header may not look like this one.
fn header(text: &[u8]) -> Result<Header, ReadError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    #[derive(Deserialize)]
    struct Any {
        whyslow: Version,
    }
    let any: Any = serde_json::from_slice(text).map_err(|_| ReadError::NoHeader)?;
    if any.whyslow.version > FORMAT_VERSION {
        return Err(ReadError::Newer(any.whyslow.version));
    }
    match serde_json::from_slice(text).map_err(ReadError::BrokenHeader)? {
        Line::Whyslow { header } => check_header(*header),
        _ => Err(ReadError::Inconsistent { line: 1, what: "not a header" }),
    }
}

/// What later code relies on.
fn check_header(header: Header) -> Result<Header, ReadError> {
    match broken_experiment(&header.experiment) {
        Some(what) => Err(ReadError::Inconsistent { line: 1, what }),
        None => Ok(header),
    }
}

fn broken_experiment(experiment: &Experiment) -> Option<&'static str> {
    let design = &experiment.design;
    let what = match variant_count(experiment) {
        None | Some(0) => "too few variants, or too many",
        Some(variants) if design.base >= variants => "the base is none of the variants",
        Some(1) if experiment.asks_why => "one variant has no difference to explain",
        _ if !(design.confidence > 0.0 && design.confidence < 1.0) => "the confidence is not between 0 and 1",
        _ if !(design.margin > 0.0 && design.margin.is_finite()) => "the margin is not above 0",
        _ if !(design.budget_s > 0.0 && design.budget_s.is_finite()) => "the budget is not above 0",
        _ => return None,
    };
    Some(what)
}

/// `None` where there are more than anybody measures.
fn variant_count(experiment: &Experiment) -> Option<usize> {
    let levels = experiment.factors.iter().map(|factor| factor.levels.len());
    let count = levels.into_iter().try_fold(1_usize, |count, levels| count.checked_mul(levels))?;
    (count <= MOST_VARIANTS).then_some(count)
}

fn add(recording: &mut Recording, line: Line, number: usize) -> Result<(), ReadError> {
    let inconsistent = |what| Err(ReadError::Inconsistent { line: number, what });
    if let Some(stage) = recording.stages.last_mut().filter(|stage| stage.end.is_none()) {
        match line {
            Line::Run(run) => match broken_run(&stage.plan.experiment, stage.runs.len(), &run) {
                Some(what) => return inconsistent(what),
                None => {
                    stage.runs.push(run);
                    return Ok(());
                }
            },
            Line::End(end) => {
                stage.end = Some(end);
                return Ok(());
            }
            // A stage has its number of blocks from its plan.
            Line::Looks(_) => return Ok(()),
            _ => {}
        }
    }
    match line {
        Line::Whyslow { .. } => return Err(ReadError::SecondHeader { line: number }),
        Line::Run(run) => match broken_run(&recording.header.experiment, recording.runs.len(), &run) {
            Some(what) => return inconsistent(what),
            // A recording that was interrupted and went on has an end in its middle.
            None => {
                recording.end = None;
                recording.runs.push(run);
            }
        },
        Line::Looks(looks) if !are_possible(&looks) => {
            return inconsistent("looks at nothing, at no possible error, or beyond any plan");
        }
        Line::Looks(looks) => recording.looks = Some(looks),
        Line::Hook(failure) if !has_variant(&recording.header, failure.variant) => {
            return inconsistent("a hook of a variant that the header does not have");
        }
        Line::Hook(failure) => {
            recording.hook_failure.get_or_insert(failure);
        }
        Line::End(end) => recording.end = Some(end),
        Line::Custom(sign) => recording.custom.push(sign),
        Line::Explained(stop) => recording.explained = Some(stop),
        Line::Trace(trace) if !has_variant(&recording.header, trace.variant) => {
            return inconsistent("a trace of a variant that the header does not have");
        }
        Line::Trace(trace) => recording.traces.push(*trace),
        Line::Stage(plan) => match broken_plan(&plan) {
            Some(what) => return inconsistent(what),
            None => recording.stages.push(Stage { plan: *plan, runs: Vec::new(), end: None }),
        },
    }
    Ok(())
}

fn has_variant(header: &Header, variant: usize) -> bool {
    variant_count(&header.experiment).is_some_and(|variants| variant < variants)
}

/// What later code relies on, of a stage.
fn broken_plan(plan: &StagePlan) -> Option<&'static str> {
    let variants = variant_count(&plan.experiment).unwrap_or(0);
    let is_there = |variant: usize| variant < variants;
    let is_whole = |what_if: &WhatIf| {
        is_there(what_if.removed) && is_there(what_if.beside) && what_if.added.is_none_or(is_there)
    };
    if let Some(what) = broken_experiment(&plan.experiment) {
        return Some(what);
    }
    let is_of_size = |size: &SizePlan| is_there(size.fast) && is_there(size.slow);
    let grows =
        plan.growth.as_ref().is_none_or(|growth| growth.sizes.iter().chain([&growth.floor]).all(is_of_size));
    let is_sound = grows
        && plan.layouts.iter().all(|pair| is_there(pair.fast) && is_there(pair.slow))
        && variants > 1
        && is_there(plan.fast)
        && is_there(plan.slow)
        && plan.what_ifs.iter().all(is_whole);
    (!is_sound).then_some("a stage with a variant that it does not have")
}

fn are_possible(looks: &Looks) -> bool {
    let is_possible = |&blocks: &usize| (1..=MOST_BLOCKS).contains(&blocks);
    (1..=MOST_LOOKS).contains(&looks.at.len())
        && looks.at.iter().all(is_possible)
        && looks.alpha_each > 0.0
        && looks.alpha_each < 1.0
}

/// Why a run cannot belong to the experiment.
fn broken_run(experiment: &Experiment, runs: usize, run: &Run) -> Option<&'static str> {
    let metrics = &experiment.metrics;
    let is_impossible = |(metric, value): (&Metric, Option<f64>)| {
        // What a program prints about itself may be any number.
        metric.source.is_none() && value.is_some_and(|value| !(0.0..=LARGEST_VALUE).contains(&value))
    };
    Some(match () {
        _ if run.values.len() > metrics.len() => "more values than metrics",
        _ if metrics.iter().zip(run.values.iter()).any(is_impossible) => "a value that no run can have",
        _ if !(0.0..=LATEST_START_S).contains(&run.start_s) => "a time at which no run can begin",
        _ if variant_count(experiment).is_none_or(|variants| run.variant >= variants) => {
            "a run of a variant that the header does not have"
        }
        // Every block before it has a run: tables of blocks are no longer than what is there.
        _ if run.block > runs => "the number of the block is absurd",
        _ => return None,
    })
}
