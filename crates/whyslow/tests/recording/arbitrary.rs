//! Small recordings of every shape: any names and arguments, any ways to end, unknown values anywhere. Every field of
//! the model is named here, so that a new one cannot be forgotten.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use whyslow::model::{
    ByteText, Conditions, Design, Edit, End, Exit, Experiment, Factor, FailurePolicy, Floor, Header,
    HookFailure, HookKind, Host, Input, Launch, Level, Looks, Metric, Missing, Output, Recording, Role, Run,
    RunCount, Stop, Workload,
};

/// Up to this many blocks of up to three variants, whole or not.
const MOST_BLOCKS: usize = 12;

pub fn recording() -> impl Strategy<Value = Recording> {
    let rest = (option::of(looks()), option::of(end()));
    (header(), rest).prop_flat_map(|(header, (looks, end))| {
        let variants = header.experiment.factors[0].levels.len();
        let made = (runs(variants, header.experiment.metrics.len()), option::of(hook_failure(variants)));
        made.prop_map(move |(runs, hook_failure)| Recording {
            header: header.clone(),
            runs,
            looks: looks.clone(),
            hook_failure,
            end: end.clone(),
            traces: Vec::new(),
            stages: Vec::new(),
            custom: Vec::new(),
            explained: end.as_ref().map(|end| end.stop),
        })
    })
}

fn header() -> impl Strategy<Value = Header> {
    let about = (text(), text(), host(), option::of(floor()), vec(missing(), 0..3), vec(text(), 0..3));
    (about, experiment()).prop_map(|((tool, started, host, floor, missing, settings), experiment)| Header {
        tool,
        started,
        experiment,
        host,
        floor,
        missing,
        settings,
    })
}

fn experiment() -> impl Strategy<Value = Experiment> {
    let metrics = 0..=Metric::all_known().len();
    (text(), launch(), vec(level(), 1..=3), metrics, design()).prop_map(
        |(name, launch, levels, metrics, mut design): (_, _, Vec<Level>, _, Design)| {
            design.base %= levels.len();
            Experiment {
                name,
                workload: Workload::Command(launch),
                factors: vec![Factor { name: "command".into(), levels, role: Role::Asked }],
                metrics: Metric::all_known().into_iter().take(metrics).collect(),
                design,
                asks_why: false,
                is_joined: false,
            }
        },
    )
}

fn design() -> impl Strategy<Value = Design> {
    let runs = prop_oneof![
        (1usize..20).prop_map(RunCount::Exactly),
        (0usize..20, option::of(1usize..50)).prop_map(|(min, max)| RunCount::UntilDecided { min, max }),
    ];
    let numbers = (0.01..1e4, 0.5..0.999, 0.001..1.0, 0.0..1.0);
    let leading = select(vec!["wall_s".to_owned(), "cpu_s".to_owned(), "page_faults".to_owned()]);
    let failures = (failure_policy(), vec(0i32..256, 1..3));
    (runs, 0usize..3, any::<u64>(), numbers, 0usize..2, leading, failures).prop_map(
        |(
            runs,
            warmup,
            seed,
            (budget_s, confidence, margin, gap_s),
            base,
            leading,
            (failures, success_codes),
        )| Design {
            runs,
            warmup,
            seed,
            budget_s,
            confidence,
            margin,
            base,
            leading,
            failures,
            success_codes,
            gap_s,
        },
    )
}

fn level() -> impl Strategy<Value = Level> {
    (text(), vec(edit(), 0..3)).prop_map(|(name, edits)| Level { name, edits })
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        vec(bytes(), 1..4).prop_map(Edit::Argv),
        (bytes(), bytes()).prop_map(|(name, value)| Edit::SetEnv(name, value)),
        bytes().prop_map(Edit::UnsetEnv),
        text().prop_map(|path| Edit::Directory(path.into())),
        input().prop_map(Edit::Stdin),
        output().prop_map(Edit::Stdout),
        vec(0usize..64, 1..4).prop_map(Edit::Affinity),
        vec(bytes(), 1..3).prop_map(Edit::Wrap),
        seconds().prop_map(Edit::Timeout),
        (hook_kind(), vec(bytes(), 1..3)).prop_map(|(kind, argv)| Edit::Hook(kind, argv)),
        (text(), text()).prop_map(|(name, value)| Edit::Parameter(name, value)),
    ]
}

fn launch() -> impl Strategy<Value = Launch> {
    let env = vec((bytes(), option::of(bytes())), 0..3);
    let affinity = option::of(vec(0usize..64, 1..4));
    let around = (
        option::of(text()),
        input(),
        output(),
        option::of(seconds()),
        affinity,
        any::<bool>(),
        option::of(seconds()),
    );
    (vec(bytes(), 0..3), env, around).prop_map(
        |(argv, env, (cwd, stdin, stdout, timeout_s, affinity, digest_output, wait_for_descendants_s))| {
            Launch {
                argv,
                env,
                cwd: cwd.map(Into::into),
                stdin,
                stdout,
                timeout_s,
                affinity,
                preloads: Vec::new(),
                digest_output,
                wait_for_descendants_s,
            }
        },
    )
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![Just(Input::Null), text().prop_map(|path| Input::File(path.into()))]
}

