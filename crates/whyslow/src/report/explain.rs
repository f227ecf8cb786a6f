//! A diagnosis in plain words first, then the evidence.

use serde_json::{Value, json};

use super::compose::{labels_in_sentences, legend};
use super::document::{Definition, Document, Line, Part, Tone, plain, toned};
use super::quantity::{bytes, count, duration, factor as factor_of, factor_number, seconds as in_seconds};
use super::words::{briefly, headline};
use crate::analysis::{Analysis, Comparison, Concern, Estimate, Verdict};
use crate::explain::{
    Budget, Carrier, Class, Diagnosis, FactorShare, Finding, Status, closing, is_culprit, opening,
};
use crate::model::Stop;

/// More than these are in the JSON only: an answer of more than 15 lines is not read.
const MOST_SIGNS: usize = 3;
const MOST_FUNCTIONS: usize = 3;
const MOST_CLEARED: usize = 8;
const MOST_UNTESTED: usize = 2;
const MOST_SURROUNDINGS: usize = 12;
/// The suspect that any pair of commands has.
const LAST_RESORT: &str = "code.more-work";
/// From this ratio on, a share of the gap is told as a ratio as well, unless it is nearly all.
const LARGE: f64 = 3.0;
const WHOLE: f64 = 0.95;
/// Smaller parts of the gap are not worth a word.
const LEAST_PART: f64 = 0.03;

/// The explanation as a document.
pub fn compose_diagnosis(analysis: &Analysis, diagnosis: &Diagnosis) -> Document {
    let names = labels_in_sentences(analysis);
    let mut parts = vec![Part::Text(vec![first_line(analysis, diagnosis, &names)])];
    parts.extend(broken_off(analysis));
    let mut definitions: Vec<Definition> = asked_for(diagnosis).into_iter().collect();
    definitions.extend(output(analysis, diagnosis, &names));
    definitions.extend(others(analysis, diagnosis, &names));
    if diagnosis.is_real {
        definitions.push(define("where it went", Tone::Plain, vec![budget(diagnosis)]));
        definitions.extend(culprits(diagnosis));
        definitions.extend(factors(diagnosis));
        definitions.extend(carriers(diagnosis));
        let told = |head: &str, text: &Option<String>| {
            text.as_ref().map(|text| define(head, Tone::Plain, vec![vec![plain(text.as_str())]]))
        };
        definitions.extend(told("growth", &diagnosis.growth));
        definitions.extend(told("layout", &diagnosis.layouts));
    }
    definitions.extend(listed("cleared", &cleared(diagnosis)));
    if diagnosis.surroundings.is_empty() {
        definitions.extend(listed("not tested", &untested(diagnosis)));
    } else {
        definitions.extend(measured_apart(analysis, diagnosis, &names));
    }
    definitions.extend(listed("not checked", &not_checked(diagnosis)));
    let is_open = diagnosis.is_real && !diagnosis.findings.iter().any(is_all_there_is);
    if let Some(share) = diagnosis.unexplained.filter(|_| is_open) {
        definitions.push(define("unexplained", Tone::Plain, vec![vec![plain(share.rest_text())]]));
    }
    let was_tried = diagnosis.surroundings.is_empty();
    let is_asked = !diagnosis.asked.is_empty();
    if diagnosis.is_real && was_tried && !is_asked && !diagnosis.findings.iter().any(is_culprit) {
        let text = match diagnosis.tried {
            0 => "nobody yet: nothing could be tried",
            _ => "nobody: nothing that was tried closes a part of the gap",
        };
        let place =
            definitions.iter().position(|one| one.head[0].text == "where it went").map_or(0, |at| at + 1);
        definitions.insert(place, define("guilty", Tone::Undecided, vec![vec![plain(text)]]));
    }
    definitions.extend(advice(diagnosis));
    parts.push(Part::Definitions(definitions));
    parts.extend(legend(analysis, &names));
    Document { parts }
}

