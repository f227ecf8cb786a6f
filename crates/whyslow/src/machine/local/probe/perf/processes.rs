//! What is mapped where in every process of the tree, from the records of maps, forks and execs, and how a copied stack
//! becomes a list of places in files. A stack that cannot be followed to its end is kept as far as it goes.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use framehop::{CacheNative, MayAllocateDuringUnwind, Unwinder, UnwinderNative};

use super::elf::Bytes;
use super::modules::{Kind, Module, Modules};
use super::record::{Body, Map, Sample};
use super::registers;

/// Deeper is not looked: a stack copy of 32 KiB has no more, but for very small frames.
const MOST_FRAMES: usize = 2048;
/// The unwinder tells its modules apart by a number of 16 bits, so its memory must be cleared before that starts anew.
const MODULES_TO_A_CACHE: u32 = 30_000;

/// A place in code, in terms that do not depend on where a process has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub module: Module,
    pub address: u64,
}

#[derive(Default)]
pub struct Processes {
    pub modules: Modules,
    alive: HashMap<u32, Process>,
    cache: CacheNative<MayAllocateDuringUnwind>,
    modules_in_cache: u32,
    names: HashMap<u32, Rc<str>>,
    /// All that there were, threads too.
    pub task_count: u64,
}

#[derive(Clone, Default)]
struct Process {
    space: Rc<Space>,
    threads: u32,
}

/// Memory of a process, as far as it is code.
#[derive(Clone, Default)]
struct Space {
    /// By address.
    maps: Vec<Mapped>,
    /// Made when the first sample needs it.
    unwinder: Option<UnwinderNative<Bytes, MayAllocateDuringUnwind>>,
}

#[derive(Clone)]
struct Mapped {
    range: Range<u64>,
    module: Module,
    /// To be taken off an address.
    bias: u64,
}

impl Processes {
    /// Anything but samples and switches.
    pub fn take(&mut self, body: &Body<'_>) {
        match body {
            Body::Map(map) => self.map(map),
            Body::Name { process, thread, is_exec, name } => {
                if *is_exec {
                    self.exec(*process);
                }
                self.names.insert(*thread, String::from_utf8_lossy(name).into());
            }
            Body::Fork { process, parent, thread, parent_thread } => {
                self.fork(*process, *parent);
                if let Some(name) = self.names.get(parent_thread).cloned() {
                    self.names.insert(*thread, name);
                }
            }
            Body::Exit { process, thread } => self.exit(*process, *thread),
            Body::Sample(_) | Body::Traced(_) | Body::Switch { .. } | Body::Lost(_) => {}
        }
    }

    pub fn name(&self, thread: u32) -> Rc<str> {
        self.names.get(&thread).cloned().unwrap_or_else(|| "".into())
    }

    /// Where the sample was and who called it, the innermost first; whether that reaches the start of the thread.
    pub fn unwind(&mut self, sample: &Sample<'_>, places: &mut Vec<Place>) -> bool {
        let kernel = self.modules.find(Kind::Kernel);
        let before = places.len();
        places.extend(sample.kernel.kernel_addresses().map(|address| Place { module: kernel, address }));
        let Some(values) = &sample.registers else {
            if places.len() == before {
                places.push(self.place(sample.process, sample.instruction));
            }
            return false;
        };
        let in_kernel = places.len();
        let is_whole = self.unwind_program(sample, values, places);
        // In the middle of an exec there is no program, and the kernel's part is all there is.
        let in_program = &places[in_kernel..];
        let is_exec = in_kernel > before
            && !in_program.is_empty()
            && in_program.iter().all(|place| self.is_nowhere(*place));
        if is_exec {
            places.truncate(in_kernel);
        }
        is_whole || is_exec
    }

    fn is_nowhere(&self, place: Place) -> bool {
        *self.modules.kind(place.module) == Kind::Nowhere
    }

