//! From the text to suspects that make sense, or the line that does not and what to write there.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use super::written::{self, OneOrMore, Written};
use super::{CustomError, CustomSuspect, EditCheck, Experiment, FunctionTrigger, MetricTrigger, Trigger};
use crate::explain::suspects::{Expectation, known};
use crate::model::{Edit, KNOWN_METRICS, Preload, known_metric};

const PAGE: &str = "docs/explain-your-own.md shows the form";

struct Text<'a>(&'a str);

pub fn suspects(text: &str, check_edits: EditCheck<'_>) -> Result<Vec<CustomSuspect>, CustomError> {
    let text = Text(text);
    let file: written::File = toml::from_str(text.0).map_err(|error| text.not_toml(&error))?;
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for suspect in file.suspect {
        let place = suspect.get_ref().name.span();
        let edit = suspect.get_ref().edit.as_ref().map_or(place.clone(), Spanned::span);
        let suspect = text.suspect(suspect.into_inner())?;
        let edits = suspect.experiment.as_ref().map_or(&[][..], |experiment| &experiment.edits);
        check_edits(edits).map_err(|(what, remedy)| text.wrong(edit, what, remedy))?;
        if !names.insert(suspect.name.clone()) {
            let what = format!("there is a suspect {} already", suspect.name);
            return Err(text.wrong(place, what, "give it a name of its own"));
        }
        found.push(suspect);
    }
    Ok(found)
}

