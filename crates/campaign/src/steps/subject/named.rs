//! The ids among the runs of a document. Records are skipped: a parsed tree of
//! them would take many times the memory of their text.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Maximum number of ids in one document; a store of 100,000 runs is large.
const IDS_MAX: usize = 1_000_000;

/// The content of a list of runs.
#[derive(Debug, Default)]
pub struct Named {
    pub ids: Vec<String>,
    /// It contains other items, too.
    pub has_records: bool,
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named, D::Error> {
        deserializer.deserialize_seq(List)
    }
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("runs or their ids")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Named, A::Error> {
        let mut named = Named::default();
        while let Some(IdOrRecord(id)) = sequence.next_element()? {
            match id {
                Some(_) if named.ids.len() >= IDS_MAX => {
                    return Err(A::Error::custom("more runs than any store has"));
                }
                Some(id) => named.ids.push(id),
                None => named.has_records = true,
            }
        }
        Ok(named)
    }
}

/// An id; `None` for a record.
struct IdOrRecord(Option<String>);

impl<'de> Deserialize<'de> for IdOrRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Entry)
    }
}

struct Entry;

impl<'de> Visitor<'de> for Entry {
    type Value = IdOrRecord;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run or its id")
    }

    fn visit_str<E>(self, id: &str) -> Result<IdOrRecord, E> {
        Ok(IdOrRecord(Some(id.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<IdOrRecord, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(IdOrRecord(None))
    }
}
