//! Files by what the program does with them, whatever their descriptors and however their paths are written.

use std::path::Path;

use whyslow::model::{Exit, FileUse, Files, Launch};

use super::programs::{compiled, files, launch, program, shell, turn};

/// Runs in a directory of its own, and says what was done with the files in there.
fn in_directory(body: &str, prepare: impl Fn(&Path)) -> (Files, impl Fn(&str) -> FileUse) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    prepare(&path);
    let launch = Launch { cwd: Some(path.clone()), ..program(body) };
    let (seen, probed) = files(&launch);
    assert_eq!(probed.exit, Exit::Code(0));
    let rows = seen.files.clone();
    let find = move |name: &str| {
        let wanted = if name.starts_with('/') { name.into() } else { path.join(name) };
        let found = rows.iter().find(|row| Path::new(&row.path) == wanted).cloned();
        FileUse { path: String::new(), ..found.unwrap_or_else(|| panic!("no {name} in {rows:#?}")) }
    };
    (seen, find)
}

fn file(directory: &Path) {
    std::fs::write(directory.join("there"), vec![b'x'; 10_000]).unwrap();
}

#[test]
fn opens_reads_and_misses() {
    let _turn = turn();
    let body = "char b[4096];
        for (int i = 0; i < 30; i++) { int f = open(\"there\", O_RDONLY); while (read(f, b, 1000) > 0); close(f); }
        for (int i = 0; i < 40; i++) open(\"./not-there\", O_RDONLY);
        int d = open(\".\", O_RDONLY | O_DIRECTORY), f = openat(d, \"there\", O_RDONLY); pread(f, b, 10, 0);
        open(\"there/x\", O_RDONLY);";
    let (seen, find) = in_directory(body, file);
    let reads = 30 * 11 + 1;
    assert_eq!(find("there"), FileUse { opened: 31, reads, read_bytes: 300_010, ..FileUse::default() });
    assert_eq!(find("not-there"), FileUse { missed: 40, ..FileUse::default() });
    assert_eq!(find("there/x"), FileUse { missed: 1, ..FileUse::default() });
    assert!(seen.total.opened >= 32 && seen.total.missed >= 41 && seen.total.read_bytes >= 300_010);
    assert!(seen.paths >= 4 && seen.disk_read_bytes.is_some() && seen.total.path.is_empty());
}

#[test]
fn writes_by_every_name_of_a_descriptor() {
    let _turn = turn();
    let body = "int f = open(\"new\", O_RDWR | O_CREAT, 0600); write(f, \"12345\", 5);
        int g = dup(f); write(g, \"1234\", 4); dup2(f, 77); close(f); close(g); write(77, \"123\", 3);
        int h = fcntl(77, F_DUPFD, 50); write(h, \"12\", 2); fsync(77); fdatasync(h);
        f = open(\"there\", O_WRONLY | O_CREAT, 0600); write(f, \"1\", 1); dup2(f, 77); write(77, \"1\", 1);
        if (fork() == 0) { write(h, \"1\", 1); close(h); h = open(\"there\", O_WRONLY); write(h, \"1\", 1); _exit(0); }
        wait(0); write(h, \"1\", 1); close_range(3, ~0U, 0);
        f = open(\"there\", O_WRONLY); write(f, \"1234567\", 7); unlink(\"new\"); unlink(\"none\");
        rename(\"there\", \"moved\");";
    let (_, find) = in_directory(body, file);
    let new = FileUse {
        opened: 1,
        created: 1,
        writes: 6,
        written_bytes: 16,
        synced: 2,
        removed: 1,
        ..FileUse::default()
    };
    assert_eq!(find("new"), new);
    let there = FileUse { opened: 3, writes: 4, written_bytes: 10, ..FileUse::default() };
    assert_eq!(find("there"), there);
}

#[test]
fn stats_of_paths_and_not_of_descriptors() {
    let _turn = turn();
    let body = "struct stat s; char b[100];
        for (int i = 0; i < 5; i++) { stat(\"there\", &s); stat(\"none\", &s); lstat(\"none\", &s); }
        access(\"there\", R_OK); access(\"none\", R_OK); readlink(\"there\", b, 100);
        int f = open(\"there\", O_RDONLY); for (int i = 0; i < 9; i++) fstat(f, &s);
        chdir(\"/\"); stat(\"none\", &s); execl(\"/no/program\", \"x\", (char *)0); execl(\"there/x\", \"x\", (char *)0);";
    let (_, find) = in_directory(body, file);
    assert_eq!(find("there"), FileUse { opened: 1, stated: 7, ..FileUse::default() });
    assert_eq!(find("none"), FileUse { stated: 11, stat_missed: 11, ..FileUse::default() });
    assert_eq!(find("/none"), FileUse { stated: 1, stat_missed: 1, ..FileUse::default() });
    assert_eq!(find("/no/program"), FileUse { exec_missed: 1, ..FileUse::default() });
    assert_eq!(find("/there/x"), FileUse { exec_missed: 1, ..FileUse::default() });
}

#[test]
fn what_has_no_path_is_called_by_its_kind() {
    let _turn = turn();
    let body = "char b[10]; int p[2]; pipe(p); int s[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, s);
        for (int i = 0; i < 20; i++) { write(p[1], \"12\", 2); read(p[0], b, 2); send(s[0], \"123\", 3, 0); }
        int m = memfd_create(\"name\", 0); write(m, \"1\", 1); read(-1, b, 1);
        int f = open(\"there\", O_RDWR), d = open(\"/dev/null\", O_WRONLY); sendfile(m, f, 0, 100);
        char *a = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); a[0] = 1; msync(a, 4096, MS_SYNC);";
    let (seen, find) = in_directory(body, file);
    assert_eq!(
        find("there"),
        FileUse { opened: 1, reads: 1, read_bytes: 100, synced: 1, ..FileUse::default() }
    );
    let kind = |name: &str| seen.files.iter().find(|row| row.path == name).cloned().unwrap();
    assert_eq!((kind("pipe").reads, kind("pipe").writes, kind("pipe").written_bytes), (20, 20, 40));
    assert_eq!((kind("socket").writes, kind("socket").written_bytes), (20, 60));
    assert_eq!(kind("memfd").writes, 2);
}

#[test]
fn descriptors_are_followed_over_fork_and_exec() {
    let _turn = turn();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    file(&path);
    let script = "exec 3<there 4>out; (cat <&3 >&4); cd /; cat <&3; echo end >&4";
    let (seen, probed) = files(&Launch { cwd: Some(path.clone()), ..shell(script) });
    assert_eq!(probed.exit, Exit::Code(0));
    let find = |name: &str| seen.files.iter().find(|row| Path::new(&row.path) == path.join(name)).unwrap();
    assert_eq!((find("there").opened, find("there").read_bytes), (1, 10_000));
    assert_eq!((find("out").created, find("out").written_bytes), (1, 10_004));
    let closing = "int f = open(\"there\", O_RDONLY | O_CLOEXEC); char b[9]; read(f, b, 1);
        if (argc < 2) { execl(argv[0], argv[0], \"x\", (char *)0); return 1; }
        int g = open(\"/dev/zero\", O_RDONLY); read(g, b, 9); return 0;";
    let again = launch(&[compiled(closing).to_str().unwrap()]);
    let (seen, _) = files(&Launch { cwd: Some(path.clone()), ..again });
    let there = seen.files.iter().find(|row| Path::new(&row.path) == path.join("there")).unwrap();
    assert_eq!((there.opened, there.reads, there.read_bytes), (2, 2, 2));
}

#[test]
fn direct_input_is_told() {
    let _turn = turn();
    let body = "int f = open(\"there\", O_RDONLY | O_DIRECT); return f < 0 ? 0 : 0;";
    let (seen, find) = in_directory(body, file);
    // Not every file system has it.
    assert!(seen.total.direct == 0 || find("there").direct == 1);
}

#[test]
fn files_without_a_name_are_created_ones() {
    let _turn = turn();
    let body = "int f = open(\".\", O_TMPFILE | O_RDWR, 0600); if (f < 0) return 0; write(f, \"abc\", 3);";
    let (seen, _) = in_directory(body, |path| assert!(path.is_dir()));
    let row = seen.files.iter().find(|row| row.path.ends_with("/unnamed"));
    // Not every file system has such files.
    let Some(row) = row else { return };
    assert_eq!((row.opened, row.created, row.written_bytes), (1, 1, 3));
}
