//! Another build of the same version of an interpreter.

use super::rt_debug_mode::in_hooks;
use super::rt_interpreter::part_of_programs;
use super::rt_version::{release, same_interpreter, versions};
use super::starting::any_elf;
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "rt.build",
    title: "build of the interpreter",
    about: "The same version of an interpreter, built otherwise: with debugging, threads, another malloc, another compiler or \
            without profile-guided optimisation.",
    shows: "User time in the interpreter; the same version with another configuration (perl -V, sysconfig, node -p \
            process.config).",
    test: "Only the interpreter is swapped; that locates it. Both configurations are compared.",
    fix: "use the usual build (debugperl is for debugging), or one without what is not needed (threads)",
    report: "Builds of perl with threads took 5 to 31 % longer than those without, by version and malloc.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let swapped = same_interpreter(case)?;
    let (fast, slow) = versions(case, &swapped);
    let is_known = fast.is_some() && slow.is_some();
    let is_same_release = fast.as_deref().map(release) == slow.as_deref().map(release);
    if is_known && !is_same_release {
        return None;
    }
    let mut signs = vec![format!("{} instead of {}", swapped.slow, swapped.fast)];
    signs.extend(in_hooks(case).map(|(_, sign)| sign));
    signs.extend(configuration(case).into_iter().take(3));
    // Another way of linking has a name of its own.
    let linked = |side: &Side<'_>| any_elf(side, |elf| elf.is_static);
    let is_told = signs.len() > 1 || (is_known && fast == slow);
    let certainty = if is_told { 0.85 } else { 0.45 };
    let certainty = if linked(&case.fast) != linked(&case.slow) { 0.5 * certainty } else { certainty };
    let weight = certainty * part_of_programs(case);
    Some(Suspicion::of_difference(swapped.difference, weight, signs))
}

/// What the interpreters say of how they were built, where that differs.
fn configuration(case: &Case<'_>) -> Vec<String> {
    let (Some(fast), Some(slow)) = (case.fast.environment(), case.slow.environment()) else {
        return Vec::new();
    };
    let shown = |value: Option<&str>| value.unwrap_or("nothing").to_owned();
    fast.differences(slow)
        .filter(|(name, _, _)| name.starts_with("interpreter.build"))
        .map(|(name, fast, slow)| {
            let name = name.trim_start_matches("interpreter.build.");
            format!("{name}: {} against {}", shown(slow), shown(fast))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn perls() -> TestCase {
        TestCase::new("/usr/bin/perl a.pl", "/usr/bin/debugperl a.pl").seconds(0.158, 0.184)
    }

    #[test]
    fn the_same_version_with_another_configuration() {
        let test = perls().facts(
            &[("interpreter.version", "5.36.0"), ("interpreter.build.ccflags", "-O2")],
            &[("interpreter.version", "5.36.0"), ("interpreter.build.ccflags", "-DDEBUGGING -O2")],
        );
        assert_eq!(test.candidates()[0], "rt.build");
        assert!(test.look(&SUSPECT).unwrap().signs[1].contains("-DDEBUGGING"));
        assert_eq!(perls().candidates()[0], "rt.build", "also where nobody asked them");
    }

    #[test]
    fn a_patch_of_the_same_release_built_otherwise() {
        let sides = |fast: &str, options: &str| {
            TestCase::new("/usr/bin/python3.11 a.py", "/opt/python/bin/python3.11 a.py")
                .seconds(0.1, 0.2)
                .facts(
                    &[("interpreter.version", fast), ("interpreter.build.CONFIG_ARGS", "--with-lto")],
                    &[("interpreter.version", "3.11.7"), ("interpreter.build.CONFIG_ARGS", options)],
                )
        };
        assert_eq!(sides("3.11.2", "--prefix=/opt").candidates()[..2], ["rt.build", "rt.version"]);
        assert_eq!(sides("3.11.2", "--with-lto").candidates()[0], "rt.version");
        assert_eq!(sides("3.8.2", "--prefix=/opt").candidates()[0], "rt.version");
    }

    #[test]
    fn another_version_or_way_of_linking_is_somebody_else() {
        let versions =
            perls().facts(&[("interpreter.version", "5.36.0")], &[("interpreter.version", "5.8.8")]);
        assert!(versions.look(&SUSPECT).is_none());
        let linked = TestCase::new("/bin/bash-static f.sh", "/bin/bash f.sh").loading(|fast, slow| {
            super::super::starting::tests::load(fast, "/bin/bash-static", 300, 0);
            super::super::starting::tests::load(slow, "/bin/bash", 300, 3);
        });
        assert_eq!(linked.candidates()[0], "link.dynamic");
    }
}
