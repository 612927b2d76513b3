//! Exports records as fio's JSON, for programs that read it: fio-plot and users' scripts.
//!
//! The format is that of fio 3 with `--output-format=json+`: all runs form one document, each a
//! group of jobs, as fio prints jobs after a `stonewall`. What a record lacks is omitted, and so is
//! what fio's format cannot hold; [`FioExport::left_out`] names it.
//!
//! Latencies of records are from the issue of an operation to its completion, fio's `lat_ns`. Most
//! programs read `clat_ns`, so it repeats the same value: a record does not contain the time taken
//! to issue an operation.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use stripewise_results::{
    JobRecord, JobRow, KindOutcome, LatencySummary, OperationKind, RunRecord,
};
use stripewise_workload::{Arrivals, Distribution, Pattern, Workload};

/// Percentiles that fio prints.
const PERCENTS: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
/// Upper bounds of fio's latency classes, in each of its three units.
const CLASSES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000];

/// Runs being written to one fio document.
#[derive(Clone, Debug, Default)]
pub struct FioExport {
    groups: u64,
    /// Start and duration of the last one, milliseconds.
    last: Option<(i64, u64)>,
    left_out: BTreeSet<&'static str>,
}

impl FioExport {
    /// Start of the document; `version` is that of this program, `timestamp_ms` the time of
    /// writing, milliseconds since 1970.
    pub fn head(version: &str, timestamp_ms: i64) -> String {
        format!(
            "{{\n  \"fio version\": \"fio-3.36-stripewise-{version}\",\n  \"timestamp\": {},\n  \"timestamp_ms\": {timestamp_ms},\n  \"jobs\": [",
            timestamp_ms / 1000
        )
    }

    /// End of the document.
    pub const TAIL: &'static str = "\n  ]\n}\n";

    /// The jobs of a run, with separators. `started_ms`: start of the run, milliseconds since 1970,
    /// if known.
    pub fn run(&mut self, run: &RunRecord, started_ms: Option<i64>) -> String {
        let mut text = String::new();
        // Runs on simulated arrays can begin before the preceding ones end.
        let longest = run
            .jobs
            .iter()
            .map(|job| job.outcome.duration_ns / 1_000_000);
        let longest = longest.max().unwrap_or(0);
        let started_ms = started_ms.filter(|start| {
            self.last
                .is_none_or(|(last, ran)| *start >= last.saturating_add_unsigned(ran))
        });
        self.last = started_ms.map(|start| (start, longest)).or(self.last);
        for job in &run.jobs {
            let job = self.job(&JobRow { run, job }, started_ms);
            let body = serde_json::to_string_pretty(&job).unwrap_or_default();
            let comma = if self.groups == 0 && text.is_empty() {
                ""
            } else {
                ","
            };
            text.push_str(&format!("{comma}\n    {}", body.replace('\n', "\n    ")));
        }
        self.groups += 1;
        self.note_rest(run);
        text
    }

