//! `whyslow stat`: what measurements that exist already are worth.

mod arguments;
mod inputs;

pub use arguments::Stat;

use std::io::Write;

use inputs::Input;

use super::files::{Part, check_distinct};
use super::report::{Content, print_and_export, show_with};
use super::{Screen, Status, Trouble};
use crate::analysis::analyze;
use crate::model::{DataSet, Recording, Schedule};
use crate::peers;
use crate::report::stat::{self, Study, study};
use crate::report::views::{self, MINISTAT_LEVELS, MOST_SETS, View, from_recording};
use crate::report::{render, view};

/// Of a recording beside other files.
const METRICS: [&str; 4] = ["wall_s", "cpu_s", "peak_rss_bytes", "page_faults"];

pub fn run(mut options: Stat, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    let mut parts = options.output.parts();
    parts.extend(options.files.iter().map(|file| Part::left_alone("", file)));
    check_distinct(&parts)?;
    options.output.check()?;
    if options.drawing.is_asked() && !options.output.json {
        options.output.view.get_or_insert_with(|| "ministat".to_owned());
    }
    let view_options = view_options(&options, screen)?;
    let reading = &options.reading;
    let how = peers::Options {
        form: reading.form.clone(),
        column: reading.column,
        delimiters: reading.delimiters.clone(),
    };
    let inputs = inputs::read_all(&options.files, &how)?;
    if let [Input::Recording(_, recording)] = &inputs[..] {
        return run_recording(recording, &options, &view_options, screen);
    }
    let sets = chosen(data_sets(inputs, reading.interleaved), reading.metric.as_deref())?;
    show(sets, &options, &view_options, screen)?;
    Ok(Status::Done)
}

/// A recording has a verdict of its own, by its own confidence and looks.
fn run_recording(
    recording: &Recording,
    options: &Stat,
    view_options: &views::Options,
    screen: &mut Screen<'_>,
) -> Result<Status, Trouble> {
    let typed = [
        ("--confidence", options.judging.confidence.is_some()),
        ("--margin", options.judging.margin.is_some()),
        ("--metric", options.reading.metric.is_some()),
        ("--interleaved", options.reading.interleaved),
    ];
    if let Some((option, _)) = typed.iter().find(|(_, is_typed)| *is_typed) {
        return Err(Trouble::new(format!(
            "{option} is for files of other tools; this is one recording of whyslow"
        ))
        .hint("what a recording is judged by was fixed when it was made"));
    }
    show_with(recording, &analyze(recording), &options.output, view_options, screen)?;
    Ok(Status::Done)
}

fn view_options(options: &Stat, screen: &Screen<'_>) -> Result<views::Options, Trouble> {
    let percent = options.judging.confidence.unwrap_or(95.0);
    let margin = options.judging.margin.unwrap_or(2.0);
    if !(percent > 0.0 && percent < 100.0) {
        return Err(Trouble::new(format!("`--confidence` must be above 0 and below 100, not {percent}")));
    }
    if !(margin > 0.0 && margin.is_finite()) {
        return Err(Trouble::new(format!("`--margin` must be above 0, not {margin}")));
    }
    let drawing = &options.drawing;
    let is_ministat = options.output.view.as_deref() == Some("ministat");
    if drawing.compat && is_ministat && !MINISTAT_LEVELS.contains(&percent) {
        return Err(Trouble::new(format!("ministat has no confidence level {percent}"))
            .hint("it has 80, 90, 95, 98, 99 and 99.5; without --compat any will do"));
    }
    let usual = views::Options::default();
    Ok(views::Options {
        compat: drawing.compat,
        confidence: percent / 100.0,
        margin: margin / 100.0,
        width: drawing.width.unwrap_or(usual.width.min(screen.width.saturating_sub(2))),
        plot: !drawing.no_plot,
        only_statistics: drawing.statistics_only,
        separate_bars: drawing.separate_bars,
        quiet: options.output.quiet,
        ..usual
    })
}

/// Value i of one file has nothing to do with value i of another, unless the user knows it has.
fn data_sets(inputs: Vec<Input>, is_interleaved: bool) -> Vec<DataSet> {
    let is_one = inputs.len() == 1;
    let mut sets: Vec<DataSet> = Vec::new();
    for input in inputs {
        let more = sets_of(input);
        let times = 1 + count_of_file(&sets, &more);
        sets.extend(more.into_iter().map(|set| if times > 1 { named_again(set, times) } else { set }));
    }
    for set in &mut sets {
        match set.schedule {
            _ if is_interleaved => set.schedule = Schedule::Interleaved,
            Schedule::Interleaved if !is_one => set.schedule = Schedule::Unknown,
            _ => {}
        }
    }
    sets
}

