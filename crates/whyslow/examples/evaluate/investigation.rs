//! Explains one case as `whyslow explain` would.

use std::fs::File;
use std::io::BufWriter;

use anyhow::{Context, Result};
use whyslow::analysis::analyze;
use whyslow::explain::{Diagnosis, diagnose};
use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{
    Design, Edit, Experiment, Factor, HookKind, Launch, Level, Metric, Output, Role, RunCount, Workload,
};
use whyslow::report::{Style, compose_diagnosis, render};
use whyslow::session::{Event, Inquiry, Stamp, Watcher, WatcherError, explain as explain_session};
use whyslow::store::Writer;

use super::case::{Case, Folder, Side, Value};
use super::options::Options;

/// What came of one case.
pub struct Explained {
    pub diagnosis: Option<Diagnosis>,
    pub stopped: String,
    /// Of one run of both sides.
    pub pair_s: f64,
}

pub fn explain(folder: &Folder, case: &Case, options: &Options) -> Result<Explained> {
    let interrupt = Interrupt::on_signals().context("cannot listen for signals")?;
    let mut machine = Local::start(interrupt, Settings::default())?;
    let mut watcher = Keeper::new(options, &case.id)?;
    let stamp = Stamp { tool: "whyslow evaluate".to_owned(), started: String::new() };
    let scratch = tempfile::tempdir()?;
    let inquiry = Inquiry { scratch: Some(scratch.path()), ..Inquiry::default() };
    let experiment = experiment(folder, case);
    let measured =
        explain_session(experiment, inquiry, &mut machine as &mut dyn Machine, &mut watcher, stamp);
    if let Some(trouble) = measured.trouble {
        return Err(anyhow::Error::from(trouble));
    }
    let recording = measured.recording;
    let diagnosis = diagnose(&recording);
    let analysis = analyze(&recording);
    if options.verbose
        && let Some(diagnosis) = &diagnosis
    {
        println!(
            "{}",
            render(
                &compose_diagnosis(&analysis, diagnosis),
                Style { width: 110, colour: false, unicode: true }
            )
        );
    }
    let pair_s = analysis.variants.iter().filter_map(|variant| variant.median("wall_s")).sum();
    Ok(Explained { diagnosis, stopped: format!("{:?}", analysis.stop), pair_s })
}

fn experiment(folder: &Folder, case: &Case) -> Experiment {
    let level = |name: &str, side: &Side| Level { name: name.to_owned(), edits: edits(folder, side) };
    let codes = case.baseline.rc.iter().chain(&case.slow.rc).copied().collect();
    Experiment {
        name: case.id.clone(),
        workload: Workload::Command(Launch { cwd: Some(folder.work.clone()), ..Launch::default() }),
        factors: vec![Factor {
            name: "command".to_owned(),
            levels: vec![level("baseline", &case.baseline), level("slow", &case.slow)],
            role: Role::Asked,
        }],
        metrics: Metric::all_known(),
        design: Design {
            runs: RunCount::UntilDecided { min: 0, max: None },
            seed: 20_261,
            success_codes: codes,
            ..Design::default()
        },
        asks_why: true,
        is_joined: false,
    }
}

fn edits(folder: &Folder, side: &Side) -> Vec<Edit> {
    let command = folder.expand(&side.cmd);
    let words = if side.shell {
        vec!["/bin/sh".to_owned(), "-c".to_owned(), command]
    } else {
        shell_words::split(&command).unwrap_or_else(|_| vec![command])
    };
    let mut edits = vec![Edit::Argv(words.iter().map(|word| word.as_str().into()).collect())];
    // As the cases were measured: some commands do less when nobody reads what they write.
    edits.push(Edit::Stdout(Output::Null));
    for (name, value) in &side.env {
        edits.push(match value {
            Value::Text(text) if text == "__unset__" => Edit::UnsetEnv(name.as_str().into()),
            Value::Text(text) => Edit::SetEnv(name.as_str().into(), folder.expand(text).as_str().into()),
            Value::Repeated { repeat, times } => {
                Edit::SetEnv(name.as_str().into(), repeat.repeat(*times).as_str().into())
            }
        });
    }
    if !side.prepare.is_empty() {
        let hook = ["/bin/sh".to_owned(), "-ec".to_owned(), folder.expand(&side.prepare)];
        edits.push(Edit::Hook(HookKind::Prepare, hook.iter().map(|word| word.as_str().into()).collect()));
    }
    edits
}

/// Keeps the recording where that was asked for.
struct Keeper {
    writer: Option<Writer<BufWriter<File>>>,
}

impl Keeper {
    fn new(options: &Options, id: &str) -> Result<Keeper> {
        let Some(folder) = &options.keep else { return Ok(Keeper { writer: None }) };
        std::fs::create_dir_all(folder)?;
        let file = File::create(folder.join(format!("{id}.jsonl")))?;
        Ok(Keeper { writer: Some(Writer::new(BufWriter::new(file))) })
    }
}

impl Watcher for Keeper {
    fn notice(&mut self, event: Event<'_>) -> Result<(), WatcherError> {
        let (Some(writer), Some(entry)) = (&mut self.writer, event.entry()) else { return Ok(()) };
        writer.append(&entry).map_err(|source| WatcherError {
            what: "cannot write the recording".to_owned(),
            source: Some(source),
        })
    }
}
