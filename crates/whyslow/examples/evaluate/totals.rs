//! All cases together, against the bars.

use super::judgement::Judgement;

pub fn text(judgements: &[Judgement]) -> String {
    let judged: Vec<&Judgement> =
        judgements.iter().filter(|judgement| judgement.impossible.is_none()).collect();
    let of = |kinds: &[&str]| {
        judged
            .iter()
            .copied()
            .filter(|judgement| kinds.contains(&judgement.auto.as_str()))
            .collect::<Vec<_>>()
    };
    let (moved, factor, point, none) = (of(&["env", "wrap"]), of(&["factor"]), of(&["point"]), of(&["none"]));
    let real: Vec<&Judgement> = judged.iter().copied().filter(|judgement| judgement.auto != "none").collect();
    let pairs: Vec<&Judgement> =
        judged.iter().copied().filter(|judgement| judgement.truth.len() > 1).collect();
    let is_confirmed = |judgement: &Judgement| judgement.confirmed.len() == judgement.truth.len();
    let rows = [
        row("verdict right", &judged, |judgement| judgement.verdict_right, 100),
        row("env and wrap: culprit confirmed", &moved, is_confirmed, 90),
        row("factor: culprit has the largest share", &factor, |judgement| judgement.first, 90),
        row("point: class right", &point, |judgement| judgement.class_right, 90),
        row("point: culprit among three", &point, |judgement| judgement.among_three, 80),
        row(
            "two culprits: both named",
            &pairs,
            |judgement| judgement.missed.is_empty() || judgement.among_three,
            100,
        ),
        row(
            "no difference: nobody accused",
            &none,
            |judgement| judgement.wrong_confirmations.is_empty() && judgement.wrong_locations.is_empty(),
            95,
        ),
        row("no wrong confirmation", &judged, |judgement| judgement.wrong_confirmations.is_empty(), 100),
        row("no innocent accused", &judged, |judgement| judgement.innocents_accused.is_empty(), 100),
        row("budget within 10 %", &real, |judgement| judgement.budget_error <= 0.1, 100),
        row("time kept", &judged, |judgement| judgement.time_is_kept(), 50),
    ];
    let impossible = judgements.len() - judged.len();
    let mut times: Vec<f64> = judged.iter().map(|judgement| judgement.took_s).collect();
    times.sort_by(f64::total_cmp);
    let median_s = times.get(times.len() / 2).copied().unwrap_or(0.0);
    format!("\n{}\nmedian time {median_s:.0} s, {impossible} not evaluated", rows.join("\n"))
}

fn row(name: &str, of: &[&Judgement], is_good: impl Fn(&Judgement) -> bool, bar: usize) -> String {
    let good = of.iter().filter(|judgement| is_good(judgement)).count();
    if of.is_empty() {
        return format!("{name:40}   -");
    }
    let share = 100.0 * good as f64 / of.len() as f64;
    let mark = if share + 1e-9 >= bar as f64 { "" } else { "   BELOW" };
    format!("{name:40} {good:3} of {:3}  {share:3.0} %  (goal {bar} %){mark}", of.len())
}
