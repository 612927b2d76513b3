//! Prints a report as SQLIO did, including tabs, widths and singular forms.
//!
//! In pieces, because SQLIO printed while it worked: [`head`], then for each file [`expanding`]
//! (and ` done.` after it) and [`size_line`], then [`tail`].

use super::arithmetic::HISTOGRAM_BINS;
use super::report::{AccessPattern, Growth, Latencies, Operation, Pool, Prepared, Report};
use std::fmt;
use std::fmt::Write;

impl fmt::Display for Report {
    /// The whole report, with line feeds between lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&head(self))?;
        for prepared in &self.prepared {
            if let Some(growth) = &prepared.growth {
                writeln!(f, "{} done.", expanding(&prepared.file, growth))?;
            }
            f.write_str(&size_line(prepared))?;
        }
        f.write_str(&tail(self))
    }
}

/// Everything before the files are prepared.
pub fn head(report: &Report) -> String {
    let mut text = format!("sqlio {}\n", report.version);
    if let Some(timer) = &report.timer {
        let (name, counts) = (&timer.name, timer.counts_per_second);
        line(
            &mut text,
            format_args!("using {name} counter for latency timings, {counts} counts per second"),
        );
    }
    if let Some(path) = &report.parameter_file {
        line(&mut text, format_args!("parameter file used: {path}"));
    }
    for pool in &report.pools {
        text.push_str(&pool_line(pool));
    }
    let (doing, preposition) = match report.operation {
        Operation::Read => ("reading", "from"),
        Operation::Write => ("writing", "to"),
    };
    line(
        &mut text,
        format_args!(
            "{} {doing} for {} secs {preposition} {}",
            threads(report.threads),
            report.seconds,
            files(&report.files)
        ),
    );
    let pattern = match &report.pattern {
        AccessPattern::Random => "random IOs",
        AccessPattern::Sequential => "sequential IOs",
        AccessPattern::Other(words) => words,
    };
    line(
        &mut text,
        format_args!("\tusing {}KB {pattern}", report.block_kib),
    );
    if let Some(outstanding) = report.outstanding {
        line(
            &mut text,
            format_args!("\tenabling multiple I/Os per thread with {outstanding} outstanding"),
        );
    }
    if let Some(buffering) = &report.buffering {
        line(&mut text, format_args!("\tbuffering set to {buffering}"));
    }
    for other in &report.other {
        line(&mut text, format_args!("{other}"));
    }
    text
}

/// The lines about a file that must grow, up to the dots shown meanwhile; without a line feed.
pub fn expanding(file: &str, growth: &Growth) -> String {
    format!(
        "size of file {file} needs to be: {} bytes\n\
         current file size:\t{} bytes\n\
         need to expand by:\t{} bytes\n\
         expanding {file} ...",
        growth.needed_bytes, growth.current_bytes, growth.by_bytes
    )
}

/// The line about a prepared file.
pub fn size_line(prepared: &Prepared) -> String {
    let which = if prepared.specified {
        "specified"
    } else {
        "current"
    };
    format!(
        "using {which} size: {} MB for file: {}\n",
        prepared.megabytes, prepared.file
    )
}

/// Everything from `initialization done` on.
pub fn tail(report: &Report) -> String {
    let mut text = "initialization done\nCUMULATIVE DATA:\nthroughput metrics:\n".to_owned();
    line(
        &mut text,
        format_args!("IOs/sec: {}", hundredths(report.iops_hundredths)),
    );
    line(
        &mut text,
        format_args!("MBs/sec: {}", hundredths(report.mib_hundredths)),
    );
    for other in &report.other_results {
        line(&mut text, format_args!("{other}"));
    }
    if report.initiation_us.is_some() || report.latency_ms.is_some() {
        text.push_str("latency metrics:\n");
    }
    if let Some(initiation) = &report.initiation_us {
        latencies(&mut text, "Init_Latency(us)", initiation);
    }
    if let Some(latency) = &report.latency_ms {
        latencies(&mut text, "Latency(ms)", latency);
    }
    if let Some(percents) = &report.histogram_percent {
        text.push_str("histogram:\n");
        text.push_str("ms: 0");
        for ms in 1..HISTOGRAM_BINS - 1 {
            let _ = write!(text, "{ms:3}");
        }
        text.push_str(" 24+\n%:");
        for percent in percents {
            let _ = write!(text, "{percent:3}");
        }
        text.push('\n');
    }
    text
}

fn line(text: &mut String, words: fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = writeln!(text, "{words}");
}

fn latencies(text: &mut String, name: &str, values: &Latencies) {
    for (which, value) in [
        ("Min", values.min),
        ("Avg", values.avg),
        ("Max", values.max),
    ] {
        line(text, format_args!("{which}_{name}: {value}"));
    }
}

fn pool_line(pool: &Pool) -> String {
    let range = match pool.threads {
        1 => pool.first.to_string(),
        _ => format!("{}-{}", pool.first, pool.last),
    };
    format!(
        "\tfile {} with {} ({range}) using mask {:#x} ({})\n",
        pool.file,
        threads(pool.threads),
        pool.mask,
        pool.mask
    )
}

/// `1 thread`, `2 threads`.
fn threads(count: u32) -> String {
    match count {
        1 => "1 thread".to_owned(),
        _ => format!("{count} threads"),
    }
}

/// `file A`, `files A and B`, `files A, B and C`.
fn files(names: &[String]) -> String {
    match names {
        [] => "file ".to_owned(),
        [one] => format!("file {one}"),
        [first @ .., last] => format!("files {} and {last}", first.join(", ")),
    }
}

/// At least eight wide, as with `%8.2f`.
fn hundredths(value: u64) -> String {
    let number = format!("{}.{:02}", value / 100, value % 100);
    format!("{number:>8}")
}
