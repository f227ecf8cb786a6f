//! The probes that trace: programs of known truth under them. What they count is exact, and the programs do what they do
//! without them.

mod probes_tracer {
    pub mod programs;

    mod counts;
    mod files;
    mod partial;
    mod recorded;
    mod rights;
    mod same_behaviour;
    mod trees;
}
