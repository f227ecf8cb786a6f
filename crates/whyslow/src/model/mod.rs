//! The nouns of the project: experiment, metric, recording. Pure data that serde can write and read back.
//! Nothing here measures, decides or prints.

mod bytes;
mod check_up;
mod dataset;
mod experiment;
mod investigation;
mod metric;
mod recording;
mod trace;
mod values;

pub use bytes::ByteText;
pub use check_up::{CheckUp, CheckedMetric, CheckedProbe, Circumstances, CpuQuota};
pub use dataset::{DataMetric, DataSet, Origin, PerlTimes, Schedule};
pub use experiment::{
    Design, Edit, Experiment, Factor, FailurePolicy, HookKind, Input, Launch, Level, Output, Preload, Role,
    RunCount, Shim, Variant, Workload,
};
pub use investigation::{
    CustomSign, Expectation, GrowthPlan, OWN_MALLOC, SidePair, SizePlan, Stage, StagePlan, WhatIf,
};
pub use metric::{Direction, KNOWN_METRICS, Metric, Noise, Pattern, Source, Unit, known_metric};
pub use recording::{
    Conditions, End, Entry, Exit, FORMAT_VERSION, Floor, Header, HookFailure, Host, Looks, Missing,
    Recording, Run, Stop,
};
pub use trace::{
    Allocations, CountedFunction, ElfFacts, Environment, FileUse, Files, Frame, Instructions, KNOWN_PROBES,
    KernelView, KnownProbe, LoadedProgram, Loading, Moment, Partial, Probe, Probed, Profile, SAME_RATE, Seen,
    Series, Stack, StartedProgram, SyscallCount, Syscalls, ThreadTime, Trace, TraceEntry, WaitKind,
    WaitPlace, Waiting, at_one_rate, usual_rate_hz,
};
pub use values::Values;