/// What an interrupt or a lost end leaves open.
fn broken_off(analysis: &Analysis) -> Option<Part> {
    let text = match analysis.stop {
        Some(Stop::Interrupted) => "interrupted: this is what was found out until then",
        None => "unfinished: this is what was found out until it broke off",
        _ => return None,
    };
    Some(Part::Text(vec![vec![toned(Tone::Warning, text)]]))
}

fn first_line(analysis: &Analysis, diagnosis: &Diagnosis, names: &[String]) -> Line {
    let Diagnosis { fast, slow, metric, .. } = diagnosis;
    match analysis.comparisons.iter().find(|one| one.is_between(*fast, *slow, metric)) {
        Some(comparison) => {
            let mut line = headline(names, comparison);
            line.push(toned(Tone::Faint, format!(", {} blocks", diagnosis.blocks)));
            if !diagnosis.is_real {
                let what = match comparison.verdict {
                    Verdict::Undecided => "it is not known whether there is anything to explain",
                    _ => "there is nothing to explain",
                };
                line.push(plain(format!("; {what}, and nobody is accused")));
                line.extend(too_short(analysis, diagnosis).map(plain));
            }
            line
        }
        None => between_corners(diagnosis, names),
    }
}

/// Where the budget ended before there were enough runs for any answer.
fn too_short(analysis: &Analysis, diagnosis: &Diagnosis) -> Option<String> {
    let run_s = diagnosis.fast_budget.wall_s + diagnosis.slow_budget.wall_s;
    let is_short = analysis.stop == Some(Stop::BudgetSpent) && diagnosis.ratio.low.is_none();
    is_short.then(|| {
        format!(
            "; not decided within the budget: one run of both takes {}, --budget gives more",
            duration(run_s)
        )
    })
}

/// What the user asked for comes before everything else.
fn asked_for(diagnosis: &Diagnosis) -> Option<Definition> {
    let lines: Vec<Line> =
        diagnosis.asked.iter().map(|one| vec![toned(Tone::Strong, one.outcome.as_str())]).collect();
    (!lines.is_empty()).then(|| define("tried", Tone::Plain, lines))
}

/// It is told already.
fn is_asked_for(diagnosis: &Diagnosis, finding: &Finding) -> bool {
    diagnosis.asked.iter().any(|one| one.suspect == finding.suspect)
}

/// Whoever writes something else may do something else, and then no reason for the time is worth much.
fn output(analysis: &Analysis, diagnosis: &Diagnosis, names: &[String]) -> Option<Definition> {
    let written = |index: usize| {
        let summary = analysis.variants[index].metrics.get("output_bytes")?;
        summary.median.filter(|_| summary.min == summary.max)
    };
    let (fast, slow) = (diagnosis.fast, diagnosis.slow);
    let text = match (written(fast), written(slow)) {
        (Some(one), Some(other)) if one != other => {
            let wrote = |index: usize, amount: f64| format!("{} wrote {}", names[index], bytes(amount));
            format!("{}, {}", wrote(fast, one), wrote(slow, other))
        }
        _ => {
            let differing = analysis.concerns.iter().find_map(|concern| match concern {
                Concern::OutputDiffers { others } => Some(others),
                _ => None,
            })?;
            let is_either = differing.contains(&fast) != differing.contains(&slow);
            is_either.then(|| format!("{} and {} wrote different things", names[fast], names[slow]))?
        }
    };
    let line = vec![plain(format!("{text}: this may not be the same work"))];
    Some(define("output differs", Tone::Warning, vec![line]))
}