fn output() -> impl Strategy<Value = Output> {
    let file = text().prop_map(|path| Output::File(path.into()));
    prop_oneof![Just(Output::Pipe), Just(Output::Null), Just(Output::Inherit), Just(Output::Terminal), file]
}

fn failure_policy() -> impl Strategy<Value = FailurePolicy> {
    let codes = vec(1i32..256, 1..4).prop_map(FailurePolicy::CountCodes);
    prop_oneof![Just(FailurePolicy::Abort), Just(FailurePolicy::CountAll), codes]
}

fn hook_kind() -> impl Strategy<Value = HookKind> {
    select(vec![HookKind::Setup, HookKind::Prepare, HookKind::Conclude, HookKind::Cleanup])
}

fn hook_failure(variants: usize) -> impl Strategy<Value = HookFailure> {
    (hook_kind(), 0..variants, option::of(0..MOST_BLOCKS), exit(), text()).prop_map(
        |(kind, variant, block, exit, stderr_tail)| HookFailure { kind, variant, block, exit, stderr_tail },
    )
}

fn runs(variants: usize, metrics: usize) -> impl Strategy<Value = Vec<Run>> {
    vec(vec(run(metrics), variants), 0..MOST_BLOCKS).prop_map(move |blocks| {
        let mut runs: Vec<Run> = blocks.into_iter().enumerate().flat_map(numbered).collect();
        // As an interrupt in the middle of a block leaves it.
        runs.truncate(runs.len() - runs.len() / 7);
        runs
    })
}

fn numbered((block, runs): (usize, Vec<Run>)) -> Vec<Run> {
    let variants = runs.len();
    let number = |(position, run)| Run { block, position, variant: (position + block) % variants, ..run };
    runs.into_iter().enumerate().map(number).collect()
}

fn run(metrics: usize) -> impl Strategy<Value = Run> {
    let rest = (conditions(), text(), 0u32..3, option::of(any::<u64>()));
    (seconds(), exit(), vec(option::weighted(0.9, value()), metrics), rest).prop_map(
        |(start_s, exit, values, (conditions, stderr_tail, leftovers, output_digest))| Run {
            variant: 0,
            block: 0,
            position: 0,
            start_s,
            exit,
            values: values.into(),
            conditions,
            stderr_tail,
            leftovers,
            output_digest,
        },
    )
}

fn exit() -> impl Strategy<Value = Exit> {
    let failed = prop_oneof![
        (1i32..256).prop_map(Exit::Code),
        (1i32..65).prop_map(Exit::Signal),
        (1i32..65).prop_map(Exit::Stopped),
        Just(Exit::TimedOut),
        (1i32..133, text()).prop_map(|(errno, step)| Exit::NotStarted { errno, step }),
        Just(Exit::Interrupted),
    ];
    prop_oneof![20 => Just(Exit::Code(0)), 1 => failed]
}

fn conditions() -> impl Strategy<Value = Conditions> {
    let share = || option::of(0.0f32..1.0);
    (share(), share(), share(), option::of(1e8f32..1e10), share()).prop_map(
        |(cpu_pressure, load, steal_s, frequency_hz, suspended_s)| Conditions {
            cpu_pressure,
            load,
            steal_s,
            frequency_hz,
            suspended_s,
        },
    )
}

fn looks() -> impl Strategy<Value = Looks> {
    (vec(1usize..100, 1..5), 1e-4..0.5).prop_map(|(at, alpha_each)| Looks { at, alpha_each })
}

fn end() -> impl Strategy<Value = End> {
    let stops =
        [Stop::Decided, Stop::RunsDone, Stop::BudgetSpent, Stop::Failed, Stop::HookFailed, Stop::Interrupted];
    (select(stops.to_vec()), seconds()).prop_map(|(stop, elapsed_s)| End { stop, elapsed_s })
}

fn host() -> impl Strategy<Value = Host> {
    let known =
        (option::of(text()), option::of(any::<u64>()), option::of(any::<bool>()), option::of(seconds()));
    (text(), 0usize..512, known).prop_map(|(name, cpus, (cpu_model, memory_bytes, known, tick_s))| Host {
        name,
        cpus,
        cpu_model,
        memory_bytes,
        hypervisor: known,
        tick_accounting: known,
        tick_s,
        ..Host::default()
    })
}

fn floor() -> impl Strategy<Value = Floor> {
    (seconds(), option::of(seconds()), option::of(value()))
        .prop_map(|(wall_s, cpu_s, peak_rss_bytes)| Floor { wall_s, cpu_s, peak_rss_bytes })
}

fn missing() -> impl Strategy<Value = Missing> {
    (text(), text(), option::of(text())).prop_map(|(what, why, remedy)| Missing { what, why, remedy })
}

fn seconds() -> impl Strategy<Value = f64> {
    1e-9..1e6
}

/// What a machine may report: nothing used, or anything from a nanosecond to a terabyte.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 4 => 1e-9..1e12, 4 => 0.01..0.02]
}

/// Quotes, controls and characters of every width.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,8}", "\\PC{0,8}", "[\"\\\\\n\t\u{1b}]{0,4}"]
}

/// Not always UTF-8.
fn bytes() -> impl Strategy<Value = ByteText> {
    prop_oneof![text().prop_map(ByteText::from), vec(any::<u8>(), 0..8).prop_map(ByteText)]
}
