//! What can go wrong with the launcher itself. A command that cannot be started is not an error of
//! the launcher: that is [`Ended::NotStarted`](crate::Ended::NotStarted) in its reply.
//!
//! The texts do not repeat what the source says.

use std::fmt;
use std::io;

#[derive(Debug)]
#[non_exhaustive]
pub enum LauncherError {
    /// There is no launcher program for this operating system or processor.
    Unsupported,
    /// The launcher process could not be started.
    Start { step: &'static str, source: io::Error },
    /// The launcher process has ended, or does not speak as expected. No further command can be run
    /// with it.
    Gone,
    /// Somebody stopped the launcher process (SIGSTOP) during the run, whose times mean nothing then. The run was ended.
    Stopped,
    /// Talking with the launcher failed. No further command can be run with it.
    Socket { doing: &'static str, source: io::Error },
    /// Arguments and environment are larger than any system would take.
    RequestTooLarge { bytes: u64, limit_bytes: u64 },
    /// The launcher did not understand the request.
    Refused { source: io::Error },
}

impl fmt::Display for LauncherError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => {
                write!(formatter, "measuring commands needs Linux on x86_64 or aarch64")
            }
            Self::Start { step, .. } => write!(formatter, "cannot start the launcher process: {step}"),
            Self::Gone => write!(formatter, "the launcher process has ended unexpectedly"),
            Self::Stopped => write!(formatter, "somebody stopped the launcher process (SIGSTOP)"),
            Self::Socket { doing, .. } => {
                write!(formatter, "cannot talk with the launcher process: {doing}")
            }
            Self::RequestTooLarge { bytes, limit_bytes } => {
                write!(
                    formatter,
                    "arguments and environment are too large: {bytes} bytes, at most {limit_bytes}"
                )
            }
            Self::Refused { .. } => write!(formatter, "the launcher process refused the request"),
        }
    }
}

impl std::error::Error for LauncherError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start { source, .. } | Self::Socket { source, .. } | Self::Refused { source } => {
                Some(source)
            }
            Self::Unsupported | Self::Gone | Self::Stopped | Self::RequestTooLarge { .. } => None,
        }
    }
}
