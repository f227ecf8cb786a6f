//! Talking with the launcher process, and looking after pipes and interrupts between request and
//! answer.

use crate::request::Encoded;
use crate::wire::{self, Answer, Order, Words};
use crate::{CANCEL_GRACE_NS, Counters, LauncherError, Reader, Watch};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Large enough that a flood is read with few calls.
const BUFFER_BYTES: usize = 256 << 10;

/// How often `interrupted` is asked when nothing wakes us up.
const ASK_INTERVAL_MS: i32 = 100;

/// How often to see whether somebody stopped the launcher. So seldom that no run feels it.
const STATE_INTERVAL: Duration = Duration::from_secs(1);

/// The same after it was found stopped, until it has answered or is given up.
const STOPPED_INTERVAL: Duration = Duration::from_millis(10);
const STOPPED_PATIENCE: Duration = Duration::from_secs(5);

/// Our end of the control socket. After an error inside a message (or a panic in a sink) the two ends no
/// longer agree where they are, so the socket is put back only after a talk that went well; otherwise it is
/// closed, and with it ends the launcher.
pub(crate) struct Conversation {
    socket: Option<UnixStream>,
    buffer: Vec<u8>,
    launcher: libc::pid_t,
}

impl Conversation {
    /// `launcher` is a child of this process at the other end of the socket.
    pub fn new(socket: UnixStream, launcher: libc::pid_t) -> Self {
        Self { socket: Some(socket), buffer: vec![0; BUFFER_BYTES], launcher }
    }

    pub fn close(&mut self) {
        self.socket = None;
    }

    /// The first thing the launcher says.
    pub fn greeting(&mut self) -> Result<Counters, LauncherError> {
        let hello = self.talk(|socket, _| receive(socket))?;
        if hello.kind != wire::HELLO {
            return Err(LauncherError::Gone);
        }
        match hello.errno as i32 {
            0 => Ok(Counters::decode(&hello)),
            errno => Err(LauncherError::Start { step: "setup", source: io::Error::from_raw_os_error(errno) }),
        }
    }

    /// From request to answer.
    pub fn run(&mut self, request: &Encoded, watch: Watch<'_>) -> Result<Answer, LauncherError> {
        let mut sentinel = Sentinel::new(self.launcher);
        let answer = self.talk(|socket, buffer| match send(socket, request) {
            Err(LauncherError::Socket { source, .. }) if source.raw_os_error() == Some(libc::EBADF) => {
                Ok(not_open(request))
            }
            Err(error) => Err(error),
            Ok(()) => attend(socket, buffer, watch, &mut sentinel),
        })?;
        match answer.kind {
            wire::ENDED if sentinel.is_run_spoilt => Err(LauncherError::Stopped),
            wire::ENDED | wire::NOT_STARTED => Ok(answer),
            wire::REFUSED => {
                Err(LauncherError::Refused { source: io::Error::from_raw_os_error(answer.errno as i32) })
            }
            _ => Err(LauncherError::Gone),
        }
    }

    fn talk<T>(
        &mut self,
        talk: impl FnOnce(&UnixStream, &mut [u8]) -> Result<T, LauncherError>,
    ) -> Result<T, LauncherError> {
        let socket = self.socket.take().ok_or(LauncherError::Gone)?;
        let said = talk(&socket, &mut self.buffer)?;
        self.socket = Some(socket);
        Ok(said)
    }
}

/// Waits for the answer, and does meanwhile what `watch` asks for.
fn attend(
    socket: &UnixStream,
    buffer: &mut [u8],
    watch: Watch<'_>,
    sentinel: &mut Sentinel,
) -> Result<Answer, LauncherError> {
    let mut attention = Attention::new(socket.as_raw_fd(), &watch);
    loop {
        let ready = attention.wait(sentinel.interval())?;
        if ready.look_up && (watch.interrupted)() {
            attention.stop_looking_up();
            cancel(socket)?;
        }
        // A run that the user ends has no times that could be wrong.
        if sentinel.revive()? && attention.looking_up {
            sentinel.is_run_spoilt = true;
            attention.stop_looking_up();
            cancel(socket)?;
        }
        // Each reader once per turn, so that a flood cannot keep us from the other descriptors.
        attention.read_ready(watch.readers, buffer);
        if ready.answer {
            let answer = receive(socket)?;
            watch.readers.iter_mut().for_each(|reader| read_rest(reader, buffer));
            return Ok(answer);
        }
    }
}

/// Looks after the launcher while it owes us an answer. A command can stop its parent, and then nothing would ever happen.
struct Sentinel {
    launcher: libc::pid_t,
    next_look: Instant,
    /// When it was found stopped.
    stopped_at: Option<Instant>,
    /// The launcher may have slept through the end of the run.
    is_run_spoilt: bool,
}

impl Sentinel {
    fn new(launcher: libc::pid_t) -> Self {
        Self { launcher, next_look: Instant::now() + STATE_INTERVAL, stopped_at: None, is_run_spoilt: false }
    }

