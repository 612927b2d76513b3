//! The part of fio's JSON that records are made from, as a tree of bounded size.
//!
//! fio prints dozens of values that nobody asks for here, histograms of thousands
//! of bins among them, and a file may hold anything else. A tree of all of it would
//! take many times the memory of its text; so what is not known is passed over
//! while it is read, and what is kept is counted.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Values that are kept of one document at most.
const VALUES_MAX: usize = 500_000;
/// Options of one job; fio has some 300.
const OPTIONS_MAX: usize = 1_000;

/// What is kept of a value.
enum Keep {
    /// It, where it is a number, a text or a truth; else that it was there.
    Scalar,
    /// Of an object, these.
    Fields(&'static [(&'static str, Keep)]),
    /// Of an array, each, which must be an object.
    Each(&'static Keep),
    /// Of an object, all scalars: names and values of options.
    Options,
    /// Of an object, the percentiles that a record has.
    Percentiles,
    /// All of it.
    Any,
}

use Keep::{Any, Each, Fields, Options, Percentiles, Scalar};

static DOCUMENT: Keep = Fields(&[
    ("fio version", Scalar),
    ("timestamp", Scalar),
    ("timestamp_ms", Scalar),
    ("time", Scalar),
    ("global options", Options),
    ("jobs", Each(&JOB)),
    ("client_stats", Each(&JOB)),
    ("disk_util", Any),
]);

static JOB: Keep = Fields(&[
    ("jobname", Scalar),
    ("hostname", Scalar),
    ("port", Scalar),
    ("groupid", Scalar),
    ("error", Scalar),
    ("total_err", Scalar),
    ("job_start", Scalar),
    ("elapsed", Scalar),
    ("job options", Options),
    ("read", SIDE),
    ("write", SIDE),
    ("trim", Fields(&[("total_ios", Scalar)])),
]);

const SIDE: Keep = Fields(&[
    ("io_bytes", Scalar),
    ("io_kbytes", Scalar),
    ("total_ios", Scalar),
    ("iops", Scalar),
    ("bw", Scalar),
    ("bw_bytes", Scalar),
    ("runtime", Scalar),
    ("clat_ns", LATENCIES),
    ("lat_ns", LATENCIES),
    ("clat", LATENCIES),
    ("lat", LATENCIES),
]);

const LATENCIES: Keep = Fields(&[
    ("min", Scalar),
    ("max", Scalar),
    ("mean", Scalar),
    ("N", Scalar),
    ("percentile", Percentiles),
]);

/// Percents whose values a record has.
pub(super) const PERCENTS: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// Whether a name such as `99.000000` is this percentile.
pub(super) fn is_percentile(name: &str, percent: f64) -> bool {
    name.parse::<f64>()
        .is_ok_and(|named| (named - percent).abs() < 1e-6)
}

/// A document of fio without what no record is made from.
pub(super) struct Document(pub(super) Value);

impl<'de> serde::Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut left = VALUES_MAX;
        let seed = Seed {
            keep: &DOCUMENT,
            left: &mut left,
        };
        seed.deserialize(deserializer).map(Document)
    }
}

struct Seed<'a> {
    keep: &'static Keep,
    /// How many values may still be kept.
    left: &'a mut usize,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of fio's JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let inner = match self.keep {
            Each(inner) => inner,
            Any => self.keep,
            _ => {
                while sequence.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Value::Null);
            }
        };
        let mut kept = Vec::new();
        while let Some(value) = sequence.next_element_seed(Seed {
            keep: inner,
            left: &mut *self.left,
        })? {
            if matches!(self.keep, Each(_)) && !value.is_object() {
                return Err(A::Error::custom("a job that is not an object"));
            }
            count(self.left)?;
            kept.push(value);
        }
        Ok(Value::Array(kept))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let keep = match self.keep {
                Fields(fields) => fields
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, keep)| keep),
                Options if kept.len() >= OPTIONS_MAX => {
                    return Err(A::Error::custom("more options than fio has"));
                }
                Options => Some(&Scalar),
                Percentiles => PERCENTS
                    .iter()
                    .any(|percent| is_percentile(&name, *percent))
                    .then_some(&Scalar),
                Any => Some(self.keep),
                Scalar | Each(_) => None,
            };
            let Some(keep) = keep else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let seed = Seed {
                keep,
                left: &mut *self.left,
            };
            let value = map.next_value_seed(seed)?;
            count(self.left)?;
            kept.insert(name.into_owned(), value);
        }
        Ok(Value::Object(kept))
    }
}

fn count<E: Error>(left: &mut usize) -> Result<(), E> {
    *left = left
        .checked_sub(1)
        .ok_or_else(|| E::custom("more values than any result has"))?;
    Ok(())
}
