//! What would be run, in words: for `--dry-run`.

use crate::model::{Experiment, HookKind, Input, Launch, Output, Variant};
use crate::plan;

/// Blocks whose order is shown.
const SHOWN_BLOCKS: usize = 3;

/// Each variant with everything that is done for it, then the first orders.
pub fn describe(experiment: &Experiment) -> String {
    let variants = plan::variants(experiment);
    let mut text = String::new();
    for (index, variant) in variants.iter().enumerate() {
        let is_base = index == experiment.design.base && variants.len() > 1;
        let base = if is_base { "  (the base)" } else { "" };
        text.push_str(&format!("{}{base}\n", variant.name));
        lines(variant).iter().for_each(|(what, how)| text.push_str(&format!("  {what:<10} {how}\n")));
    }
    if variants.len() < 2 {
        return crate::report::printable_lines(&text);
    }
    let seed = experiment.design.seed;
    text.push_str(&format!("\norder of the first blocks (seed {seed}):\n"));
    for block in 0..SHOWN_BLOCKS {
        let order = plan::block_order(seed, block, variants.len());
        let names: Vec<&str> = order.into_iter().map(|variant| variants[variant].name.as_str()).collect();
        text.push_str(&format!("  {}\n", names.join(" | ")));
    }
    crate::report::printable_lines(&text)
}

fn lines(variant: &Variant) -> Vec<(&'static str, String)> {
    let launch = &variant.launch;
    let mut lines = vec![("run", words(launch))];
    for (name, value) in &launch.env {
        match value {
            Some(value) => lines.push(("set", format!("{}={}", name.lossy(), value.lossy()))),
            None => lines.push(("unset", name.lossy().into_owned())),
        }
    }
    lines.extend(launch.cwd.as_ref().map(|path| ("in", path.display().to_string())));
    if let Input::File(path) = &launch.stdin {
        lines.push(("stdin", path.display().to_string()));
    }
    match &launch.stdout {
        Output::Pipe => {}
        Output::Null => lines.push(("stdout", "/dev/null".into())),
        Output::Inherit => lines.push(("stdout", "shown".into())),
        Output::File(path) => lines.push(("stdout", path.display().to_string())),
        Output::Terminal => lines.push(("stdout", "a terminal of its own".into())),
    }
    lines.extend(launch.affinity.as_ref().map(|cpus| ("CPUs", format!("{cpus:?}"))));
    lines.extend(launch.timeout_s.map(|limit| ("timeout", format!("{limit} s"))));
    let waited = launch.wait_for_descendants_s;
    lines.extend(waited.map(|limit| ("wait", format!("up to {limit} s for descendants"))));
    for kind in HookKind::ALL {
        lines.extend(variant.hooks.get(&kind).map(|hook| (kind.name(), words(hook))));
    }
    lines
}

fn words(launch: &Launch) -> String {
    shell_words::join(launch.argv.iter().map(|word| word.lossy().into_owned()))
}
