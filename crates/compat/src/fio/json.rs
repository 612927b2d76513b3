//! Reads the parts of fio's JSON that records are made from.
//!
//! fio prints dozens of values that records do not use, including histograms of thousands of bins,
//! and a file may contain anything else: unknown data is skipped while parsing, and memory stays
//! bounded.

use super::job::{Document, Job, Latencies, OptionTexts, PERCENTS, Side, percent_at};
use super::options::put;
use crate::work::Work;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::marker::PhantomData;

/// Most disk statistics kept of one document.
const VALUES_MAX: usize = 100_000;
/// Most jobs of one document; fio itself starts no more than 4,096 at once.
pub(super) const JOBS_MAX: usize = 65_536;
/// Most options of one job; fio has some 300.
const OPTIONS_MAX: usize = 1_000;
/// Longest value of an option, in bytes; fio accepts no longer ones.
const OPTION_BYTES_MAX: usize = 8_192;

/// Parses the document that a text begins with; returns its length, too.
///
/// # Errors
/// If it is not JSON, or holds more than fio prints.
pub(super) fn document(
    text: &str,
    work: &Work<'_>,
) -> Result<(Document, usize), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let document = Reader::<Document>::new(work).deserialize(&mut json)?;
    let document = document.ok_or_else(|| <serde_json::Error as Error>::custom("not an object"))?;
    let length = json.into_iter::<IgnoredAny>().byte_offset();
    work.visit(length);
    Ok((document, length))
}

/// A type parsed from an object, member by member.
trait Object: Default {
    /// Members that are parsed.
    const NAMES: &'static [&'static str];
    /// Parses the value of one of them.
    fn member<'de, A: MapAccess<'de>>(
        &mut self,
        name: &str,
        map: &mut A,
        work: &Work<'_>,
    ) -> Result<(), A::Error>;
}

/// Implements parsing of a type's members.
macro_rules! object {
    ($type:ident: $($name:literal $field:ident $read:ident,)*) => {
        impl Object for $type {
            const NAMES: &'static [&'static str] = &[$($name),*];

            fn member<'de, A: MapAccess<'de>>(
                &mut self,
                name: &str,
                map: &mut A,
                work: &Work<'_>,
            ) -> Result<(), A::Error> {
                match name {
                    $($name => self.$field = $read(map, work)?,)*
                    _ => {}
                }
                Ok(())
            }
        }
    };
}

object! { Document:
    "fio version" version text,
    "timestamp" timestamp whole,
    "timestamp_ms" timestamp_ms whole,
    "time" time text,
    "global options" global_options options,
    "jobs" jobs jobs,
    "client_stats" client_stats jobs,
    "disk_util" disk_util anything,
}

object! { Job:
    "jobname" name text,
    "hostname" host text,
    "port" port whole,
    "groupid" group whole,
    "error" error signed,
    "total_err" total_err whole,
    "job_start" start_ms whole,
    "elapsed" elapsed whole,
    "job options" options options,
    "read" read boxed,
    "write" write boxed,
    "trim" trim boxed,
    "mixed" mixed boxed,
    "sync" sync boxed,
}

object! { Side:
    "io_bytes" io_bytes whole,
    "io_kbytes" io_kbytes whole,
    "total_ios" total_ios whole,
    "iops" iops number,
    "bw" bw number,
    "bw_bytes" bw_bytes number,
    "runtime" runtime_ms whole,
    "clat_ns" clat_ns object,
    "lat_ns" lat_ns object,
    "clat" clat object,
    "lat" lat object,
}

object! { Latencies:
    "min" min number,
    "max" max number,
    "mean" mean number,
    "N" count whole,
    "percentile" percentiles percentiles,
}

/// Parses an object; `None` for any other value.
struct Reader<'w, T>(&'w Work<'w>, PhantomData<T>);

impl<'w, T> Reader<'w, T> {
    fn new(work: &'w Work<'_>) -> Self {
        Reader(work, PhantomData)
    }
}

