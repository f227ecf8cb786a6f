//! What a tree of processes asked its allocators for.

use serde::{Deserialize, Serialize};

/// Sums over every process that the preloaded library was in.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Allocations {
    /// Program images (started or forked) that were counted.
    pub processes: u64,
    /// Program images that were started without the library in them (static, setuid, another environment).
    pub processes_unseen: Option<u64>,
    /// Files that own the `malloc` that was counted, most used first.
    pub allocators: Vec<String>,
    pub malloc_calls: u64,
    pub calloc_calls: u64,
    pub realloc_calls: u64,
    /// posix_memalign, aligned_alloc, memalign, valloc, pvalloc.
    pub aligned_calls: u64,
    /// Of a block: free of a null pointer is not counted.
    pub free_calls: u64,
    /// Bytes that were asked for, by realloc too.
    pub asked_bytes: u64,
    /// Calls that asked for so much, realloc among them: `sizes[n]` counts those of 2^n to 2^(n+1)-1 bytes; 0 bytes count in the first.
    pub sizes: Vec<u64>,
    /// realloc of a null pointer, which gives a new block as malloc does.
    #[serde(default)]
    pub realloc_new: u64,
    /// realloc to nothing, which frees as free does.
    #[serde(default)]
    pub realloc_freed: u64,
    /// realloc of a block that stayed where it was.
    pub realloc_in_place: u64,
    /// realloc that copied to another place, and the bytes that had to be copied.
    pub realloc_moved: u64,
    pub realloc_moved_bytes: u64,
    /// realloc that moved pages without copying (mremap), and how many bytes.
    pub realloc_remapped: u64,
    pub realloc_remapped_bytes: u64,
    /// Highest sum of live bytes in one process, counted as long as the allocator made them. Exact for one thread; of several
    /// each may hold back 16 kB.
    pub peak_live_bytes: u64,
    /// sbrk and brk through the libc: own allocators of programs.
    pub sbrk_calls: u64,
}

impl Allocations {
    /// Calls that gave a new block.
    pub fn allocations(&self) -> u64 {
        self.malloc_calls + self.calloc_calls + self.aligned_calls + self.realloc_new
    }

    /// Calls that asked for at least so many bytes, by size class.
    pub fn at_least(&self, bytes: u64) -> u64 {
        self.sizes.iter().skip(bytes.max(1).ilog2() as usize).sum()
    }
}
