//! Every view against the program whose face it shows, and on data that are no good for anything.
//! The programs themselves are run where they are installed; elsewhere those tests pass without looking.

#[path = "views/edge_cases.rs"]
mod edge_cases;
#[path = "views/ministat.rs"]
mod ministat;
#[path = "views/perl.rs"]
mod perl;
#[path = "views/recordings.rs"]
mod recordings;
#[path = "views/samples.rs"]
mod samples;
#[path = "views/tables.rs"]
mod tables;