/// Variants between the two that are explained, by what each was compared with, unless factors tell it all.
fn others(analysis: &Analysis, diagnosis: &Diagnosis, names: &[String]) -> Option<Definition> {
    let are_factors = diagnosis.is_real && !diagnosis.factors.is_empty();
    if are_factors && analysis.variants.len() == 1 << diagnosis.factors.len() {
        return None;
    }
    let is_other = |comparison: &&Comparison| {
        comparison.metric == diagnosis.metric && ![diagnosis.fast, diagnosis.slow].contains(&comparison.other)
    };
    let mut others: Vec<&Comparison> = analysis.comparisons.iter().filter(is_other).collect();
    others.sort_by(|one, other| one.ratio.point.total_cmp(&other.ratio.point));
    let text = |comparison: &&Comparison| {
        // A load that hides a difference in wall time hides less of it in CPU time.
        let is_open = comparison.verdict == Verdict::Undecided;
        let by_cpu =
            analysis.comparisons.iter().find(|one| one.other == comparison.other && one.metric == "cpu_s");
        let name = &names[comparison.other];
        match by_cpu.filter(|_| is_open) {
            Some(cpu) => format!("{name} {} (CPU time)", briefly(cpu)),
            None => format!("{name} {}", briefly(comparison)),
        }
    };
    let texts: Vec<String> = others.iter().map(text).collect();
    listed(&format!("than {}", names[analysis.base]), &texts)
}

/// Two variants of several that were each compared with the base.
fn between_corners(diagnosis: &Diagnosis, names: &[String]) -> Line {
    let name = |index: usize| toned(Tone::Strong, names.get(index).map_or("?", String::as_str));
    let ratio = &diagnosis.ratio;
    let interval = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(" [{}, {}]", factor_number(low), factor_number(high)),
        _ => String::new(),
    };
    vec![
        name(diagnosis.slow),
        plain(" is "),
        toned(Tone::Slower, format!("{} slower", factor_of(ratio.point))),
        plain(" than "),
        name(diagnosis.fast),
        plain(interval),
    ]
}

fn budget(diagnosis: &Diagnosis) -> Line {
    let Budget { wall_s, user_s, system_s, cpu_wait_s, blocked_s } = diagnosis.budget;
    let rest = rest_of(&diagnosis.budget, &diagnosis.slow_budget);
    let parts =
        [("user", user_s), ("system", system_s), ("waiting for a CPU", cpu_wait_s), (rest, blocked_s)];
    if diagnosis.metric == "cpu_s" {
        let parts = format!("user {}, system {}", signed(user_s), signed(system_s));
        return vec![plain(format!("{} of CPU time: {parts}", signed(diagnosis.budget.cpu_s())))];
    }
    let is_shown = |seconds: f64| seconds.abs() > LEAST_PART * wall_s.abs();
    let shown: Vec<String> = parts
        .into_iter()
        .filter(|(_, seconds)| is_shown(*seconds))
        .map(|(name, seconds)| format!("{name} {}", signed(seconds)))
        .collect();
    vec![
        plain(format!("{} of wall time: {}; ", signed(wall_s), shown.join(", "))),
        toned(Tone::Strong, mostly(diagnosis)),
    ]
}

/// Where CPU time shows the gap, the waits beside it are the load's, however long.
fn mostly(diagnosis: &Diagnosis) -> String {
    let Budget { cpu_wait_s, blocked_s, .. } = diagnosis.budget;
    let name = diagnosis.class.name();
    let is_of_cpu = !matches!(diagnosis.class, Class::CpuWait | Class::Blocked);
    if is_of_cpu && cpu_wait_s.max(blocked_s) > diagnosis.budget.cpu_s() {
        return format!("the CPU time decides, mostly {name}");
    }
    format!("mostly {name}")
}

/// What the time is called that is neither on a CPU nor waiting for one. Below 0, several CPUs worked at once, or the
/// medians of the parts are of different runs.
fn rest_of(gap: &Budget, slow: &Budget) -> &'static str {
    match (gap.blocked_s < 0.0, slow.cpu_s() > slow.wall_s) {
        (false, _) => "blocked",
        (true, true) => "in parallel",
        (true, false) => "scatter",
    }
}

fn signed(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "+" };
    format!("{sign}{}", in_seconds(seconds.abs()))
}

fn culprits(diagnosis: &Diagnosis) -> Vec<Definition> {
    // Beside a proof, factors tell more than the name of what they consist of.
    let has_more = diagnosis.findings.iter().any(is_proved) && !diagnosis.factors.is_empty();
    let is_told = |finding: &&Finding| {
        is_culprit(finding) && !is_asked_for(diagnosis, finding) && !(has_more && is_all_there_is(finding))
    };
    let told = diagnosis.findings.iter().filter(is_told);
    let mut definitions: Vec<Definition> = told.map(|finding| culprit(finding, diagnosis)).collect();
    // Factors say it in more detail.
    if let Some(interaction) = diagnosis.interaction.as_ref().filter(|_| diagnosis.factors.is_empty()) {
        definitions.push(define("together", Tone::Plain, vec![vec![plain(interaction.as_str())]]));
    }
    definitions
}

