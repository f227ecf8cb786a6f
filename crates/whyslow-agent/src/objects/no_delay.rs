//! A preloaded library under which TCP sends small packets at once (TCP_NODELAY): every socket gets the option when it is
//! made, and the program cannot take it away. A socket from accept has what the listening one had.
//!
//! Sockets that a program was started with, or made without the libc, are as they were.

#![no_std]
#![allow(clippy::missing_safety_doc)] // Every function has the contract of the libc function of its name.

#[path = "kernel.rs"]
mod kernel;
#[path = "runtime.rs"]
mod runtime;

use core::ffi::{c_int, c_void};
use kernel::{as_libc, call, number};

const AF_INET: c_int = 2;
const AF_INET6: c_int = 10;
const SOCK_STREAM: c_int = 1;
/// SOCK_CLOEXEC and SOCK_NONBLOCK are above it.
const SOCK_TYPE_MASK: c_int = 0xf;
const IPPROTO_TCP: c_int = 6;
const TCP_NODELAY: c_int = 1;

#[unsafe(no_mangle)]
pub extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    let arguments = [domain as usize, kind as usize, protocol as usize, 0, 0, 0];
    // SAFETY: no memory is involved.
    let descriptor = unsafe { as_libc(number::SOCKET, arguments) } as c_int;
    let is_tcp = matches!(domain, AF_INET | AF_INET6)
        && kind & SOCK_TYPE_MASK == SOCK_STREAM
        && matches!(protocol, 0 | IPPROTO_TCP);
    if descriptor >= 0 && is_tcp {
        let one: c_int = 1;
        let value = &raw const one as usize;
        let option = [descriptor as usize, IPPROTO_TCP as usize, TCP_NODELAY as usize, value, 4, 0];
        // SAFETY: a number on the stack. `errno` is left alone: the program has a socket.
        unsafe { call(number::SETSOCKOPT, option) };
    }
    descriptor
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn setsockopt(
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: u32,
) -> c_int {
    let one: c_int = 1;
    let is_delay = level == IPPROTO_TCP && name == TCP_NODELAY && length >= 4;
    let value = if is_delay { (&raw const one).cast() } else { value };
    let arguments = [descriptor as usize, level as usize, name as usize, value as usize, length as usize, 0];
    let arguments =
        if is_delay { [arguments[0], arguments[1], arguments[2], arguments[3], 4, 0] } else { arguments };
    // SAFETY: by the contract of the function, or a number on the stack.
    unsafe { as_libc(number::SETSOCKOPT, arguments) as c_int }
}
