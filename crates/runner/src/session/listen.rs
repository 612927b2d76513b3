//! Converts the driver's summaries for the listener.

use super::evidence::Watch;
use super::record;
use crate::{IntervalSummary, JobCounts, Observer, Phase};
use stripewise_io_engine::{Capabilities, Kind};
use stripewise_results::{Interval, IntervalSeries, RunRecord};

/// Stores and displays a run. All calls come on the thread that runs the session.
pub trait Listener {
    /// The engines are open and the workers were started.
    fn begin(&mut self, skeleton: &RunRecord);
    /// A measured interval of all jobs is complete: numbers in `intervals`, histograms in
    /// `summary`.
    fn interval(&mut self, summary: &IntervalSummary, intervals: &[Interval]);
    /// Measuring has ended, the drain begins. `record` has outcomes but no drain or warnings yet.
    fn measured(&mut self, record: &RunRecord);
    /// Time since the start of the workers; virtual for simulated arrays.
    fn tick(&mut self, now_ns: u64);
}

/// Observes the driver on behalf of a listener, and collects the intervals.
pub(super) struct RecordingObserver<'a> {
    record: &'a mut RunRecord,
    series: Vec<IntervalSeries>,
    /// By job: bytes read and written before measuring.
    ramp_bytes: Vec<[u64; 2]>,
    /// Real devices to sample meanwhile.
    watch: Option<&'a mut Watch>,
    measuring: bool,
    listener: &'a mut dyn Listener,
}

impl<'a> RecordingObserver<'a> {
    pub(super) fn new(
        record: &'a mut RunRecord,
        listener: &'a mut dyn Listener,
        watch: Option<&'a mut Watch>,
    ) -> Self {
        let jobs = record.jobs.len();
        RecordingObserver {
            record,
            series: vec![IntervalSeries::new(); jobs],
            ramp_bytes: vec![[0; 2]; jobs],
            watch,
            measuring: false,
            listener,
        }
    }

    /// Returns the field.
    pub(super) fn ramp_bytes(self) -> Vec<[u64; 2]> {
        self.ramp_bytes
    }
}

impl Observer for RecordingObserver<'_> {
    fn started(&mut self, capabilities: &[Capabilities]) {
        for (job, capabilities) in self.record.jobs.iter_mut().zip(capabilities) {
            record::engine(&mut job.engine, capabilities);
        }
        // Not earlier: if an engine cannot be opened, there is no run.
        self.listener.begin(self.record);
    }

    fn interval(&mut self, summary: &IntervalSummary) {
        if summary.phase != Phase::Measuring {
            for (bytes, counts) in self.ramp_bytes.iter_mut().zip(&summary.jobs) {
                bytes[0] += counts.kind(Kind::Read).bytes;
                bytes[1] += counts.kind(Kind::Write).bytes;
            }
            return;
        }
        let mut intervals: Vec<Interval> = Vec::with_capacity(summary.jobs.len());
        for (series, counts) in self.series.iter_mut().zip(&summary.jobs) {
            let latency_ns = counts.latency_ns();
            let interval = record::interval(summary, counts, &latency_ns);
            series.push(interval, Some(&latency_ns));
            intervals.push(interval);
        }
        self.listener.interval(summary, &intervals);
    }

    fn tick(&mut self, now_ns: u64) {
        // The queue is full once operations have been issued: the very first sample and those after
        // the stop are left out.
        if let Some(watch) = self.watch.as_mut().filter(|_| self.measuring) {
            watch.sample(now_ns);
        }
        self.measuring = true;
        self.listener.tick(now_ns);
    }

    fn measured(&mut self, jobs: &[JobCounts], measured_ns: u64) {
        self.watch = None;
        let series = std::mem::take(&mut self.series);
        for ((job, counts), series) in self.record.jobs.iter_mut().zip(jobs).zip(series) {
            let open = job.workload.has_due_times();
            job.outcome = record::outcome(counts, measured_ns, open, series.finish());
        }
        self.listener.measured(self.record);
    }
}
