//! How one run goes: from its cost on a calm machine to what it really used, and how it was ended. Pure
//! arithmetic; the wall time is always the exact sum of its parts, so that an accounting of it leaves no rest.

use super::program::Cost;
use super::weather::Weather;
use crate::model::Exit;

/// What one run used.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    pub cost: Cost,
    pub threads: usize,
    /// Time that the first thread was ready and had no CPU.
    pub waiting_s: f64,
    pub steal_s: f64,
    /// `None`: it goes on for ever by itself.
    pub exit: Option<Exit>,
}

/// A moment at which somebody ends the run, in seconds from its start.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    pub at_s: f64,
    pub exit: Exit,
}

impl Course {
    /// A run that ends by itself and well.
    ///
    /// Noise stretches the time off the CPU as well, so that a program that only sleeps is as noisy as the
    /// world says; a slower clock does not.
    pub fn of(cost: Cost, threads: usize, weather: &Weather) -> Self {
        let threads = threads.max(1);
        let cost = Cost {
            user_s: cost.user_s * weather.on_cpu(),
            system_s: cost.system_s * weather.on_cpu(),
            blocked_s: cost.blocked_s * weather.pace,
            ..cost
        };
        let on_cpu_s = cost.cpu_s() / threads as f64;
        let waiting_s = on_cpu_s * weather.competition.waiting;
        let steal_s = on_cpu_s * weather.steal;
        Course { cost, threads, waiting_s, steal_s, exit: Some(Exit::Code(0)) }
    }

    pub fn wall_s(&self) -> f64 {
        self.main_cpu_s() + self.cost.blocked_s + self.waiting_s + self.steal_s
    }

    /// CPU time of the first thread.
    pub fn main_cpu_s(&self) -> f64 {
        self.cost.cpu_s() / self.threads as f64
    }

    /// The run when it stops after a share of its work.
    pub fn first_part(self, share: f64, exit: Option<Exit>) -> Self {
        Course {
            cost: self.cost.first_part(share),
            waiting_s: self.waiting_s * share,
            steal_s: self.steal_s * share,
            exit,
            ..self
        }
    }

    /// The run when somebody ends it at the limit, unless it is over by then.
    pub fn ended_at(self, limit: &Limit) -> Self {
        let wall_s = self.wall_s();
        let exit = Some(limit.exit.clone());
        match (wall_s > limit.at_s, self.exit.is_some()) {
            (true, _) => self.first_part((limit.at_s / wall_s).max(0.0), exit),
            (false, true) => self,
            (false, false) => self.idle_for(limit.at_s - wall_s, exit),
        }
    }

    fn idle_for(mut self, idle_s: f64, exit: Option<Exit>) -> Self {
        self.cost.blocked_s += idle_s;
        Course { exit, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::Competition;
    use super::*;

    fn weather(pace: f64, clock: f64, waiting: f64) -> Weather {
        Weather { pace, clock, competition: Competition { waiting, slowdown: 0.0 }, steal: 0.0 }
    }

    fn course() -> Course {
        let cost = Cost { blocked_s: 1.0, ..Cost::of_cpu(2.0) };
        Course::of(cost, 1, &weather(1.0, 1.0, 0.5))
    }

    fn timeout(at_s: f64) -> Limit {
        Limit { at_s, exit: Exit::TimedOut }
    }

    #[test]
    fn waiting_goes_to_the_wall_and_not_to_the_cpu() {
        let course = course();
        assert_eq!((course.cost.cpu_s(), course.waiting_s, course.wall_s()), (2.0, 1.0, 4.0));
    }

    #[test]
    fn a_slow_clock_does_not_stretch_sleep() {
        let cost = Cost { blocked_s: 1.0, ..Cost::of_cpu(1.0) };
        let slow = Course::of(cost, 1, &weather(1.0, 2.0, 0.0));
        assert_eq!((slow.cost.cpu_s(), slow.cost.blocked_s), (2.0, 1.0));
        let noisy = Course::of(cost, 1, &weather(1.1, 1.0, 0.0));
        assert_eq!(noisy.cost.blocked_s, 1.1);
    }

    #[test]
    fn threads_share_the_cpu_time() {
        let course = Course::of(Cost::of_cpu(4.0), 4, &weather(1.0, 1.0, 0.0));
        assert_eq!((course.cost.cpu_s(), course.wall_s()), (4.0, 1.0));
    }

    #[test]
    fn a_limit_cuts_everything_in_proportion() {
        let cut = course().ended_at(&timeout(1.0));
        assert_eq!((cut.wall_s(), cut.cost.cpu_s(), cut.waiting_s), (1.0, 0.5, 0.25));
        assert_eq!(cut.exit, Some(Exit::TimedOut));
    }

    #[test]
    fn a_limit_after_the_end_changes_nothing() {
        assert_eq!(course().ended_at(&timeout(9.0)), course());
    }

    #[test]
    fn a_hanging_run_idles_until_the_limit() {
        let hanging = Course { exit: None, ..course() };
        let ended = hanging.ended_at(&timeout(10.0));
        assert_eq!((ended.wall_s(), ended.cost.cpu_s()), (10.0, 2.0));
        assert_eq!(ended.exit, Some(Exit::TimedOut));
    }
}
