//! Plan files with several factors.
//!
//! ```toml
//! name = "the new array"
//! target = "sim:raid10-10k"
//! profile = "sqlserver-oltp"        # or mix = "random-read=70,log=10", or [[cell]] tables
//! margin = "2%"                     # differences up to this do not count
//! slots = true                      # layouts lie side by side and change places
//!
//! # devices = ["sdb", "sdc"]       # in place of a target: layouts are made on them
//!
//! [factors]
//! offset = ["63s", "1M"]
//! stripe-unit = ["64K", "256K"]
//!
//! [layout]                          # levels that all layouts have
//! raid = "raid10"
//!
//! [[cell]]                          # in place of a profile
//! name = "random read"
//! read = true
//! outstanding = 32
//! share = 70                        # of the operations; 0: a limit only
//! limit = "20ms"                    # that its p99 must not exceed
//! ```

use super::top::{CellTable, TopLevelKeys, count, list, percent};
use crate::layouts::{Factor, LayoutCell, MixCell};
use crate::profiles::{Profile, mix, profile};
use std::ops::Range;
use stripewise_results::LayoutLevels;
use stripewise_units::{ByteSize, Nanoseconds};
use stripewise_workload::{PlanError, PlanOptions, PlanReader, PlanValue};
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 18] = [
    "slots", "name", "label", "target", "devices", "layout", "factors", "factor", "profile", "mix",
    "cores", "margin", "passes", "time", "seed", "size", "defaults", "cell",
];
/// Assumed number of processors if a plan does not give one.
const CORES: u32 = 4;

/// An experiment over layouts as read from its file.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutsFile {
    /// One line for people.
    pub name: Option<String>,
    /// The user's label.
    pub label: Option<String>,
    /// As on the command line; for devices, their names joined by commas.
    pub target: String,
    /// Devices that layouts are made on, by name; empty if a target is measured.
    pub devices: Vec<String>,
    /// Levels of factors that are not varied.
    pub fixed: LayoutLevels,
    /// In the order of the file.
    pub factors: Vec<Factor>,
    /// The profile or mix; `None` if the plan has cells of its own.
    pub profile: Option<Profile>,
    /// The plan's own cells, or those of the profile.
    pub cells: Vec<LayoutCell>,
    /// Every cell specifies the duration of its runs.
    pub duration_given: bool,
    /// Differences up to this do not count.
    pub margin_percent: Option<f64>,
    /// Maximum number of passes.
    pub passes_max: Option<u32>,
    /// Time limit for everything.
    pub time_ns: Option<u64>,
    /// Bytes of the target that are used.
    pub size_bytes: Option<u64>,
    /// Seed of the order and of all streams.
    pub seed: Option<u64>,
    /// Layouts lie side by side and change places.
    pub slots: bool,
}

/// Whether a plan has several factors: a table `[factors]`, or tables `[[factor]]`.
pub(super) fn names_several(document: &DeTable<'_>) -> bool {
    let is_several = |(key, value): (&str, &PlanValue<'_>)| {
        key == "factors" || (key == "factor" && matches!(value.get_ref(), DeValue::Array(_)))
    };
    document
        .iter()
        .any(|(key, value)| is_several((key.get_ref().as_ref(), value)))
}

#[derive(Default)]
struct Head {
    top: TopLevelKeys,
    devices: Vec<String>,
    fixed: LayoutLevels,
    factors: Vec<Factor>,
    profile: Option<(String, Range<usize>)>,
    mix: Option<(String, Range<usize>)>,
    cores: Option<u32>,
    margin_percent: Option<f64>,
    passes_max: Option<u32>,
    size_bytes: Option<u64>,
    slots: bool,
    defaults: PlanOptions,
    cells: Vec<CellText>,
}

#[derive(Default)]
struct CellText {
    table: CellTable,
    share_percent: Option<f64>,
    limit_ns: Option<u64>,
}

/// Reads a plan with several factors.
pub(super) fn read(
    reader: PlanReader<'_>,
    document: &DeTable<'_>,
) -> Result<LayoutsFile, PlanError> {
    let reader = Reader(reader);
    let mut head = Head::default();
    for (key, value) in document {
        reader.entry(&mut head, key.get_ref().as_ref(), &key.span(), value)?;
    }
    let target = reader.target(&head)?;
    let profile = reader.profile(&head)?;
    let duration_given = reader.specifies_durations(&head);
    let cells = match &profile {
        Some(profile) => cells_of(profile),
        None => reader.cells(&head)?,
    };
    Ok(LayoutsFile {
        name: head.top.name,
        label: head.top.label,
        target,
        devices: head.devices,
        fixed: head.fixed,
        factors: head.factors,
        duration_given: duration_given && profile.is_none(),
        profile,
        cells,
        margin_percent: head.margin_percent,
        passes_max: head.passes_max,
        time_ns: head.top.time_ns,
        size_bytes: head.size_bytes,
        seed: head.top.seed,
        slots: head.slots,
    })
}

