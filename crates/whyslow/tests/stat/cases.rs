//! Cases from public bug reports of other tools, by what was reported, and samples with a known answer. Numbers in names
//! are those of the project's list of reports.

use serde_json::Value;

use crate::common::{WHITE, whyslow, whyslow_without_machine};
use crate::{Files, json, peer, shown, stat};
use whyslow::cli::Status;
use whyslow::machine::simulated::World;

fn pair(files: &Files, base: &[f64], other: &[f64]) -> [String; 2] {
    [files.numbers("base", base), files.numbers("other", other)]
}

/// No word of a number that is none, and no number beyond all bounds.
#[track_caller]
fn assert_sober(text: &str) {
    let lower = text.to_lowercase();
    for word in ["nan", "inf ", "inf%", "inf]", "9223372036854775808", "-0 %"] {
        assert!(!lower.contains(word), "{word}\n{text}");
    }
}

/// hyperfine 811: with a reference that is slower than the others, the table said something else than the text.
#[test]
fn case_29_table_and_text_agree_on_who_is_the_reference() {
    let files = Files::new();
    let file = files.path("table.md");
    let export = format!("markdown={}", file.display());
    let world = World::pair(0.05, 0.8).with_noise(WHITE);
    let printed =
        whyslow(world, &["compare", "a", "b", "--seed", "1", "--reference", "a", "--export", &export]);
    let table = std::fs::read_to_string(file).unwrap();
    assert!(printed.stdout.contains("faster"), "{}", printed.stdout);
    assert!(table.contains("| `a` |") && table.contains("| 1.00 |"), "{table}");
    let row = table.lines().find(|line| line.contains("`b`")).unwrap();
    assert!(row.contains("0.80 [") && row.contains("faster"), "{row}");

    let [base, other] = pair(&files, &[5.0, 5.1, 5.2, 5.3], &[4.0, 4.1, 4.2, 4.3]);
    let text = shown(&[&base, &other, "--export", "markdown=-"]);
    assert_eq!(text.matches("0.81 [0.75, 0.86]").count(), 3, "sentence, table and export\n{text}");
}

/// criterion 276: the same binary one minute later was "20 % faster".
#[test]
fn case_38_the_same_program_a_minute_later_is_not_comparable() {
    let files = Files::new();
    let base: Vec<f64> = (0..30).map(|k| 10.0 + f64::from(k % 7) / 10.0).collect();
    let later: Vec<f64> = base.iter().map(|value| 0.8 * value).collect();
    let [base, later] = pair(&files, &base, &later);
    let result = json(&[&base, &later]);
    assert_eq!(result["comparisons"][0]["verdict"], "unsafe");
    assert!(result["notes"][0].as_str().unwrap().contains("cannot say faster or slower"));
}

/// criterion 720 and others: equal, single and zero values gave NaN, panics and "-9223372036854775808%".
#[test]
fn case_39_degenerate_samples_have_finite_numbers_or_none() {
    let samples: [&[f64]; 7] =
        [&[1.0; 9], &[1.0], &[0.0; 6], &[1.0, 2.0], &[0.0], &[-1.0, -2.0, -3.0], &[1e-300, 1e300]];
    for base in samples {
        for other in samples {
            let files = Files::new();
            let [base, other] = pair(&files, base, other);
            for how in [&[][..], &["--interleaved"], &["--quiet"]] {
                let text = files.plain(&shown(&[&[base.as_str(), &other], how].concat()));
                assert_sober(&text);
            }
            let views = ["ministat", "cmpthese", "timestr", "benchstat", "hyperfine"];
            views.iter().for_each(|view| drop(shown(&[&base, &other, "--view", view])));
            json(&[&base, &other]);
        }
    }
}

/// multitime 11 and 9: the interval of 1 and 2 is 1.5 ± 6.353.
#[test]
fn case_40_the_interval_of_few_values_is_that_of_student() {
    for (values, mean, error) in [
        (&[1.0, 2.0][..], 1.5, 6.353_102),
        (&[1.0, 2.0, 3.0], 2.0, 2.484_138),
        (&[1.0, 2.0, 3.0, 4.0, 5.0], 3.0, 1.963_243),
    ] {
        let files = Files::new();
        let summary = json(&[&files.numbers("x", values)])["sets"][0]["summary"].clone();
        assert_eq!(summary["mean"], mean);
        assert!((summary["mean_error"].as_f64().unwrap() - error).abs() < 1e-6, "{summary}");
    }
}

