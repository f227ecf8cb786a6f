//! Files that are not in memory yet.

use super::evidence::{blocked_share, more_in_files, prepare_hook, specific};
use super::{Claim, Idea, Mirror, Suspect, Suspicion};
use crate::explain::{Case, Side};
use crate::model::{Edit, FileUse, HookKind};

pub const SUSPECT: Suspect = Suspect {
    name: "io.cold-cache",
    title: "files not in memory yet",
    about: "Files have to come from the disk, where the other side finds them in the page cache.",
    shows: "Blocks read from a disk, major page faults; wall time above CPU time; a first run slower than the next.",
    test: "the files are read before each run, of both sides unless their hooks differ",
    fix: "read the files before, or measure both sides with a warm cache (or both with a cold one)",
    report: "hyperfine's manual has --prepare for warm and cold disk caches.",
    look,
};

/// Less is noise of the rest of the system.
const LEAST_BYTES: f64 = 65_536.0;
/// What slow disks give: the bound on what can be blamed on so many bytes.
const SLOWEST_BYTES_PER_S: f64 = 20e6;
const MOST_FILES: usize = 100;
/// Reading more before each run takes too long, and may drive other things out of memory.
const MOST_BYTES: u64 = 2 << 30;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = (disk_bytes(&case.fast)?, disk_bytes(&case.slow)?);
    let more = slow - fast;
    if more < LEAST_BYTES {
        return None;
    }
    let weight = specific(case.share(more / SLOWEST_BYTES_PER_S).min(blocked_share(case)))?;
    // Direct I/O reads from the disk however often, and no cache would be warm for it.
    let is_direct = more_in_files(case, |file| file.direct).is_some_and(|more| more >= 1.0);
    let weight = if is_direct { 0.5 * weight } else { weight };
    let sign = format!("{:.1} MB come from a disk against {:.1} MB", slow / 1e6, fast / 1e6);
    let mut suspicion = Suspicion::located(case, weight, vec![sign]);
    let hook = prepare_hook(case).map(|difference| Claim { difference, weight, is_experiment: false });
    suspicion.claims.extend(hook);
    suspicion.ideas.extend(warmed(case));
    Some(suspicion)
}

/// By the undisturbed runs where they tell, else by the run that was looked at.
fn disk_bytes(side: &Side<'_>) -> Option<f64> {
    let blocks = side.median("blocks_read").map(|blocks| blocks * 512.0);
    let looked = side.files().and_then(|files| files.disk_read_bytes).map(|bytes| bytes as f64);
    blocks.or(looked)
}

/// What the hook of the slow side does, and then every file read once. A hook that differs is not put on the fast side.
fn warmed(case: &Case<'_>) -> Option<Idea> {
    let files = files_to_warm(&case.slow)?;
    let before = match case.slow.variant.hooks.get(&HookKind::Prepare) {
        Some(hook) => {
            let words = hook.argv.iter().map(|word| std::str::from_utf8(&word.0).ok());
            format!("{} && ", shell_words::join(words.collect::<Option<Vec<_>>>()?))
        }
        None => String::new(),
    };
    let files = shell_words::join(files);
    let is_other = prepare_hook(case).is_some();
    let sides = if is_other { "the slow side" } else { "both sides" };
    // What is gone by now is no reason to fail.
    let warm = format!("find -L {files} -maxdepth 0 -type f -exec cat {{}} + > /dev/null 2>&1 || true");
    let script = format!("{before}{{ {warm}; }}");
    Some(Idea {
        title: format!("the files read before each run of {sides}"),
        slow: vec![Edit::Hook(HookKind::Prepare, vec!["sh".into(), "-c".into(), script.into()])],
        fast: if is_other { Mirror::AsItIs } else { Mirror::Same },
        expect: None,
    })
}