    fn interval(&self) -> Duration {
        if self.stopped_at.is_some() { STOPPED_INTERVAL } else { STATE_INTERVAL }
    }

    /// Continues the launcher if it is stopped, and says whether it was. One that is stopped again and again is killed,
    /// and the command with it.
    fn revive(&mut self) -> Result<bool, LauncherError> {
        let now = Instant::now();
        if now < self.next_look {
            return Ok(false);
        }
        let is_stopped = self.is_stopped();
        if is_stopped {
            let since = *self.stopped_at.get_or_insert(now);
            let is_hopeless = now - since > STOPPED_PATIENCE;
            // SAFETY: our child, which is reaped by nobody else while this conversation lasts.
            unsafe { libc::kill(self.launcher, if is_hopeless { libc::SIGKILL } else { libc::SIGCONT }) };
            if is_hopeless {
                return Err(LauncherError::Stopped);
            }
        }
        self.next_look = now + self.interval();
        Ok(is_stopped)
    }

    fn is_stopped(&self) -> bool {
        // SAFETY: zeroes are valid for the structure, and the call fills it. The state is left for others to see.
        unsafe {
            let mut information: libc::siginfo_t = std::mem::zeroed();
            let kinds = libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT;
            let result = libc::waitid(libc::P_PID, self.launcher as libc::id_t, &mut information, kinds);
            result == 0 && information.si_pid() == self.launcher
        }
    }
}

/// What is waited for: the answer, the wake-up call, and the pipes.
struct Attention {
    polled: Vec<libc::pollfd>,
    /// Whether a cancellation may still be asked for.
    looking_up: bool,
}

struct Ready {
    answer: bool,
    look_up: bool,
}

const ANSWER: usize = 0;
const WAKE: usize = 1;
const FIRST_READER: usize = 2;

impl Attention {
    fn new(socket: RawFd, watch: &Watch<'_>) -> Self {
        let readers = watch.readers.iter().map(|reader| reader.fd);
        let descriptors = [socket, watch.wake.unwrap_or(-1)].into_iter().chain(readers);
        // Negative descriptors are passed over by poll.
        let polled = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
        Self { polled, looking_up: true }
    }

    fn wait(&mut self, at_most: Duration) -> Result<Ready, LauncherError> {
        let needs_asking = self.looking_up && self.polled[WAKE].fd < 0;
        let most_ms = at_most.as_millis() as i32;
        let timeout_ms = if needs_asking { most_ms.min(ASK_INTERVAL_MS) } else { most_ms };
        let count = self.polled.len() as libc::nfds_t;
        // SAFETY: the vector holds that many pollfd.
        let result = unsafe { libc::poll(self.polled.as_mut_ptr(), count, timeout_ms) };
        if result < 0 {
            let source = io::Error::last_os_error();
            if source.kind() != ErrorKind::Interrupted {
                return Err(LauncherError::Socket { doing: "poll", source });
            }
            self.polled.iter_mut().for_each(|polled| polled.revents = 0);
        }
        let woken = self.polled[WAKE].revents != 0;
        if woken {
            self.clear_wake();
        }
        let look_up = self.looking_up && (woken || needs_asking || result < 0);
        Ok(Ready { answer: self.polled[ANSWER].revents != 0, look_up })
    }

    /// Takes what a signal handler wrote, or stops watching what is closed.
    fn clear_wake(&mut self) {
        let mut discarded = [0; 64];
        let readable = self.polled[WAKE].revents & libc::POLLIN != 0;
        if !readable || !matches!(read(self.polled[WAKE].fd, &mut discarded), Got::Bytes(_) | Got::NothingNow)
        {
            self.polled[WAKE].fd = -1;
        }
    }

    fn stop_looking_up(&mut self) {
        self.looking_up = false;
        self.polled[WAKE].fd = -1;
    }

