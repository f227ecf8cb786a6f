//! The last resort: one side does more.

use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "code.more-work",
    title: "more work",
    about: "The slow side executes more of the same kind of work: another option, another algorithm, more data.",
    shows: "User time spread over the functions that both sides use, or in functions that only one side has.",
    test: "Nothing can be changed safely from outside; the functions that carry the gap are shown.",
    fix: "choose the option or the algorithm that does less",
    report: "Every compression level: gzip -9 against gzip -1.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    case.differences
        .iter()
        .any(|difference| !difference.is_surrounding())
        .then(|| Suspicion::located(case, 0.2, vec!["the command lines differ".to_owned()]))
}
