//! Observes this machine through the kernel's events.
//!
//! Nothing is written meanwhile: pages are read from the kernel's buffers, accumulated, and
//! discarded.

use super::events::{EventStream, ORDER_NS};
use super::watched::{Watched, note_on_store, watched};
use super::{ObserveOptions, Observed, totals};
use crate::steps::observation::capture::{Capture, DeviceModelBuilder};
use crate::steps::observation::files::FileCounts;
use crate::steps::observation::groups::{GroupWatch, limits_on};
use crate::steps::observation::known_files::KnownFiles;
use crate::steps::observation::pressure::Pressure;
use crate::steps::observation::raw_trace::RawTrace;
use crate::steps::observation::result::{Names, blamed, closedness, devices};
use crate::steps::observation::{ObservationDocument, ObservationSource, ObservedTarget, words};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::Progress;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_machine::Throttle;
use stripewise_machine::observe::Snapshot;
use stripewise_machine::tracefs::{TraceError, TraceInstance, TraceRequest};
use stripewise_trace::Operation;
use stripewise_trace::blame::{DeviceBlame, WindowFacts};
use stripewise_trace::closedness::share_of_lost;
use stripewise_trace::observation::Moment;
use stripewise_units::{ByteSize, DeviceNumber, format_bytes, format_count};

/// Total size of the kernel's buffers: default, minimum and maximum.
pub const BUFFER_BYTES: u64 = 32 << 20;
const BUFFER_BYTES_MIN: u64 = 1 << 20;
const BUFFER_BYTES_MAX: u64 = 4 << 30;
/// Interval of reading the buffers.
const ROUND: Duration = Duration::from_millis(20);
/// Interval of progress lines.
const LINE_NS: u64 = 1_000_000_000;
/// Interval of updating the lists of files, and the longest of reading limits.
const FILES_NS: u64 = 5_000_000_000;
/// Shortest interval of reading limits: a limit that is set for longer is seen.
const LIMITS_NS: u64 = 1_000_000_000;
/// Maximum number of limits remembered.
const THROTTLES_MAX: usize = 1_024;
/// Events older than this before a round's start are certain to be in the buffers.
const MARGIN_NS: u64 = 1_000_000;

/// Observes this machine.
pub fn observe_live(context: &Context, options: &ObserveOptions) -> Outcome<Observed> {
    let watched = watched(options.target.as_deref())?;
    check(options, watched.len())?;
    let own = processes(options)?;
    let numbers: BTreeSet<DeviceNumber> = watched.iter().map(|one| one.number).collect();
    let request = TraceRequest {
        devices: with_partitions(&numbers),
        callers: own.iter().copied().collect(),
        buffer_bytes: options.buffer_bytes,
    };
    let started_at = context.timestamp();
    let before = Snapshot::take(&stripewise_machine::System::live(), &[], &[]);
    let clock_offset_ns = before.clocks.monotonic_ns.saturating_sub(context.now_ns());
    // Reading the counters of many groups takes time, while recorded events would have to wait.
    let groups = GroupWatch::start();
    let instance = match TraceInstance::start(&request) {
        Ok(instance) => instance,
        Err(error) => return without_events(context, options, &numbers, &error),
    };
    let stream = EventStream::new(instance.header_page(), instance.formats(), own.clone());
    let stream = stream.ok_or_else(|| {
        Failure::target(
            "the kernel describes its events in a way that is not known",
            "observe with `trace-cmd`, and read its report with --from FILE",
        )
    })?;
    let mut live = Live {
        context,
        options,
        watched,
        instance,
        stream,
        system: System::live(),
        capture: Capture {
            model: options.wants_model.then(DeviceModelBuilder::default),
            files: Some(FileCounts::default()),
            ..Capture::default()
        },
        files: KnownFiles::new(options.target.as_deref()),
        pressure: Pressure::default(),
        throttles: Vec::new(),
        second: Moment::default(),
        raw: options
            .keeps_trace
            .then(|| RawTrace::new(options.is_anonymous)),
        clock_offset_ns,
    };
    let begun_ns = live.monotonic_ns();
    live.run()?;
    let observed_ns = live.monotonic_ns().saturating_sub(begun_ns);
    let groups = groups.finish();
    live.end()?;
    let after = Snapshot::take(&stripewise_machine::System::live(), &[], &[]);
    let cpu_ns = |one: &Snapshot| one.own_cpu_user_ns + one.own_cpu_system_ns;
    let used_ns = cpu_ns(&after).saturating_sub(cpu_ns(&before));
    let mut document = ObservationDocument {
        started_at,
        overhead_percent: Some(100.0 * used_ns as f64 / observed_ns.max(1) as f64),
        ..live.document(observed_ns)
    };
    groups.add_to(&mut document.devices, options.is_anonymous);
    Ok(Observed {
        document,
        model: live.capture.finish_model(),
        trace: live.raw.take().and_then(RawTrace::finish),
    })
}