/// How often the file was given before.
fn count_of_file(before: &[DataSet], sets: &[DataSet]) -> usize {
    let Some(file) = sets.first().map(|set| set.origin.file.as_str()) else { return 0 };
    let name = |times: usize| if times == 1 { file.to_owned() } else { format!("{file} ({times})") };
    (1..).take_while(|&times| before.iter().any(|set| set.origin.file == name(times))).count()
}

/// A file against itself is a comparison of two files.
fn named_again(mut set: DataSet, times: usize) -> DataSet {
    let file = format!("{} ({times})", set.origin.file);
    if set.name == set.origin.file {
        set.name.clone_from(&file);
    }
    set.origin.file = file;
    set
}

fn sets_of(input: Input) -> Vec<DataSet> {
    match input {
        Input::Sets(sets) => sets,
        Input::Recording(file, recording) => {
            let mut sets = from_recording::data_sets(&recording, &METRICS);
            sets.retain(|set| !set.values.is_empty());
            sets.iter_mut().for_each(|set| set.origin.file = file.clone());
            sets
        }
    }
}

fn chosen(mut sets: Vec<DataSet>, metric: Option<&str>) -> Result<Vec<DataSet>, Trouble> {
    let Some(metric) = metric else { return Ok(sets) };
    let names = metric_names(&sets);
    sets.retain(|set| set.metric.name == metric);
    match sets.is_empty() {
        true => Err(Trouble::new(format!("no metric is called {metric}"))
            .hint(format!("the files have {}", names.join(", ")))),
        false => Ok(sets),
    }
}

fn metric_names(sets: &[DataSet]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for set in sets {
        if !names.contains(&set.metric.name) {
            names.push(set.metric.name.clone());
        }
    }
    names
}

fn show(
    sets: Vec<DataSet>,
    options: &Stat,
    view_options: &views::Options,
    screen: &mut Screen<'_>,
) -> Result<(), Trouble> {
    let output = &options.output;
    let whole = study(&sets, view_options);
    let content = |form: &str| match exported(form, &whole) {
        Some(text) => {
            Ok(Box::new(move |file: &mut dyn Write| file.write_all(text.as_bytes())) as Content<'_>)
        }
        None => Err(Trouble::new(format!("the form {form} is only for recordings of whyslow"))
            .hint("other measurements have json, csv and markdown")),
    };
    print_and_export(output, screen, content, |screen| print(&sets, options, view_options, screen))
}

fn print(
    sets: &[DataSet],
    options: &Stat,
    view_options: &views::Options,
    screen: &mut Screen<'_>,
) -> Result<(), Trouble> {
    let output = &options.output;
    if let Some(view) = output.view.as_deref().and_then(view) {
        let mut sets = sets.to_vec();
        for_view(view, &mut sets, options, screen)?;
        return screen.print(&(view.show)(&sets, view_options));
    }
    let study = study(sets, view_options);
    let text = match (output.json, output.quiet) {
        (true, _) => format!("{:#}\n", stat::json(&study)),
        (false, true) => render(&stat::compose_quietly(&study), screen.style(output)),
        (false, false) => render(&stat::compose(&study), screen.style(output)),
    };
    screen.print(&text)
}

fn exported(form: &str, study: &Study) -> Option<String> {
    match form {
        "json" => Some(format!("{:#}\n", stat::json(study))),
        "csv" => Some(stat::csv(study)),
        "markdown" => Some(stat::markdown(study)),
        _ => None,
    }
}

/// Most views show one metric: the first, unless another is named. What the original refuses is refused.
fn for_view(
    view: &View,
    sets: &mut Vec<DataSet>,
    options: &Stat,
    screen: &mut Screen<'_>,
) -> Result<(), Trouble> {
    let names = metric_names(sets);
    if view.metrics.len() == 1 && names.len() > 1 {
        sets.retain(|set| set.metric.name == names[0]);
        let _ = writeln!(
            screen.stderr,
            "note: {} alone is shown; --metric chooses among {}",
            names[0],
            names.join(", ")
        );
    }
    if view.name != "ministat" || !options.drawing.compat {
        return Ok(());
    }
    if sets.len() > MOST_SETS {
        return Err(Trouble::new(format!(
            "ministat shows at most {MOST_SETS} sets, and these are {}",
            sets.len()
        )));
    }
    match sets.iter().find(|set| set.values.len() < 3) {
        Some(small) => {
            Err(Trouble::new(format!("dataset {} must contain at least 3 data points", small.name))
                .hint("without --compat, fewer will do"))
        }
        None => Ok(()),
    }
}
