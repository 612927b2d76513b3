//! The top-level keys that both kinds of plans share, and the numbers in plans.

use stripewise_units::Nanoseconds;
use stripewise_workload::{PlanError, PlanReader, PlanValue};

/// The top-level keys of plans of both kinds.
#[derive(Default)]
pub(super) struct Top {
    /// One line for people.
    pub name: Option<String>,
    /// The user's label.
    pub label: Option<String>,
    /// As on the command line.
    pub target: Option<String>,
    /// Time limit for everything.
    pub time_ns: Option<u64>,
    /// Seed of the order and of all streams.
    pub seed: Option<u64>,
}

impl Top {
    /// Parses an entry; `false` if it is none of these.
    pub(super) fn take(
        &mut self,
        reader: PlanReader<'_>,
        key: &str,
        value: &PlanValue<'_>,
    ) -> Result<bool, PlanError> {
        match key {
            "name" => self.name = Some(reader.scalar(key, value)?),
            "label" => self.label = Some(reader.scalar(key, value)?),
            "target" => self.target = Some(reader.scalar(key, value)?),
            "time" => self.time_ns = Some(reader.parsed::<Nanoseconds>(key, value)?.ns()),
            "seed" => self.seed = Some(u64::from(count(reader, key, value)?)),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A whole number above 0.
pub(super) fn count(
    reader: PlanReader<'_>,
    key: &str,
    value: &PlanValue<'_>,
) -> Result<u32, PlanError> {
    let count = reader.scalar(key, value)?.parse().ok();
    count.filter(|count| *count > 0).ok_or_else(|| {
        let hint = format!("{key} = 40, a whole number above 0");
        reader.refuse(value.span(), format!("`{key}` is not a valid count"), hint)
    })
}

/// A percentage above 0, up to 100.
pub(super) fn percent(
    reader: PlanReader<'_>,
    key: &str,
    value: &PlanValue<'_>,
) -> Result<f64, PlanError> {
    let text = reader.scalar(key, value)?;
    let percent: Option<f64> = text.trim().trim_end_matches('%').trim_end().parse().ok();
    percent
        .filter(|percent| *percent > 0.0 && *percent <= 100.0)
        .ok_or_else(|| {
            let problem = format!("`{key}` is not a valid percentage");
            reader.refuse(value.span(), problem, format!("{key} = \"2%\""))
        })
}
