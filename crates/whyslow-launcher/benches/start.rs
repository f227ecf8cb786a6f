//! What a start costs: this launcher against `std::process`, and the floor below which nothing can be measured.
//!
//! The ways take turns, so that load and frequency weigh on all alike; read the ratios, not the figures.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::Instant;
use whyslow_launcher::{Ended, Launcher, Program, Reply, Request, Watch};

const ROUNDS: usize = 1000;

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 10 };
    let ballast = vec![1u8; 200 << 20];
    let nowhere = File::options().read(true).write(true).open("/dev/null").unwrap();
    let mut launcher = Launcher::start().unwrap();
    let truth = request(Program::Path(CString::from(c"/bin/true")), &nowhere);
    let null = request(launcher.null_program(), &nowhere);
    let Program::Descriptor(descriptor) = launcher.null_program() else { unreachable!() };
    let null_path = format!("/proc/self/fd/{descriptor}");
    let mut figures = Figures::default();
    for _ in 0..rounds {
        figures.launcher(&mut launcher, &truth);
        figures.true_standard.push(standard("/bin/true"));
        figures.null(&mut launcher, &null);
        figures.null_standard.push(standard(&null_path));
    }
    figures.print();
    println!("counters: {:?}", launcher.counters());
    println!("launcher: {}", resident(launcher.process_id()));
    std::hint::black_box(&ballast);
}

fn request(program: Program, nowhere: &File) -> Request {
    let mut request = Request::new(program, vec![c"command".into()]);
    let descriptor = nowhere.as_raw_fd();
    (request.stdin, request.stdout, request.stderr) = (descriptor, descriptor, descriptor);
    request
}

/// All in nanoseconds, but for the peaks.
#[derive(Default)]
struct Figures {
    true_standard: Vec<u64>,
    true_call: Vec<u64>,
    true_run: Vec<u64>,
    true_cpu: Vec<u64>,
    true_peak_bytes: Vec<u64>,
    null_standard: Vec<u64>,
    null_call: Vec<u64>,
    null_run: Vec<u64>,
    null_cpu: Vec<u64>,
    null_task_clock: Vec<u64>,
}

impl Figures {
    fn launcher(&mut self, launcher: &mut Launcher, request: &Request) {
        let (call_ns, reply) = timed(launcher, request);
        self.true_call.push(call_ns);
        self.true_run.push(reply.end_ns - reply.exec_ns);
        self.true_cpu.push(reply.user_ns + reply.system_ns);
        self.true_peak_bytes.push(reply.maxrss_bytes);
    }

    fn null(&mut self, launcher: &mut Launcher, request: &Request) {
        let (call_ns, reply) = timed(launcher, request);
        self.null_call.push(call_ns);
        self.null_run.push(reply.end_ns - reply.exec_ns);
        self.null_cpu.push(reply.user_ns + reply.system_ns);
        self.null_task_clock.extend(reply.task_clock_ns);
    }

    fn print(mut self) {
        println!("{:40} {:>9} {:>9}", "us, or KiB", "min", "median");
        row("true, std::process, whole call", &mut self.true_standard);
        row("true, launcher, whole call", &mut self.true_call);
        row("true, launcher, exec to end", &mut self.true_run);
        row("true, launcher, processor time", &mut self.true_cpu);
        row("true, launcher, peak memory", &mut self.true_peak_bytes);
        row("null program, std::process, whole call", &mut self.null_standard);
        row("null program, launcher, whole call", &mut self.null_call);
        row("null program, launcher, exec to end", &mut self.null_run);
        row("null program, launcher, processor time", &mut self.null_cpu);
        row("null program, launcher, task clock", &mut self.null_task_clock);
        let [truth, null] = [median(&mut self.true_standard), median(&mut self.null_standard)];
        ratio("true, whole calls, launcher : std", median(&mut self.true_call), truth);
        ratio("null, whole calls, launcher : std", median(&mut self.null_call), null);
        ratio("null, exec to end : whole call of std", median(&mut self.null_run), null);
    }
}

fn standard(path: &str) -> u64 {
    let begin = Instant::now();
    let mut command = Command::new(path);
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    begin.elapsed().as_nanos() as u64
}

fn timed(launcher: &mut Launcher, request: &Request) -> (u64, Reply) {
    let begin = Instant::now();
    let reply = launcher.run(request, Watch::nothing()).unwrap();
    assert_eq!(reply.outcome, Ended::Exited(0));
    (begin.elapsed().as_nanos() as u64, reply)
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn row(name: &str, values: &mut [u64]) {
    let median = median(values);
    let smallest = values.first().copied().unwrap_or(0);
    // Nanoseconds to microseconds and bytes to kilobytes is nearly the same division.
    let unit = if name.ends_with("memory") { 1024.0 } else { 1000.0 };
    println!("{name:40} {:9.1} {:9.1}", smallest as f64 / unit, median as f64 / unit);
}

fn ratio(name: &str, one: u64, other: u64) {
    println!("{name:40} {:9.3}", one as f64 / other as f64);
}

fn resident(process: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let lines = status.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}