/// Skips values of an unexpected type.
macro_rules! passed_over {
    ($nothing:expr; $($visit:ident $type:ty),*) => {
        $(fn $visit<E: Error>(self, _: $type) -> Result<Self::Value, E> {
            Ok($nothing)
        })*

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok($nothing)
        }
    };
}

macro_rules! passed_over_sequence {
    ($nothing:expr) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
            while values.next_element::<IgnoredAny>()?.is_some() {}
            Ok($nothing)
        }
    };
}

impl<'de, T: Object> DeserializeSeed<'de> for Reader<'_, T> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Option<T>, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de, T: Object> Visitor<'de> for Reader<'_, T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of fio's JSON")
    }

    passed_over!(None; visit_bool bool, visit_u64 u64, visit_i64 i64, visit_f64 f64, visit_str &str);
    passed_over_sequence!(None);

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        let mut object = T::default();
        while let Some(name) = map.next_key_seed(Name(T::NAMES))? {
            match name {
                Some(name) => object.member(name, &mut map, self.0)?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Some(object))
    }
}

/// One of these names; `None` for another.
struct Name(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<&'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().find(|known| **known == name).copied())
    }
}

/// A number, string or boolean; other values are dropped.
enum Scalar {
    Whole(u64),
    Negative(i64),
    Number(f64),
    Text(String),
    Other,
}

impl<'de> serde::Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of fio's JSON")
    }

    passed_over!(Scalar::Other; visit_bool bool);
    passed_over_sequence!(Scalar::Other);

    fn visit_u64<E: Error>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Whole(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Negative(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

fn whole<'de, A: MapAccess<'de>>(map: &mut A, _: &Work<'_>) -> Result<Option<u64>, A::Error> {
    Ok(match map.next_value()? {
        Scalar::Whole(value) => Some(value),
        // Programs without integers write counts as `1024.0`.
        Scalar::Number(value) if value.fract() == 0.0 && (0.0..=9e15).contains(&value) => {
            Some(value as u64)
        }
        _ => None,
    })
}

fn signed<'de, A: MapAccess<'de>>(map: &mut A, _: &Work<'_>) -> Result<Option<i64>, A::Error> {
    Ok(match map.next_value()? {
        Scalar::Whole(value) => i64::try_from(value).ok(),
        Scalar::Negative(value) => Some(value),
        _ => None,
    })
}

fn number<'de, A: MapAccess<'de>>(map: &mut A, _: &Work<'_>) -> Result<Option<f64>, A::Error> {
    Ok(match map.next_value()? {
        Scalar::Whole(value) => Some(value as f64),
        Scalar::Negative(value) => Some(value as f64),
        Scalar::Number(value) => Some(value),
        _ => None,
    })
}

fn text<'de, A: MapAccess<'de>>(map: &mut A, _: &Work<'_>) -> Result<Option<String>, A::Error> {
    Ok(match map.next_value()? {
        Scalar::Text(value) => Some(value),
        _ => None,
    })
}

fn object<'de, A: MapAccess<'de>, T: Object>(
    map: &mut A,
    work: &Work<'_>,
) -> Result<Option<T>, A::Error> {
    map.next_value_seed(Reader::new(work))
}

fn boxed<'de, A: MapAccess<'de>, T: Object>(
    map: &mut A,
    work: &Work<'_>,
) -> Result<Option<Box<T>>, A::Error> {
    Ok(object(map, work)?.map(Box::new))
}

fn options<'de, A: MapAccess<'de>>(
    map: &mut A,
    _: &Work<'_>,
) -> Result<Option<OptionTexts>, A::Error> {
    Ok(map.next_value::<AllOptions>()?.0)
}

fn percentiles<'de, A: MapAccess<'de>>(
    map: &mut A,
    _: &Work<'_>,
) -> Result<Option<[Option<f64>; PERCENTS.len()]>, A::Error> {
    Ok(map.next_value::<Percentiles>()?.0)
}

fn jobs<'de, A: MapAccess<'de>>(
    map: &mut A,
    work: &Work<'_>,
) -> Result<Option<Vec<Job>>, A::Error> {
    map.next_value_seed(Jobs(work))
}

fn anything<'de, A: MapAccess<'de>>(map: &mut A, _: &Work<'_>) -> Result<Option<Value>, A::Error> {
    let mut left = VALUES_MAX;
    map.next_value_seed(AnyValue(&mut left)).map(Some)
}

/// Names and values of options: an object of scalars.
struct AllOptions(Option<OptionTexts>);

/// A visitor of objects with arbitrary keys.
macro_rules! map_of {
    ($type:ident, $map:ident, $read:block) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
                struct Here;
                impl<'de> Visitor<'de> for Here {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object of fio's JSON")
                    }

                    passed_over!($type(None); visit_bool bool, visit_u64 u64, visit_i64 i64, visit_f64 f64, visit_str &str);
                    passed_over_sequence!($type(None));

                    fn visit_map<A: MapAccess<'de>>(
                        self,
                        mut $map: A,
                    ) -> Result<$type, A::Error> $read
                }
                value.deserialize_any(Here)
            }
        }
    };
}

