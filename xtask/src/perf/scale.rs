//! How CPU time and memory scale with input size: results that are imported, and stores of many
//! runs that are listed, printed, exported and merged.
//!
//! Each command runs on 1, 2, 4 and 8 parts of its largest input. CPU time above that for a 64th of
//! the input is modelled as size to the power of an exponent, fitted by least squares of the
//! logarithms; an exponent above [`EXPONENT_MAX`] means superlinear work. Memory has the same limit
//! if it grows at all.

use super::processor;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// 1 is linear; the rest is for caches, and ticks of 10 ms.
const EXPONENT_MAX: f64 = 1.1;
/// Parts of the largest size. The first is subtracted.
const PARTS: [usize; 5] = [1, 8, 16, 32, 64];
/// Memory growth below this is ignored.
const GROWS_KIB_MIN: f64 = 16.0 * 1024.0;
/// Sampling interval of a process's memory; its peak only grows.
const LOOK: Duration = Duration::from_millis(2);

/// An importer: a repeated fixture, each time with another name in it, as duplicates are not stored
/// again.
struct Format {
    name: &'static str,
    fixture: &'static str,
    varied: &'static str,
    /// Number at the largest size.
    copies: usize,
}

const FORMATS: [Format; 4] = [
    Format {
        name: "SQLIO",
        fixture: "sqlio-plain.txt",
        varied: "data.tst",
        copies: 16_384,
    },
    Format {
        name: "DiskSpd",
        fixture: "diskspd.txt",
        varied: "t.dat",
        copies: 4_096,
    },
    Format {
        name: "fio terse",
        fixture: "fio-terse-3.txt",
        varied: ";mixed;",
        copies: 4_096,
    },
    Format {
        name: "elbencho CSV",
        fixture: "elbencho.csv",
        varied: "nightly",
        copies: 4_096,
    },
];

/// Commands on a store of many runs; `{}` is a file that does not exist yet.
const OF_A_STORE: [(&str, &[&str]); 6] = [
    ("history", &["history"]),
    ("history --json", &["history", "--json"]),
    ("history show last", &["history", "show", "last"]),
    ("report --all", &["report", "--all", "-o", "{}.html"]),
    ("export csv", &["export", "--format", "csv", "-o", "{}.csv"]),
    (
        "export jsonl",
        &["export", "--format", "jsonl", "-o", "{}.jsonl"],
    ),
];

/// Costs of a command.
#[derive(Clone, Copy)]
struct CommandCosts {
    processor_ns: f64,
    peak_kib: f64,
}

struct Row {
    name: String,
    unit: &'static str,
    sizes: Vec<f64>,
    taken: Vec<CommandCosts>,
}

/// Prints the table; fails if something grows faster than its size.
pub fn run(binary: Option<PathBuf>) -> Result<()> {
    let bench = Bench {
        stripewise: super::built(binary)?,
        fixtures: crate::root::path().join("crates/compat/tests/data"),
        folder: tempfile::tempdir()?,
    };
    let mut rows = Vec::new();
    for format in &FORMATS {
        rows.push(bench.import(format)?);
    }
    rows.extend(bench.of_stores(&FORMATS[0])?);
    println!(
        "{:<20} {:>12} {:>10} {:>12} {:>9} {:>9} {:>9}",
        "what", "largest", "time ms", "per s", "exponent", "peak MiB", "exponent"
    );
    let mut too_fast = Vec::new();
    for row in &rows {
        let (time, memory) = (row.exponent_of_time(), row.exponent_of_memory());
        println!("{}", row.text(time, memory));
        for (what, exponent) in [("time", time), ("memory", memory)] {
            if exponent.is_some_and(|exponent| exponent > EXPONENT_MAX) {
                too_fast.push(format!("{} of {}", what, row.name));
            }
        }
    }
    ensure!(
        too_fast.is_empty(),
        "grows faster than size to the power of {EXPONENT_MAX}: {}",
        too_fast.join(", ")
    );
    Ok(())
}

struct Bench {
    stripewise: PathBuf,
    fixtures: PathBuf,
    folder: tempfile::TempDir,
}

impl Bench {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Creates a file with this many results.
    fn input(&self, format: &Format, copies: usize) -> Result<PathBuf> {
        let fixture = self.fixtures.join(format.fixture);
        let text = fs::read_to_string(&fixture).context("a fixture")?;
        ensure!(
            text.contains(format.varied),
            "{} no longer has `{}`",
            fixture.display(),
            format.varied
        );
        let path = self.path("input");
        let mut file = std::io::BufWriter::new(fs::File::create(&path)?);
        for copy in 0..copies {
            let varied = format!("{}{copy}", format.varied);
            file.write_all(text.replace(format.varied, &varied).as_bytes())?;
        }
        file.flush()?;
        Ok(path)
    }

    fn import(&self, format: &Format) -> Result<Row> {
        let mut row = Row::new(format!("import {}", format.name), "MB");
        for parts in PARTS {
            let input = self.input(format, format.copies * parts / PARTS[4])?;
            let store = self.path("imported.db");
            fs::remove_file(&store).ok();
            row.sizes.push(fs::metadata(&input)?.len() as f64 / 1e6);
            let input = super::text(&input);
            row.taken.push(self.take(&store, &["import", &input])?);
        }
        Ok(row)
    }