    /// Fields of the records that the document cannot hold.
    pub fn left_out(&self) -> Vec<&'static str> {
        self.left_out.iter().copied().collect()
    }

    fn note_rest(&mut self, run: &RunRecord) {
        let warned = |job: &JobRecord| !job.warnings.is_empty();
        let any = |is_so: fn(&JobRecord) -> bool| run.jobs.iter().any(is_so);
        for (is_there, what) in [
            (!run.warnings.is_empty() || any(warned), "warnings"),
            (
                any(|job| !job.outcome.intervals.is_empty()),
                "intervals (but their mean, spread and extremes)",
            ),
            (
                any(|job| job.outcome.open_loop.is_some()),
                "how late an open loop was",
            ),
            (any(|job| !job.outcome.pauses.is_empty()), "pauses"),
            (
                any(|job| job.outcome.drain.operations > 0),
                "what completed after the end",
            ),
            (
                run.series.is_some() || run.label.is_some(),
                "series and labels",
            ),
            (
                !run.host.name.is_empty(),
                "facts of the host, its devices and file systems",
            ),
        ] {
            if is_there {
                self.left_out.insert(what);
            }
        }
    }

    fn job(&mut self, row: &JobRow<'_>, started_ms: Option<i64>) -> Value {
        let JobRow { job, .. } = row;
        let outcome = &job.outcome;
        let ms = row.duration_ns().map(|ns| ns / 1_000_000);
        let mut text = Map::new();
        text.insert("jobname".to_owned(), Value::from(job.name.as_str()));
        text.insert("groupid".to_owned(), Value::from(self.groups));
        if let Some(start) = started_ms {
            text.insert("job_start".to_owned(), Value::from(start));
        }
        text.insert("error".to_owned(), Value::from(0));
        if let Some(ms) = ms {
            text.insert("elapsed".to_owned(), Value::from(ms.div_ceil(1000)));
        }
        text.insert("job options".to_owned(), Value::Object(self.options(row)));
        for (of, kind) in [
            (OperationKind::Read, &outcome.read),
            (OperationKind::Write, &outcome.write),
        ] {
            let side = self.side(row, of, kind, ms);
            text.insert(of.name().to_owned(), side);
        }
        let trim = outcome.discard.as_ref().map_or(
            json!({"total_ios": 0, "io_bytes": 0, "io_kbytes": 0}),
            |kind| self.side(row, OperationKind::Discard, kind, ms),
        );
        text.insert("trim".to_owned(), trim);
        let sync = outcome
            .sync
            .as_ref()
            .map_or(json!({"total_ios": 0}), |kind| {
                let lat = self.latencies(row, "sync", kind);
                json!({"total_ios": kind.operations, "lat_ns": lat})
            });
        text.insert("sync".to_owned(), sync);
        if let Some(ms) = ms {
            text.insert("job_runtime".to_owned(), Value::from(ms));
        }
        self.processor(row, &mut text);
        self.classes(row, &mut text);
        if let Some(errors) = row.given("jobs.outcome.errors", &outcome.errors) {
            text.insert("total_err".to_owned(), Value::from(errors.total));
        }
        Value::Object(text)
    }

    fn side(
        &mut self,
        row: &JobRow<'_>,
        of: OperationKind,
        kind: &KindOutcome,
        ms: Option<u64>,
    ) -> Value {
        let name = of.name();
        let path = |field: &str| format!("jobs.outcome.{name}.{field}");
        let operations = row.given(&path("operations"), kind.operations);
        let bytes = row.given(&path("bytes"), kind.bytes);
        let mut side = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                side.insert(name.to_owned(), value);
            }
        };
        add("io_bytes", bytes.map(Value::from));
        add("io_kbytes", bytes.map(|bytes| Value::from(bytes / 1024)));
        let bandwidth = row.mib_per_s_of(of).map(|mib| mib * 1_048_576.0);
        add(
            "bw_bytes",
            bandwidth.map(|rate| Value::from(rate.round() as u64)),
        );
        add(
            "bw",
            bandwidth.map(|rate| Value::from((rate / 1024.0) as u64)),
        );
        add("iops", row.iops_of(of).map(Value::from));
        // A direction without operations has no runtime of its own, and one whose rate is of
        // another time than the job's has that.
        let own_ms = kind.iops.zip(operations).filter(|(iops, _)| *iops > 0.0);
        let own_ms = own_ms.map(|(iops, count)| (count as f64 * 1e3 / iops).round() as u64);
        let is_done = kind.operations > 0 || kind.iops.is_some();
        add(
            "runtime",
            own_ms
                .or(ms)
                .map(|ms| Value::from(if is_done { ms } else { 0 })),
        );
        add("total_ios", operations.map(Value::from));
        add("short_ios", Some(Value::from(0)));
        add("drop_ios", Some(Value::from(0)));
        let latencies = self.latencies(row, name, kind);
        add("clat_ns", Some(latencies.clone()));
        add("lat_ns", Some(latencies));
        let block = bytes
            .zip(operations.filter(|operations| *operations > 0))
            .map(|(bytes, operations)| bytes as f64 / operations as f64);
        for (name, value) in spread(row, name, block.unwrap_or(0.0)) {
            add(&name, Some(value));
        }
        Value::Object(side)
    }

    fn latencies(&mut self, row: &JobRow<'_>, name: &str, kind: &KindOutcome) -> Value {
        let Some(latency) = kind.latency_ns else {
            return json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0});
        };
        let path = |field: &str| format!("jobs.outcome.{name}.latency_ns.{field}");
        let mut values = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                values.insert(name.to_owned(), value);
            }
        };
        add("min", row.given(&path("min"), Value::from(latency.min)));
        add("max", row.given(&path("max"), Value::from(latency.max)));
        add("mean", row.given(&path("mean"), Value::from(latency.mean)));
        let operations = row.given(&format!("jobs.outcome.{name}.operations"), kind.operations);
        add("N", operations.map(Value::from));
        let mut percentiles = Map::new();
        let known = known_percentiles(row, &path, &latency);
        for percent in PERCENTS {
            let known = known
                .iter()
                .find(|(known, _)| (known - percent).abs() < 1e-9);
            let value = known.map(|(_, value)| *value);
            let histogram = kind.histogram.as_ref();
            let value = value.or_else(|| histogram?.percentile(percent));
            if let Some(value) = value {
                percentiles.insert(format!("{percent:.6}"), Value::from(value));
            }
        }
        match &kind.histogram {
            Some(histogram) => {
                let buckets = || histogram.nonzero();
                let middle = |low: u64, high: u64| low + (high - low) / 2;
                let squares: f64 = buckets()
                    .map(|bucket| {
                        let off = middle(bucket.value_low, bucket.value_high) as f64 - latency.mean;
                        off * off * bucket.count as f64
                    })
                    .sum();
                let count = histogram.count() as f64;
                add("stddev", Some(Value::from((squares / count.max(1.0)).sqrt())));
                let bins = buckets().map(|bucket| {
                    let value = middle(bucket.value_low, bucket.value_high);
                    (value.to_string(), Value::from(bucket.count))
                });
                add("bins", Some(Value::Object(bins.collect())));
            }
            None => drop(self.left_out.insert(
                "standard deviations and bins of latencies, which need the histograms that the store keeps",
            )),
        }
        if !percentiles.is_empty() {
            values.insert("percentile".to_owned(), Value::Object(percentiles));
        }
        Value::Object(values)
    }

    /// CPU time percentages per thread.
    fn processor(&self, row: &JobRow<'_>, text: &mut Map<String, Value>) {
        let outcome = &row.job.outcome;
        for (name, field, each) in [
            (
                "usr_cpu",
                "cpu_user_ns_per_operation",
                outcome.cpu_user_ns_per_operation,
            ),
            (
                "sys_cpu",
                "cpu_system_ns_per_operation",
                outcome.cpu_system_ns_per_operation,
            ),
        ] {
            let each = row.given(&format!("jobs.outcome.{field}"), each);
            let all = each
                .zip(row.operations())
                .zip(row.duration_ns().zip(row.threads()));
            if let Some(((each, operations), (ns, threads))) = all {
                let share =
                    100.0 * each * operations as f64 / (ns as f64 * f64::from(threads)).max(1.0);
                text.insert(name.to_owned(), Value::from(share));
            }
        }
    }

    /// Percentages of operations by latency class.
    fn classes(&self, row: &JobRow<'_>, text: &mut Map<String, Value>) {
        let outcome = &row.job.outcome;
        let others = outcome.discard.iter();
        let kinds = [&outcome.read, &outcome.write].into_iter().chain(others);
        let histograms: Vec<_> = kinds.filter_map(|kind| kind.histogram.as_ref()).collect();
        let all: u64 = histograms.iter().map(|histogram| histogram.count()).sum();
        if all == 0 {
            return;
        }
        let below = |ns: u64| -> u64 {
            let each = histograms.iter();
            each.map(|histogram| histogram.count_at_most(ns.saturating_sub(1)))
                .sum()
        };
        let share = |count: u64| Value::from(100.0 * count as f64 / all as f64);
        let mut before = 0;
        for (name, unit) in [
            ("latency_ns", 1),
            ("latency_us", 1_000),
            ("latency_ms", 1_000_000),
        ] {
            let mut classes = Map::new();
            let more = (unit == 1_000_000).then_some(2_000);
            for end in CLASSES.into_iter().chain(more) {
                let upto = below(end * unit);
                classes.insert(end.to_string(), share(upto.saturating_sub(before)));
                before = before.max(upto);
            }
            if more.is_some() {
                classes.insert(">=2000".to_owned(), share(all - before.min(all)));
            }
            text.insert(name.to_owned(), Value::Object(classes));
        }
    }

    /// The workload as fio options.
    fn options(&mut self, row: &JobRow<'_>) -> Map<String, Value> {
        let load = &row.job.workload;
        let mut options = Map::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                options.insert(name.to_owned(), Value::from(value));
            }
        };
        add("name", Some(row.job.name.clone()));
        let engine = row.given("jobs.engine.name", row.job.engine.name.clone());
        add("ioengine", engine.filter(|name| !name.is_empty()));
        let both = row.operation().zip(row.pattern());
        add("rw", both.map(|_| self.rw(load)));
        let share = Some(load.read_percent).filter(|percent| (1..=99).contains(percent));
        add(
            "rwmixread",
            row.operation()
                .and(share)
                .map(|percent| percent.to_string()),
        );
        match load.block_sizes.shares() {
            [] => add("bs", row.block_size_bytes().map(|bytes| bytes.to_string())),
            shares => {
                let parts = shares
                    .iter()
                    .map(|one| format!("{}/{}", one.size_bytes, one.percent));
                add("bssplit", Some(parts.collect::<Vec<_>>().join(":")));
            }
        }
        add("numjobs", row.threads().map(|threads| threads.to_string()));
        let files = match load.in_turn {
            true => 1,
            false => row.job.further_targets.len() as u32 + 1,
        };
        add(
            "iodepth",
            row.outstanding()
                .map(|depth| depth.saturating_mul(files).to_string()),
        );
        let seconds = |path: &str, ns: u64| row.given(path, ns).filter(|ns| *ns > 0).map(time);
        add(
            "runtime",
            seconds("jobs.workload.duration_ns", load.duration_ns),
        );
        add("ramp_time", seconds("jobs.workload.ramp_ns", load.ramp_ns));
        add(
            "time_based",
            row.given("jobs.workload.duration_ns", "1".to_owned()),
        );
        let size = row
            .given("jobs.workload.size_bytes", load.size_bytes)
            .flatten();
        add("size", size.map(|bytes| bytes.to_string()));
        let offset = row.given("jobs.workload.base_offset_bytes", load.base_offset_bytes);
        add(
            "offset",
            offset
                .filter(|bytes| *bytes > 0)
                .map(|bytes| bytes.to_string()),
        );
        let escaped = |name: &str| name.replace(':', "\\:");
        let targets = [&row.job.target]
            .into_iter()
            .chain(&row.job.further_targets);
        let names: Vec<String> = targets.map(|target| escaped(&target.name)).collect();
        let names = row.given("jobs.target.name", names.join(":"));
        add("filename", names.filter(|names| !names.is_empty()));
        add("lat_percentiles", Some("1".to_owned()));
        self.pace(row, &mut options);
        options
    }

    /// Cache options, and what limits the rate apart from the disk.
    fn pace(&mut self, row: &JobRow<'_>, options: &mut Map<String, Value>) {
        let load = &row.job.workload;
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                options.insert(name.to_owned(), Value::from(value));
            }
        };
        if let Some(cache) = row.cache() {
            let direct = cache.is_direct();
            add("direct", Some(u8::from(direct).to_string()));
            let through = cache.is_durable() || load.dsync;
            add("sync", through.then(|| "dsync".to_owned()));
        }
        if let Some(sync) = load.sync {
            add(&sync.call.to_string(), Some(sync.every.to_string()));
        }
        if let Some(rate) = load.rate {
            let threads = f64::from(row.threads().unwrap_or(1).max(1));
            add(
                "rate_iops",
                Some((rate.iops / threads).round().max(1.0).to_string()),
            );
            let poisson = rate.arrivals == Arrivals::Poisson;
            add("rate_process", poisson.then(|| "poisson".to_owned()));
            self.left_out
                .insert("that a rate is an open loop: fio's rate_iops only slows a job down");
        }
        if let Some(think) = load.think_time {
            add(
                "thinktime",
                Some(format!("{}us", think.pause_ns.div_ceil(1_000))),
            );
            add("thinktime_blocks", Some(think.every.to_string()));
            add("thinktime_blocks_type", Some("issue".to_owned()));
        }
    }

    /// `rw` for a workload; the nearest one if fio has no name for its pattern.
    fn rw(&mut self, load: &Workload) -> String {
        let random = match load.pattern {
            Pattern::Random { distribution } => {
                if distribution != Distribution::Uniform {
                    self.left_out.insert("distributions of positions");
                }
                "rand"
            }
            Pattern::Sequential { .. } => "",
            Pattern::Stride { stride_bytes, .. } => {
                let gap = stride_bytes.saturating_sub(load.block_size_bytes);
                return format!("{}:{gap}", kind(load));
            }
        };
        match (random, kind(load)) {
            ("rand", "rw") => "randrw".to_owned(),
            (random, kind) => format!("{random}{kind}"),
        }
    }
}

