//! The nouns of the project: experiment, metric, recording. Pure data that serde can write and read back.
//! Nothing here measures, decides or prints.

mod bytes;
mod check_up;
mod dataset;
mod experiment;
mod metric;
mod recording;
mod values;

pub use bytes::ByteText;
pub use check_up::{CheckUp, CheckedMetric, Circumstances, CpuQuota};
pub use dataset::{DataMetric, DataSet, Origin, PerlTimes, Schedule};
pub use experiment::{
    Design, Edit, Experiment, Factor, FailurePolicy, HookKind, Input, Launch, Level, Output, Role, RunCount,
    Variant, Workload,
};
pub use metric::{Direction, KNOWN_METRICS, Metric, Noise, Pattern, Source, Unit, known_metric};
pub use recording::{
    Conditions, End, Exit, FORMAT_VERSION, Floor, Header, HookFailure, Host, Looks, Missing, Recording, Run,
    Stop,
};
pub use values::Values;
