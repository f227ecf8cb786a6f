//! The suspects: one file each, one row each in [`SUSPECTS`]. A suspect reads a case and says how strongly the signs
//! point at it, in numbers, which of the differences it would be the name of, and what would confirm or clear it. It
//! confirms nothing itself.

mod algo_hash_collision;
mod algo_quadratic;
mod algo_regex_backtrack;
mod alloc_allocator;
mod alloc_arena_contention;
mod alloc_decay;
mod alloc_mmap_threshold;
mod alloc_perturb;
pub(super) mod alloc_realloc_copy;
mod alloc_tcache;
mod alloc_trim;
pub(super) mod allocating;
mod build_hardening;
mod build_instrumentation;
mod build_optimisation;
mod code_alloc_count;
mod code_exceptions;
mod code_logging;
mod code_more_work;
mod conc_affinity;
mod conc_false_sharing;
mod conc_lock;
mod conc_oversubscription;
mod cpu_branch_miss;
mod cpu_cache;
mod cpu_features_off;
mod data_layout;
mod env_locale;
mod env_path;
mod env_rlimit_nofile;
mod env_size;
mod env_tz;
mod evidence;
mod io_block_size;
mod io_byte_read;
mod io_cold_cache;
mod io_direct;
mod io_encoding_layer;
mod io_fsync;
mod io_stat_storm;
mod io_temp_files;
mod io_unbuffered;
mod link_bind_now;
mod link_dynamic;
mod link_lazy_binding;
mod link_libs_count;
mod link_preload;
mod link_search_path;
mod link_symbol_lookup;
mod mem_first_touch;
mod mem_fork_cow;
mod mem_layout;
mod mem_thp_off;
mod mem_thp_sparse;
mod modules;
mod proc_fork_loop;
mod proc_shim;
mod proc_startup_file;
mod programs;
mod rt_build;
mod rt_c_extension;
mod rt_debug_mode;
mod rt_gc;
mod rt_import;
mod rt_interpreter;
mod rt_jit_off;
mod rt_module_path;
mod rt_no_bytecode;
mod rt_version;
mod sched_contention;
mod sched_quota;
mod settings;
mod signs;
mod starting;
mod sys_clock;
mod sys_seccomp;
mod sys_tracer;
#[cfg(test)]
pub(super) mod testing;
mod traffic;
mod wait_dns;
mod wait_network;
mod wait_sleep;

use super::case::Case;
pub use crate::model::Expectation;
use crate::model::{Edit, Preload, Shim};
pub(super) use allocating::with_each;
pub(super) use mem_layout::may_be_layout;
pub(super) use signs::{base_name, more_in_functions, names_functions_alike, program, seconds};

/// Every suspect, by name.
pub static SUSPECTS: &[Suspect] = &[
    algo_hash_collision::SUSPECT,
    algo_quadratic::SUSPECT,
    algo_regex_backtrack::SUSPECT,
    alloc_allocator::SUSPECT,
    alloc_arena_contention::SUSPECT,
    alloc_decay::SUSPECT,
    alloc_mmap_threshold::SUSPECT,
    alloc_perturb::SUSPECT,
    alloc_realloc_copy::SUSPECT,
    alloc_tcache::SUSPECT,
    alloc_trim::SUSPECT,
    build_hardening::SUSPECT,
    build_instrumentation::SUSPECT,
    build_optimisation::SUSPECT,
    code_alloc_count::SUSPECT,
    code_exceptions::SUSPECT,
    code_logging::SUSPECT,
    code_more_work::SUSPECT,
    conc_affinity::SUSPECT,
    conc_false_sharing::SUSPECT,
    conc_lock::SUSPECT,
    conc_oversubscription::SUSPECT,
    cpu_branch_miss::SUSPECT,
    cpu_cache::SUSPECT,
    cpu_features_off::SUSPECT,
    data_layout::SUSPECT,
    env_locale::SUSPECT,
    env_path::SUSPECT,
    env_rlimit_nofile::SUSPECT,
    env_size::SUSPECT,
    env_tz::SUSPECT,
    io_block_size::SUSPECT,
    io_byte_read::SUSPECT,
    io_cold_cache::SUSPECT,
    io_direct::SUSPECT,
    io_encoding_layer::SUSPECT,
    io_fsync::SUSPECT,
    io_stat_storm::SUSPECT,
    io_temp_files::SUSPECT,
    io_unbuffered::SUSPECT,
    link_bind_now::SUSPECT,
    link_dynamic::SUSPECT,
    link_lazy_binding::SUSPECT,
    link_libs_count::SUSPECT,
    link_preload::SUSPECT,
    link_search_path::SUSPECT,
    link_symbol_lookup::SUSPECT,
    mem_first_touch::SUSPECT,
    mem_fork_cow::SUSPECT,
    mem_layout::SUSPECT,
    mem_thp_off::SUSPECT,
    mem_thp_sparse::SUSPECT,
    proc_fork_loop::SUSPECT,
    proc_shim::SUSPECT,
    proc_startup_file::SUSPECT,
    rt_build::SUSPECT,
    rt_c_extension::SUSPECT,
    rt_debug_mode::SUSPECT,
    rt_gc::SUSPECT,
    rt_import::SUSPECT,
    rt_interpreter::SUSPECT,
    rt_jit_off::SUSPECT,
    rt_module_path::SUSPECT,
    rt_no_bytecode::SUSPECT,
    rt_version::SUSPECT,
    sched_contention::SUSPECT,
    sched_quota::SUSPECT,
    sys_clock::SUSPECT,
    sys_seccomp::SUSPECT,
    sys_tracer::SUSPECT,
    wait_dns::SUSPECT,
    wait_network::SUSPECT,
    wait_sleep::SUSPECT,
];