impl Text<'_> {
    fn wrong(&self, place: Range<usize>, what: impl Into<String>, remedy: impl Into<String>) -> CustomError {
        let before = &self.0.as_bytes()[..place.start.min(self.0.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        CustomError { line, what: what.into(), remedy: remedy.into() }
    }

    fn not_toml(&self, error: &toml::de::Error) -> CustomError {
        let message = error.message().trim().replace('\n', ", ");
        let remedy = if message.starts_with("missing field `suspect`") {
            "begin each suspect with [[suspect]]".to_owned()
        } else if message.starts_with("missing field") {
            "a suspect has a name, a title, an advice and a [suspect.trigger]".to_owned()
        } else {
            PAGE.to_owned()
        };
        self.wrong(error.span().unwrap_or(0..0), message, remedy)
    }

    fn suspect(&self, written: Written) -> Result<CustomSuspect, CustomError> {
        self.name(&written.name)?;
        for (field, value) in [("title", &written.title), ("advice", &written.advice)] {
            if value.get_ref().trim().is_empty() {
                return Err(self.wrong(
                    value.span(),
                    format!("{field} says nothing"),
                    "write a few plain words",
                ));
            }
        }
        let expect = written.expect.map(|expect| (expect.span(), expect.into_inner()));
        let experiment = match (written.edit, expect) {
            (Some(_), Some((place, expect))) if expect.fact.is_empty() => {
                let remedy = "write the beginning of a name as `whyslow probe --with environment` shows it";
                return Err(self.wrong(place, "every fact begins with nothing", remedy));
            }
            (Some(edit), expect) => {
                let expect =
                    expect.map(|(_, expect)| Expectation { fact: expect.fact, contains: expect.contains });
                Some(self.experiment(edit, expect)?)
            }
            (None, Some((place, _))) => {
                let remedy = "write what is tried in [suspect.edit], or leave [suspect.expect] out";
                return Err(self.wrong(place, "expect without an edit", remedy));
            }
            (None, None) => None,
        };
        Ok(CustomSuspect {
            name: written.name.into_inner(),
            title: written.title.into_inner(),
            about: written.about,
            advice: written.advice.into_inner(),
            trigger: self.trigger(written.trigger)?,
            experiment,
        })
    }

    fn name(&self, name: &Spanned<String>) -> Result<(), CustomError> {
        let text = name.get_ref();
        let is_word = |word: &str| {
            let is_plain =
                |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
            !word.is_empty() && word.chars().all(is_plain)
        };
        let has_form = text.split_once('.').is_some_and(|(group, rest)| is_word(group) && is_word(rest));
        if !has_form {
            let what = format!("{text:?} is no name for a suspect");
            let remedy = "write a group and a name in small letters, such as app.cache-off";
            return Err(self.wrong(name.span(), what, remedy));
        }
        if known(text).is_some() {
            let remedy = "choose another name; whyslow has this suspect";
            return Err(self.wrong(name.span(), format!("{text} is taken"), remedy));
        }
        Ok(())
    }

    fn trigger(&self, written: Spanned<written::Trigger>) -> Result<Trigger, CustomError> {
        let place = written.span();
        let written = written.into_inner();
        for name in written.variable_set.iter().chain(&written.variable_differs) {
            self.variable(name.get_ref(), name.span())?;
        }
        let trigger = Trigger {
            programs: match written.program {
                Some(OneOrMore::One(name)) => vec![name],
                Some(OneOrMore::More(names)) => names,
                None => Vec::new(),
            },
            variable_set: written.variable_set.map(Spanned::into_inner),
            variable_differs: written.variable_differs.map(Spanned::into_inner),
            metric: written.metric.map(|metric| self.metric(metric)).transpose()?,
            function: written.function.map(|function| self.function(function)).transpose()?,
        };
        if trigger == Trigger::default() {
            let remedy = "give at least one of program, variable_set, variable_differs, metric and function";
            return Err(self.wrong(place, "the trigger waits for nothing", remedy));
        }
        Ok(trigger)
    }

    fn metric(&self, written: written::Metric) -> Result<MetricTrigger, CustomError> {
        let name = written.name.get_ref();
        if known_metric(name).is_none() {
            let names: Vec<&str> = KNOWN_METRICS.iter().map(|metric| metric.name).collect();
            let remedy = format!("write one of {}", names.join(", "));
            return Err(self.wrong(written.name.span(), format!("there is no metric {name:?}"), remedy));
        }
        let more_than = *written.more_than.get_ref();
        if !more_than.is_finite() || more_than < 0.0 {
            let remedy = "write how much more the slow side must have, such as 1000";
            return Err(self.wrong(written.more_than.span(), "more_than is below 0 or no number", remedy));
        }
        Ok(MetricTrigger { name: written.name.into_inner(), more_than })
    }

    fn function(&self, written: written::Function) -> Result<FunctionTrigger, CustomError> {
        let share = *written.share.get_ref();
        if !(share > 0.0 && share <= 1.0) {
            let remedy = "write the part of the gap that it must have, such as 0.1 for 10 %";
            return Err(self.wrong(written.share.span(), "share is not above 0 and at most 1", remedy));
        }
        if written.contains.get_ref().is_empty() {
            let remedy = "write a part of the name of a function";
            return Err(self.wrong(written.contains.span(), "every function contains nothing", remedy));
        }
        Ok(FunctionTrigger { contains: written.contains.into_inner(), share })
    }

    fn experiment(
        &self,
        written: Spanned<written::Edit>,
        expect: Option<Expectation>,
    ) -> Result<Experiment, CustomError> {
        let place = written.span();
        let written = written.into_inner();
        let is_on_both = match written.sides.as_ref().map(|sides| sides.get_ref().as_str()) {
            None | Some("both") => true,
            Some("slow") => false,
            Some(other) => {
                let place = written.sides.as_ref().map_or(place, Spanned::span);
                let remedy = "write both (the fast side gets the same edit) or slow";
                return Err(self.wrong(place, format!("{other:?} are no sides"), remedy));
            }
        };
        let edits = self.edits(written, &place)?;
        Ok(Experiment { edits, is_on_both, expect })
    }

    fn edits(&self, written: written::Edit, place: &Range<usize>) -> Result<Vec<Edit>, CustomError> {
        for name in written.set.keys().chain(&written.unset) {
            self.variable(name, place.clone())?;
        }
        let is_empty = written.wrap.as_ref().is_some_and(Vec::is_empty)
            || written.affinity.as_ref().is_some_and(Vec::is_empty)
            || written.preload.as_ref().is_some_and(String::is_empty);
        let set = written.set.into_iter().map(|(name, value)| Edit::SetEnv(name.into(), value.into()));
        let unset = written.unset.into_iter().map(|name| Edit::UnsetEnv(name.into()));
        let mut edits: Vec<Edit> = set.chain(unset).collect();
        edits.extend(written.preload.map(|path| Edit::Preload(Preload::File(path.into()))));
        edits.extend(written.affinity.map(Edit::Affinity));
        edits.extend(written.wrap.map(|words| Edit::Wrap(words.into_iter().map(Into::into).collect())));
        if edits.is_empty() || is_empty {
            let remedy = "give set, unset, preload, wrap or affinity a value, or leave [suspect.edit] out";
            return Err(self.wrong(place.clone(), "the edit changes nothing", remedy));
        }
        Ok(edits)
    }

    fn variable(&self, name: &str, place: Range<usize>) -> Result<(), CustomError> {
        if !name.is_empty() && !name.contains(['=', '\0']) {
            return Ok(());
        }
        let remedy = "write the name alone, without = and a value";
        Err(self.wrong(place, format!("{name:?} is no name of a variable"), remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspects(text: &str) -> Result<Vec<CustomSuspect>, CustomError> {
        super::suspects(text, &|edits| match edits {
            [Edit::Wrap(words)] if words == &["none".into()] => {
                Err(("no such thing".into(), "another".into()))
            }
            _ => Ok(()),
        })
    }

    /// A right suspect with one line in place of another.
    fn wrong(line: &str, instead_of: &str) -> CustomError {
        let right = "[[suspect]]\nname = \"a.b\"\ntitle = \"t\"\nadvice = \"x\"\n[suspect.trigger]\nprogram = \"p\"\n\
                     [suspect.edit]\nunset = [\"X\"]\n";
        assert!(suspects(right).is_ok());
        assert!(right.contains(instead_of));
        suspects(&right.replace(instead_of, line)).unwrap_err()
    }

    #[test]
    fn mistakes_have_a_line_and_a_remedy() {
        let table = [
            ("name = \"B\"", "name = \"a.b\"", 2, "no name", "app.cache-off"),
            ("name = \"env.locale\"", "name = \"a.b\"", 2, "taken", "another name"),
            ("nmae = \"a.b\"", "name = \"a.b\"", 2, "unknown field", "explain-your-own"),
            ("", "advice = \"x\"\n", 1, "missing field `advice`", "a title, an advice"),
            ("title = \" \"", "title = \"t\"", 3, "title says nothing", "plain words"),
            ("title = 5", "title = \"t\"", 3, "invalid type", "explain-your-own"),
            ("", "program = \"p\"\n", 5, "waits for nothing", "at least one"),
            ("variable_set = \"A=1\"", "program = \"p\"", 6, "no name of a variable", "without ="),
            ("metric = { name = \"speed\", more_than = 1 }", "program = \"p\"", 6, "no metric", "wall_s"),
            ("function = { contains = \"f\", share = 10.0 }", "program = \"p\"", 6, "share", "0.1"),
            ("", "unset = [\"X\"]\n", 7, "changes nothing", "leave [suspect.edit] out"),
            ("affinity = []", "unset = [\"X\"]", 7, "changes nothing", "value"),
            ("wrap = [\"none\"]", "unset = [\"X\"]", 7, "no such thing", "another"),
            ("unset = [\"X\"]\n[suspect.expect]\nfact = \"\"", "unset = [\"X\"]", 9, "every fact", "probe"),
            ("sides = \"fast\"\nunset = []", "unset = [\"X\"]", 8, "no sides", "both"),
            ("unset = [\"X\"]\n[[suspect", "unset = [\"X\"]", 9, "", "explain-your-own"),
        ];
        for (line, instead_of, number, what, remedy) in table {
            let error = wrong(line, instead_of);
            assert_eq!(error.line, number, "{line}: {error}");
            assert!(error.what.contains(what), "{line}: {error}");
            assert!(error.remedy.contains(remedy), "{line}: {}", error.remedy);
        }
    }

    #[test]
    fn two_of_a_name_and_none_at_all() {
        let one = "[[suspect]]\nname='a.b'\ntitle='t'\nadvice='x'\n[suspect.trigger]\nprogram=['p','q']\n";
        let error = suspects(&format!("{one}{one}")).unwrap_err();
        assert_eq!((error.line, error.to_string().as_str()), (8, "line 8: there is a suspect a.b already"));
        assert!(suspects("").unwrap_err().remedy.contains("[[suspect]]"));
    }

    #[test]
    fn expecting_without_an_edit() {
        let error = wrong("[suspect.expect]\nfact = \"x\"", "[suspect.edit]\nunset = [\"X\"]");
        assert!(error.what.contains("expect without") && error.line >= 7, "{error}");
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "[\\[\\]a-z.=\"'{}\n 0-9]{0,200}") {
            let _ = suspects(&text);
        }
    }
}
