//! From the driver's summaries to the listener's words.

use super::record;
use crate::{IntervalSummary, JobCounts, Observer, Phase};
use stripewise_io_engine::Capabilities;
use stripewise_results::{Interval, IntervalSeries, RunRecord};

/// Who keeps and shows a run. All calls come on the thread that runs the session.
pub trait Listener {
    /// The run is about to start.
    fn begin(&mut self, skeleton: &RunRecord);
    /// A measured interval of all jobs is complete: numbers in `intervals`,
    /// histograms in `summary`.
    fn interval(&mut self, summary: &IntervalSummary, intervals: &[Interval]);
    /// Measuring is over, the drain begins. `record` holds outcomes but neither
    /// drain nor warnings yet.
    fn measured(&mut self, record: &RunRecord);
    /// Time passes: since the start of the workers; virtual for simulated arrays.
    fn tick(&mut self, now_ns: u64);
}

/// Listens to the driver on behalf of a listener, and keeps the intervals.
pub(super) struct Ears<'a> {
    record: &'a mut RunRecord,
    series: Vec<IntervalSeries>,
    listener: &'a mut dyn Listener,
}

impl<'a> Ears<'a> {
    pub(super) fn new(record: &'a mut RunRecord, listener: &'a mut dyn Listener) -> Self {
        let series = vec![IntervalSeries::new(); record.jobs.len()];
        Ears { record, series, listener }
    }
}

impl Observer for Ears<'_> {
    fn started(&mut self, capabilities: &[Capabilities]) {
        for (job, capabilities) in self.record.jobs.iter_mut().zip(capabilities) {
            record::engine(&mut job.engine, capabilities);
        }
    }

    fn interval(&mut self, summary: &IntervalSummary) {
        if summary.phase != Phase::Measuring {
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

    fn measured(&mut self, jobs: &[JobCounts], measured_ns: u64) {
        let series = std::mem::take(&mut self.series);
        for ((job, counts), series) in self.record.jobs.iter_mut().zip(jobs).zip(series) {
            let open = job.workload.rate.is_some();
            job.outcome = record::outcome(counts, measured_ns, open, series.finish());
        }
        self.listener.measured(self.record);
    }

    fn tick(&mut self, now_ns: u64) {
        self.listener.tick(now_ns);
    }
}
