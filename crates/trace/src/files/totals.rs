//! Database counters as CSV: `sys.dm_io_virtual_file_stats` of SQL Server and `pg_stat_io` of
//! PostgreSQL (16 and later). They are totals since some start, so that two snapshots make an
//! observation, and contain no single operations.

use super::number::local_time;
use crate::roles::Role;
use std::collections::BTreeMap;
use thiserror::Error;

const LINES_MAX: usize = 100_000;

const POSTGRESQL: &str = "PostgreSQL";

const NS_PER_MS: u64 = 1_000_000;

/// A database's counters at some moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The database product.
    pub product: &'static str,
    /// Time on the database's clock; None if the snapshot does not include it.
    pub at_ns: Option<u64>,
    /// By file, or by type of process.
    pub files: Vec<FileTotals>,
}

/// Counters for a file, or for a type of process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileTotals {
    /// The file, as `database/file`, or process, object and context.
    pub name: String,
    /// Its role; None if unknown.
    pub role: Option<Role>,
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Total time of reads, ms; None if not measured.
    pub read_ms: Option<f64>,
    /// Writes, including file extends.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Total time of writes, ms.
    pub write_ms: Option<f64>,
    /// Calls of fsync; None if not counted.
    pub syncs: Option<u64>,
    /// Total time of those, ms.
    pub sync_ms: Option<f64>,
}

/// Why a text is not a counter snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TotalsError {
    /// The first line does not name the columns of either view.
    #[error(
        "the first line names the columns neither of sys.dm_io_virtual_file_stats nor of pg_stat_io"
    )]
    Unknown,
    /// A value is not a number.
    #[error("line {line}: `{column}` is not a number")]
    Number {
        /// From 1.
        line: usize,
        /// Its column.
        column: String,
    },
    /// A counter of 32 bits that went past its end.
    #[error(
        "line {line}: `sample_ms` is negative: it has 32 bits in old versions of SQL Server, enough for 25 days"
    )]
    Wrapped {
        /// From 1.
        line: usize,
    },
    /// The second snapshot must be the later one.
    #[error("{name}: the second snapshot counts less than the first")]
    Backwards {
        /// The file.
        name: String,
    },
    /// Both snapshots must be of the same view.
    #[error("the snapshots are of {0} and of {1}")]
    Different(&'static str, &'static str),
    /// Rates require the time between.
    #[error("a snapshot does not say when it was taken")]
    NoTime,
    /// No time passed, or negative time.
    #[error("the second snapshot is not later than the first")]
    NotLater,
}

impl TotalsError {
    /// How to resolve it.
    pub const fn hint(&self) -> &'static str {
        match self {
            TotalsError::Unknown | TotalsError::Number { .. } | TotalsError::Different(..) => {
                "export the same view twice as CSV, with its columns' names"
            }
            TotalsError::Wrapped { .. } => {
                "take both snapshots with their time: select getutcdate() as now, * from sys.dm_io_virtual_file_stats(null, null)"
            }
            TotalsError::Backwards { .. } | TotalsError::NotLater => {
                "name the earlier one first; counters begin anew when the server is started or they are reset"
            }
            TotalsError::NoTime => {
                "keep the column sample_ms of SQL Server; of PostgreSQL take: select now(), * from pg_stat_io"
            }
        }
    }
}

/// Whether a text begins like a snapshot.
pub fn is_snapshot(head: &str) -> bool {
    let head = head.lines().next().unwrap_or_default();
    totals(head).is_ok()
}

