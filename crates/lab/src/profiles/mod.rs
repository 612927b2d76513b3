//! Profiles: the loads of databases, file servers and virtual machines on a disk, as cells of
//! workload, their shares of the operations, and limits on latency.
//!
//! A share without a source is *assumed*: it is printed as such, and varied by factors of a half
//! and two. A session's log write or commit is never in the mix: at a depth of one
//! it measures latency, and is a limit. Sources are given with each profile in
//! [`table`](self).
//!
//! Pure. `C` in the table is the number of processors: most engines keep some operations in
//! flight for each.

mod mix;
mod table;

pub use mix::mix;

use crate::layouts::MixCell;
use stripewise_units::{ByteSize, InputError, nearest};
use stripewise_workload::{
    PlanOrder, Request, RequestJob, RequestPart, SIMULATED_OPERATIONS_MIN, Workload, WorkloadError,
    WorkloadOptions,
};
use table::{Basis, PROFILES, Row};

/// The load that a use puts on a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// `sqlserver-oltp`; for a user-defined mix, as typed.
    pub name: String,
    /// One line.
    pub title: String,
    /// Cells: in the mix, or only with a limit.
    pub rows: Vec<ProfileRow>,
    /// Where sizes, shares and limits come from.
    pub sources: Vec<String>,
    /// What it leaves out, or assumes.
    pub notes: Vec<String>,
}

/// One cell of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileRow {
    /// `random read`.
    pub name: String,
    /// Its workload, at the profile's depth.
    pub workload: Workload,
    /// Share of the operations of the mix; 0: a limit only.
    pub share_percent: f64,
    /// No source gives the share.
    pub assumed: bool,
    /// Maximum p99 latency.
    pub limit_ns_p99: Option<u64>,
}

/// Names and titles of all profiles.
pub fn profiles() -> Vec<(&'static str, &'static str)> {
    PROFILES
        .iter()
        .map(|known| (known.name, known.title))
        .collect()
}

/// The profile of this name, for this many processors.
///
/// # Errors
/// If there is none; the hint names the closest match.
pub fn profile(name: &str, cores: u32) -> Result<Profile, InputError> {
    let Some(known) = PROFILES.iter().find(|known| known.name == name) else {
        let names: Vec<&str> = PROFILES.iter().map(|known| known.name).collect();
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!(
                "did you mean `{near}`? The profiles are {}",
                names.join(", ")
            ),
            None => format!("give one of {}", names.join(", ")),
        };
        return Err(InputError::new(format!("`{name}` is not a profile"), hint));
    };
    let row = |row: &Row| -> Result<ProfileRow, InputError> {
        Ok(ProfileRow {
            name: row.name.to_owned(),
            workload: workload(row.options, cores)
                .map_err(|error| InputError::new(format!("{}: {error}", row.name), error.hint()))?,
            share_percent: row.share_percent,
            assumed: row.basis == Basis::Ours,
            limit_ns_p99: row.limit_ms.map(|ms| ms * 1_000_000),
        })
    };
    let text = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    Ok(Profile {
        name: name.to_owned(),
        title: known.title.to_owned(),
        rows: known.rows.iter().map(row).collect::<Result<_, _>>()?,
        sources: text(known.sources),
        notes: text(known.notes),
    })
}

/// Parses a workload such as `read block=8K threads=C outstanding=8`.
fn workload(options: &str, cores: u32) -> Result<Workload, WorkloadError> {
    let mut given = WorkloadOptions::default();
    for pair in options.split_whitespace() {
        let (name, text) = pair.split_once('=').unwrap_or((pair, "true"));
        let count = cores.clamp(1, 64).to_string();
        let text = if text == "C" { &count } else { text };
        // The table is built in, and a test builds all of it.
        let _ = given.set(name, text);
    }
    given.build(&Workload::default())
}

impl Profile {
    /// The cells as input for the statistics of layouts.
    pub fn cells(&self) -> Vec<MixCell> {
        let cell = |row: &ProfileRow| MixCell {
            name: row.name.clone(),
            what: row.what(),
            share_percent: row.share_percent,
            assumed: row.assumed,
            limit_ns_p99: row.limit_ns_p99,
        };
        self.rows.iter().map(cell).collect()
    }

