//! Waiting for names.

use super::evidence::{blocked_share, longest_wait, more_waiting, specific};
use super::signs::{base_name, more_calls, more_of_files, seconds};
use super::{Suspect, Suspicion};
use crate::explain::Case;
use crate::model::WaitKind;

pub const SUSPECT: Suspect = Suspect {
    name: "wait.dns",
    title: "looking up names",
    about: "A host name is looked up, and a name server answers late or never; the resolver waits seconds for it.",
    shows: "Blocked in poll on port 53; /etc/resolv.conf is read; the gap comes in whole seconds (the timeout).",
    test: "Nothing can be changed from outside without changing the system; an option is swapped where it differs.",
    fix: "repair the list of name servers, put the name into /etc/hosts, or use addresses",
    report: "sshd and sudo that take seconds to answer: UseDNS and the host's own name are the usual reasons.",
    look,
};

/// Nobody waits for less: the timeouts are whole seconds, answers come in milliseconds.
const TIMEOUT_S: f64 = 0.9;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let blocked = blocked_share(case);
    if let Some(waited) = more_waiting(case, WaitKind::NameLookup).filter(|waited| *waited > 0.0) {
        let weight = specific(case.share(waited).min(blocked))?;
        let mut signs = vec![format!("{} more waiting for a name server", seconds(waited))];
        signs.extend(
            longest_wait(&case.slow, WaitKind::NameLookup).map(|what| format!("most of it in {what}")),
        );
        return Some(Suspicion::located(case, weight, signs));
    }
    let is_long = blocked > 0.5 && case.gap.budget.blocked_s >= TIMEOUT_S;
    let weight = by_files(case).filter(|_| is_long)?;
    let sign = "the slow side asks name servers (/etc/resolv.conf), and waits for seconds".to_owned();
    Some(Suspicion::located(case, weight, vec![sign]))
}

/// Without a look at what it waits for: the list of name servers is read, on the slow side only or with more questions
/// after it.
fn by_files(case: &Case<'_>) -> Option<f64> {
    let is_list = |path: &str| base_name(path) == "resolv.conf";
    if more_of_files(case, is_list, |file| file.opened)? >= 1.0 {
        return Some(0.7);
    }
    let is_read =
        case.slow.files()?.files.iter().any(|file| is_list(&file.path) && file.opened > file.missed);
    let asked = more_calls(case, &["poll", "ppoll", "sendmmsg", "sendto"]).unwrap_or(0.0);
    (is_read && asked >= 1.0).then_some(0.5)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::{FileUse, WaitPlace};

    fn names() -> TestCase {
        TestCase::new("dnsrun.sh files lookup.py", "dnsrun.sh dns lookup.py")
            .seconds(0.05, 0.055)
            .wall(0.064, 1.1)
    }

    #[test]
    fn a_server_that_does_not_answer() {
        let test = names().waiting(|_, slow| {
            let what = "poll 127.0.0.1:53".to_owned();
            slow.places.push(WaitPlace { kind: WaitKind::NameLookup, what, seconds: 1.0 });
        });
        assert!(test.weight(&SUSPECT) > 0.9);
        let by_files = names().files(|_, slow| {
            slow.file(FileUse { path: "/etc/resolv.conf".to_owned(), opened: 1, ..FileUse::default() });
        });
        assert_eq!(by_files.candidates()[0], "wait.dns");
    }

    #[test]
    fn both_sides_have_a_list_and_one_asks() {
        let list = || FileUse { path: "/etc/resolv.conf".to_owned(), opened: 1, ..FileUse::default() };
        let test = names().syscalls(|_, slow| slow.call("poll", 2)).files(|fast, slow| {
            fast.file(list());
            slow.file(list());
        });
        assert_eq!(test.candidates()[0], "wait.dns");
    }

    #[test]
    fn a_quick_answer_is_innocent() {
        let test = names().wall(0.064, 0.3).files(|_, slow| {
            slow.file(FileUse { path: "/etc/resolv.conf".to_owned(), opened: 1, ..FileUse::default() });
        });
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