fn is_proved(finding: &Finding) -> bool {
    finding.status == Status::Confirmed
}

fn culprit(finding: &Finding, diagnosis: &Diagnosis) -> Definition {
    let (head, tone) = match finding.status {
        Status::Confirmed => ("guilty", Tone::Slower),
        _ => ("located", Tone::Warning),
    };
    let mut body = vec![vec![toned(Tone::Strong, format!("{} ({})", finding.title, finding.suspect))]];
    body.push(vec![plain(experiment(finding) + &what_is_left(finding, diagnosis).unwrap_or_default())]);
    // What differs is told with the experiment already.
    let is_new = |sign: &&String| !finding.difference.as_ref().is_some_and(|known| repeats(sign, known));
    let signs = finding.evidence.iter().filter(is_new);
    // What is left beside a proof is told in few words.
    let is_rest = is_all_there_is(finding) && diagnosis.findings.iter().any(is_proved);
    let most = if is_rest { 1 } else { MOST_SIGNS };
    let mut signs: Vec<String> = signs.take(most).cloned().collect();
    // A matrix has its factors to tell as well.
    if signs.len() > 1 && !diagnosis.factors.is_empty() {
        signs = vec![signs.join("; ")];
    }
    body.extend(signs.iter().map(|sign| vec![plain(format!("seen: {sign}"))]));
    define(head, tone, body)
}

/// Shares are of the logarithm of the ratio: of a large gap, half is far more than half of the time.
fn what_is_left(finding: &Finding, diagnosis: &Diagnosis) -> Option<String> {
    let is_wait = matches!(diagnosis.class, Class::Blocked | Class::CpuWait);
    let seconds = |budget: &Budget| if is_wait { budget.wall_s } else { budget.cpu_s() };
    let ratio = seconds(&diagnosis.slow_budget) / seconds(&diagnosis.fast_budget);
    let share = finding.share.filter(|share| is_proved(finding) && share.point < WHOLE)?;
    let metric = if is_wait { "wall" } else { "CPU" };
    (ratio.is_finite() && ratio > LARGE).then(|| {
        let left = ratio.powf(1.0 - share.point);
        format!("; in {metric} time, {} becomes {}", factor_of(ratio), factor_of(left))
    })
}

/// Whether a sign has no more in it than both values of a difference: `bash instead of dash`.
fn repeats(sign: &str, difference: &str) -> bool {
    const WORDS: usize = 35;
    let values = difference.split_once(": ").and_then(|(_, values)| values.split_once(" -> "));
    let says_both = |(fast, slow): (&str, &str)| {
        sign.contains(fast) && sign.contains(slow) && sign.len() <= fast.len() + slow.len() + WORDS
    };
    sign == difference || values.is_some_and(says_both)
}

fn experiment(finding: &Finding) -> String {
    let closes =
        finding.share.map(|share| closing(&share, finding.left.as_ref(), finding.fast_with.as_ref()));
    let what = match (&finding.difference, finding.status) {
        (Some(difference), Status::Located) if is_all_there_is(finding) => {
            return format!("{}: {difference}", finding.experiment);
        }
        _ => finding.experiment.clone(),
    };
    let opens = finding.added.map(|share| opening(&share, finding.fast_with.as_ref()));
    format!("{what}{}{}", closes.unwrap_or_default(), opens.unwrap_or_default())
}

/// It is located by the only difference between the sides, which carries the whole gap whatever its reason is.
fn is_all_there_is(finding: &Finding) -> bool {
    finding.status == Status::Located && finding.share.is_some_and(|share| share.low == Some(1.0))
}

