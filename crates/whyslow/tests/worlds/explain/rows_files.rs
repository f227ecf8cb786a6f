//! Rows about files: reading, writing, asking.

use whyslow::machine::simulated::Condition;

use super::scene::Row;

pub fn rows() -> Vec<Row> {
    vec![
        Row::new("data.layout", "git -C packed refs", "git -C loose refs").user(0.01).system(0.04).signs(
            |s| {
                s.calls(&[("openat", 6000), ("close", 6000), ("newfstatat", 6000)])
                    .transfer("read", 12_000, 250_000)
            },
        ),
        Row::new("io.block-size", "dd bs=64k in", "dd bs=1 in")
            .user(0.05)
            .system(0.4)
            .both(|s| s.transfer("read", 20, 200_000).transfer("write", 7, 200_000))
            .signs(|s| s.transfer("read", 400_000, 20_000).transfer("write", 400_000, 20_000)),
        Row::new("io.byte-read", "reader file", "reader pipe")
            .user(0.05)
            .system(0.2)
            .both(|s| s.transfer("read", 500, 600_000).transfer("write", 6, 600))
            .signs(|s| s.transfer("read", 600_000, 600_000)),
        Row::new("io.cold-cache", "cat /w/big", "cat /w/big")
            .prepared("evict")
            .cured_by(Condition::Prepared("find -L".into()))
            .blocked(0.3)
            .counts(|cost| cost.blocks_read = 195_320.0)
            .both(|s| {
                s.file("/w/big", |file| (file.opened, file.reads, file.read_bytes) = (1, 763, 100_000_000))
            }),
        Row::new("io.direct", "dd bs=4k in", "dd bs=4k in iflag=direct")
            .blocked(0.8)
            .both(|s| s.file("/w/out", |file| file.opened = 1))
            .signs(|s| s.file("/w/in", |file| (file.opened, file.direct) = (1, 1))),
        Row::new("io.fsync", "writer lazy", "writer safe")
            .cured_by(Condition::Preloads("no-sync".into()))
            .blocked(0.3)
            .signs(|s| s.calls(&[("fsync", 60)])),
        Row::new("io.stat-storm", "walk scandir", "walk listdir")
            .user(0.01)
            .system(0.05)
            .signs(|s| s.calls(&[("newfstatat", 100_000)])),
        Row::set("io.temp-files", "sort text", "TMPDIR", "/mnt/slow")
            .blocked(0.3)
            .both(|s| s.file("/w/text", |file| file.opened = 1))
            .signs(|s| {
                s.file("/mnt/slow/sort1", |file| {
                    (file.created, file.removed, file.written_bytes) = (1, 1, 40_000_000);
                })
            }),
        Row::set("io.unbuffered", "python3 lines.py", "PYTHONUNBUFFERED", "1")
            .system(0.2)
            .both(|s| s.transfer("write", 100, 1_000_000))
            .signs(|s| s.transfer("write", 500_000, 100_000)),
    ]
}