fn files_to_warm(side: &Side<'_>) -> Option<Vec<String>> {
    let is_plain = |file: &&FileUse| {
        let is_elsewhere = ["/proc/", "/sys/", "/dev/"].iter().any(|start| file.path.starts_with(start));
        file.path.starts_with('/') && !is_elsewhere && file.opened > file.missed
    };
    let Some(seen) = side.files() else { return named_files(side) };
    let mut files: Vec<&FileUse> = seen.files.iter().filter(is_plain).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.read_bytes));
    let bytes: u64 = files.iter().map(|file| file.read_bytes).sum();
    let paths: Vec<String> = files.into_iter().take(MOST_FILES).map(|file| file.path.clone()).collect();
    (!paths.is_empty() && bytes <= MOST_BYTES).then_some(paths)
}

/// Where no files could be seen: what is named in the command line.
fn named_files(side: &Side<'_>) -> Option<Vec<String>> {
    let words = side.launch().argv.iter().map(|word| word.lossy().into_owned());
    let paths: Vec<String> = words.filter(|word| word.starts_with('/')).take(MOST_FILES).collect();
    (!paths.is_empty()).then_some(paths)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn evicted() -> TestCase {
        let evict = vec!["python3".into(), "evict.py".into(), "/w/my big".into()];
        TestCase::new("cat /w/big", "cat /w/big")
            .slow_edit(Edit::Hook(HookKind::Prepare, evict))
            .seconds(0.0105, 0.0116)
            .files(|fast, slow| {
                let used = FileUse {
                    path: "/w/my big".to_owned(),
                    opened: 1,
                    reads: 763,
                    read_bytes: 100_000_000,
                    ..FileUse::default()
                };
                fast.file(used.clone());
                slow.file(used);
            })
    }

    #[test]
    fn an_evicted_file_is_read_before_the_run() {
        let test = evicted().wall(0.016, 0.0455).median("blocks_read", 0.0, 195_320.0);
        let suspicion = test.look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.9);
        assert_eq!((suspicion.claims.len(), suspicion.claims[0].is_experiment), (1, false));
        let [idea] = suspicion.ideas.as_slice() else { panic!("no idea") };
        let Edit::Hook(HookKind::Prepare, argv) = &idea.slow[0] else { panic!("no hook") };
        let script = argv[2].lossy().into_owned();
        assert!(script.starts_with("python3 evict.py '/w/my big' && { find -L '/w/my big' "), "{script}");
        assert_eq!((idea.fast.clone(), idea.title.ends_with("of the slow side")), (Mirror::AsItIs, true));
    }

    #[test]
    fn without_a_hook_that_differs_both_sides_read_the_files() {
        let file = |path: &str| FileUse { path: path.to_owned(), opened: 1, ..FileUse::default() };
        let test = TestCase::new("cat /w/warm", "cat /w/cold")
            .files(|fast, slow| {
                fast.file(file("/w/warm"));
                slow.file(file("/w/cold"));
            })
            .seconds(0.0105, 0.0116)
            .wall(0.016, 0.0455)
            .median("blocks_read", 0.0, 195_320.0);
        let idea = test.look(&SUSPECT).unwrap().ideas.remove(0);
        assert_eq!((idea.fast, idea.title.ends_with("of both sides")), (Mirror::Same, true));
    }

    #[test]
    fn direct_reads_are_somebody_else() {
        let read = |direct| FileUse { path: "/w/a".to_owned(), opened: 1, direct, ..FileUse::default() };
        let test = TestCase::new("dio 0 /w/a", "dio 1 /w/a")
            .files(|fast, slow| {
                fast.file(read(0));
                slow.file(read(1));
            })
            .seconds(0.01, 0.02)
            .wall(0.01, 0.2)
            .median("blocks_read", 0.0, 195_320.0);
        assert_eq!(test.candidates()[0], "io.direct");
    }

    #[test]
    fn blocks_that_nobody_waits_for_are_innocent() {
        let test = evicted().seconds(0.1, 0.4).median("blocks_read", 0.0, 195_320.0);
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