map_of!(AllOptions, map, {
    let mut options = OptionTexts::new();
    while let Some((name, value)) = map.next_entry::<String, Scalar>()? {
        let value = match value {
            Scalar::Text(text) => text,
            Scalar::Whole(number) => number.to_string(),
            Scalar::Negative(number) => number.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Other => String::new(),
        };
        if options.len() >= OPTIONS_MAX || name.len() + value.len() > OPTION_BYTES_MAX {
            return Err(A::Error::custom("more options than fio has"));
        }
        put(&mut options, name, value);
    }
    Ok(AllOptions(Some(options)))
});

struct Percentiles(Option<[Option<f64>; PERCENTS.len()]>);

map_of!(Percentiles, map, {
    let mut values = [None; PERCENTS.len()];
    while let Some(at) = map.next_key_seed(Percent)? {
        match at {
            Some(at) => {
                values[at] = match map.next_value()? {
                    Scalar::Whole(value) => Some(value as f64),
                    Scalar::Number(value) => Some(value),
                    _ => None,
                }
            }
            None => drop(map.next_value::<IgnoredAny>()?),
        }
    }
    Ok(Percentiles(Some(values)))
});

/// The key of a percentile, `99.000000`, whose number of zeros differs between versions.
struct Percent;

impl<'de> DeserializeSeed<'de> for Percent {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Percent {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a percentage")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(name.parse().ok().and_then(percent_at))
    }
}

struct Jobs<'w>(&'w Work<'w>);

impl<'de> DeserializeSeed<'de> for Jobs<'_> {
    type Value = Option<Vec<Job>>;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Jobs<'_> {
    type Value = Option<Vec<Job>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the jobs of fio's JSON")
    }

    passed_over!(None; visit_bool bool, visit_u64 u64, visit_i64 i64, visit_f64 f64, visit_str &str);

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
        let mut jobs = Vec::new();
        while let Some(job) = values.next_element_seed(Reader::<Job>::new(self.0))? {
            if jobs.len() >= JOBS_MAX {
                return Err(A::Error::custom(format!("more than {JOBS_MAX} jobs")));
            }
            jobs.push(job.ok_or_else(|| A::Error::custom("a job that is not an object"))?);
            // Jobs dominate the parsing time.
            if !self.0.visit(size_of::<Job>()) {
                return Err(A::Error::custom("interrupted"));
            }
        }
        Ok(Some(jobs))
    }
}

/// Any value, as a tree of bounded size.
struct AnyValue<'a>(&'a mut usize);

impl AnyValue<'_> {
    fn count<E: Error>(&mut self) -> Result<(), E> {
        let left = self.0.checked_sub(1);
        *self.0 = left.ok_or_else(|| E::custom("more values than any result has"))?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for AnyValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Value, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of fio's JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut values: A) -> Result<Value, A::Error> {
        let mut retained = Vec::new();
        while let Some(value) = values.next_element_seed(AnyValue(self.0))? {
            self.count()?;
            retained.push(value);
        }
        Ok(Value::Array(retained))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let mut retained = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(AnyValue(self.0))?;
            self.count()?;
            retained.insert(name, value);
        }
        Ok(Value::Object(retained))
    }
}
