//! From an analysis to what people and programs read. Pure: returns text, prints nothing. [`compose`] finds the
//! words and arranges them in a [`Document`]; [`terminal`] draws a document; [`json`] is the machine's face.

mod alone;
mod compose;
mod doctor;
mod document;
mod explain;
pub mod exports;
mod json;
mod many;
mod probe;
mod quantity;
pub mod stat;
mod tables;
mod terminal;
pub mod views;
mod words;

pub use compose::{
    compose, compose_quietly, hook_failure, last_lines, printable, printable_lines, short_names,
};
pub use doctor::{Finding, MachineNoise, Mark, doctor, doctor_json, doctor_with_probes, findings, worst};
pub use document::{Document, Line, Part, Span, Table, Tone};
pub use explain::{compose_diagnosis, diagnosis_json};
pub use exports::{EXPORTS, export};
pub use json::{SCHEMA_VERSION, json};
pub use probe::{compose_traces, traces_json};
pub use quantity::{bytes, count, duration, percent, seconds};
pub use terminal::{Style, render};
pub use views::{VIEWS, show_recording, view};
pub use words::{between, concern, exit, headline};
