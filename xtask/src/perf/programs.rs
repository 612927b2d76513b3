//! The compared programs, and parsers for their output.

use super::text;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use suite::shell;

/// Random reads of a device.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub block_size_bytes: u64,
    /// Per thread.
    pub outstanding: u32,
    pub threads: u32,
    pub seconds: u32,
    /// Warm-up time before the measurement.
    pub ramp_seconds: u32,
    /// fio's minimum number of completions per poll, at least 1.
    pub batch_min: u32,
    /// `uring` or `threads`.
    pub engine: &'static str,
}

impl Default for Load {
    fn default() -> Load {
        Load {
            block_size_bytes: 8 << 10,
            outstanding: 128,
            threads: 1,
            seconds: 2,
            ramp_seconds: 0,
            batch_min: 32,
            engine: "uring",
        }
    }
}

/// A program with its arguments.
pub struct Program {
    pub name: &'static str,
    words: Vec<String>,
    parse: fn(&str) -> Result<Run>,
    /// Folder for temporary output.
    _folder: Option<tempfile::TempDir>,
}

/// Result of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// As reported by the program.
    pub iops: f64,
    /// Operations of the whole process, including those outside its window.
    pub operations_in_all: u64,
    /// User and system time per operation in the window, in nanoseconds, if reported.
    pub cpu_ns: Option<[f64; 2]>,
}

impl Program {
    /// The command, prefixed by `before`: a counter, a control group.
    pub fn command(&self, before: &[String]) -> Command {
        let mut words = before.iter().chain(&self.words);
        let mut command = Command::new(words.next().expect("a program has a name"));
        command.args(words);
        command
    }

    /// Parses its output.
    pub fn parse(&self, stdout: &str) -> Result<Run> {
        (self.parse)(stdout).with_context(|| format!("cannot read the output of {}", self.name))
    }

    /// Runs it.
    pub fn read(&self) -> Result<Run> {
        self.read_within(&[])
    }

    /// Runs it, prefixed by `before`.
    pub fn read_within(&self, before: &[String]) -> Result<Run> {
        let output = shell::read_measured(&mut self.command(before))?;
        self.parse(&output.stdout)
    }
}

/// This project's binary. Its results go into a temporary store.
pub fn stripewise(binary: &Path, target: &Path, load: Load) -> Result<Program> {
    let folder = tempfile::tempdir().context("cannot make a folder for results")?;
    let words = format!(
        "run {} --read --random --block {} --threads {} --outstanding {} --engine {} --ramp {}s --duration {}s \
         --busy-ok --json --store {}",
        text(target),
        load.block_size_bytes,
        load.threads,
        load.outstanding,
        load.engine,
        load.ramp_seconds,
        load.seconds,
        text(&folder.path().join("store.db")),
    );
    Ok(Program {
        name: "stripewise",
        words: with_words(text(binary), &words),
        parse: parse_stripewise,
        _folder: Some(folder),
    })
}

/// fio at its best: registered buffers and files, batches of 32 if that many are in flight. In the
/// thread of its own process, so that a counter covers it.
pub fn fio(target: &Path, load: Load) -> Program {
    let engine = match (load.engine, load.outstanding) {
        ("uring", _) => "io_uring --fixedbufs=1 --registerfiles=1",
        (_, 1) => "psync",
        _ => "libaio",
    };
    let batch = load.outstanding.min(32);
    let words = format!(
        "--name=perf --filename={} --readonly --rw=randread --bs={} --direct=1 --thread \
         --numjobs={} --group_reporting --ioengine={engine} --iodepth={} --iodepth_batch_submit={batch} \
         --iodepth_batch_complete_min={} --iodepth_batch_complete_max={batch} --norandommap \
         --time_based --ramp_time={} --runtime={} --output-format=json",
        text(target),
        load.block_size_bytes,
        load.threads,
        load.outstanding,
        load.batch_min.min(batch),
        load.ramp_seconds,
        load.seconds,
    );
    Program {
        name: "fio",
        words: with_words("fio".to_owned(), &words),
        parse: parse_fio,
        _folder: None,
    }
}

/// fio's `t/io_uring`: the minimal loop, with the latency of each batch or without any.
pub fn t_io_uring(binary: &Path, target: &Path, load: Load, has_latencies: bool) -> Program {
    let words = format!(
        "-b{} -d{} -s32 -c32 -p0 -B1 -F1 -n{} -t{} -r{} {}",
        load.block_size_bytes,
        load.outstanding,
        load.threads,
        u8::from(has_latencies),
        load.seconds,
        text(target)
    );
    Program {
        name: if has_latencies {
            "t/io_uring -t1"
        } else {
            "t/io_uring"
        },
        words: with_words(text(binary), &words),
        parse: parse_t_io_uring,
        _folder: None,
    }
}

