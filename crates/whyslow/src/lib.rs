//! whyslow