    fn read_ready(&mut self, readers: &mut [Reader<'_>], buffer: &mut [u8]) {
        for (polled, reader) in self.polled[FIRST_READER..].iter_mut().zip(readers) {
            if polled.revents == 0 {
                continue;
            }
            match read(reader.fd, buffer) {
                Got::Bytes(count) => (reader.sink)(&buffer[..count]),
                Got::NothingNow => {}
                Got::Nothing => polled.fd = -1,
            }
        }
    }
}

/// What is in the pipe at this moment, and not what a descendant may still add to it.
fn read_rest(reader: &mut Reader<'_>, buffer: &mut [u8]) {
    let mut rest = available(reader.fd);
    while rest > 0 {
        let part = rest.min(buffer.len());
        let Got::Bytes(count) = read(reader.fd, &mut buffer[..part]) else { return };
        (reader.sink)(&buffer[..count]);
        rest -= count;
    }
}

fn available(descriptor: RawFd) -> usize {
    let mut count: libc::c_int = 0;
    // SAFETY: the kernel writes an int.
    let result = unsafe { libc::ioctl(descriptor, libc::FIONREAD, &mut count) };
    if result < 0 { 0 } else { count.max(0) as usize }
}

enum Got {
    Bytes(usize),
    NothingNow,
    /// Neither now nor later.
    Nothing,
}

fn read(descriptor: RawFd, buffer: &mut [u8]) -> Got {
    // SAFETY: the kernel writes at most the length of the buffer.
    let count = unsafe { libc::read(descriptor, buffer.as_mut_ptr().cast(), buffer.len()) };
    match count {
        1.. => Got::Bytes(count as usize),
        0 => Got::Nothing,
        _ => match io::Error::last_os_error().kind() {
            ErrorKind::Interrupted | ErrorKind::WouldBlock => Got::NothingNow,
            _ => Got::Nothing,
        },
    }
}

fn send(socket: &UnixStream, request: &Encoded) -> Result<(), LauncherError> {
    send_with_descriptors(socket, request.order.bytes(), &request.body, &request.descriptors)
}

/// The answer when a descriptor of the request is not open: nothing was sent then.
fn not_open(request: &Encoded) -> Answer {
    // SAFETY: no memory is involved.
    let is_open = |descriptor: RawFd| unsafe { libc::fcntl(descriptor, libc::F_GETFD) >= 0 };
    let place = request.descriptors.iter().position(|descriptor| !is_open(*descriptor));
    let mut answer = Answer::zero();
    answer.kind = wire::NOT_STARTED;
    answer.errno = libc::EBADF as u64;
    answer.step = match place {
        Some(standard @ 0..3) => wire::STEP_STDIN + standard as u64,
        _ => wire::STEP_EXEC,
    };
    answer.schedstat = [wire::NONE; 3];
    answer
}

fn cancel(socket: &UnixStream) -> Result<(), LauncherError> {
    let mut order = Order::zero();
    order.magic = wire::MAGIC;
    order.kind = wire::CANCEL;
    order.grace_ns = CANCEL_GRACE_NS;
    send_all(socket, order.bytes())
}

/// With MSG_NOSIGNAL, so that a dead launcher is an error and not a SIGPIPE.
fn send_all(socket: &UnixStream, mut bytes: &[u8]) -> Result<(), LauncherError> {
    while !bytes.is_empty() {
        let pointer = bytes.as_ptr().cast();
        // SAFETY: the kernel only reads `bytes`.
        let sent =
            retry(|| unsafe { libc::send(socket.as_raw_fd(), pointer, bytes.len(), libc::MSG_NOSIGNAL) });
        bytes = &bytes[sent.map_err(|source| talk_error("send", source))?..];
    }
    Ok(())
}

fn receive(mut socket: &UnixStream) -> Result<Answer, LauncherError> {
    let mut answer = Answer::zero();
    socket.read_exact(answer.bytes_mut()).map_err(|source| talk_error("receive", source))?;
    if answer.magic == wire::MAGIC { Ok(answer) } else { Err(LauncherError::Gone) }
}

fn talk_error(doing: &'static str, source: io::Error) -> LauncherError {
    match source.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => LauncherError::Gone,
        _ => LauncherError::Socket { doing, source },
    }
}

/// The most descriptors that a request carries.
const MOST_DESCRIPTORS: usize = 4;

/// Room for the header of a control message and its descriptors, aligned as the kernel wants it.
const ANCILLARY_WORDS: usize = 8;

/// Both parts in one call: sent one after the other, they would wake the launcher twice.
fn send_with_descriptors(
    socket: &UnixStream,
    head: &[u8],
    body: &[u8],
    descriptors: &[RawFd],
) -> Result<(), LauncherError> {
    assert!(descriptors.len() <= MOST_DESCRIPTORS);
    let mut ancillary = [0u64; ANCILLARY_WORDS];
    let mut parts = [head, body]
        .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    let payload = size_of_val(descriptors) as libc::c_uint;
    // SAFETY: the control message is written inside `ancillary`, which has room for four
    // descriptors; the kernel only reads all that the header points to.
    let sent = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = parts.as_mut_ptr();
        header.msg_iovlen = parts.len() as _;
        header.msg_control = ancillary.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(payload) as _;
        let message = libc::CMSG_FIRSTHDR(&header);
        (*message).cmsg_level = libc::SOL_SOCKET;
        (*message).cmsg_type = libc::SCM_RIGHTS;
        (*message).cmsg_len = libc::CMSG_LEN(payload) as _;
        let data = libc::CMSG_DATA(message).cast::<RawFd>();
        std::ptr::copy_nonoverlapping(descriptors.as_ptr(), data, descriptors.len());
        retry(|| libc::sendmsg(socket.as_raw_fd(), &header, libc::MSG_NOSIGNAL))
    };
    let sent = sent.map_err(|source| talk_error("send with descriptors", source))?;
    send_all(socket, &head[sent.min(head.len())..])?;
    send_all(socket, &body[sent.saturating_sub(head.len())..])
}

/// Repeats a system call that a signal handler interrupted.
fn retry(mut call: impl FnMut() -> isize) -> io::Result<usize> {
    loop {
        let result = call();
        if result >= 0 {
            return Ok(result as usize);
        }
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
