//! The bars: what must hold, counted and printed one line each.

#[derive(Default)]
pub struct Bars {
    passed: usize,
    failed: usize,
}

impl Bars {
    pub fn check(&mut self, holds: bool, what: &str) {
        if holds {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        println!("  {}  {what}", word(holds));
    }

    /// A share that must not exceed `limit`. A share of nothing is NaN and fails.
    pub fn at_most(&mut self, what: &str, share: f64, limit: f64) {
        let holds = share <= limit;
        self.check(holds, &format!("{what}: {:.1} %, at most {:.0} %", 100.0 * share, 100.0 * limit));
    }

    pub fn at_least(&mut self, what: &str, share: f64, limit: f64) {
        let holds = share >= limit;
        self.check(holds, &format!("{what}: {:.1} %, at least {:.0} %", 100.0 * share, 100.0 * limit));
    }

    /// Prints the last line; whether every bar holds.
    pub fn finish(&self) -> bool {
        println!("\nreplay: {} passed, {} failed", self.passed, self.failed);
        self.failed == 0
    }
}

pub fn word(holds: bool) -> &'static str {
    if holds { "pass" } else { "FAIL" }
}