/// A matrix: what each of its factors does between the fastest and the slowest corner.
fn factors(diagnosis: &Diagnosis) -> Option<Definition> {
    let line = |factor: &FactorShare| {
        let FactorShare { factor: name, fast, slow, share, .. } = factor;
        let mut text = format!("{name} {} -> {}: {} of the gap", level(fast), level(slow), share.text());
        if factor.interacts() {
            text += &format!("; {}", interaction(factor, &diagnosis.factors));
        }
        if let Some(most) = factor.counts.first() {
            text += &format!("; {}", counts(most));
        }
        vec![plain(text)]
    };
    (!diagnosis.factors.is_empty())
        .then(|| define("factors", Tone::Plain, diagnosis.factors.iter().map(line).collect()))
}

/// What a factor does depends on the others: one number for it would be true for nobody.
fn interaction(factor: &FactorShare, all: &[FactorShare]) -> String {
    let others: Vec<&FactorShare> = all.iter().filter(|other| other.factor != factor.factor).collect();
    let with = |of: fn(&FactorShare) -> &str, so_many: &str| match others.len() {
        0..=2 => {
            let levels = others.iter().map(|other| format!("{} {}", other.factor, level(of(other))));
            format!("with {}", levels.collect::<Vec<_>>().join(", "))
        }
        _ => format!("beside the {so_many}"),
    };
    let fast = with(|other| &other.fast, "fast levels");
    let slow = with(|other| &other.slow, "slow ones");
    let times = |ratio: &Estimate| match ratio.low.zip(ratio.high) {
        Some((low, high)) => {
            format!("{} [{}, {}]", factor_of(ratio.point), factor_number(low), factor_number(high))
        }
        None => factor_of(ratio.point),
    };
    format!("it interacts: {} {fast}; {} {slow}", times(&factor.beside_fast), times(&factor.beside_slow))
}

/// The value of a parameter as it is told: a file without its path, and nothing by a word.
fn level(name: &str) -> &str {
    match name {
        "" => "nothing",
        path if path.starts_with('/') => {
            path.rsplit('/').next().filter(|file| !file.is_empty()).unwrap_or(path)
        }
        name => name,
    }
}

/// Functions, then counts.
fn carriers(diagnosis: &Diagnosis) -> Option<Definition> {
    let functions = diagnosis.carriers.iter().filter(|carrier| carrier.unit == "s");
    let functions: Vec<String> = functions
        .take(MOST_FUNCTIONS)
        .map(|carrier| format!("{} {}", carrier.name, signed(carrier.seconds)))
        .collect();
    let counted = diagnosis.carriers.iter().filter(|carrier| carrier.unit != "s");
    let counted: Vec<String> =
        counted.map(|carrier| format!("{} (about {})", counts(carrier), signed(carrier.seconds))).collect();
    let kinds = [functions, counted].into_iter().filter(|texts| !texts.is_empty());
    let text = kinds.map(|texts| texts.join(", ")).collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then(|| define("where it shows", Tone::Plain, vec![vec![plain(text)]]))
}

/// What both sides have of it.
fn counts(carrier: &Carrier) -> String {
    let amount = |value: f64| if carrier.unit == "bytes" { bytes(value) } else { count(value) };
    format!("{} {} -> {}", carrier.name, amount(carrier.fast), amount(carrier.slow))
}

fn cleared(diagnosis: &Diagnosis) -> Vec<String> {
    let is_news = |one: &&Finding| one.status == Status::Cleared && !is_asked_for(diagnosis, one);
    let of = diagnosis.findings.iter().filter(is_news);
    let text = |finding: &Finding| match &finding.share {
        Some(share) => format!("{} ({})", finding.title, share.text()),
        None => finding.title.clone(),
    };
    of.map(text).take(MOST_CLEARED).collect()
}