    fn unwind_program(
        &mut self,
        sample: &Sample<'_>,
        values: &[u64; registers::COUNT],
        places: &mut Vec<Place>,
    ) -> bool {
        self.make_unwinder(sample.process);
        let Some(space) = self.alive.get(&sample.process).map(|process| Rc::clone(&process.space)) else {
            return false;
        };
        let Some(unwinder) = &space.unwinder else { return false };
        let nowhere = self.modules.find(Kind::Nowhere);
        let (at, values) = registers::unpack(values);
        let mut read = |address: u64| word(sample.stack, address.checked_sub(at.stack).ok_or(())?);
        let mut frames = unwinder.iter_frames(at.instruction, values, &mut self.cache, &mut read);
        for _ in 0..MOST_FRAMES {
            match frames.next() {
                Ok(Some(frame)) => {
                    let place = space.place(frame.address_for_lookup(), nowhere);
                    places.push(place);
                    if self.modules.elf(place.module).is_some_and(|elf| elf.is_start(place.address)) {
                        return true;
                    }
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
        false
    }

    fn place(&mut self, process: u32, address: u64) -> Place {
        let nowhere = self.modules.find(Kind::Nowhere);
        self.alive
            .get(&process)
            .map_or(Place { module: nowhere, address: 0 }, |process| process.space.place(address, nowhere))
    }

    fn make_unwinder(&mut self, process: u32) {
        let Some(process) = self.alive.get_mut(&process) else { return };
        if process.space.unwinder.is_some() {
            return;
        }
        let space = Rc::make_mut(&mut process.space);
        let mut unwinder = UnwinderNative::new();
        for mapped in &space.maps {
            if let Some(elf) = self.modules.elf(mapped.module) {
                unwinder.add_module(elf.module(mapped.range.clone(), mapped.bias));
                self.modules_in_cache += 1;
            }
        }
        space.unwinder = Some(unwinder);
        if self.modules_in_cache > MODULES_TO_A_CACHE {
            self.cache = CacheNative::new();
            self.modules_in_cache = 0;
        }
    }

    fn map(&mut self, map: &Map<'_>) {
        let module = self.modules.find(Kind::of_map(map.file, map.process));
        let elf = self.modules.elf(module);
        let bias = elf.and_then(|elf| elf.bias(map.start, map.file_offset)).unwrap_or(0);
        let process =
            self.alive.entry(map.process).or_insert_with(|| Process { threads: 1, ..Process::default() });
        let space = Rc::make_mut(&mut process.space);
        // Code without a file has no unwind tables, and those who make it do so all the time.
        if elf.is_some() {
            space.unwinder = None;
        }
        let range = map.start..map.start.saturating_add(map.length);
        space.insert(Mapped { range, module, bias });
    }

    fn exec(&mut self, process: u32) {
        self.task_count += u64::from(!self.alive.contains_key(&process));
        self.alive.insert(process, Process { space: Rc::default(), threads: 1 });
    }

    fn fork(&mut self, process: u32, parent: u32) {
        self.task_count += 1;
        if process == parent {
            if let Some(process) = self.alive.get_mut(&process) {
                process.threads += 1;
            }
            return;
        }
        let space = self.alive.get(&parent).map(|parent| Rc::clone(&parent.space)).unwrap_or_default();
        self.alive.insert(process, Process { space, threads: 1 });
    }

    fn exit(&mut self, process: u32, thread: u32) {
        self.names.remove(&thread);
        let Some(known) = self.alive.get_mut(&process) else { return };
        known.threads = known.threads.saturating_sub(1);
        if known.threads == 0 {
            self.alive.remove(&process);
        }
    }
}

impl Space {
    fn place(&self, address: u64, nowhere: Module) -> Place {
        let after = self.maps.partition_point(|mapped| mapped.range.start <= address);
        let found = after.checked_sub(1).map(|index| &self.maps[index]);
        match found.filter(|mapped| address < mapped.range.end) {
            Some(mapped) => Place { module: mapped.module, address: address.wrapping_sub(mapped.bias) },
            None => Place { module: nowhere, address: 0 },
        }
    }

    /// What is new replaces what was there, as far as it goes.
    fn insert(&mut self, new: Mapped) {
        let is_touched =
            |mapped: &Mapped| mapped.range.start < new.range.end && new.range.start < mapped.range.end;
        let touched: Vec<Mapped> = self.maps.iter().filter(|mapped| is_touched(mapped)).cloned().collect();
        self.maps.retain(|mapped| !is_touched(mapped));
        for old in touched {
            let before = Mapped { range: old.range.start..new.range.start, ..old.clone() };
            let after = Mapped { range: new.range.end..old.range.end, ..old };
            self.maps.extend([before, after].into_iter().filter(|part| !part.range.is_empty()));
        }
        self.maps.push(new);
        self.maps.sort_by_key(|mapped| mapped.range.start);
    }
}

fn word(stack: &[u8], offset: u64) -> Result<u64, ()> {
    let start = usize::try_from(offset).map_err(drop)?;
    let bytes = stack.get(start..start.checked_add(8).ok_or(())?).ok_or(())?;
    Ok(u64::from_ne_bytes(bytes.try_into().map_err(drop)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(process: u32, start: u64, length: u64, file: &'static [u8]) -> Body<'static> {
        Body::Map(Map { process, start, length, file_offset: 0, file })
    }

    fn title(processes: &mut Processes, process: u32, address: u64) -> String {
        let place = processes.place(process, address);
        processes.modules.kind(place.module).title()
    }

    fn exec(process: u32) -> Body<'static> {
        Body::Name { process, thread: process, is_exec: true, name: b"new" }
    }

    #[test]
    fn the_youngest_map_wins_as_far_as_it_goes() {
        let mut processes = Processes::default();
        for body in [exec(1), map(1, 100, 100, b"/x/a"), map(1, 120, 30, b"/x/b")] {
            processes.take(&body);
        }
        let found = [99, 100, 119, 120, 149, 150, 199, 200].map(|address| title(&mut processes, 1, address));
        assert_eq!(found, ["[unknown]", "a", "a", "b", "b", "a", "a", "[unknown]"]);
    }

    #[test]
    fn a_fork_has_the_maps_of_its_parent_until_it_calls_exec() {
        let mut processes = Processes::default();
        let fork = Body::Fork { process: 2, parent: 1, thread: 2, parent_thread: 1 };
        for body in [exec(1), map(1, 100, 100, b"/x/a"), fork, map(2, 300, 1, b"/x/b")] {
            processes.take(&body);
        }
        assert_eq!(title(&mut processes, 2, 100), "a");
        assert_eq!(
            (title(&mut processes, 2, 300), title(&mut processes, 1, 300)),
            ("b".into(), "[unknown]".into())
        );
        assert_eq!(&*processes.name(2), "new");
        processes.take(&exec(2));
        assert_eq!(
            (title(&mut processes, 2, 100), title(&mut processes, 1, 100)),
            ("[unknown]".into(), "a".into())
        );
        assert_eq!(processes.task_count, 2);
    }

    #[test]
    fn maps_are_kept_as_long_as_any_thread_lives() {
        let mut processes = Processes::default();
        let thread = Body::Fork { process: 1, parent: 1, thread: 5, parent_thread: 1 };
        for body in [exec(1), map(1, 100, 100, b"/x/a"), thread, Body::Exit { process: 1, thread: 1 }] {
            processes.take(&body);
        }
        assert_eq!(title(&mut processes, 1, 100), "a");
        processes.take(&Body::Exit { process: 1, thread: 5 });
        assert!(processes.alive.is_empty());
    }
}
