//! Who is at the other end of a socket, from the tables of the kernel. A parser of foreign text.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::super::proc;

/// Known sockets by their inodes.
#[derive(Default)]
pub struct Sockets {
    known: HashMap<u64, SocketAddr>,
    /// The tables are read once for each look.
    is_read: bool,
}

/// Of so many the ends are remembered.
const MOST_SOCKETS: usize = 10_000;

impl Sockets {
    /// A new look at the processes begins.
    pub fn begin_look(&mut self) {
        self.is_read = false;
        if self.known.len() > MOST_SOCKETS {
            self.known.clear();
        }
    }

    /// The far end of the socket of this process; `None` if it has none, or is no Internet socket.
    pub fn far_end(&mut self, pid: i32, inode: u64) -> Option<SocketAddr> {
        if !self.is_read && !self.known.contains_key(&inode) {
            self.is_read = true;
            for table in ["net/tcp", "net/udp", "net/tcp6", "net/udp6"] {
                let text = proc::read(pid, table).unwrap_or_default();
                self.known.extend(ends(&text).into_iter().take(MOST_SOCKETS));
            }
        }
        self.known.get(&inode).copied()
    }
}

/// `sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode`; without a far end it is all zero.
pub fn ends(text: &[u8]) -> Vec<(u64, SocketAddr)> {
    let text = String::from_utf8_lossy(text);
    let end = |line: &str| {
        let mut fields = line.split_whitespace();
        let address = address(fields.nth(2)?)?;
        let inode: u64 = fields.nth(6)?.parse().ok()?;
        (inode != 0 && address.port() != 0).then_some((inode, address))
    };
    text.lines().skip(1).filter_map(end).collect()
}

/// `0100007F:0035`: words of 32 bits in the order of the machine, the port as it is read.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |place: usize| {
        Some(u32::from_str_radix(address.get(place * 8..place * 8 + 8)?, 16).ok()?.to_ne_bytes())
    };
    let address = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let bytes = [word(0)?, word(1)?, word(2)?, word(3)?].concat();
            IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?))
        }
        _ => return None,
    };
    Some(SocketAddr::new(address.to_canonical(), port))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::mutated::{mutated, of_this_process};
    use super::*;

    #[test]
    fn tables() {
        let text = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0 100 0 0 10 0
   1: 0100007F:9A2C 0100007F:0035 01 00000000:00000000 02:00000A00 00000000     0        0 222 2 0 20 4 30 10 -1
";
        if cfg!(target_endian = "little") {
            assert_eq!(ends(text), [(222, "127.0.0.1:53".parse().unwrap())]);
            let six = address("0000000000000000FFFF00000100007F:01BB");
            assert_eq!(six, Some("127.0.0.1:443".parse().unwrap()));
        }
    }

    fn tables_of_this_machine() -> Vec<Vec<u8>> {
        let mut tables = of_this_process(&["net/tcp", "net/tcp6", "net/udp", "net/udp6"]);
        tables.iter_mut().for_each(|table| table.truncate(2000));
        tables
    }

    proptest! {
        #[test]
        fn nothing_panics_on_real_tables_that_are_broken(bytes in mutated(tables_of_this_machine())) {
            ends(&bytes);
        }

        #[test]
        fn nothing_panics(text in "[0-9A-Fa-f: \\n\u{e9}]{0,200}") {
            ends(text.as_bytes());
            address(&text);
        }
    }
}