fn kind(load: &Workload) -> &'static str {
    match (load.read_percent, load.discard_percent) {
        (100, _) => "read",
        (_, 100) => "trim",
        (0, 0) => "write",
        _ => "rw",
    }
}

/// A time in the largest of fio's units that divides it; fractions of a microsecond are dropped.
fn time(ns: u64) -> String {
    match ns {
        ns if ns.is_multiple_of(1_000_000_000) => (ns / 1_000_000_000).to_string(),
        ns if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns / 1_000),
    }
}

/// Percentiles of a summary, if present.
fn known_percentiles(
    row: &JobRow<'_>,
    path: &impl Fn(&str) -> String,
    latency: &LatencySummary,
) -> Vec<(f64, u64)> {
    let each = [
        (50.0, "p50", Some(latency.p50)),
        (90.0, "p90", Some(latency.p90)),
        (95.0, "p95", latency.p95),
        (99.0, "p99", Some(latency.p99)),
        (99.9, "p999", latency.p999),
    ];
    let given = each
        .into_iter()
        .filter_map(|(percent, name, value)| Some((percent, row.given(&path(name), value?)?)));
    given.collect()
}

/// Mean, deviation and extremes of interval rates, for reads or writes.
fn spread(row: &JobRow<'_>, name: &str, block: f64) -> Vec<(String, Value)> {
    let intervals = &row.job.outcome.intervals;
    let rates: Vec<f64> = intervals
        .iter()
        .filter(|interval| interval.duration_ns > 0)
        .map(|interval| {
            let operations = match name {
                "read" => interval.read_operations,
                "write" => interval.write_operations,
                _ => interval.discard_operations,
            };
            operations as f64 * 1e9 / interval.duration_ns as f64
        })
        .collect();
    if rates.is_empty() {
        return Vec::new();
    }
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let squares: f64 = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    let (min, max) = rates.iter().fold((f64::MAX, 0.0_f64), |(min, max), rate| {
        (min.min(*rate), max.max(*rate))
    });
    let kib = block / 1024.0;
    [
        ("bw_min", Value::from((min * kib) as u64)),
        ("bw_max", Value::from((max * kib) as u64)),
        ("bw_mean", Value::from(mean * kib)),
        ("bw_dev", Value::from(deviation * kib)),
        ("bw_samples", Value::from(rates.len())),
        ("iops_min", Value::from(min as u64)),
        ("iops_max", Value::from(max as u64)),
        ("iops_mean", Value::from(mean)),
        ("iops_stddev", Value::from(deviation)),
        ("iops_samples", Value::from(rates.len())),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
