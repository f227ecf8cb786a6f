//! Files, directories and the standard input as samples.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cli::Trouble;
use crate::model::{DataSet, Recording};
use crate::peers::{self, Options, PeerError};
use crate::store;

pub enum Input {
    /// With the name of its file.
    Recording(String, Box<Recording>),
    Sets(Vec<DataSet>),
}

/// All of them in their order; the first trouble in that order is told. Files are read at the same time: a million
/// numbers take longer to parse than to judge.
pub fn read_all(files: &[PathBuf], options: &Options) -> Result<Vec<Input>, Trouble> {
    let standard_input = [PathBuf::from("-")];
    let files = if files.is_empty() { &standard_input } else { files };
    let readers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut inputs = Vec::new();
    for batch in files.chunks(readers) {
        let read: Vec<Result<Input, Trouble>> = std::thread::scope(|scope| {
            let readers: Vec<_> = batch.iter().map(|file| scope.spawn(|| read(file, options))).collect();
            readers.into_iter().map(|reader| reader.join().expect("a reader that ends")).collect()
        });
        inputs.extend(read.into_iter().collect::<Result<Vec<Input>, Trouble>>()?);
    }
    Ok(inputs)
}

fn read(file: &Path, options: &Options) -> Result<Input, Trouble> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::stdin().read_to_end(&mut bytes);
        read.map_err(|error| Trouble::new(format!("cannot read the standard input: {error}")))?;
        return parse("<stdin>", &bytes, options);
    }
    if file.is_dir() {
        return criterion(file, options);
    }
    parse(&file.display().to_string(), &bytes_of(file)?, options)
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, Trouble> {
    std::fs::read(file).map_err(|error| Trouble::new(format!("cannot open {}: {error}", file.display())))
}

fn parse(name: &str, bytes: &[u8], options: &Options) -> Result<Input, Trouble> {
    match peers::read(name, bytes, options) {
        Ok(sets) => Ok(Input::Sets(sets)),
        Err(PeerError::Recording { .. }) => recording(name, bytes),
        Err(error) => Err(Trouble::new(error.to_string()).hint(error.hint())),
    }
}

fn recording(name: &str, bytes: &[u8]) -> Result<Input, Trouble> {
    let recording = store::read(bytes)
        .map_err(|error| Trouble::new(format!("{name} is not a recording that can be shown: {error}")))?;
    Ok(Input::Recording(name.to_owned(), Box::new(recording)))
}

/// Every saved sample in the directory; it counts as one file.
fn criterion(directory: &Path, options: &Options) -> Result<Input, Trouble> {
    let mut folders = Vec::new();
    find_samples(directory, directory, DEEPEST, &mut folders);
    if folders.is_empty() {
        return Err(Trouble::new(format!("{} is a directory without samples", directory.display()))
            .hint("criterion keeps them in target/criterion/BENCHMARK/new/sample.json"));
    }
    let mut all = Vec::new();
    for folder in folders {
        let file = folder.join("sample.json");
        let named = peers::read(&file.display().to_string(), &bytes_of(&file)?, options);
        let mut sets = named.map_err(|error| Trouble::new(error.to_string()).hint(error.hint()))?;
        let name = std::fs::read(folder.join("benchmark.json")).ok();
        let name = name.and_then(|bytes| peers::criterion::name(&bytes));
        for set in &mut sets {
            set.origin.file = directory.display().to_string();
            set.name = name.clone().unwrap_or_else(|| std::mem::take(&mut set.name));
        }
        all.extend(sets);
    }
    Ok(Input::Sets(all))
}

/// Group, function, parameter and `new` below the directory, and one to spare.
const DEEPEST: usize = 5;

/// The directory that was named may be any; below it, `new` holds the last run.
fn find_samples(folder: &Path, named: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let is_wanted = folder == named || folder.file_name() == Some(OsStr::new("new"));
    if is_wanted && folder.join("sample.json").is_file() {
        found.push(folder.to_owned());
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    if depth > 0 {
        folders.iter().for_each(|below| find_samples(below, named, depth - 1, found));
    }
}
