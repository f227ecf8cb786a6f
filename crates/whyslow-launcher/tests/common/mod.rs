//! What the tests share: short ways to say a command, and to catch what it writes.

#![allow(dead_code)]

use std::ffi::CString;
use std::fs::File;
use std::io::{PipeReader, Read};
use std::os::fd::AsRawFd;
use whyslow_launcher::{Ended, Launcher, Program, Reader, Reply, Request, Watch};

pub fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// A command without input and output.
pub struct Command {
    pub request: Request,
    nowhere: File,
}

impl Command {
    pub fn new(path: &str, arguments: &[&str]) -> Self {
        Self::of(Program::Path(text(path)), arguments)
    }

    pub fn of(program: Program, arguments: &[&str]) -> Self {
        let nowhere = File::options().read(true).write(true).open("/dev/null").unwrap();
        let argv = ["command"].iter().chain(arguments).map(|argument| text(argument)).collect();
        let mut request = Request::new(program, argv);
        let descriptor = nowhere.as_raw_fd();
        (request.stdin, request.stdout, request.stderr) = (descriptor, descriptor, descriptor);
        Self { request, nowhere }
    }

    pub fn shell(script: &str) -> Self {
        let mut command = Self::new("/bin/sh", &["-c", script]);
        command.request.env = vec![text("PATH=/usr/bin:/bin")];
        command
    }

    pub fn timeout_ms(mut self, milliseconds: u64) -> Self {
        self.request.timeout_ns = Some(milliseconds * 1_000_000);
        self
    }

    pub fn run(&self, launcher: &mut Launcher) -> Reply {
        launcher.run(&self.request, Watch::nothing()).unwrap()
    }

    /// Standard output, caught while the command runs.
    pub fn output(&mut self, launcher: &mut Launcher) -> (String, Reply) {
        let (reader, writer) = std::io::pipe().unwrap();
        self.request.stdout = writer.as_raw_fd();
        let mut bytes = Vec::new();
        let mut sink = |part: &[u8]| bytes.extend_from_slice(part);
        let mut readers = [Reader::new(reader.as_raw_fd(), &mut sink)];
        let watch = Watch { readers: &mut readers, interrupted: &|| false, wake: None };
        let reply = launcher.run(&self.request, watch).unwrap();
        self.request.stdout = self.nowhere.as_raw_fd();
        (String::from_utf8(bytes).unwrap(), reply)
    }
}

pub fn exits(code: i32) -> Ended {
    Ended::Exited(code)
}

/// The process number that a command writes as the first line into a pipe.
pub fn read_line(pipe: &mut impl Read) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while pipe.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

pub fn pipe() -> (PipeReader, std::io::PipeWriter) {
    std::io::pipe().unwrap()
}

/// Waits for a process to be gone, for at most 20 seconds.
pub fn is_soon_gone(pid: &str) -> bool {
    for _ in 0..2000 {
        if !std::path::Path::new("/proc").join(pid).exists() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    false
}
