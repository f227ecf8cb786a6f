//! What the loader of glibc tells with LD_DEBUG=libs,statistics about one start, as numbers. A parser of foreign text: what
//! does not fit is left out.

/// One start of a program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Told {
    pub relocations: Option<u64>,
    pub relocations_from_cache: Option<u64>,
    pub relative_relocations: Option<u64>,
    pub startup_cycles: Option<u64>,
    pub relocation_cycles: Option<u64>,
    pub load_cycles: Option<u64>,
    /// Paths in the order in which they were found.
    pub libraries: Vec<String>,
    /// Places that were tried in vain.
    pub search_misses: u64,
}

/// A program cannot need more than the loader has tried.
const MOST_LIBRARIES: usize = 2000;

pub fn parse(text: &[u8]) -> Told {
    let mut told = Told::default();
    // The last place that was tried for a library is where it was.
    let mut tried: Option<&str> = None;
    let text = String::from_utf8_lossy(text);
    for line in text.lines().map(without_process) {
        if let Some(path) = line.strip_prefix("trying file=") {
            told.search_misses += u64::from(tried.is_some());
            tried = Some(path);
        } else if line.starts_with("find library=") || line.starts_with("runtime linker statistics") {
            found(&mut told, tried.take());
        } else if let Some(path) = line.strip_prefix("calling init: ") {
            found(&mut told, Some(path));
        } else if let Some((name, value)) = line.split_once(": ") {
            statistic(&mut told, name, value);
        }
    }
    found(&mut told, tried);
    told
}

/// `     29936:\t  trying file=...`
fn without_process(line: &str) -> &str {
    line.split_once(":\t").map_or(line, |(_, rest)| rest).trim()
}

fn found(told: &mut Told, path: Option<&str>) {
    let Some(path) = path.filter(|path| path.starts_with('/')) else { return };
    // The loader itself is initialised too, and is no library that was looked for.
    let is_loader = path.rsplit('/').next().is_some_and(|name| name.starts_with("ld-"));
    if !is_loader
        && told.libraries.len() < MOST_LIBRARIES
        && !told.libraries.iter().any(|known| known == path)
    {
        told.libraries.push(path.to_owned());
    }
}

fn statistic(told: &mut Told, name: &str, value: &str) {
    let Some(number) = value.split_whitespace().next().and_then(|number| number.parse().ok()) else { return };
    let place = match name {
        "total startup time in dynamic loader" => &mut told.startup_cycles,
        "time needed for relocation" => &mut told.relocation_cycles,
        "time needed to load objects" => &mut told.load_cycles,
        "number of relocations" => &mut told.relocations,
        "number of relocations from cache" => &mut told.relocations_from_cache,
        "number of relative relocations" => &mut told.relative_relocations,
        _ => return,
    };
    *place = Some(number);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::mutated;
    use super::*;

    const TEXT: &[u8] = b"     29936:\tfind library=libm.so.6 [0]; searching
     29936:\t search path=/x/tls:/x\t\t(LD_LIBRARY_PATH)
     29936:\t  trying file=/x/libm.so.6
     29936:\t search cache=/etc/ld.so.cache
     29936:\t  trying file=/lib/libm.so.6
     29936:\t
     29936:\tfind library=libc.so.6 [0]; searching
     29936:\t  trying file=/lib/libc.so.6
     29936:\t
     29936:\truntime linker statistics:
     29936:\t  total startup time in dynamic loader: 238059 cycles
     29936:\t            time needed for relocation: 36126 cycles (15.1%)
     29936:\t                 number of relocations: 124
     29936:\t      number of relocations from cache: 7
     29936:\t        number of relative relocations: 7687
     29936:\t           time needed to load objects: 28119 cycles (11.8%)
     29936:\t
     29936:\tcalling init: /lib64/ld-linux-x86-64.so.2
     29936:\tcalling init: /lib/libc.so.6
     29936:\tcalling init: /preloaded.so
     29936:\tinitialize program: perl
";

    #[test]
    fn a_start() {
        let told = parse(TEXT);
        assert_eq!(told.libraries, ["/lib/libm.so.6", "/lib/libc.so.6", "/preloaded.so"]);
        assert_eq!(told.search_misses, 1);
        assert_eq!((told.relocations, told.relative_relocations), (Some(124), Some(7687)));
        assert_eq!(told.relocations_from_cache, Some(7));
        assert_eq!((told.startup_cycles, told.load_cycles), (Some(238_059), Some(28_119)));
        assert_eq!(told.relocation_cycles, Some(36_126));
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            parse(&bytes);
        }

        #[test]
        fn nothing_panics_on_what_a_real_loader_says(bytes in mutated::mutated(mutated::of_the_loader())) {
            parse(&bytes);
        }

        #[test]
        fn nothing_panics_on_broken_text(cut in 0..TEXT.len(), byte in any::<u8>()) {
            let mut bytes = TEXT.to_vec();
            bytes[cut] = byte;
            parse(&bytes);
            parse(&TEXT[cut..]);
        }
    }
}
