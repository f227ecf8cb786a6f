//! What one run measured: one value for each metric of the experiment, in that order.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// More than most experiments measure, so that reading a run asks for memory once, and for no more than it keeps.
const USUAL_METRICS: usize = 32;

/// The values of a run, each of them known or unknown.
///
/// A million runs are kept in memory, so an unknown value is a NaN inside: half the size of an option. Nobody sees it,
/// and no other value that is not finite can get in.
#[derive(Clone, Default)]
pub struct Values(Box<[f64]>);

impl Values {
    /// `None` is unknown, never 0.
    pub fn get(&self, metric: usize) -> Option<f64> {
        self.0.get(metric).copied().and_then(known)
    }

    pub fn iter(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.0.iter().copied().map(known)
    }

    /// Replaces a value that the run has.
    pub fn set(&mut self, metric: usize, value: Option<f64>) {
        self.0[metric] = compact(value);
    }

    /// Known or not.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn known(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
}

fn compact(value: Option<f64>) -> f64 {
    value.filter(|value| value.is_finite()).unwrap_or(f64::NAN)
}

impl FromIterator<Option<f64>> for Values {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(values: I) -> Self {
        Values(values.into_iter().map(compact).collect())
    }
}

impl From<Vec<Option<f64>>> for Values {
    fn from(values: Vec<Option<f64>>) -> Self {
        values.into_iter().collect()
    }
}

/// Two unknown values are equal.
impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

/// A list of numbers and nulls.
impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListOfValues)
    }
}

struct ListOfValues;

impl<'de> Visitor<'de> for ListOfValues {
    type Value = Values;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of numbers and nulls")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
        let (mut values, mut next, mut count) = (Vec::new(), [f64::NAN; USUAL_METRICS], 0);
        while let Some(value) = list.next_element()? {
            if count == next.len() {
                values.extend_from_slice(&next);
                count = 0;
            }
            next[count] = compact(value);
            count += 1;
        }
        values.extend_from_slice(&next[..count]);
        Ok(Values(values.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_stay_unknown_and_are_equal() {
        let values = Values::from(vec![Some(0.5), None, Some(f64::INFINITY), Some(0.0)]);
        assert_eq!(values.iter().collect::<Vec<_>>(), [Some(0.5), None, None, Some(0.0)]);
        assert_eq!((values.get(0), values.get(1), values.get(4)), (Some(0.5), None, None));
        assert_eq!(serde_json::to_string(&values).unwrap(), "[0.5,null,null,0.0]");
        assert_eq!(serde_json::from_str::<Values>("[0.5,null,null,0]").unwrap(), values);
        assert_ne!(values, Values::from(vec![Some(0.5), None, None]));
        assert!(serde_json::from_str::<Values>("[true]").is_err());
        for length in [0, 1, 32, 33, 64, 100] {
            let long: Values = (0..length).map(|value| Some(f64::from(value))).collect();
            assert_eq!(serde_json::from_str::<Values>(&serde_json::to_string(&long).unwrap()).unwrap(), long);
        }
    }

    #[test]
    fn a_run_stays_small() {
        assert!(size_of::<crate::model::Run>() <= 168, "a million of them are kept in memory");
    }
}