/// Parses a snapshot with a line of column names. Lines of one file are summed.
///
/// # Errors
/// If the columns are not those of either view, or contain no numbers.
pub fn totals(text: &str) -> Result<Snapshot, TotalsError> {
    let mut lines = text.lines().take(LINES_MAX).enumerate();
    let header = lines.next().map_or("", |(_, line)| line);
    let mark = [',', ';', '\t']
        .into_iter()
        .find(|&mark| header.contains(mark));
    let mark = mark.ok_or(TotalsError::Unknown)?;
    let names: Vec<String> = cells(header, mark)
        .map(|name| name.to_ascii_lowercase())
        .collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    type Read = fn(&Row<'_>) -> Result<FileTotals, TotalsError>;
    let (product, read): (_, Read) = if has("num_of_bytes_read") {
        ("SQL Server", sql_server)
    } else if has("backend_type") && has("reads") {
        (POSTGRESQL, postgresql)
    } else {
        return Err(TotalsError::Unknown);
    };
    let mut all: BTreeMap<String, FileTotals> = BTreeMap::new();
    let mut at_ns = None;
    for (k, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let row = Row {
            line: k + 1,
            cells: names
                .iter()
                .map(String::as_str)
                .zip(cells(line, mark))
                .collect(),
        };
        let totals = read(&row)?;
        at_ns = at_ns.max(row.at_ns()?);
        let known = all
            .entry(totals.name.clone())
            .or_insert_with(|| FileTotals {
                name: totals.name.clone(),
                role: totals.role,
                ..FileTotals::default()
            });
        known.add(&totals);
    }
    Ok(Snapshot {
        product,
        at_ns,
        files: all.into_values().collect(),
    })
}

impl Snapshot {
    /// Counts between an earlier snapshot and this one, and the nanoseconds that passed. What is
    /// missing from the earlier one counts from zero.
    ///
    /// # Errors
    /// If the two are not a pair.
    pub fn since(&self, earlier: &Snapshot) -> Result<(u64, Vec<FileTotals>), TotalsError> {
        if self.product != earlier.product {
            return Err(TotalsError::Different(earlier.product, self.product));
        }
        let (from, to) = earlier.at_ns.zip(self.at_ns).ok_or(TotalsError::NoTime)?;
        let passed_ns = to.checked_sub(from).filter(|&ns| ns > 0);
        let passed_ns = passed_ns.ok_or(TotalsError::NotLater)?;
        let nothing = FileTotals::default();
        let before: BTreeMap<&str, &FileTotals> = (earlier.files.iter())
            .map(|one| (one.name.as_str(), one))
            .collect();
        let files = self.files.iter().map(|now| {
            let passed = now.since(before.get(now.name.as_str()).copied().unwrap_or(&nothing));
            // SQL Server's are whole milliseconds, and may be 0.
            match self.product {
                POSTGRESQL => passed.map(FileTotals::without_unmeasured_times),
                _ => passed,
            }
        });
        Ok((passed_ns, files.collect::<Result<_, _>>()?))
    }
}

/// The cells of a line, without BOM and quotes, in which the delimiter is a part of the cell.
fn cells(line: &str, mark: char) -> impl Iterator<Item = &str> {
    let line = line.trim_start_matches('\u{feff}');
    let mut is_quoted = false;
    let cells = line.split(move |sign: char| {
        is_quoted ^= sign == '"';
        sign == mark && !is_quoted
    });
    cells.map(|cell| cell.trim().trim_matches('"'))
}

struct Row<'a> {
    line: usize,
    cells: Vec<(&'a str, &'a str)>,
}

impl Row<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let (_, cell) = self.cells.iter().find(|(known, _)| *known == name)?;
        let is_null = cell.is_empty() || cell.eq_ignore_ascii_case("null");
        (!is_null).then_some(*cell)
    }

    /// A number; None if the cell is empty or there is no such column.
    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, TotalsError> {
        let cell = self.text(name).map(str::parse);
        cell.transpose().map_err(|_| TotalsError::Number {
            line: self.line,
            column: name.to_owned(),
        })
    }

    /// `now`, from `select now(), *`; without it `sample_ms` of SQL Server: since the computer was
    /// started.
    fn at_ns(&self) -> Result<Option<u64>, TotalsError> {
        if let Some(now) = self.text("now").and_then(local_time) {
            return Ok(Some(now));
        }
        let since_start: Option<i64> = self.number("sample_ms")?;
        let line = self.line;
        let ms = since_start.map(|ms| u64::try_from(ms).map_err(|_| TotalsError::Wrapped { line }));
        Ok(ms.transpose()?.map(|ms| ms.saturating_mul(NS_PER_MS)))
    }

    fn count(&self, name: &str) -> Result<u64, TotalsError> {
        Ok(self.number(name)?.unwrap_or(0))
    }
}

/// <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-io-virtual-file-stats-transact-sql>
fn sql_server(row: &Row<'_>) -> Result<FileTotals, TotalsError> {
    let part = |names: [&str; 2]| {
        let text = names.into_iter().find_map(|name| row.text(name));
        text.unwrap_or("?").to_owned()
    };
    let database = part(["database_name", "database_id"]);
    let file = part(["physical_name", "file_id"]);
    Ok(FileTotals {
        role: Role::of_path(&file),
        name: format!("{database}/{file}"),
        reads: row.count("num_of_reads")?,
        read_bytes: row.count("num_of_bytes_read")?,
        read_ms: row.number("io_stall_read_ms")?,
        writes: row.count("num_of_writes")?,
        write_bytes: row.count("num_of_bytes_written")?,
        write_ms: row.number("io_stall_write_ms")?,
        syncs: None,
        sync_ms: None,
    })
}