/// One possible cause. The texts make its page in docs/suspects.md.
pub struct Suspect {
    /// Such as `env.locale`.
    pub name: &'static str,
    pub title: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How it shows.
    pub shows: &'static str,
    /// How it is tested, or why it cannot be.
    pub test: &'static str,
    pub fix: &'static str,
    /// A report that it comes from.
    pub report: &'static str,
    pub look: fn(&Case<'_>) -> Option<Suspicion>,
}

/// How strongly the signs point at a suspect.
#[derive(Clone, Debug, Default)]
pub struct Suspicion {
    /// The part of the gap that the signs can account for (a priced count, time in its functions): 0.05 or less accuses
    /// nobody. Where nothing can be priced, how specific the signs are: 0.3 for one that many programs show.
    pub weight: f64,
    /// What was seen, in words and numbers.
    pub signs: Vec<String>,
    pub claims: Vec<Claim>,
    /// Experiments, the best first. Not needed for claims: swapping a difference is always tried.
    pub ideas: Vec<Idea>,
}

/// This difference is what the suspect would be about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// Index into the differences of the case.
    pub difference: usize,
    /// The strongest claim gives the difference its name.
    pub weight: f64,
    /// Swapping the difference changes nothing but this suspect (a variable, a limit, a wrapper), so the swap is the
    /// experiment. Otherwise the swap only locates: another program differs in more than one way.
    pub is_experiment: bool,
}

/// An experiment that removes the suspect.
#[derive(Clone, Debug, PartialEq)]
pub struct Idea {
    /// "mimalloc preloaded on both sides".
    pub title: String,
    /// Appended to the edits of the slow side.
    pub slow: Vec<Edit>,
    pub fast: Mirror,
    pub expect: Option<Expectation>,
}

/// What the slow side without the suspect is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Mirror {
    /// The fast side with the same edits, since they may act on it too.
    Same,
    /// The fast side as it is, since it has not got the suspect.
    AsItIs,
}

impl Idea {
    /// A library of ours preloaded on both sides, which shows by its name that it is there.
    pub fn with_shim(title: &str, shim: Shim) -> Idea {
        Idea {
            title: title.to_owned(),
            expect: Some(Expectation { fact: "library.".to_owned(), contains: shim.name().to_owned() }),
            slow: vec![Edit::Preload(Preload::Shim(shim))],
            fast: Mirror::Same,
        }
    }
}

impl Suspicion {
    /// Suspected because of a variable (or the like) that differs and that is about nothing else.
    pub fn by_difference(difference: usize, sign: impl Into<String>) -> Suspicion {
        let claim = Claim { difference, weight: 1.0, is_experiment: true };
        Suspicion { weight: 0.5, signs: vec![sign.into()], claims: vec![claim], ideas: Vec::new() }
    }

    /// Suspected by signs that account for this part of the gap, as the name of the differences in program and
    /// arguments.
    pub fn located(case: &Case<'_>, weight: f64, signs: Vec<String>) -> Suspicion {
        let claims = case
            .differences
            .iter()
            .enumerate()
            .filter(|(_, difference)| difference.is_place_or_work())
            .map(|(index, _)| Claim { difference: index, weight, is_experiment: false })
            .collect();
        Suspicion { weight, signs, claims, ideas: Vec::new() }
    }

    /// The same by nothing but the seconds that the slow side spends more in something.
    pub fn of_time(case: &Case<'_>, more_s: f64, what: &str) -> Option<Suspicion> {
        let weight = evidence::specific(case.share(more_s))?;
        let sign = format!("{} more in {what}", signs::seconds(more_s));
        Some(Suspicion::located(case, weight, vec![sign]))
    }

    /// Suspected by signs of this weight, as the name of one difference.
    pub fn of_difference(difference: usize, weight: f64, signs: Vec<String>) -> Suspicion {
        let claim = Claim { difference, weight, is_experiment: false };
        Suspicion { weight, signs, claims: vec![claim], ideas: Vec::new() }
    }

    pub fn with_idea(mut self, idea: Idea) -> Suspicion {
        self.ideas.push(idea);
        self
    }
}

/// What every suspect of the table says of a case, strongest first.
pub fn suspicions(case: &Case<'_>) -> Vec<(&'static Suspect, Suspicion)> {
    let mut found: Vec<(&Suspect, Suspicion)> =
        SUSPECTS.iter().filter_map(|suspect| Some((suspect, (suspect.look)(case)?))).collect();
    found.sort_by(|(_, one), (_, other)| other.weight.total_cmp(&one.weight));
    found
}

/// The row of a name.
pub fn known(name: &str) -> Option<&'static Suspect> {
    SUSPECTS.iter().find(|suspect| suspect.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_name_and_say_everything() {
        for pair in SUSPECTS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} comes before {}", pair[1].name, pair[0].name);
        }
        for suspect in SUSPECTS {
            let texts =
                [suspect.title, suspect.about, suspect.shows, suspect.test, suspect.fix, suspect.report];
            assert!(texts.iter().all(|text| !text.is_empty()), "{} leaves something out", suspect.name);
        }
    }
}