/// golang/go 19634: equal samples; 57648: a benchmark that one file lacks went into the geometric mean.
#[test]
fn case_41_identical_samples_and_matched_rows_only() {
    let files = Files::new();
    let go = |rows: &[(&str, f64)]| -> String {
        let line = |(name, time): &(&str, f64)| format!("Benchmark{name} 100 {time} ns/op\n").repeat(6);
        rows.iter().map(line).collect()
    };
    let old = files.write("old", &go(&[("A", 10.0), ("B", 20.0), ("Gone", 1e6)]));
    let new = files.write("new", &go(&[("A", 10.0), ("B", 80.0), ("Fresh", 1.0)]));
    let text = files.plain(&shown(&[&old, &new]));
    assert!(text.contains("identical"), "{text}");
    assert!(text.contains("geomean of 2") && text.contains("2.000"), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("2 names are in both old and new, 2 in one only: Gone, Fresh"), "{text}");
    let mean = json(&[&old, &new])["geometric_means"][0].clone();
    assert_eq!((&mean["rows"], &mean["left_out"]), (&2.into(), &serde_json::json!(["Gone", "Fresh"])));
    assert!((mean["ratio"].as_f64().unwrap() - 2.0).abs() < 1e-12);
}

/// bencher: 0.6.3 took the deviation with n and the interval of the mean for a new value; 0.6.11 called a drop to zero 0 %.
#[test]
fn case_42_one_new_value_and_a_drop_to_zero() {
    let files = Files::new();
    let [base, usual] = pair(&files, &[1.0, 2.0, 3.0, 4.0, 5.0], &[7.5]);
    let text = shown(&[&base, &usual]).split_whitespace().collect::<Vec<_>>().join(" ");
    // 3 ± 2.776 * 1.581 * sqrt(1 + 1/5)
    assert!(text.contains("its one value, 7.5, is within -1.809 .. 7.809,"), "{text}");
    let odd = files.numbers("odd", &[8.0]);
    assert!(shown(&[&base, &odd]).contains("outside"));

    let [base, zero] = pair(&files, &[1.0, 2.0, 3.0], &[0.0, 0.0, 0.0]);
    assert!(shown(&[&base, &zero]).contains("-100 %"));
    let comparison = json(&[&base, &zero])["comparisons"][0].clone();
    assert_eq!(
        (&comparison["change_of_medians"], &comparison["verdict"]),
        (&(-1.0).into(), &"no_ratio".into())
    );
}

/// Perl 6892 and others: nothing to compare, trivial code, negative CPU time, a clock that does not tick.
#[test]
fn case_43_what_breaks_benchmark_pm() {
    let files = Files::new();
    let empty =
        stat(&[&files.write("empty", "Benchmark: timing 0 iterations of ...\n"), "--view", "cmpthese"]);
    assert_eq!(empty.status, Status::CouldNot);
    let text = shown(&[&peer("benchmark-pm-negative.txt"), "--view", "cmpthese"]);
    assert_sober(&text);
    let trivial = files.write(
        "trivial",
        "a:  0 wallclock secs ( 0.00 usr +  0.00 sys =  0.00 CPU)\n\
         b:  0 wallclock secs ( 0.00 usr +  0.00 sys =  0.00 CPU) @ -1/s (n=100)\n\
         c:  1 wallclock secs ( 1.00 usr +  0.00 sys =  1.00 CPU) @ 100.00/s (n=100)\n",
    );
    let text = shown(&[&trivial, "--view", "cmpthese"]);
    assert!(
        text.contains("note: b: less CPU time than one tick (10 ms): > 10000/s")
            || text.contains("> 1e+04/s"),
        "{text}"
    );
}

#[test]
fn iguana_and_chameleon_of_ministats_manual() {
    let files = Files::new();
    let iguana = files.numbers("iguana", &[50.0, 200.0, 150.0, 400.0, 750.0, 400.0, 150.0]);
    let chameleon = files.numbers("chameleon", &[150.0, 400.0, 720.0, 500.0, 930.0]);
    let text = shown(&["-c", "80", "-w", "60", "-s", "--compat", &iguana, &chameleon]);
    assert!(text.contains("|             |________________M__A___________________|      |\n"), "{text}");
    let end = "Difference at 80.0% confidence\n\t240 +/- 212.215\n\t80% +/- 70.7384%\n\
               \t(Student's t, pooled s = 264.159)\n";
    assert!(text.ends_with(end), "{text}");
}