fn untested(diagnosis: &Diagnosis) -> Vec<String> {
    let has_answer = diagnosis.findings.iter().any(is_culprit);
    let has_proof = diagnosis.findings.iter().any(is_proved);
    let text = |finding: &Finding| {
        // What came of an experiment says more than why it was made.
        let was_tried = finding.stage.is_some() && finding.share.is_none();
        let reason = Some(&finding.experiment).filter(|_| was_tried || finding.experiment.contains(": "));
        let is_new = |sign: &&String| !finding.difference.as_ref().is_some_and(|known| repeats(sign, known));
        let sign = reason.or(finding.evidence.first()).filter(is_new);
        // The last resort is no news beside an answer, nor is a mere name for what is located, nor any name beside a proof.
        let is_name = finding.difference.is_some() && finding.share.is_none();
        let is_old = (has_answer && (finding.suspect == LAST_RESORT || (is_name && sign.is_none())))
            || (has_proof && is_name);
        (!is_old).then(|| sign.map_or(finding.title.clone(), |sign| format!("{} ({sign})", finding.title)))
    };
    let is_open = |one: &&Finding| one.status == Status::Untested && !is_asked_for(diagnosis, one);
    diagnosis.findings.iter().filter(is_open).filter_map(text).take(MOST_UNTESTED).collect()
}

/// Between hosts or days: what differs around the programs, and what the signs point at.
fn measured_apart(analysis: &Analysis, diagnosis: &Diagnosis, names: &[String]) -> Vec<Definition> {
    let shown = diagnosis.surroundings.iter().take(MOST_SURROUNDINGS);
    let mut lines: Vec<Line> = shown.map(|fact| vec![plain(fact.as_str())]).collect();
    if diagnosis.surroundings.len() > MOST_SURROUNDINGS {
        lines.push(vec![toned(
            Tone::Faint,
            format!("{} more in --json", diagnosis.surroundings.len() - MOST_SURROUNDINGS),
        )]);
    }
    let suspected = diagnosis.findings.iter().map(|finding| {
        let signs = finding.evidence.iter().map(|sign| vec![plain(format!("seen: {sign}"))]);
        let name = vec![toned(Tone::Strong, format!("{} ({})", finding.title, finding.suspect))];
        let body =
            [name].into_iter().chain(signs).chain([vec![plain(finding.experiment.as_str())]]).collect();
        define("suspected", Tone::Undecided, body)
    });
    // In the order of the arrows: what is told of the fast side comes first.
    let sides = format!("{} (fast) -> {} (slow)", names[diagnosis.fast], names[diagnosis.slow]);
    lines.insert(0, vec![plain(sides)]);
    let mut all: Vec<Definition> = other_work(analysis, diagnosis).into_iter().collect();
    all.push(define("around them", Tone::Plain, lines));
    all.extend(suspected);
    all
}

/// Recordings of different programs say little about each other.
fn other_work(analysis: &Analysis, diagnosis: &Diagnosis) -> Option<Definition> {
    let [fast, slow] = [diagnosis.fast, diagnosis.slow].map(|index| work(&analysis.variants[index].argv));
    let program = |argv: &[String]| argv.first().map(|word| base_name(word).to_owned()).unwrap_or_default();
    let (one, other) = (program(fast), program(slow));
    let text = match one == other {
        true if fast == slow => return None,
        true => format!("the arguments of {one} differ: this may not be the same work"),
        false => format!("{one} and {other} are different programs: this is hardly the same work"),
    };
    Some(define("not the same", Tone::Warning, vec![vec![plain(text)]]))
}

/// Without the variables that `env` sets, which are no work.
fn work(argv: &[String]) -> &[String] {
    let is_setting = |word: &&String| word.contains('=') || base_name(word) == "env";
    &argv[argv.iter().take_while(is_setting).count()..]
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What has the same reason is told together.
fn not_checked(diagnosis: &Diagnosis) -> Vec<String> {
    // Who has an answer needs no more looks.
    let has_answer = diagnosis.is_real && diagnosis.findings.iter().any(is_culprit);
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for missing in &diagnosis.not_checked {
        let reason = match missing.remedy.as_ref().filter(|_| !has_answer) {
            Some(remedy) => format!("{}; {remedy}", missing.why),
            // The head of the line says that already.
            None => missing.why.trim_start_matches("not measured: ").to_owned(),
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, whats)) => whats.push(&missing.what),
            None => reasons.push((reason, vec![&missing.what])),
        }
    }
    reasons.into_iter().map(|(reason, whats)| format!("{} ({reason})", whats.join(", "))).collect()
}

