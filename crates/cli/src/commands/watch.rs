//! `watch`: follows the run in progress in the terminal.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::style::printable;
use crate::show::terminal::say;
use crate::switches::serve::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;
use stripewise_campaign::live::{Cursor, IntervalNow, JobNow, KindNow, Now, RunNow, now};
use stripewise_report::wrapped_at;
use stripewise_units::{ByteSize, format_duration, format_iops, format_mib_per_s};
use stripewise_workload::operation_shares;

/// Interval between two reads of the store.
const PAUSE: Duration = Duration::from_millis(500);
/// Interval between two checks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
/// Reads without a run before concluding that none follows: between two runs of a
/// series there is briefly none.
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
        (Cursor::default(), PrintedRuns::default(), 0, false);
    let mut screen = Screen::default();
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
        } else if context.style.is_drawn() {
            let drawn = screen.drawn(&looked, context.width());
            context.output.print(drawn.as_bytes());
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
            // Nothing was measured here, so nothing is lost.
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

/// Maximum number of rates in a curve of characters.
const CURVE_MAX: usize = 60;
/// Before the rest of a line that a narrow terminal wraps.
const INDENT: &str = "    ";
/// Maximum number of ladder steps listed.
const STEPS_MAX: usize = 8;

/// The part of a terminal that is redrawn at each read.
#[derive(Default)]
struct Screen {
    /// Number of its lines drawn so far.
    height: usize,
    warned: BTreeSet<(String, String)>,
    /// The last rates of each job, and the text about the newest.
    jobs: BTreeMap<String, (Vec<f64>, String)>,
}

impl Screen {
    /// New warnings, which stay, and the rest over the previous drawing.
    fn drawn(&mut self, looked: &Now, width: usize) -> String {
        let mut text = match self.height {
            0 => String::new(),
            lines => format!("\x1b[{lines}A\x1b[J"),
        };
        // A line wrapped by the terminal would take two lines when redrawn.
        let room = width.saturating_sub(1);
        let mut wrapped = String::new();
        for run in &looked.runs {
            for warning in &run.warnings {
                let of = run.series.clone().unwrap_or_else(|| run.id.clone());
                if self.warned.insert((of, warning.code.clone())) {
                    let line = format!("warning[{}]: {}", warning.code, warning.text);
                    text.push_str(&printable(&wrapped_at(&line, "  ", width)));
                }
            }
            for line in self.run_lines(run, room) {
                wrapped.push_str(&wrapped_at(&line, INDENT, room));
            }
        }
        self.height = wrapped.lines().count();
        for line in wrapped.lines() {
            // A word alone may be longer.
            let line: String = line.chars().take(room).collect();
            let _ = writeln!(text, "{}", printable(&line));
        }
        text
    }

    fn run_lines(&mut self, run: &RunNow, room: usize) -> Vec<String> {
        let mut lines: Vec<String> = heading(run).lines().map(str::to_owned).collect();
        for job in &run.jobs {
            let of = run.series.as_ref().unwrap_or(&run.id);
            let (rates, newest) = self.jobs.entry(format!("{of} {}", job.name)).or_default();
            rates.extend(job.intervals.iter().map(|interval| interval.iops));
            let more = rates.len().saturating_sub(CURVE_MAX);
            rates.drain(..more);
            if let Some(interval) = job.intervals.last() {
                *newest = line("", interval);
            }
            lines.push(newest.clone());
            // Wrapping would shorten a longer curve.
            let drawn = room.saturating_sub(INDENT.len()).min(rates.len());
            lines.push(format!("  {}", curve(&rates[rates.len() - drawn..])));
        }
        let mut left = format!("  {} left of this run", format_duration(run.left_ns));
        if let Some(all_ns) = run.left_of_all_ns {
            let _ = write!(left, ", {} in total", format_duration(all_ns));
        }
        lines.push(left);
        let part = run.parts.iter();
        let part = part.filter(|part| run.series_part.as_ref() == Some(&part.name));
        for part in part.filter(|part| !part.steps.is_empty()) {
            let first = part.steps.len().saturating_sub(STEPS_MAX);
            let steps = part.steps[first..].iter();
            let steps = steps.map(|step| format!("{}: {}", step.in_flight, format_iops(step.iops)));
            let steps = steps.collect::<Vec<_>>().join("   ");
            lines.push(format!(
                "  {} so far, IOPS by in flight  {steps}",
                part.name
            ));
        }
        lines
    }
}

/// Rates as a curve of characters from 0 to the highest.
fn curve(rates: &[f64]) -> String {
    const SIGNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = rates.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let sign = |rate: &f64| SIGNS[((rate / most * 7.0).round() as usize).min(7)];
    let signs: String = rates.iter().map(sign).collect();
    format!("{signs}  0 to {} IOPS", format_iops(most))
}

/// Runs whose heading was printed, and printed warnings.
#[derive(Default)]
struct PrintedRuns {
    runs: BTreeSet<String>,
    warnings: BTreeSet<(String, String)>,
}

impl PrintedRuns {
    /// What is new, as lines.
    fn lines(&mut self, looked: &Now) -> String {
        let mut text = String::new();
        for run in &looked.runs {
            // The rest of a run whose beginning was printed.
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

/// `70 % reads`; with discards, every kind: `70 % writes, 30 % discards`.
fn mix(job: &JobNow) -> String {
    if job.discard_percent == 0 {
        return format!("{} % reads", job.read_percent);
    }
    let shares = operation_shares(job.read_percent, job.discard_percent);
    let each = shares.map(|(percent, kind)| format!("{percent} % {kind}s"));
    each.collect::<Vec<_>>().join(", ")
}

/// A line for each new interval; `run` is the one in progress.
fn lines(jobs: &[JobNow], run: Option<&RunNow>) -> String {
    let mut text = String::new();
    for job in jobs {
        for (number, interval) in job.intervals.iter().enumerate() {
            let name = match jobs.len() {
                1 => "",
                _ => &job.name,
            };
            text.push_str(&line(name, interval));
            // As of the time of reading: applies only to the newest line.
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

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_campaign::live::HostNow;

    fn interval(index: u64, iops: f64) -> IntervalNow {
        IntervalNow {
            index,
            start_ns: index * 1_000_000_000,
            duration_ns: 1_000_000_000,
            iops,
            mib_per_s: iops / 128.0,
            outstanding_mean: 8.0,
            errors: 0,
            read: None,
            write: None,
            discard: None,
        }
    }

    fn looked(intervals: Vec<IntervalNow>) -> Now {
        let job = JobNow {
            name: "job".to_owned(),
            target: "sim:\u{1b}[2Jx".to_owned(),
            pattern: "random".to_owned(),
            read_percent: 100,
            discard_percent: 0,
            block_size_bytes: 8_192,
            threads: 1,
            outstanding: 8,
            intervals,
        };
        let run = RunNow {
            id: "20260102-030405-abcd".to_owned(),
            is_between: false,
            is_alive: None,
            started_at: String::new(),
            label: None,
            series: None,
            series_part: None,
            host: "host".to_owned(),
            latency_limit: None,
            duration_ns: 10_000_000_000,
            measured_ns: 1_000_000_000,
            left_ns: 9_000_000_000,
            left_of_all_ns: None,
            jobs: vec![job],
            before: None,
            parts: Vec::new(),
            warnings: Vec::new(),
        };
        Now {
            schema_version: 1,
            at: String::new(),
            host: HostNow {
                name: "host".to_owned(),
                cpu_busy_ns: 0,
                cpu_idle_ns: 0,
            },
            runs: vec![run],
            cursor: String::new(),
        }
    }

    #[test]
    fn each_look_is_drawn_over_the_one_before() {
        let mut screen = Screen::default();
        let first = screen.drawn(&looked(vec![interval(0, 500.0)]), 60);
        assert!(!first.contains('\u{1b}'), "{first:?}");
        let lines = first.lines().count();
        assert!(lines >= 4 && first.lines().all(|line| line.chars().count() < 60));
        let second = screen.drawn(&looked(vec![interval(1, 1_000.0)]), 60);
        assert!(second.starts_with(&format!("\u{1b}[{lines}A\u{1b}[J")));
        assert!(second.contains("▅█  0 to 1,000 IOPS"), "{second}");
        // Without a new interval, the last one stays.
        let third = screen.drawn(&looked(Vec::new()), 60);
        assert!(third.contains("1,000 IOPS"), "{third}");
        // When nothing runs any more, nothing remains on the screen.
        let mut none = looked(Vec::new());
        none.runs.clear();
        assert_eq!(screen.drawn(&none, 60), format!("\u{1b}[{lines}A\u{1b}[J"));
        assert_eq!(screen.drawn(&none, 60), "");
    }

    #[test]
    fn a_narrow_terminal_wraps_lines_and_cuts_none() {
        let rates = (0..60).map(|second| interval(second, 500.0)).collect();
        let mut screen = Screen::default();
        let drawn = screen.drawn(&looked(rates), 50);
        assert!(drawn.lines().all(|line| line.chars().count() < 50));
        for words in ["1 x 8", "8.0 in flight", "0 to 500 IOPS", "9 s left"] {
            assert!(drawn.contains(words), "{words}: {drawn}");
        }
        assert_eq!(screen.height, drawn.lines().count());
    }
}
