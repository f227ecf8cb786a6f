//! Settings in the environment, one by one: some variables hold a list of them (`GLIBC_TUNABLES`, `NODE_OPTIONS`), and a
//! variable that differs is an experiment on a suspect only if everything that differs in it belongs to that suspect.

use std::collections::BTreeMap;

use super::{Claim, Expectation, Idea, Mirror, Suspicion};
use crate::explain::Case;
use crate::model::{ByteText, Edit};

/// How certain a name is for a setting that a wrapper of the slow side makes, so that nothing can be swapped but the
/// wrapper.
const HIDDEN: f64 = 0.6;

/// One setting that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub variable: String,
    /// `TZ`, `glibc.malloc.perturb`, `MALLOC_CONF:junk`, `NODE_OPTIONS --jitless`.
    pub name: String,
    /// The whole text of it: `165`, `--jitless`.
    pub fast: Option<String>,
    pub slow: Option<String>,
}

impl Setting {
    /// "PYTHONDEVMODE: unset -> 1".
    pub fn title(&self) -> String {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "unset".to_owned());
        format!("{}: {} -> {}", self.name, shown(&self.fast), shown(&self.slow))
    }

    /// Whether it is an option of this kind in a variable that holds a list of options.
    pub fn is_option(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.name.split_once(' ').is_some_and(|(_, option)| is_wanted(option))
    }
}

/// How the settings in a variable are separated, and what stands between a name and a value.
fn form(variable: &str) -> Option<(char, char)> {
    match variable {
        "GLIBC_TUNABLES" => Some((':', '=')),
        "MALLOC_CONF" | "_RJEM_MALLOC_CONF" | "JE_MALLOC_CONF" => Some((',', ':')),
        "GODEBUG" => Some((',', '=')),
        "NODE_OPTIONS" | "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS" | "PERL5OPT"
        | "RUBYOPT" => Some((' ', '=')),
        _ => None,
    }
}

/// Every setting in the value of a variable: its name and its text.
fn parts(variable: &str, value: &str) -> BTreeMap<String, String> {
    let Some((separator, equals)) = form(variable) else {
        return BTreeMap::from([(variable.to_owned(), value.to_owned())]);
    };
    let named = |part: &str| {
        let (key, text) = part.split_once(equals).unwrap_or((part, part));
        match (variable, separator) {
            ("GLIBC_TUNABLES", _) => (key.to_owned(), text.to_owned()),
            (_, ' ') => (format!("{variable} {key}"), part.to_owned()),
            _ => (format!("{variable}:{key}"), text.to_owned()),
        }
    };
    value.split(separator).map(str::trim).filter(|part| !part.is_empty()).map(named).collect()
}

/// The text of a variable with these settings.
fn joined(variable: &str, parts: &BTreeMap<String, String>) -> String {
    let Some((separator, equals)) = form(variable) else {
        return parts.values().next().cloned().unwrap_or_default();
    };
    let prefix = format!("{variable}:");
    let text = |(name, value): (&String, &String)| match separator {
        ' ' => value.clone(),
        _ => format!("{}{equals}{value}", name.strip_prefix(&prefix).unwrap_or(name)),
    };
    parts.iter().map(text).collect::<Vec<_>>().join(&separator.to_string())
}

fn compared(variable: &str, fast: Option<&str>, slow: Option<&str>) -> Vec<Setting> {
    let of = |value: Option<&str>| value.map(|value| parts(variable, value)).unwrap_or_default();
    let (fast, slow) = (of(fast), of(slow));
    let mut names: Vec<&String> = fast.keys().chain(slow.keys()).collect();
    names.sort();
    names.dedup();
    let setting = |name: &String| Setting {
        variable: variable.to_owned(),
        name: name.clone(),
        fast: fast.get(name).cloned(),
        slow: slow.get(name).cloned(),
    };
    names.into_iter().map(setting).filter(|setting| setting.fast != setting.slow).collect()
}

