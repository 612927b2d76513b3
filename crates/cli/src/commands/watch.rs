//! `watch`: what runs now, in the terminal.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::terminal::say;
use crate::switches::serve::Watch;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;
use stripewise_campaign::live::{Cursor, IntervalNow, JobNow, KindNow, Now, RunNow, now};
use stripewise_units::{ByteSize, format_duration, format_iops, format_mib_per_s};
use stripewise_workload::operation_shares;

/// Between two looks at the store.
const PAUSE: Duration = Duration::from_millis(500);
/// Between two looks at whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(50);
/// Looks without a run before it is believed that nothing follows: between two runs of a
/// series there is none for a moment.
const LOOKS_MIN: u32 = 3;

pub fn watch(context: &Context, arguments: &Watch) -> Outcome {
    let view = context.view()?;
    if context.global.json && !context.global.events {
        context
            .output
            .print_json(&now(&view, &Cursor::default())?)?;
        return Ok(Exit::Done);
    }
    let (mut cursor, mut seen, mut without, mut any) =
        (Cursor::default(), Seen::default(), 0, false);
    loop {
        let looked = now(&view, &cursor)?;
        cursor = Cursor::of(&looked.cursor);
        any |= !looked.runs.is_empty();
        without = if looked.runs.is_empty() {
            without + 1
        } else {
            0
        };
        if context.global.events {
            context.output.print_line(&looked);
        } else {
            context.output.print_text(&seen.lines(&looked));
        }
        if without >= LOOKS_MIN && !arguments.follow {
            if !any {
                say!(
                    context.output,
                    "No run is in progress in this store; --follow waits for the next one."
                );
            }
            return Ok(Exit::Done);
        }
        if let Some(signal) = pause(context) {
            // Nothing was measured here, and nothing is lost.
            return Ok(Exit::Interrupted(signal));
        }
    }
}

fn pause(context: &Context) -> Option<u8> {
    let mut left = PAUSE;
    while !left.is_zero() {
        if let Some(signal) = context.signal() {
            return Some(signal);
        }
        std::thread::sleep(LOOK);
        left = left.saturating_sub(LOOK);
    }
    context.signal()
}

/// Runs whose heading was printed, and warnings.
#[derive(Default)]
struct Seen {
    runs: BTreeSet<String>,
    warnings: BTreeSet<(String, String)>,
}

impl Seen {
    /// What is new, as lines.
    fn lines(&mut self, looked: &Now) -> String {
        let mut text = String::new();
        for run in &looked.runs {
            // What is left of a run whose beginning was printed.
            let before = run.before.iter();
            for before in before.filter(|before| self.runs.contains(&before.run)) {
                text.push_str(&lines(&before.jobs, None));
            }
            for warning in &run.warnings {
                let of = run.series.clone().unwrap_or_else(|| run.id.clone());
                if self.warnings.insert((of, warning.code.clone())) {
                    let _ = writeln!(text, "warning[{}]: {}", warning.code, warning.text);
                }
            }
            if !run.is_between && self.runs.insert(run.id.clone()) {
                text.push_str(&heading(run));
            }
            if self.runs.contains(&run.id) {
                text.push_str(&lines(&run.jobs, Some(run).filter(|run| !run.is_between)));
            }
        }
        text
    }
}

fn heading(run: &RunNow) -> String {
    let mut text = String::new();
    for job in &run.jobs {
        let part = run
            .series_part
            .as_deref()
            .map_or_else(String::new, |part| format!("{part}: "));
        let label = run
            .label
            .as_deref()
            .map_or_else(String::new, |label| format!(", {label}"));
        let left = run.left_of_all_ns.map_or_else(String::new, |ns| {
            format!("; {} left in total", format_duration(ns))
        });
        let _ = writeln!(
            text,
            "{} {part}{} on {}, {}, {}, {} x {}{label}{left}",
            run.id,
            job.pattern,
            job.target,
            mix(job),
            ByteSize(job.block_size_bytes),
            job.threads,
            job.outstanding,
        );
    }
    text
}

/// `70 % reads`; with discards all that there is: `70 % writes, 30 % discards`.
fn mix(job: &JobNow) -> String {
    if job.discard_percent == 0 {
        return format!("{} % reads", job.read_percent);
    }
    let shares = operation_shares(job.read_percent, job.discard_percent);
    let each = shares.map(|(percent, kind)| format!("{percent} % {kind}s"));
    each.collect::<Vec<_>>().join(", ")
}

/// A line for each new interval; `run` is the one that goes on.
fn lines(jobs: &[JobNow], run: Option<&RunNow>) -> String {
    let mut text = String::new();
    for job in jobs {
        for (number, interval) in job.intervals.iter().enumerate() {
            let name = match jobs.len() {
                1 => "",
                _ => &job.name,
            };
            text.push_str(&line(name, interval));
            // Of the moment of looking: only the newest line is of that moment.
            let is_newest = number + 1 == job.intervals.len();
            if let Some(run) = run {
                text.push_str(&left(run, interval, is_newest));
            }
            text.push('\n');
        }
    }
    text
}

/// `  3 s left  1 m 20 s left in total`.
fn left(run: &RunNow, interval: &IntervalNow, is_newest: bool) -> String {
    let mut text = String::new();
    let end_ns = interval.start_ns.saturating_add(interval.duration_ns);
    let left = run.duration_ns.saturating_sub(end_ns);
    if left > 0 {
        let _ = write!(text, "  {} left", format_duration(left));
    }
    if let Some(all_ns) = run.left_of_all_ns.filter(|_| is_newest) {
        let _ = write!(text, "  {} left in total", format_duration(all_ns));
    }
    text
}

/// `  12 s   9,812 IOPS   76.7 MiB/s  reads p50 1.2 ms p99 4.8 ms  8.0 in flight`.
fn line(name: &str, interval: &IntervalNow) -> String {
    let end_ns = interval.start_ns.saturating_add(interval.duration_ns);
    let name = match name {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let mut text = format!(
        "{:>8}  {name}{:>9} IOPS {:>12}",
        format_duration(end_ns),
        format_iops(interval.iops),
        format_mib_per_s(interval.mib_per_s),
    );
    for (name, kind) in interval.kinds() {
        if let Some(kind) = kind {
            text.push_str(&latencies(kind, &format!("{name}s")));
        }
    }
    let _ = write!(text, "  {:.1} in flight", interval.outstanding_mean);
    if interval.errors > 0 {
        let _ = write!(text, "  {} failed", interval.errors);
    }
    text
}

fn latencies(kind: &KindNow, word: &str) -> String {
    let mut text = format!(
        "  {word} p50 {} p99 {}",
        format_duration(kind.latency_ns_p50),
        format_duration(kind.latency_ns_p99)
    );
    if let Some(ns) = kind.latency_ns_p999 {
        let _ = write!(text, " p99.9 {}", format_duration(ns));
    }
    text
}
