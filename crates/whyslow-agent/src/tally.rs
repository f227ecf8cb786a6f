//! What the agent counted, added up over all threads of all program images.

use std::collections::HashMap;
use std::io::{self, Read};
use std::mem::offset_of;

use crate::counters::{
    Count, FILE_NAME, Header, MAGIC, OWN_MALLOC, OWN_NEW, PATH_BYTES, PERL_MALLOC, PYTHON, REGION_BYTES,
    SIZE_CLASSES, UNIT_BYTES, Unit,
};

/// The name of the file, which must be in the directory of the agent.
pub const COUNTERS_FILE: &str = FILE_NAME;

/// Sums over every program image that the agent was in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Program images: what exec started, and what fork made of it.
    pub images: u64,
    /// Threads and forked processes that could not count: the file was full, or out of their reach.
    pub lost: u64,
    /// Files that own malloc, with the number of calls to them.
    pub owners: Vec<(String, u64)>,
    /// Images that export a malloc of their own, of which nothing was counted.
    pub with_own_malloc: u64,
    /// Images in which operator new of C++ belongs to the allocator and was not counted.
    pub with_own_new: u64,
    /// Images with Python in them.
    pub with_python: u64,
    /// Images with a perl that has a malloc of its own.
    pub with_perl_malloc: u64,
    pub malloc_calls: u64,
    pub calloc_calls: u64,
    pub realloc_calls: u64,
    pub aligned_calls: u64,
    /// Of something: a null pointer is not counted.
    pub free_calls: u64,
    pub asked_bytes: u64,
    /// Calls by the power of two that they asked for.
    pub sizes: Vec<u64>,
    pub realloc_new: u64,
    pub realloc_freed: u64,
    pub realloc_in_place: u64,
    pub realloc_moved: u64,
    pub realloc_moved_bytes: u64,
    pub realloc_remapped: u64,
    pub realloc_remapped_bytes: u64,
    pub peak_live_bytes: u64,
    pub sbrk_calls: u64,
}

/// How long the file must be for so many threads and images, at least.
pub fn counters_file_bytes(threads: u64) -> u64 {
    ((threads + 1) * UNIT_BYTES as u64).next_multiple_of(REGION_BYTES as u64)
}

