//! The control socket: orders in, answers out, and the memory that a request is received into.
//!
//! Everything that arrives is checked before it becomes a pointer; a request that does not hold
//! together is refused with EBADMSG.

use crate::child::Plan;
use crate::counters::{Counters, Opened};
use crate::kernel::{self, EBADMSG, EINTR, Errno};
use crate::schedule::Accounts;
use crate::wire::{self, Answer, Order, Words};
use core::ptr::null;

pub struct Control {
    socket: i32,
}

/// A command to run, with the descriptors that came along.
pub struct Run {
    pub plan: Plan,
    descriptors: Descriptors,
}

impl Run {
    pub fn close_descriptors(&mut self) {
        self.descriptors.close();
    }
}

impl Control {
    pub fn new(socket: i32) -> Self {
        Self { socket }
    }

    pub fn socket(&self) -> i32 {
        self.socket
    }

    /// Says whether anybody listens; if not, there is nobody to serve either.
    pub fn send(&self, answer: &Answer) -> bool {
        let mut rest = answer.bytes();
        while !rest.is_empty() {
            match kernel::send(self.socket, rest) {
                Ok(count) => rest = &rest[count..],
                Err(EINTR) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// The next command, received into `room`; nothing when the other end is closed or speaks
    /// nonsense.
    pub fn next_run(&self, room: &mut Room, counters: Counters) -> Option<Result<Run, Errno>> {
        loop {
            let mut descriptors = Descriptors::none();
            let order = self.receive(&mut descriptors)?;
            // A cancellation may cross the answer to what it meant to cancel.
            if order.kind == wire::CANCEL {
                continue;
            }
            let body = match room.fit(order.body_bytes) {
                Ok(body) => body,
                // The body cannot be skipped without memory for it, and then the order of things is
                // lost.
                Err(errno) => return self.give_up(errno),
            };
            self.receive_body(body)?;
            let plan = plan(&order, body, &descriptors, counters);
            if plan.is_err() {
                descriptors.close();
            }
            return Some(plan.map(|plan| Run { plan, descriptors }));
        }
    }

    /// For how long the group may take to end, if the next order is a cancellation.
    pub fn next_cancellation(&self) -> Option<u64> {
        let order = self.receive(&mut Descriptors::none())?;
        (order.kind == wire::CANCEL).then_some(order.grace_ns)
    }

    fn receive(&self, descriptors: &mut Descriptors) -> Option<Order> {
        let mut order = Order::zero();
        let bytes = order.bytes_mut();
        let mut filled = 0;
        while filled < bytes.len() {
            match kernel::receive(self.socket, &mut bytes[filled..], &mut descriptors.numbers) {
                Ok((0, _)) => return None,
                Ok((count, received)) => {
                    filled += count;
                    descriptors.count += received;
                }
                Err(EINTR) => {}
                Err(errno) => return self.give_up(errno),
            }
        }
        let known = order.kind == wire::RUN || order.kind == wire::CANCEL;
        if order.magic != wire::MAGIC || !known {
            return self.give_up(EBADMSG);
        }
        Some(order)
    }

    fn receive_body(&self, body: &mut [u8]) -> Option<()> {
        let mut filled = 0;
        while filled < body.len() {
            match kernel::read(self.socket, &mut body[filled..]) {
                Ok(0) => return None,
                Ok(count) => filled += count,
                Err(EINTR) => {}
                Err(errno) => return self.give_up(errno),
            }
        }
        Some(())
    }

    /// Says why, then behaves as if the other end had closed.
    fn give_up<T>(&self, errno: Errno) -> Option<T> {
        self.send(&crate::refuse(crate::answer(wire::REFUSED), errno, wire::STEP_REQUEST));
        None
    }
}

struct Descriptors {
    numbers: [i32; 4],
    count: usize,
}

impl Descriptors {
    fn none() -> Self {
        Self { numbers: [-1; 4], count: 0 }
    }

    fn close(&mut self) {
        self.numbers.iter().take(self.count).for_each(|number| kernel::close(*number));
        self.count = 0;
    }
}

/// Turns the offsets in the body into pointers, in place.
fn plan(
    order: &Order,
    body: &mut [u8],
    descriptors: &Descriptors,
    counters: Counters,
) -> Result<Plan, Errno> {
    // With this, every offset inside the body is a string that ends inside it.
    if body.last() != Some(&0) {
        return Err(EBADMSG);
    }
    if descriptors.count != if order.program == 0 { 4 } else { 3 } {
        return Err(EBADMSG);
    }
    let mut tables = Tables { body, next_word: 0 };
    let arguments = tables.pointers(order.argument_count)?;
    let environment = tables.pointers(order.environment_count)?;
    let affinity = tables.words(order.affinity_words)?;
    let [input, output, error, program_descriptor] = descriptors.numbers;
    Ok(Plan {
        program: tables.optional_string(order.program)?,
        program_descriptor,
        arguments,
        environment,
        directory: tables.optional_string(order.directory)?,
        standard: [input, output, error],
        affinity,
        affinity_words: order.affinity_words as usize,
        timeout_ns: order.timeout_ns,
        descendants_ns: order.descendants_ns,
        flags: order.flags,
        counters,
        opened: Opened::NONE,
        accounts: Accounts::NONE,
        exec_ns: 0,
        failed: None,
    })
}

/// The words at the start of the body.
struct Tables<'a> {
    body: &'a mut [u8],
    next_word: usize,
}

impl Tables<'_> {
    /// A list of strings and the zero that ends it.
    fn pointers(&mut self, count: u64) -> Result<*const u64, Errno> {
        let first = self.next_word;
        let table = self.words(count.checked_add(1).ok_or(EBADMSG)?)?;
        for index in first..self.next_word - 1 {
            let pointer = self.string(self.word(index))? as u64;
            self.body[index * 8..][..8].copy_from_slice(&pointer.to_ne_bytes());
        }
        if self.word(self.next_word - 1) != 0 {
            return Err(EBADMSG);
        }
        Ok(table)
    }

    fn words(&mut self, count: u64) -> Result<*const u64, Errno> {
        let room = self.body.len() / 8 - self.next_word;
        if count > room as u64 {
            return Err(EBADMSG);
        }
        let table = self.body[self.next_word * 8..].as_ptr().cast();
        self.next_word += count as usize;
        Ok(table)
    }

    fn word(&self, index: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.body[index * 8..][..8]);
        u64::from_ne_bytes(bytes)
    }

