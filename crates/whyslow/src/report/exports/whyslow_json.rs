//! The whole result as JSON, as `compare --json` prints it. Its schema is docs/schema/compare.schema.json.

use std::io::{self, Write};

use serde::Serialize;

use crate::analysis::Analysis;
use crate::model::Recording;

pub fn whyslow_json(recording: &Recording, analysis: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    pretty(file, &crate::report::json(recording, analysis))
}

/// Two spaces of indent and a newline at the end.
pub fn pretty(file: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *file, value)?;
    writeln!(file)
}