/// How fewer events are lost than with this much room in the kernel, for all devices or for some.
fn remedy(buffer_bytes: u64, is_of_all: bool) -> String {
    let more = buffer_bytes.saturating_mul(4).min(BUFFER_BYTES_MAX);
    let room = (more > buffer_bytes)
        .then(|| format!("give the kernel more room with --buffer {}", ByteSize(more)));
    let fewer = is_of_all.then(|| "name a device, so that fewer events are recorded".to_owned());
    let both: Vec<String> = room.into_iter().chain(fewer).collect();
    match both.is_empty() {
        true => "observe for a shorter time".to_owned(),
        false => both.join(", or "),
    }
}

/// What cannot be observed is refused before anything is recorded.
fn check(options: &ObserveOptions, devices: usize) -> Outcome<()> {
    if options.duration_ns == 0 {
        return Err(Failure::usage(
            "nothing is seen in no time",
            "observe for a second at least: <--duration> 10s",
        ));
    }
    let room = BUFFER_BYTES_MIN..=BUFFER_BYTES_MAX;
    if !room.contains(&options.buffer_bytes) {
        return Err(Failure::usage(
            format!(
                "--buffer {} is not between {} and {}",
                ByteSize(options.buffer_bytes),
                format_bytes(BUFFER_BYTES_MIN),
                format_bytes(BUFFER_BYTES_MAX)
            ),
            "leave it out, or give --buffer 128M",
        ));
    }
    if options.wants_model && devices != 1 {
        return Err(Failure::usage(
            "a model is of one device",
            "name it: `stripewise observe /dev/sda --model load.swmodel`",
        ));
    }
    Ok(())
}

/// The named processes and their descendants.
fn processes(options: &ObserveOptions) -> Outcome<BTreeSet<i32>> {
    let Some(pid) = options.pid else {
        return Ok(BTreeSet::new());
    };
    let tree = stripewise_machine::System::live().process_tree(pid);
    if tree.is_empty() {
        return Err(Failure::usage(
            format!("there is no process {pid}"),
            "name one that runs: `ps -e` lists them",
        ));
    }
    Ok(tree.into_iter().collect())
}

/// Kernels before 5.12 attribute operations queued to a partition to that partition.
fn with_partitions(numbers: &BTreeSet<DeviceNumber>) -> Vec<DeviceNumber> {
    let system = System::live();
    let partitions = numbers.iter().flat_map(|&number| system.partitions(number));
    let partitions: Vec<DeviceNumber> = partitions.map(|one| one.number).collect();
    numbers.iter().copied().chain(partitions).collect()
}

/// Totals from the system's counters, if events are not available.
fn without_events(
    context: &Context,
    options: &ObserveOptions,
    numbers: &BTreeSet<DeviceNumber>,
    error: &TraceError,
) -> Outcome<Observed> {
    if options.wants_model || options.keeps_trace || options.pid.is_some() {
        return Err(Failure::target(error.to_string(), error.hint()));
    }
    totals::observe_counters(context, options, numbers, error)
}

struct Live<'a> {
    context: &'a Context,
    options: &'a ObserveOptions,
    watched: Vec<Watched>,
    instance: TraceInstance,
    stream: EventStream,
    system: System,
    capture: Capture,
    files: KnownFiles,
    pressure: Pressure,
    /// Completions since the last line of progress.
    second: Moment,
    /// The operations themselves, if requested.
    raw: Option<RawTrace>,
    /// Limits of control groups seen at any time.
    throttles: Vec<Throttle>,
    /// Offset of the event clock from the program's.
    clock_offset_ns: u64,
}