    fn string(&self, offset: u64) -> Result<*const u8, Errno> {
        let inside = offset > 0 && offset < self.body.len() as u64;
        if inside { Ok(self.body[offset as usize..].as_ptr()) } else { Err(EBADMSG) }
    }

    fn optional_string(&self, offset: u64) -> Result<*const u8, Errno> {
        if offset == 0 { Ok(null()) } else { self.string(offset) }
    }
}

/// Memory for the body of a request, kept from run to run while it is small.
pub struct Room {
    address: *mut u8,
    bytes: usize,
}

/// Above this the memory is given back after the run.
const KEPT_BYTES: usize = 128 << 10;

impl Room {
    pub fn new() -> Self {
        Self { address: core::ptr::null_mut(), bytes: 0 }
    }

    fn fit(&mut self, bytes: u64) -> Result<&mut [u8], Errno> {
        if bytes == 0 || bytes > wire::BODY_LIMIT_BYTES {
            return Err(EBADMSG);
        }
        let bytes = bytes as usize;
        if bytes > self.bytes {
            self.release();
            let whole = bytes.next_multiple_of(KEPT_BYTES);
            self.address = kernel::map(whole)?;
            self.bytes = whole;
        }
        // SAFETY: the mapping holds at least that many bytes, and `&mut self` keeps it from being
        // used twice.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.address, bytes) })
    }

    /// After a large request: gives the memory back, and has the kernel forget that it was in use,
    /// since the peak memory of later commands would start there. Without /proc (or as another
    /// user) it stays so.
    pub fn shrink(&mut self) {
        const RESET_PEAK: &[u8] = b"5";
        if self.bytes <= KEPT_BYTES {
            return;
        }
        self.release();
        if let Ok(file) = kernel::open_to_write(b"/proc/self/clear_refs\0") {
            let _ = kernel::write(file, RESET_PEAK);
            kernel::close(file);
        }
    }

    fn release(&mut self) {
        if self.bytes > 0 {
            // SAFETY: it comes from `map` with this length, and no reference to it is alive.
            unsafe { kernel::unmap(self.address, self.bytes) };
            self.bytes = 0;
        }
    }
}