/// The cells of a profile.
pub fn cells_of(profile: &Profile) -> Vec<LayoutCell> {
    let rows = profile.rows.iter();
    let cells = profile.cells().into_iter().zip(rows);
    cells
        .map(|(mix, row)| LayoutCell {
            mix,
            workload: row.workload.clone(),
        })
        .collect()
}

struct Reader<'a>(PlanReader<'a>);

impl Reader<'_> {
    fn entry(
        &self,
        head: &mut Head,
        key: &str,
        key_at: &Range<usize>,
        value: &PlanValue<'_>,
    ) -> Result<(), PlanError> {
        let at = value.span();
        match key {
            _ if head.top.take(self.0, key, value)? => {}
            "devices" => head.devices = self.levels(key, value)?,
            "layout" => {
                for (key, level) in self.0.table(value, "[layout]")? {
                    let name = key.get_ref().as_ref();
                    let level = self.0.scalar(name, level)?;
                    head.fixed.insert(name.to_owned(), level);
                }
            }
            "factors" => head.factors.extend(self.factors(value)?),
            "factor" => {
                for table in self.0.tables(key, value)? {
                    head.factors.push(self.factor_table(table)?);
                }
            }
            "profile" => head.profile = Some((self.0.scalar(key, value)?, at)),
            "mix" => head.mix = Some((self.0.scalar(key, value)?, at)),
            "cores" => head.cores = Some(count(self.0, key, value)?),
            "margin" => head.margin_percent = Some(percent(self.0, key, value)?),
            "passes" => head.passes_max = Some(count(self.0, key, value)?),
            "size" => head.size_bytes = Some(self.0.parsed::<ByteSize>(key, value)?.bytes()),
            "slots" => head.slots = self.yes(key, value)?,
            "defaults" => {
                head.defaults = CellTable::read(self.0, value, &[], |_, _| Ok(()))?.options;
            }
            "cell" => {
                for table in self.0.tables(key, value)? {
                    head.cells.push(self.cell(table)?);
                }
            }
            unknown => {
                return Err(self.0.unknown(
                    key_at.clone(),
                    unknown,
                    "a plan with several factors",
                    &KEYS,
                ));
            }
        }
        Ok(())
    }

    /// The target to measure, or the devices.
    fn target(&self, head: &Head) -> Result<String, PlanError> {
        match (&head.top.target, head.devices.as_slice()) {
            (Some(target), []) => Ok(target.clone()),
            (None, [_, ..]) => Ok(head.devices.join(",")),
            (Some(_), _) => Err(self.0.refuse(
                0..0,
                "a plan has a target or devices, not both",
                "leave one of them out: layouts are made on devices",
            )),
            (None, []) => {
                let hint = "target = \"sim:NAME, a directory or a device\", or devices = [\"sdb\", \"sdc\"] to make layouts on";
                Err(self.0.refuse(0..0, "the plan has no target", hint))
            }
        }
    }

    /// `[factors]`: a list of levels under each name, in the order of the file.
    fn factors(&self, value: &PlanValue<'_>) -> Result<Vec<Factor>, PlanError> {
        let table = self.0.table(value, "[factors]")?;
        let mut all: Vec<(usize, Factor)> = Vec::new();
        for (key, levels) in table {
            let name = key.get_ref().as_ref();
            let factor = Factor {
                name: name.to_owned(),
                levels: self.levels(name, levels)?,
            };
            all.push((key.span().start, factor));
        }
        all.sort_by_key(|(place, _)| *place);
        Ok(all.into_iter().map(|(_, factor)| factor).collect())
    }

    /// `[[factor]]`: a name and its levels.
    fn factor_table(&self, value: &PlanValue<'_>) -> Result<Factor, PlanError> {
        let (mut name, mut levels) = (None, None);
        for (key, value) in self.0.table(value, "[[factor]]")? {
            match key.get_ref().as_ref() {
                "name" => name = Some(self.0.scalar("name", value)?),
                "levels" => levels = Some(self.levels("levels", value)?),
                unknown => {
                    let known = ["name", "levels"];
                    return Err(self.0.unknown(key.span(), unknown, "a factor", &known));
                }
            }
        }
        match (name, levels) {
            (Some(name), Some(levels)) => Ok(Factor { name, levels }),
            _ => Err(self.0.refuse(
                value.span(),
                "a factor needs a name and levels",
                "name = \"offset\" and levels = [\"63s\", \"1M\"]",
            )),
        }
    }

    fn levels(&self, key: &str, value: &PlanValue<'_>) -> Result<Vec<String>, PlanError> {
        let levels = list(self.0, key, value)?;
        Ok(levels.into_iter().map(|(level, _)| level).collect())
    }

    fn profile(&self, head: &Head) -> Result<Option<Profile>, PlanError> {
        let cores = head.cores.unwrap_or(CORES);
        let (found, at) = match (&head.profile, &head.mix) {
            (Some(_), Some((_, at))) => {
                let hint = "leave one of them out";
                return Err(self.0.refuse(
                    at.clone(),
                    "a plan has a profile or a mix, not both",
                    hint,
                ));
            }
            (Some((name, at)), None) => (profile(name, cores), at),
            (None, Some((text, at))) => (mix(text, cores), at),
            (None, None) => return Ok(None),
        };
        if let Some(cell) = head.cells.first() {
            return Err(self.0.refuse(
                cell.table.at.clone(),
                "a plan has a profile or cells of its own, not both",
                "leave the profile out, or the cells",
            ));
        }
        let found =
            found.map_err(|error| self.0.refuse(at.clone(), error.to_string(), error.hint()));
        found.map(Some)
    }

    fn specifies_durations(&self, head: &Head) -> bool {
        let defaults = head.defaults.options.duration.is_some();
        head.cells
            .iter()
            .all(|cell| defaults || cell.table.options.options.duration.is_some())
    }

    fn cells(&self, head: &Head) -> Result<Vec<LayoutCell>, PlanError> {
        if head.cells.is_empty() {
            let hint = "add profile = \"sqlserver-oltp\", a mix, or a table [[cell]]";
            return Err(self
                .0
                .refuse(0..0, "the plan has no cell and no profile", hint));
        }
        let any_share = head.cells.iter().any(|cell| cell.share_percent.is_some());
        let equal = 100.0 / head.cells.len() as f64;
        let mut cells: Vec<LayoutCell> = Vec::with_capacity(head.cells.len());
        let mut names = Vec::new();
        for text in &head.cells {
            let (name, workload) = text.table.workload(self.0, &head.defaults, &mut names)?;
            cells.push(LayoutCell {
                mix: MixCell {
                    what: format!(
                        "{} {} {}, {}x{}",
                        workload.pattern.name(),
                        workload.operation_name(),
                        workload.block_text(),
                        workload.threads,
                        workload.outstanding
                    ),
                    name,
                    share_percent: match any_share {
                        true => text.share_percent.unwrap_or(0.0),
                        false => equal,
                    },
                    assumed: false,
                    limit_ns_p99: text.limit_ns,
                },
                workload,
            });
        }
        Ok(cells)
    }

    fn cell(&self, table: &PlanValue<'_>) -> Result<CellText, PlanError> {
        let mut cell = CellText::default();
        let own = ["name", "share", "limit"];
        cell.table = CellTable::read(self.0, table, &own, |key, value| {
            match key {
                "share" => cell.share_percent = Some(self.share(value)?),
                _ => cell.limit_ns = Some(self.0.parsed::<Nanoseconds>(key, value)?.ns()),
            }
            Ok(())
        })?;
        Ok(cell)
    }

    fn share(&self, value: &PlanValue<'_>) -> Result<f64, PlanError> {
        let text = self.0.scalar("share", value)?;
        let share: Option<f64> = text.trim().trim_end_matches('%').trim_end().parse().ok();
        share
            .filter(|share| (0.0..=100.0).contains(share))
            .ok_or_else(|| {
                let hint = "share = 70: of the operations, in per cent; 0 for a limit only";
                self.0
                    .refuse(value.span(), "`share` is not a percentage", hint)
            })
    }

    fn yes(&self, key: &str, value: &PlanValue<'_>) -> Result<bool, PlanError> {
        match self.0.scalar(key, value)?.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.0.refuse(
                value.span(),
                format!("`{key}` is not true or false"),
                format!("{key} = true"),
            )),
        }
    }
}