/// Settings that differ because the launches set them, by the difference that they are in.
pub fn changed(case: &Case<'_>) -> Vec<(usize, Vec<Setting>)> {
    let of = |difference: &crate::explain::Difference| -> Vec<Setting> {
        let variables = difference.variables();
        variables
            .iter()
            .flat_map(|(name, fast, slow)| compared(name, fast.as_deref(), slow.as_deref()))
            .collect()
    };
    let all = case.differences.iter().enumerate().map(|(index, difference)| (index, of(difference)));
    all.filter(|(_, settings)| !settings.is_empty()).collect()
}

/// Settings that differ although neither launch says so: something on the way to the program makes them.
pub fn hidden(case: &Case<'_>) -> Vec<Setting> {
    let (Some(fast), Some(slow)) = (case.fast.environment(), case.slow.environment()) else {
        return Vec::new();
    };
    let is_known = |name: &str| case.variable(name).is_some() || name == "size" || name == "count";
    fast.differences(slow)
        .filter_map(|(name, fast, slow)| Some((name.strip_prefix("env.")?, fast, slow)))
        .filter(|(name, _, _)| !is_known(name))
        .flat_map(|(name, fast, slow)| compared(name, fast, slow))
        .collect()
}

/// What differs of the settings that belong to a suspect: claims on the variables that they are in, which are experiments
/// where nothing else differs in them, and an experiment on these settings alone where something does.
pub fn suspicion(case: &Case<'_>, belongs: impl Fn(&Setting) -> bool) -> Option<Suspicion> {
    let mut found = Suspicion { weight: 0.5, ..Suspicion::default() };
    for (index, settings) in changed(case) {
        let (mine, others): (Vec<Setting>, Vec<Setting>) =
            settings.into_iter().partition(|setting| belongs(setting));
        if mine.is_empty() {
            continue;
        }
        let weight = if others.is_empty() { 1.0 } else { 0.7 };
        found.claims.push(Claim { difference: index, weight, is_experiment: others.is_empty() });
        found.signs.extend(mine.iter().map(Setting::title));
        if !others.is_empty() {
            found.ideas.extend(alone(case, &mine));
        }
    }
    if !found.claims.is_empty() {
        return Some(found);
    }
    let mine: Vec<String> = hidden(case).iter().filter(|one| belongs(one)).map(Setting::title).collect();
    (!mine.is_empty()).then(|| Suspicion::located(case, HIDDEN, mine))
}

/// The slow side with these settings of a variable as on the fast side, and the others as they are.
fn alone(case: &Case<'_>, mine: &[Setting]) -> Option<Idea> {
    let variable = mine.first()?.variable.clone();
    let set = case.slow.variable(&variable)??;
    if mine.iter().any(|setting| setting.variable != variable) || form(&variable).is_none() {
        return None;
    }
    let mut parts = parts(&variable, &set);
    for setting in mine {
        parts.remove(&setting.name);
        parts.extend(setting.fast.clone().map(|value| (setting.name.clone(), value)));
    }
    let value = joined(&variable, &parts);
    let titles: Vec<String> = mine.iter().map(|setting| setting.name.clone()).collect();
    Some(Idea {
        title: format!("{} as on the fast side", titles.join(", ")),
        expect: Some(Expectation { fact: format!("env.{variable}"), contains: value.clone() }),
        slow: vec![Edit::SetEnv(variable.into(), value.into())],
        fast: Mirror::AsItIs,
    })
}

/// A variable put in on both sides; `None` where a command line sets it, so that this would not reach the program.
pub fn on_both_sides(case: &Case<'_>, variable: &str, value: &str) -> Option<Idea> {
    let assigns = |word: &ByteText| word.lossy().contains(&format!("{variable}="));
    if [&case.fast, &case.slow].iter().any(|side| side.launch().argv.iter().any(assigns)) {
        return None;
    }
    Some(Idea {
        title: format!("{variable}={value} on both sides"),
        slow: vec![Edit::SetEnv(variable.into(), value.into())],
        fast: Mirror::Same,
        expect: Some(Expectation { fact: format!("env.{variable}"), contains: value.to_owned() }),
    })
}