impl Live<'_> {
    fn monotonic_ns(&self) -> u64 {
        self.context.now_ns() + self.clock_offset_ns
    }

    fn run(&mut self) -> Outcome<()> {
        let observer = self.context.observer();
        let duration_ns = self.options.duration_ns;
        let progress = Progress::begin(observer, false, duration_ns, "Observing");
        let begun_ns = self.context.now_ns();
        let (mut line_ns, mut files_ns) = (begun_ns, begun_ns);
        self.learn_files();
        let mut limits_due_ns = self.read_limits();
        loop {
            let now_ns = self.context.now_ns();
            let passed_ns = now_ns - begun_ns;
            if passed_ns >= duration_ns || self.context.signal().is_some() {
                return Ok(());
            }
            std::thread::sleep(ROUND.min(Duration::from_nanos(duration_ns - passed_ns)));
            self.round()?;
            let now_ns = self.context.now_ns();
            if now_ns - line_ns >= LINE_NS {
                let left_ns = duration_ns.saturating_sub(now_ns - begun_ns);
                let second = std::mem::take(&mut self.second);
                let title = match now_ns - begun_ns >= ORDER_NS + LINE_NS {
                    true => words::now(&second, now_ns - line_ns),
                    // Operations become known with that delay.
                    false => "Observing".to_owned(),
                };
                progress.update((now_ns - begun_ns).min(duration_ns), &title, Some(left_ns));
                line_ns = now_ns;
            }
            if now_ns >= limits_due_ns {
                limits_due_ns = self.read_limits();
            }
            if now_ns - files_ns >= FILES_NS {
                self.learn_files();
                files_ns = now_ns;
            }
        }
    }

    /// Reads all buffers once, and accumulates completed operations.
    fn round(&mut self) -> Outcome<()> {
        let certain_ns = self.monotonic_ns().saturating_sub(MARGIN_NS);
        self.pressure.look(self.monotonic_ns());
        let stream = &mut self.stream;
        let read = self.instance.read(&mut |_, page| stream.page(page));
        read.map_err(|error| {
            Failure::target(
                format!("cannot read the kernel's events: {error}"),
                "see the kernel's log: `dmesg`",
            )
        })?;
        stream.pair_before(certain_ns);
        while let Some(operation) = self.stream.next_operation() {
            self.fold(operation);
        }
        Ok(())
    }

    /// Stops recording, and processes the rest.
    fn end(&mut self) -> Outcome<()> {
        // The contents of the buffers can be read anyway.
        let _ = self.instance.pause();
        self.round()?;
        for operation in self.stream.finish() {
            self.fold(operation);
        }
        self.read_limits();
        self.learn_files();
        Ok(())
    }

    fn fold(&mut self, operation: Operation) {
        let of_own = self.stream.tasks().pid(operation.task);
        let is_observer = of_own == i32::try_from(std::process::id()).ok();
        if is_observer || !self.is_watched(&operation) {
            return;
        }
        if let Some(raw) = &mut self.raw {
            raw.add(&operation, self.stream.tasks());
        }
        let latency_ns = operation.latency_ns();
        self.second
            .add(&Moment::of(operation.size_bytes, latency_ns));
        // It is the only device, as checked before.
        self.capture.add(&operation);
    }

    fn is_watched(&self, operation: &Operation) -> bool {
        let is_here = |one: &Watched| {
            one.number == operation.device
                && one.range.is_none_or(|(from, to)| {
                    // A flush has no position.
                    operation.size_bytes == 0 || (from..to).contains(&operation.offset_bytes)
                })
        };
        self.watched.is_empty() || self.watched.iter().any(is_here)
    }

    /// Adds limits of control groups that are set now. Returns when the next look is due.
    fn read_limits(&mut self) -> u64 {
        let begun_ns = self.context.now_ns();
        for throttle in self.system.all_throttles() {
            if self.throttles.len() < THROTTLES_MAX && !self.throttles.contains(&throttle) {
                self.throttles.push(throttle);
            }
        }
        let ended_ns = self.context.now_ns();
        ended_ns + limits_pause_ns(ended_ns - begun_ns)
    }

    /// Attributes slow operations on each device.
    fn judge(&self, lost_share: f64) -> Vec<DeviceBlame> {
        let tasks = self.stream.tasks();
        let own = &self.stream.processes.own;
        let is_own = |task| tasks.pid(task).is_some_and(|pid| own.contains(&pid));
        let load_of = |task| self.stream.load_of(task);
        let facts = WindowFacts {
            tasks,
            load_of: Some(&load_of),
            own: self.options.pid.is_some().then_some(&is_own),
            slow_ns: self.options.slow_ns,
            lost_share,
            processor_pressure: &|from, to| self.pressure.between(from, to),
            limits: &|device| Some(limits_on(&self.throttles, device)),
        };
        self.capture.window.judge(&facts)
    }

    /// Notes on interpreting the numbers.
    fn notes(&self, lost: u64, lost_share: f64) -> Vec<String> {
        let mut notes = Vec::new();
        let remedy = remedy(self.options.buffer_bytes, self.watched.is_empty());
        notes.extend(words::of_loss(lost, lost_share, &remedy));
        if self.capture.window.kept_share() < 1.0 {
            notes.push(format!(
                "causes were judged by the quickest and slowest {:.0} % of the operations",
                100.0 * self.capture.window.kept_share()
            ));
        }
        let observed = self.watched.iter().map(|one| one.number).collect();
        notes.extend(note_on_store(self.context, &observed));
        let left_out = self.raw.as_ref().map_or(0, |raw| raw.left_out);
        if left_out > 0 {
            notes.push(format!(
                "the trace in the file lacks the last {} operations: memory for it was full",
                format_count(left_out)
            ));
        }
        notes
    }

    fn learn_files(&mut self) {
        let processes = match self.stream.processes.own.is_empty() {
            true => &self.stream.processes.all,
            false => &self.stream.processes.own,
        };
        let known = &mut self.files;
        if let Some(files) = &mut self.capture.files {
            files.learn(|map| known.learn(processes, map));
        }
    }

    fn document(&mut self, observed_ns: u64) -> ObservationDocument {
        let lost = self.instance.lost().events;
        let recorded = self.stream.recorded();
        let lost = lost + recorded.damaged + recorded.late_events;
        let lost_share = share_of_lost(lost, recorded.events);
        let system = &self.system;
        let mut known: BTreeMap<DeviceNumber, String> = BTreeMap::new();
        let observation = std::mem::take(&mut self.capture.statistics).finish(Some(observed_ns));
        for one in &observation.devices {
            let name = system.device(one.device).map(|device| device.name);
            known.insert(one.device, name.unwrap_or_else(|_| one.device.to_string()));
        }
        let device = |number: DeviceNumber| {
            let name = known.get(&number).cloned();
            name.unwrap_or_else(|| number.to_string())
        };
        let titles = &self.stream.processes.titles;
        let title = |pid: i32| titles.get(&pid).cloned();
        let names = Names {
            tasks: self.stream.tasks(),
            device: &device,
            title: &title,
            is_here: true,
            is_anonymous: self.options.is_anonymous,
        };
        let load = self.capture.closedness(lost_share);
        let judged = self.judge(lost_share);
        let (blame, verdicts) = blamed(&judged, observation.first_ns, &names);
        let files = self.capture.files.as_ref();
        let files_of = |device| files.map(|files| files.shares(device)).unwrap_or_default();
        let interrupted = self.context.signal().is_some();
        ObservationDocument {
            target: ObservedTarget {
                name: self.options.shown_target(),
            },
            source: ObservationSource {
                kind: "kernel".to_owned(),
                events: Some(recorded.events),
                recorded: (self.options.written_to.as_deref())
                    .and_then(|path| self.options.recorded(path)),
                ..ObservationSource::default()
            },
            observed_s: observed_ns as f64 / 1e9,
            lost_events: Some(lost),
            cut_short: interrupted.then(|| "interrupted".to_owned()),
            notes: self.notes(lost, lost_share),
            devices: devices(&observation, &files_of, &names, lost_share),
            blame,
            verdicts,
            closedness: closedness(&load, &names),
            ..ObservationDocument::default()
        }
    }
}

/// How long limits are not read after a look that took so long: of thousands of groups a look takes
/// tens of milliseconds, and should not take more than a hundredth of the time.
fn limits_pause_ns(took_ns: u64) -> u64 {
    took_ns.saturating_mul(100).clamp(LIMITS_NS, FILES_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_every_second_where_that_is_cheap() {
        let pauses_ms =
            [0, 500_000, 20_000_000, 80_000_000].map(|ns| limits_pause_ns(ns) / 1_000_000);
        assert_eq!(pauses_ms, [1_000, 1_000, 2_000, 5_000]);
    }

    #[test]
    fn what_helps_against_loss_is_what_was_not_done_yet() {
        assert_eq!(
            remedy(128 << 20, true),
            "give the kernel more room with --buffer 512M, or name a device, so that fewer events \
             are recorded"
        );
        assert!(remedy(2 << 30, false).ends_with("--buffer 4G"));
        assert!(remedy(BUFFER_BYTES_MAX, true).starts_with("name a device"));
        assert_eq!(
            remedy(BUFFER_BYTES_MAX, false),
            "observe for a shorter time"
        );
    }
}