/// What the file must begin with; everything after that is zero.
pub fn counters_header(file_bytes: u64) -> Vec<u8> {
    let mut bytes = vec![0; UNIT_BYTES];
    let mut put = |offset: usize, value: u64| bytes[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
    put(offset_of!(Header, magic), MAGIC);
    put(offset_of!(Header, units), file_bytes / UNIT_BYTES as u64);
    put(offset_of!(Header, next_unit), 1);
    bytes
}

impl Tally {
    /// Reads the file, up to its last unit in use.
    pub fn read(mut file: impl Read) -> io::Result<Tally> {
        let mut block = [0; UNIT_BYTES];
        file.read_exact(&mut block)?;
        if word(&block, offset_of!(Header, magic)) != MAGIC {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        let units = word(&block, offset_of!(Header, units)).min(word(&block, offset_of!(Header, next_unit)));
        let mut tally = Tally {
            lost: word(&block, offset_of!(Header, lost)),
            sizes: vec![0; SIZE_CLASSES],
            ..Tally::default()
        };
        let mut owner_of_image = HashMap::new();
        for number in 1..units {
            file.read_exact(&mut block)?;
            tally.add(number, &block, &mut owner_of_image);
        }
        tally.sizes.truncate(tally.sizes.iter().rposition(|calls| *calls > 0).map_or(0, |last| last + 1));
        tally.owners.retain(|(_, calls)| *calls > 0);
        tally.owners.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        Ok(tally)
    }

    fn add(&mut self, number: u64, unit: &[u8], owner_of_image: &mut HashMap<u64, usize>) {
        let image = word(unit, offset_of!(Unit, image));
        if image == 0 {
            return;
        }
        if image == number {
            self.images += 1;
            self.add_flags(word(unit, offset_of!(Unit, flags)));
            let owner = self.owner(unit);
            owner_of_image.insert(image, owner);
        }
        let calls = self.add_sizes(unit);
        self.add_counts(unit, calls);
        if let Some(owner) = owner_of_image.get(&image).and_then(|place| self.owners.get_mut(*place)) {
            owner.1 += calls;
        }
        let peak = word(unit, offset_of!(Unit, peak_bytes)) as i64;
        self.peak_live_bytes = self.peak_live_bytes.max(u64::try_from(peak).unwrap_or(0));
    }

    fn add_flags(&mut self, flags: u64) {
        let is = |flag: u64| u64::from(flags & flag != 0);
        self.with_own_malloc += is(OWN_MALLOC);
        self.with_own_new += is(OWN_NEW);
        self.with_python += is(PYTHON);
        self.with_perl_malloc += is(PERL_MALLOC);
    }

    /// Their sum.
    fn add_sizes(&mut self, unit: &[u8]) -> u64 {
        let mut sum = 0;
        for (class, calls) in self.sizes.iter_mut().enumerate() {
            let more = word(unit, offset_of!(Unit, sizes) + 8 * class);
            *calls += more;
            sum += more;
        }
        sum
    }

    fn add_counts(&mut self, unit: &[u8], calls: u64) {
        let count = |what: Count| word(unit, offset_of!(Unit, counts) + 8 * what as usize);
        let others = count(Count::Calloc) + count(Count::Realloc) + count(Count::Aligned);
        self.malloc_calls += calls.saturating_sub(others);
        self.calloc_calls += count(Count::Calloc);
        self.realloc_calls += count(Count::Realloc);
        self.aligned_calls += count(Count::Aligned);
        self.free_calls += count(Count::Free);
        self.asked_bytes += count(Count::AskedBytes);
        self.realloc_new += count(Count::ReallocNew);
        self.realloc_freed += count(Count::ReallocFreed);
        self.realloc_in_place += count(Count::ReallocInPlace);
        self.realloc_moved += count(Count::ReallocMoved);
        self.realloc_moved_bytes += count(Count::ReallocMovedBytes);
        self.realloc_remapped += count(Count::ReallocRemapped);
        self.realloc_remapped_bytes += count(Count::ReallocRemappedBytes);
        self.sbrk_calls += count(Count::Sbrk);
    }

    /// The place of the owner in the list.
    fn owner(&mut self, unit: &[u8]) -> usize {
        let path = &unit[offset_of!(Unit, path)..][..PATH_BYTES];
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        let path = String::from_utf8_lossy(path).into_owned();
        self.owners.iter().position(|(known, _)| *known == path).unwrap_or_else(|| {
            self.owners.push((path, 0));
            self.owners.len() - 1
        })
    }
}

fn word(block: &[u8], offset: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&block[offset..offset + 8]);
    u64::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(block: &mut [u8], offset: usize, value: u64) {
        block[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
    }

    fn unit(image: u64, mallocs: u64, peak: i64, path: &[u8]) -> Vec<u8> {
        let mut block = vec![0; UNIT_BYTES];
        put(&mut block, offset_of!(Unit, image), image);
        put(&mut block, offset_of!(Unit, peak_bytes), peak as u64);
        put(&mut block, offset_of!(Unit, counts) + 8 * Count::Calloc as usize, 1);
        put(&mut block, offset_of!(Unit, sizes) + 8 * 4, mallocs + 1);
        block[offset_of!(Unit, path)..][..path.len()].copy_from_slice(path);
        block
    }

    #[test]
    fn units_are_added_up_and_owners_told_apart() {
        let mut file = counters_header(counters_file_bytes(10));
        put(&mut file, offset_of!(Header, next_unit), 5);
        put(&mut file, offset_of!(Header, lost), 2);
        file.extend(unit(1, 5, 70, b"/a"));
        file.extend(unit(2, 10, -1, b"/b"));
        file.extend(unit(0, 0, 0, b""));
        file.extend(unit(1, 7, 60, b""));
        let tally = Tally::read(file.as_slice()).unwrap();
        assert_eq!((tally.images, tally.lost, tally.malloc_calls), (2, 2, 22));
        assert_eq!(tally.owners, [("/a".to_owned(), 14), ("/b".to_owned(), 11)]);
        assert_eq!((tally.peak_live_bytes, tally.sizes), (70, vec![0, 0, 0, 0, 25]));
    }

    #[test]
    fn a_file_that_is_none_is_an_error() {
        assert!(Tally::read(&[0; UNIT_BYTES][..]).is_err());
        assert!(Tally::read(&[][..]).is_err());
        let mut cut = counters_header(1 << 20);
        put(&mut cut, offset_of!(Header, next_unit), 9);
        assert!(Tally::read(cut.as_slice()).is_err());
    }
}