/// Unequal deviations in unequal sets: pooled t would take the small one's scatter for the large one's.
#[test]
fn sets_of_5_and_50_values_with_different_scatter() {
    let files = Files::new();
    let wide = [97.0, 98.5, 100.0, 101.5, 106.0];
    let narrow: Vec<f64> = (0..50).map(|k| 99.0 + f64::from(k % 5) * 0.7).collect();
    let [base, other] = pair(&files, &narrow, &wide);
    let comparison = json(&[&base, &other])["comparisons"][0].clone();
    assert_eq!(comparison["verdict"], "unsafe");
    let end = |name: &str| comparison["ratio"][name].as_f64().unwrap();
    assert!(end("low") < 1.0 && 1.0 < end("high"), "{comparison}");
}

#[test]
fn a_large_common_level_costs_no_digits() {
    let files = Files::new();
    let file = files.write("x", "1000000000.1\n1000000000.2\n1000000000.3\n");
    let deviation = json(&[&file])["sets"][0]["summary"]["deviation"].as_f64().unwrap();
    assert!((deviation - 0.1).abs() < 1e-6, "{deviation}");
    assert!(shown(&["-n", &file]).contains("the original loses the digits of the deviation here: x -nan"));
    assert!(shown(&["-n", "--compat", &file]).contains("-nan"));
}

#[test]
fn the_median_of_1_2_3_4_is_in_the_middle() {
    let files = Files::new();
    let file = files.numbers("x", &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(json(&[&file])["sets"][0]["summary"]["median"], 2.5);
    assert!(shown(&["-n", "--compat", &file]).contains("             4             3           2.5"));
}

#[test]
fn values_without_a_partner_are_no_pairs_20_against_21() {
    let files = Files::new();
    let twenty: Vec<f64> = (0..20).map(|k| 10.0 + f64::from(k) / 10.0).collect();
    let one_more: Vec<f64> = twenty.iter().map(|value| value * 2.0).chain([24.0]).collect();
    let [base, other] = pair(&files, &twenty, &one_more);
    let result = json(&["--interleaved", &base, &other]);
    assert_eq!(result["comparisons"][0]["verdict"], "unsafe");
    let notes = result["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
    assert!(notes.into_iter().any(|note| note.contains("20 values against 21 are no pairs")), "{result}");
    let [base, same] = [base, files.numbers("same", &one_more_without_last(&one_more))];
    assert_eq!(json(&["--interleaved", &base, &same])["comparisons"][0]["verdict"], "larger");
}

fn one_more_without_last(values: &[f64]) -> Vec<f64> {
    values[..values.len() - 1].to_vec()
}

/// 2.980 and not 3.319, which is the value for 99.8 %.
#[test]
fn confidence_of_99_and_a_half_at_38_degrees_of_freedom() {
    let files = Files::new();
    let values = |centre: f64| (0..20).map(|k| centre + f64::from(k % 5)).collect::<Vec<f64>>();
    let [base, other] = pair(&files, &values(10.0), &values(20.0));
    let error = |more: &[&str]| -> f64 {
        let text = shown(&[&["-A", "-c", "99.5", &base, &other], more].concat());
        let line = text.lines().find(|line| line.starts_with('\t')).unwrap().to_owned();
        line.split("+/- ").nth(1).unwrap().parse().unwrap()
    };
    let pooled = (2.0_f64 * 20.0 / 19.0).sqrt();
    let t = |error: f64| error / (pooled * (2.0_f64 / 20.0).sqrt());
    assert!((t(error(&[])) - 2.980).abs() < 5e-4, "{}", t(error(&[])));
    assert!((t(error(&["--compat"])) - 3.319).abs() < 5e-4, "{}", t(error(&["--compat"])));
}

#[test]
fn help_names_the_letters_of_ministat() {
    let help = whyslow_without_machine(&["stat", "--help"]).stdout;
    for letter in ["-C,", "-d,", "-c,", "-n,", "-A,", "-s,", "-q,", "-w,"] {
        assert!(help.contains(letter), "{letter}\n{help}");
    }
}