fn with_words(program: String, words: &str) -> Vec<String> {
    std::iter::once(program)
        .chain(words.split_whitespace().map(str::to_owned))
        .collect()
}

fn parse_stripewise(stdout: &str) -> Result<Run> {
    let document: Value = serde_json::from_str(stdout)?;
    let outcome = &document["runs"][0]["jobs"][0]["outcome"];
    let number = |value: &Value| value.as_u64();
    let operations = number(&outcome["operations"]).context("no `operations` in the outcome")?;
    let failed = number(&outcome["errors"]["total"]).context("no `errors` in the outcome")?;
    if failed > 0 {
        bail!("{failed} operations failed");
    }
    Ok(Run {
        iops: outcome["iops"]
            .as_f64()
            .context("no `iops` in the outcome")?,
        operations_in_all: operations + number(&outcome["drain"]["operations"]).unwrap_or(0),
        cpu_ns: cpu_of(outcome),
    })
}

fn cpu_of(outcome: &Value) -> Option<[f64; 2]> {
    let of = |mode: &str| outcome[format!("cpu_{mode}_ns_per_operation")].as_f64();
    Some([of("user")?, of("system")?])
}

/// fio may print notes before the document.
fn parse_fio(stdout: &str) -> Result<Run> {
    let begin = stdout.find('{').context("no JSON")?;
    let document: Value = serde_json::from_str(&stdout[begin..])?;
    let read = &document["jobs"][0]["read"];
    if let Some(error) = document["jobs"][0]["error"]
        .as_u64()
        .filter(|&error| error != 0)
    {
        bail!("error {error}");
    }
    Ok(Run {
        iops: read["iops"].as_f64().context("no `iops`")?,
        operations_in_all: read["total_ios"].as_u64().context("no `total_ios`")?,
        cpu_ns: None,
    })
}

/// A line per second: `IOPS=305.12K, BW=2.38GiB/s, IOS/call=32/31`. The numbers are rounded to 10
/// (from K on); more precise ones are not available. The last second has no line.
fn parse_t_io_uring(stdout: &str) -> Result<Run> {
    let mut rates = Vec::new();
    for line in stdout.lines().filter_map(|line| line.strip_prefix("IOPS=")) {
        let number = line.split(',').next().unwrap_or_default();
        let (digits, unit) = match number.strip_suffix(['K', 'M']) {
            Some(digits) if number.ends_with('K') => (digits, 1e3),
            Some(digits) => (digits, 1e6),
            None => (number, 1.0),
        };
        let rate: f64 = digits
            .parse()
            .with_context(|| format!("a rate of `{number}`"))?;
        rates.push(rate * unit);
    }
    let iops = stripewise_stats::mean(&rates).context("no line with IOPS")?;
    Ok(Run {
        iops,
        operations_in_all: (iops * (rates.len() + 1) as f64).round() as u64,
        cpu_ns: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_the_drain_belong_to_the_whole_process() {
        let json = r#"{"schema_version": 1, "runs": [{"jobs": [{"outcome": {"iops": 12.5,
            "operations": 25, "errors": {"total": 0}, "drain": {"operations": 3},
            "cpu_user_ns_per_operation": 40.5, "cpu_system_ns_per_operation": 1800}}]}]}"#;
        let run = parse_stripewise(json).unwrap();
        assert_eq!((run.iops, run.operations_in_all), (12.5, 28));
        assert_eq!(run.cpu_ns, Some([40.5, 1800.0]));
        let failed = json.replace("\"total\": 0", "\"total\": 1");
        assert!(parse_stripewise(&failed).is_err());
        assert!(parse_stripewise("{}").is_err());
    }

    #[test]
    fn fios_document_is_found_behind_its_notes() {
        let json = "fio: a note\n{\"jobs\": [{\"error\": 0, \"read\": {\"iops\": 1.5, \"total_ios\": 7}}]}";
        let run = parse_fio(json).unwrap();
        assert_eq!((run.iops, run.operations_in_all), (1.5, 7));
        assert!(parse_fio(&json.replace("\"error\": 0", "\"error\": 5")).is_err());
    }

    #[test]
    fn lines_of_t_io_uring_are_averaged() {
        let lines = "submitter=0\nIOPS=305.12K, BW=2.38GiB/s, IOS/call=32/31\nIOPS=1.5M, BW=1\nIOPS=80, BW=1\nMaximum IOPS=9\n";
        let run = parse_t_io_uring(lines).unwrap();
        assert!((run.iops - (305_120.0 + 1_500_000.0 + 80.0) / 3.0).abs() < 1e-6);
        // Of four seconds, three have lines.
        assert_eq!(run.operations_in_all, 2_406_933);
        assert!(parse_t_io_uring("").is_err());
    }
}