fn advice(diagnosis: &Diagnosis) -> Option<Definition> {
    let mut lines: Vec<Line> = Vec::new();
    let has_proof = diagnosis.findings.iter().any(is_proved);
    // What only comes with the rest of the gap is left to whoever reads its name.
    let is_told = |finding: &&Finding| {
        is_culprit(finding) && !finding.advice.is_empty() && !(has_proof && is_all_there_is(finding))
    };
    for finding in diagnosis.findings.iter().filter(is_told) {
        let line = vec![plain(finding.advice.as_str())];
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| define("to fix it", Tone::Faster, lines))
}

fn listed(head: &str, texts: &[String]) -> Option<Definition> {
    (!texts.is_empty()).then(|| define(head, Tone::Plain, vec![vec![plain(texts.join(", "))]]))
}

fn define(head: &str, tone: Tone, body: Vec<Line>) -> Definition {
    Definition { head: vec![toned(tone, head)], body }
}

/// What the explanation adds to the object of `whyslow compare --json`.
pub fn diagnosis_json(mut comparison: Value, names: &[String], diagnosis: &Diagnosis) -> Value {
    let budget = |budget: &Budget| {
        json!({
            "wall_s": budget.wall_s,
            "user_s": budget.user_s,
            "system_s": budget.system_s,
            "cpu_wait_s": budget.cpu_wait_s,
            "blocked_s": budget.blocked_s,
        })
    };
    let added = [
        ("fast", json!(names.get(diagnosis.fast))),
        ("slow", json!(names.get(diagnosis.slow))),
        ("real", json!(diagnosis.is_real)),
        ("gap_metric", json!(diagnosis.metric)),
        ("class", json!(diagnosis.class)),
        ("budget", budget(&diagnosis.budget)),
        ("fast_budget", budget(&diagnosis.fast_budget)),
        ("slow_budget", budget(&diagnosis.slow_budget)),
        ("findings", json!(diagnosis.findings)),
        ("asked", json!(diagnosis.asked)),
        ("carriers", json!(diagnosis.carriers)),
        ("factors", json!(diagnosis.factors)),
        ("growth", json!(diagnosis.growth)),
        ("layouts", json!(diagnosis.layouts)),
        ("interaction", json!(diagnosis.interaction)),
        ("unexplained", json!(diagnosis.unexplained)),
        ("not_checked", json!(diagnosis.not_checked)),
        ("surroundings", json!(diagnosis.surroundings)),
    ];
    if let Value::Object(fields) = &mut comparison {
        fields.extend(added.map(|(name, value)| (name.to_owned(), value)));
    }
    comparison
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_used_several_cpus_was_in_parallel() {
        let budget = |wall_s, user_s, blocked_s| Budget { wall_s, user_s, blocked_s, ..Budget::default() };
        let gap = budget(1.0, 1.2, -0.2);
        assert_eq!(rest_of(&gap, &budget(2.0, 3.0, -1.0)), "in parallel");
        assert_eq!(rest_of(&gap, &budget(2.0, 1.9, 0.1)), "scatter");
        assert_eq!(rest_of(&budget(1.0, 0.5, 0.5), &budget(2.0, 3.0, -1.0)), "blocked");
    }

    #[test]
    fn what_differs_is_told_once() {
        assert!(repeats("LC_ALL: C -> en_US.UTF-8", "LC_ALL: C -> en_US.UTF-8"));
        assert!(repeats("run by bash instead of dash", "program: dash -> bash"));
        assert!(!repeats("700 us more in functions of the locale", "LC_ALL: C -> en_US.UTF-8"));
        assert!(!repeats("malloc is that of /lib/a.so and of /lib/b.so", "program: a -> b"));
    }

    #[test]
    fn parts_of_a_gap_add_up_on_the_screen_too() {
        assert_eq!([signed(1.96), signed(-0.0251), signed(12.3)], ["+1.96 s", "-25.1 ms", "+12.3 s"]);
    }
}