/// More settings for a variable that holds a list of them, on both sides, beside what the slow side has in it.
pub fn more_on_both_sides(case: &Case<'_>, variable: &str, added: &str) -> Option<Idea> {
    let known = case.slow.env(variable).unwrap_or_default();
    let mut all = parts(variable, &known);
    all.extend(parts(variable, added));
    let idea = on_both_sides(case, variable, &joined(variable, &all))?;
    Some(Idea { title: format!("{added} on both sides"), ..idea })
}

/// A variable taken away on both sides, where both have it.
pub fn removed_on_both_sides(case: &Case<'_>, variable: &str) -> Option<Idea> {
    case.slow.env(variable)?;
    Some(Idea {
        title: format!("without {variable} on both sides"),
        slow: vec![Edit::UnsetEnv(variable.into())],
        fast: Mirror::Same,
        expect: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    const TUNABLES: &str = "GLIBC_TUNABLES";

    fn perturb(setting: &Setting) -> bool {
        setting.name == "glibc.malloc.perturb"
    }

    #[test]
    fn lists_come_apart_and_together() {
        let value = "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0";
        assert_eq!(joined(TUNABLES, &parts(TUNABLES, value)), value);
        let options = parts("NODE_OPTIONS", "--jitless  --max-old-space-size=64");
        assert_eq!(options["NODE_OPTIONS --max-old-space-size"], "--max-old-space-size=64");
        assert_eq!(joined("NODE_OPTIONS", &options), "--jitless --max-old-space-size=64");
        assert_eq!(parts("MALLOC_CONF", "junk:true")["MALLOC_CONF:junk"], "true");
        assert_eq!(joined("MALLOC_CONF", &parts("MALLOC_CONF", "junk:true")), "junk:true");
        assert_eq!(parts("TZ", ":/etc/localtime")["TZ"], ":/etc/localtime");
    }

    #[test]
    fn a_variable_with_nothing_else_in_it_is_an_experiment() {
        let test = TestCase::new("a", "a").slow_env(TUNABLES, "glibc.malloc.perturb=165").build();
        let suspicion = suspicion(&test.case(), perturb).unwrap();
        assert_eq!(suspicion.claims, [Claim { difference: 0, weight: 1.0, is_experiment: true }]);
        assert_eq!(suspicion.signs, ["glibc.malloc.perturb: unset -> 165"]);
    }

    #[test]
    fn beside_something_else_only_the_setting_is_tried() {
        let both = "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0";
        let test = TestCase::new("a", "a").slow_env(TUNABLES, both).build();
        let suspicion = suspicion(&test.case(), perturb).unwrap();
        assert!(!suspicion.claims[0].is_experiment);
        let without = Edit::SetEnv(TUNABLES.into(), "glibc.malloc.tcache_count=0".into());
        assert_eq!(suspicion.ideas[0].slow, [without]);
    }

    #[test]
    fn what_a_wrapper_sets_is_located() {
        let test = TestCase::new("prog 1", "./wrapper.sh prog 1")
            .facts(&[("env.A", "1")], &[("env.A", "1"), ("env.GLIBC_TUNABLES", "glibc.malloc.perturb=1")])
            .build();
        let suspicion = suspicion(&test.case(), perturb).unwrap();
        assert!(!suspicion.claims[0].is_experiment && suspicion.ideas.is_empty());
        assert!(super::suspicion(&test.case(), |setting| setting.name == "TZ").is_none());
    }

    #[test]
    fn a_command_line_that_sets_a_variable_is_in_the_way() {
        let test = TestCase::new("env TZ=UTC a", "env TZ=UTC a -x").build();
        assert_eq!(on_both_sides(&test.case(), "TZ", ":/etc/localtime"), None);
        let free = TestCase::new("a", "a -x").env(TUNABLES, "glibc.malloc.perturb=1").build();
        let idea = more_on_both_sides(&free.case(), TUNABLES, "glibc.malloc.hugetlb=1").unwrap();
        let both = "glibc.malloc.hugetlb=1:glibc.malloc.perturb=1";
        assert_eq!(idea.slow, [Edit::SetEnv(TUNABLES.into(), both.into())]);
        assert!(removed_on_both_sides(&free.case(), "TZ").is_none());
    }
}