    /// Adapts it to a target with this sector size: block sizes that are not multiples of it are
    /// dropped. Returns a sentence for each.
    pub fn fit_sector(&mut self, sector_bytes: u64) -> Vec<String> {
        let mut notes = Vec::new();
        for row in &mut self.rows {
            let sizes = &row.workload.block_sizes;
            if sizes.is_empty() {
                continue;
            }
            let Some((retained, gone)) = sizes.for_sector(sector_bytes) else {
                continue;
            };
            if gone.is_empty() {
                continue;
            }
            let gone: Vec<String> = gone
                .into_iter()
                .map(|size| ByteSize(size).to_string())
                .collect();
            notes.push(format!(
                "{} of {} are left out: the sector has {sector_bytes} bytes.",
                gone.join(", "),
                row.name
            ));
            row.workload.block_size_bytes = retained
                .largest_bytes()
                .unwrap_or(row.workload.block_size_bytes);
            row.workload.block_sizes = retained;
        }
        notes
    }

    /// The profile as a plan on one target: all cells concurrently, each a job.
    pub fn request(&self, target: &str) -> Request {
        let job = |row: &ProfileRow| RequestJob {
            name: row.name.clone(),
            targets: vec![target.to_owned()],
            workload: row.workload.clone(),
        };
        Request {
            label: Some(format!("profile {}", self.name)),
            jobs: self.rows.iter().map(job).collect(),
            order: PlanOrder::Together,
            part: RequestPart::Plan,
            simulated_operations_min: SIMULATED_OPERATIONS_MIN,
            ..Request::default()
        }
    }
}

impl ProfileRow {
    /// `random read 8K, 4x8`.
    pub fn what(&self) -> String {
        let workload = &self.workload;
        let sizes = match workload.block_sizes.is_empty() {
            true => ByteSize(workload.block_size_bytes).to_string(),
            false => workload.block_text(),
        };
        let cache = match workload.cache {
            stripewise_workload::CacheMode::Direct => String::new(),
            other => format!(", {other}"),
        };
        let sync = workload
            .sync
            .map_or(String::new(), |sync| format!(", {sync}"));
        format!(
            "{} {} {sizes}, {}x{}{cache}{sync}",
            workload.pattern.name(),
            workload.operation_name(),
            workload.threads,
            workload.outstanding
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_whole_and_can_be_run() {
        for (name, _) in profiles() {
            for cores in [1, 4, 64] {
                let profile = profile(name, cores).unwrap();
                let shares: f64 = profile.rows.iter().map(|row| row.share_percent).sum();
                assert!((shares - 100.0).abs() < 1e-9, "{name}: {shares}");
                assert!(!profile.sources.is_empty(), "{name}");
                profile.request("sim:nvme").check().unwrap();
                for row in &profile.rows {
                    let deep = row.workload.threads * row.workload.outstanding > 1;
                    let limit = row.limit_ns_p99.is_some();
                    assert!(
                        row.share_percent > 0.0 || limit,
                        "{name}: {} does nothing",
                        row.name
                    );
                    assert!(
                        deep || limit || cores == 1,
                        "{name}: {} has a depth of one and is in the mix",
                        row.name
                    );
                }
            }
        }
    }

    /// Each word of the table is an option with a valid value.
    #[test]
    fn the_table_has_no_slips() {
        for known in PROFILES {
            for row in known.rows {
                for pair in row.options.split_whitespace() {
                    let (name, text) = pair.split_once('=').unwrap_or((pair, "true"));
                    let text = if text == "C" { "4" } else { text };
                    WorkloadOptions::default().set(name, text).unwrap();
                }
            }
        }
    }

    #[test]
    fn a_slip_names_the_nearest_profile() {
        let error = profile("sqlserver-oltb", 4).unwrap_err();
        assert!(
            error.hint().contains("`sqlserver-oltp`"),
            "{}",
            error.hint()
        );
    }

    #[test]
    fn small_sizes_fall_away_on_large_sectors_and_are_named() {
        let mut file_server = profile("file-server", 4).unwrap();
        let notes = file_server.fit_sector(4096);
        assert_eq!(notes.len(), 2);
        assert!(notes[0].starts_with("512, 1K, 2K of reads"), "{}", notes[0]);
        assert!(file_server.fit_sector(512).is_empty());
    }
}