/// <https://www.postgresql.org/docs/current/monitoring-stats.html>; version 16 and 17 count
/// operations of `op_bytes`, 18 bytes. Times are 0 unless `track_io_timing` is on.
fn postgresql(row: &Row<'_>) -> Result<FileTotals, TotalsError> {
    let each = row.count("op_bytes")?;
    let bytes = |count: &str, bytes: &str| -> Result<u64, TotalsError> {
        let counted = row.count(count)?;
        Ok(row.number(bytes)?.unwrap_or(counted.saturating_mul(each)))
    };
    let measured = |name: &str| -> Result<Option<f64>, TotalsError> {
        Ok(row.number::<f64>(name)?.filter(|&ms| ms > 0.0))
    };
    let parts = ["backend_type", "object", "context"].map(|name| row.text(name).unwrap_or("?"));
    let write_ms = [measured("write_time")?, measured("extend_time")?];
    let role = match parts[1] {
        "relation" => Some("data"),
        "temp relation" => Some("temp"),
        "wal" => Some("log"),
        _ => None,
    };
    Ok(FileTotals {
        name: parts.join("/"),
        role: role.map(|role| Role {
            product: POSTGRESQL,
            role,
        }),
        reads: row.count("reads")?,
        read_bytes: bytes("reads", "read_bytes")?,
        read_ms: measured("read_time")?,
        writes: row.count("writes")?.saturating_add(row.count("extends")?),
        write_bytes: bytes("writes", "write_bytes")?
            .saturating_add(bytes("extends", "extend_bytes")?),
        write_ms: sum(write_ms[0], write_ms[1]),
        syncs: row.number("fsyncs")?,
        sync_ms: measured("fsync_time")?,
    })
}

fn sum<T: std::ops::Add<Output = T>>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

impl FileTotals {
    fn add(&mut self, other: &FileTotals) {
        self.reads = self.reads.saturating_add(other.reads);
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.read_ms = sum(self.read_ms, other.read_ms);
        self.writes = self.writes.saturating_add(other.writes);
        self.write_bytes = self.write_bytes.saturating_add(other.write_bytes);
        self.write_ms = sum(self.write_ms, other.write_ms);
        let syncs = self
            .syncs
            .unwrap_or(0)
            .saturating_add(other.syncs.unwrap_or(0));
        self.syncs = self.syncs.or(other.syncs).map(|_| syncs);
        self.sync_ms = sum(self.sync_ms, other.sync_ms);
    }

    /// More operations without more time: `track_io_timing` was off in between.
    fn without_unmeasured_times(mut self) -> Self {
        for ms in [&mut self.read_ms, &mut self.write_ms, &mut self.sync_ms] {
            *ms = ms.filter(|&ms| ms > 0.0);
        }
        self
    }

    /// Whether it has operations without measured time.
    pub fn lacks_times(&self) -> bool {
        (self.reads > 0 && self.read_ms.is_none()) || (self.writes > 0 && self.write_ms.is_none())
    }

    /// Counts since the earlier snapshot; an error if a counter decreased: the server was
    /// restarted, or the counters reset.
    fn since(&self, earlier: &FileTotals) -> Result<FileTotals, TotalsError> {
        let backwards = || TotalsError::Backwards {
            name: self.name.clone(),
        };
        let less = |now: u64, then: u64| now.checked_sub(then).ok_or_else(backwards);
        let ms = |now: Option<f64>, then: Option<f64>| {
            let difference = now.map(|now| now - then.unwrap_or(0.0));
            match difference {
                Some(ms) if ms < 0.0 => Err(backwards()),
                ms => Ok(ms),
            }
        };
        let syncs = self.syncs.map(|now| less(now, earlier.syncs.unwrap_or(0)));
        Ok(FileTotals {
            name: self.name.clone(),
            role: self.role,
            reads: less(self.reads, earlier.reads)?,
            read_bytes: less(self.read_bytes, earlier.read_bytes)?,
            read_ms: ms(self.read_ms, earlier.read_ms)?,
            writes: less(self.writes, earlier.writes)?,
            write_bytes: less(self.write_bytes, earlier.write_bytes)?,
            write_ms: ms(self.write_ms, earlier.write_ms)?,
            syncs: syncs.transpose()?,
            sync_ms: ms(self.sync_ms, earlier.sync_ms)?,
        })
    }
}
