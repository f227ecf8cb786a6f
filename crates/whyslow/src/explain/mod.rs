//! From a recording to why: what differs between a fast and a slow variant, which suspects the signs point at, what to
//! try next, and what the experiments showed. Pure: the same recording gives the same diagnosis, and what it asks for
//! (probes, rounds of what-ifs) is done by the session.

mod budget;
mod carriers;
mod case;
mod classes;
pub mod custom;
mod diagnosis;
mod differences;
mod factors;
mod findings;
mod growth;
mod joined;
mod layouts;
mod next;
mod outcomes;
mod pair;
mod prices;
mod shares;
mod stages;
pub mod suspects;
mod tried;
mod words;

pub use budget::Budget;
pub use carriers::Carrier;
pub use case::{Case, Gap, Side};
pub use classes::Class;
pub use diagnosis::{ALPHA, Diagnosis, diagnose};
pub use differences::{Difference, Kind, differences};
pub use factors::FactorShare;
pub use findings::{Finding, Status, is_culprit};
pub use growth::Growths;
pub use joined::join;
pub use next::{Means, Step, Try, next};
pub use prices::Prices;
pub use shares::Share;
pub use suspects::{Claim, Idea, Mirror, SUSPECTS, Suspect, Suspicion};
pub use tried::Tried;
pub use words::{closing, opening};