    fn of_stores(&self, format: &Format) -> Result<Vec<Row>> {
        let named = |(name, _): &(&str, _)| Row::new((*name).to_owned(), "runs");
        let mut rows: Vec<Row> = OF_A_STORE.iter().map(named).collect();
        for parts in PARTS {
            let runs = format.copies * parts / PARTS[4];
            let input = super::text(&self.input(format, runs)?);
            let store = self.path(&format!("{runs}.db"));
            self.take(&store, &["import", &input])?;
            // Imported results do not count as `last`.
            self.take(&store, &["run", "sim:nvme", "--duration", "1s"])?;
            for ((name, words), row) in OF_A_STORE.iter().zip(&mut rows) {
                let to = super::text(&self.path(&format!("{}-{runs}", name.replace(' ', "-"))));
                let words: Vec<String> = words.iter().map(|word| word.replace("{}", &to)).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                row.sizes.push(runs as f64);
                row.taken.push(self.take(&store, &words)?);
            }
        }
        Ok(rows)
    }

    /// Runs a command to completion.
    fn take(&self, store: &Path, words: &[&str]) -> Result<CommandCosts> {
        let outcomes = self.path("stderr");
        let before = processor::of_children()?;
        let mut child = Command::new(&self.stripewise)
            .args(words)
            .arg("--store")
            .arg(store)
            .env("HOME", self.folder.path())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&outcomes)?)
            .spawn()?;
        let mut peak_kib = 0.0;
        let status = loop {
            if let Some(kib) = peak_kib_of(child.id()) {
                peak_kib = kib;
            }
            match child.try_wait()? {
                Some(status) => break status,
                None => std::thread::sleep(LOOK),
            }
        };
        if !status.success() {
            let outcomes = fs::read_to_string(&outcomes).unwrap_or_default();
            bail!("`stripewise {}`: {status}: {outcomes}", words.join(" "));
        }
        let spent = processor::of_children()?.since(before);
        Ok(CommandCosts {
            processor_ns: spent.iter().sum(),
            peak_kib,
        })
    }
}

/// `VmHWM` of proc(5); `None` once the process has ended.
fn peak_kib_of(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

impl Row {
    fn new(name: String, unit: &'static str) -> Row {
        Row {
            name,
            unit,
            sizes: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// The exponent of a cost that grows by at least `least` over all sizes.
    fn exponent(&self, least: f64, of: impl Fn(&CommandCosts) -> f64) -> Option<f64> {
        let values: Vec<f64> = self.taken.iter().map(of).collect();
        let (first, last) = (*values.first()?, *values.last()?);
        (last - first >= least).then_some(())?;
        let grown = self.sizes.iter().zip(&values).skip(1);
        let logarithms = grown.filter_map(|(size, value)| {
            let (size, value) = (size - self.sizes[0], value - first);
            (size > 0.0 && value > 0.0).then(|| (size.ln(), value.ln()))
        });
        slope(&logarithms.collect::<Vec<_>>())
    }

    fn exponent_of_time(&self) -> Option<f64> {
        /// Twenty ticks.
        const GROWS_NS_MIN: f64 = 200e6;
        self.exponent(GROWS_NS_MIN, |taken| taken.processor_ns)
    }

    fn exponent_of_memory(&self) -> Option<f64> {
        self.exponent(GROWS_KIB_MIN, |taken| taken.peak_kib)
    }

    fn text(&self, time: Option<f64>, memory: Option<f64>) -> String {
        let exponent = |value: Option<f64>| match value {
            Some(value) => format!("{value:.2}"),
            None => "-".to_owned(),
        };
        let (Some(largest), Some(taken)) = (self.sizes.last(), self.taken.last()) else {
            return self.name.clone();
        };
        format!(
            "{:<20} {:>12} {:>10.0} {:>12.0} {:>9} {:>9.0} {:>9}",
            self.name,
            format!("{largest:.0} {}", self.unit),
            taken.processor_ns / 1e6,
            largest / (taken.processor_ns / 1e9),
            exponent(time),
            taken.peak_kib / 1024.0,
            exponent(memory)
        )
    }
}

/// Slope of the least-squares line through these points; `None` for fewer than three.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    (points.len() >= 3).then_some(())?;
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points
            .iter()
            .map(|point| of(point.0 - x, point.1 - y))
            .sum()
    };
    Some(sum(&|x, y| x * y) / sum(&|x, _| x * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(of: impl Fn(f64) -> f64) -> Row {
        let sizes: Vec<f64> = PARTS.iter().map(|parts| *parts as f64).collect();
        let taken = sizes.iter().map(|size| CommandCosts {
            processor_ns: of(*size),
            peak_kib: 5_000.0,
        });
        Row {
            taken: taken.collect(),
            sizes,
            ..Row::new("made up".to_owned(), "MB")
        }
    }

    #[test]
    fn an_exponent_is_that_of_what_grows_whatever_it_takes_to_start() {
        let linear = row(|size| 4e7 + 2e7 * size).exponent_of_time().unwrap();
        assert!((linear - 1.0).abs() < 1e-9, "{linear}");
        let square = row(|size| 4e7 + 1e6 * size * size);
        let exponent = square.exponent_of_time().unwrap();
        assert!((1.9..2.1).contains(&exponent), "{exponent}");
        assert!(exponent > EXPONENT_MAX);
        // A cost that does not grow has no exponent.
        assert_eq!(row(|_| 5e9).exponent_of_time(), None);
        assert_eq!(square.exponent_of_memory(), None);
    }
}
