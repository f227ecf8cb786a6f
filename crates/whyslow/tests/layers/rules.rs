//! The table of rooms, and what breaks it.

use super::sources::Source;

/// A directory below `src` and what it may use.
pub struct Room {
    pub name: &'static str,
    /// Other rooms.
    pub uses: &'static [&'static str],
    /// Those of [`WATCHED`] that it may use.
    pub crates: &'static [&'static str],
    /// Touches no file, process, clock or environment: the same input gives the same output, anywhere and at any time.
    pub is_pure: bool,
}

/// A row for a part of a room comes before the row of the room.
pub const ROOMS: &[Room] = &[
    pure("model", &[], &[]),
    pure("plan", &["model"], &["benchmath"]),
    pure("analysis", &["model", "plan"], &["benchmath"]),
    pure("peers", &["model"], &[]),
    pure("explain", &["model", "plan", "analysis"], &["benchmath"]),
    // The faces of other programs show the figures of those programs.
    pure("report/views", &["model", "plan", "analysis"], &["benchmath"]),
    // Figures of samples that are not part of a recording, so that no analysis has them.
    pure("report/stat", &["model", "plan", "analysis"], &["benchmath"]),
    pure("report", &["model", "plan", "analysis", "explain"], &[]),
    impure("machine/simulated", &["model"], &["benchmath", "libc"]),
    impure("machine", &["model"], &["whyslow_launcher", "whyslow_agent", "libc", "signal_hook"]),
    impure("store", &["model"], &[]),
    impure("session", &["model", "plan", "analysis", "explain", "machine"], &["benchmath"]),
    impure(
        "cli",
        &["model", "plan", "analysis", "explain", "peers", "report", "machine", "store", "session"],
        WATCHED,
    ),
    impure("lib", &[], &[]),
    impure("main", &["cli", "machine"], &[]),
];

/// Dependencies that do something to the world, or that say what a room is about. The others (serde, thiserror) are
/// anybody's.
const WATCHED: &[&str] = &[
    "anstream",
    "benchmath",
    "clap",
    "indicatif",
    "jiff",
    "libc",
    "signal_hook",
    "terminal_size",
    "whyslow_agent",
    "whyslow_launcher",
];

const WORLD: [&str; 4] = ["env", "fs", "net", "process"];
const CLOCKS: [&str; 2] = ["Instant", "SystemTime"];
const PRINTING: [&str; 7] =
    ["print!", "println!", "eprint!", "eprintln!", "dbg!", "io::stdout", "io::stderr"];

/// Together with what follows, since the word alone may stand in a sentence.
const UNSAFETY: [&str; 6] =
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe trait", "unsafe("];

const fn pure(name: &'static str, uses: &'static [&'static str], crates: &'static [&'static str]) -> Room {
    Room { name, uses, crates, is_pure: true }
}

const fn impure(name: &'static str, uses: &'static [&'static str], crates: &'static [&'static str]) -> Room {
    Room { name, uses, crates, is_pure: false }
}

/// Everything in the file that its room does not allow, in words.
pub fn violations(source: &Source) -> Vec<String> {
    let Some(room) = room_of(source) else { return vec![format!("{} has no room", source.path)] };
    let mut found = rooms(source, room);
    found.extend(crates(source, room));
    if room.is_pure {
        found.extend(world(source));
    }
    // A test may show its figures.
    if source.room() != "cli" && has_any(&source.product(), &PRINTING) {
        found.push("prints".to_owned());
    }
    if source.room() != "machine" && has_any(source, &UNSAFETY) {
        found.push("is unsafe".to_owned());
    }
    found.into_iter().map(|what| format!("{} {what}", source.path)).collect()
}

fn room_of(source: &Source) -> Option<&'static Room> {
    let is_in =
        |room: &&Room| source.path.starts_with(&format!("{}/", room.name)) || source.room() == room.name;
    ROOMS.iter().find(is_in)
}

fn rooms(source: &Source, room: &Room) -> Vec<String> {
    let is_other = |name: &String| name != source.room() && ROOMS.iter().any(|other| other.name == name);
    let is_refused = |name: &String| is_other(name) && !room.uses.contains(&name.as_str());
    source.rooms_used().into_iter().filter(is_refused).map(|name| format!("uses {name}")).collect()
}

fn crates(source: &Source, room: &Room) -> Vec<String> {
    let is_refused = |name: &&&str| !room.crates.contains(*name) && source.has_word(&format!("{name}::"));
    WATCHED.iter().filter(is_refused).map(|name| format!("uses {name}")).collect()
}

fn world(source: &Source) -> Vec<String> {
    let parts = source.std_used();
    let rooms = WORLD.iter().filter(|part| parts.iter().any(|used| used == *part));
    let clocks = CLOCKS.iter().filter(|clock| source.has_word(clock));
    let rooms = rooms.map(|part| format!("touches std::{part}"));
    rooms.chain(clocks.map(|clock| format!("touches {clock}"))).collect()
}

fn has_any(source: &Source, words: &[&str]) -> bool {
    words.iter().any(|word| source.has_word(word))
}
