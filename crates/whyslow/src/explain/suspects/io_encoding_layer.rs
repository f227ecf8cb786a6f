//! Text that is decoded or encoded on its way.

use super::evidence::{LEAST, by_variable, claims_on_words, is_user_time, joined};
use super::signs::{more_in_functions, more_in_modules};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "io.encoding-layer",
    title: "encoding layer",
    about: "What is read or written goes through a layer that converts its encoding, in small pieces.",
    shows: "User time in functions of the layer (Encode, PerlIO, iconv, codecs); the same system calls for the same bytes.",
    test: "a variable that chooses the encoding is swapped; a layer in the program itself can only be located",
    fix: "read raw bytes and decode once, or use the layer that only marks the text (perl :utf8)",
    report: "The documentation of perl's Encode and PerlIO::encoding on what a layer costs; PerlMonks threads on \
             :encoding(UTF-8) against :utf8.",
    look,
};

const FUNCTIONS: [&str; 12] = [
    "PerlIOEncode",
    "XS_Encode",
    "encode_method",
    "Encode__",
    "process_utf8",
    "Method_decode",
    "iconv",
    "gconv",
    "ultibyteCodec",
    "mbidecoder",
    "UTF8Stateful",
    "decode_utf",
];
const MODULES: [&str; 3] = ["Encode.so", "encoding.so", "UTF-"];
const VARIABLES: [&str; 5] = ["PERL_UNICODE", "PERLIO", "PYTHONIOENCODING", "PYTHONUTF8", "PERL_ENCODING"];

const ENCODINGS: [&str; 14] = [
    "encoding",
    "utf-8",
    "utf8",
    "utf-16",
    "utf16",
    "utf-32",
    "utf32",
    "iso-8859",
    "latin1",
    "latin-1",
    "shift_jis",
    "euc-jp",
    "gb18030",
    "big5",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    joined(by_variable(case, &VARIABLES), joined(in_layer(case), by_word(case)))
}

fn in_layer(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_in_functions(case, &FUNCTIONS)?.max(more_in_modules(case, &MODULES)?);
    Suspicion::of_time(case, more, "functions that convert text")
}

/// Without names of functions: the word says it, and the gap is user time.
fn by_word(case: &Case<'_>) -> Option<Suspicion> {
    let claims = claims_on_words(case, 0.5, is_encoding);
    let is_it = !claims.is_empty() && is_user_time(case, 0.5) && case.gap.ratio > 1.0 + LEAST;
    let signs = vec!["an encoding is asked for by the slow side only".to_owned()];
    is_it.then_some(Suspicion { weight: 0.5, signs, claims, ideas: Vec::new() })
}

fn is_encoding(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    ENCODINGS.iter().any(|part| word.contains(part))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn reads(share: f64) -> TestCase {
        TestCase::new("perl read.pl text a", "perl read.pl text b").seconds(0.021, 0.066).cpu(
            &[("main;Perl_pp_readline", 1.0)],
            &[
                ("main;Perl_pp_readline", 1.0 - share),
                ("main;Perl_pp_readline;encoding.so!PerlIOEncode_fill", share),
            ],
        )
    }

    #[test]
    fn the_layer_of_perl() {
        assert!(reads(0.6).weight(&SUSPECT) > 0.7);
    }

    #[test]
    fn a_layer_that_takes_no_time_is_innocent() {
        assert_eq!(reads(0.01).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn the_word_says_it_where_functions_have_no_names() {
        let test = TestCase::new("perl read.pl text :raw", "perl read.pl text :encoding(UTF-8)");
        assert_eq!(test.candidates()[0], "io.encoding-layer");
    }
}
