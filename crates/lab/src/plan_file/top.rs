//! What both kinds of plans share: top-level keys, tables of cells, lists and numbers.

use std::ops::Range;
use stripewise_units::Nanoseconds;
use stripewise_workload::{
    PlanError, PlanOptions, PlanReader, PlanValue, Workload, WorkloadOptions,
};

/// The top-level keys of plans of both kinds.
#[derive(Default)]
pub(super) struct TopLevelKeys {
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

impl TopLevelKeys {
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

/// The table of a cell, or of the defaults of all cells, as text.
#[derive(Default)]
pub(super) struct CellTable {
    /// Options of the workload.
    pub options: PlanOptions,
    /// Its name, if it has one.
    pub name: Option<(String, Range<usize>)>,
    /// Its place in the file.
    pub at: Range<usize>,
}

impl CellTable {
    /// Parses it. `own` are the keys that are no options of a workload: none of the defaults, and
    /// a name and those that `take` parses of a cell.
    pub(super) fn read(
        reader: PlanReader<'_>,
        table: &PlanValue<'_>,
        own: &[&str],
        mut take: impl FnMut(&str, &PlanValue<'_>) -> Result<(), PlanError>,
    ) -> Result<CellTable, PlanError> {
        let mut cell = CellTable {
            at: table.span(),
            ..CellTable::default()
        };
        for (key, value) in reader.table(table, "[defaults] or [[cell]]")? {
            let word = key.get_ref().as_ref();
            match word {
                "name" if own.contains(&word) => {
                    cell.name = Some((reader.scalar(word, value)?, value.span()));
                }
                _ if own.contains(&word) => take(word, value)?,
                "seed" => {
                    let hint = "seed belongs at the top of the plan: every run has its own, derived from it";
                    return Err(reader.refuse(key.span(), "a cell has no seed", hint));
                }
                _ if reader.option(&mut cell.options, word, value)? => {}
                _ => {
                    let known = [own, &WorkloadOptions::NAMES].concat();
                    let whose = match own.is_empty() {
                        true => "the defaults",
                        false => "a cell",
                    };
                    return Err(reader.unknown(key.span(), word, whose, &known));
                }
            }
        }
        Ok(cell)
    }

    /// Its name and its workload; the name is added to `names`, which must not have it yet.
    pub(super) fn workload(
        &self,
        reader: PlanReader<'_>,
        defaults: &PlanOptions,
        names: &mut Vec<String>,
    ) -> Result<(String, Workload), PlanError> {
        let named = self.name.clone();
        let (name, name_at) =
            named.unwrap_or_else(|| (format!("cell {}", names.len() + 1), self.at.clone()));
        if names.contains(&name) {
            let problem = format!("there are two cells named `{name}`");
            let hint = "give each cell a different name";
            return Err(reader.refuse(name_at, problem, hint));
        }
        let options = self.options.options.clone().or(&defaults.options);
        let workload = options.build(&Workload::default()).map_err(|error| {
            let whose = format!("cell `{name}`");
            reader.bad_workload([&self.options, defaults], &self.at, &whose, &error)
        })?;
        names.push(name.clone());
        Ok((name, workload))
    }
}

/// A list of single values, each with its place.
pub(super) fn list(
    reader: PlanReader<'_>,
    key: &str,
    value: &PlanValue<'_>,
) -> Result<Vec<(String, Range<usize>)>, PlanError> {
    let Some(items) = value.get_ref().as_array() else {
        let hint = format!("{key} = [\"first\", \"second\"]");
        return Err(reader.refuse(value.span(), format!("`{key}` is not a list"), hint));
    };
    items
        .iter()
        .map(|item| Ok((reader.scalar(key, item)?, item.span())))
        .collect()
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
