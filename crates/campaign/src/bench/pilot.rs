//! Before a series that writes, or spends a burst credit of a simulated volume: how much is
//! absorbed, and which rate is sustained?

use super::{BenchOptions, Steps};
use stripewise_conductor::failure::Outcome;
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{PlacedJob, RunOptions, pilot_with};
use stripewise_conductor::pilot::{longest_ns, pilot_on};
use stripewise_conductor::targets::living_arrays;
use stripewise_io_engine::EngineName;
use stripewise_lab::ladder::Load;
use stripewise_lab::{SeriesKind, SeriesPlan};
use stripewise_results::RunRecord;
use stripewise_stats::PilotPlan;
use stripewise_studies::LoadPilot;
use stripewise_units::{ByteSize, is_sim_target};
use stripewise_workload::Workload;

/// Operations in flight of a pilot: enough to fill a cache, few enough to show the rate
/// behind it.
const IN_FLIGHT: u32 = 32;
/// On a real target, a pilot takes at most 1 / this of the time of its series ...
const SHARE: u64 = 2;
/// ... but never less than a quick one needs, if that remains at all.
const LEAST_NS: u64 = 11_000_000_000;
/// Time of a thorough one if nothing is absorbed.
const THOROUGH_NS: u64 = 130_000_000_000;

/// Expected time of the pilot before a series that writes; virtual time does not count.
pub(super) fn expected_ns(options: &BenchOptions) -> u64 {
    match options.qualify {
        _ if is_sim_target(&options.target) || options.engine == EngineName::Null => 0,
        true => THOROUGH_NS,
        false => LEAST_NS,
    }
}

impl Steps<'_> {
    /// Goes on until it is known how much a cache or a credit absorbs; the runs of the following
    /// series record the result, and begin past it.
    pub(super) fn pilot(&mut self, options: &BenchOptions, series: &SeriesPlan) -> Outcome<()> {
        (self.arrays, self.how.sustained) = (None, None);
        let Some(mut pilot) = self.pilot_before(options, series) else {
            return Ok(());
        };
        if self.opened[0].simulated().is_some() {
            self.arrays = Some(living_arrays(self.opened));
        }
        let series_options = RunOptions {
            series: (self.how.series.clone()).map(|(id, _)| (id, series.kind.name().to_owned())),
            ..self.how.clone()
        };
        let found = pilot_with(
            self.context,
            &mut pilot,
            &series_options,
            &mut |piece, options| self.piece_of_pilot(series.kind, piece, options),
        )?;
        self.how.sustained = Some(found);
        Ok(())
    }

    /// `None` if nothing absorbs the load, or there is no medium behind it.
    fn pilot_before(&self, options: &BenchOptions, series: &SeriesPlan) -> Option<LoadPilot> {
        let target = &self.opened[0];
        // With several hosts, each has its own array, new for every run.
        let is_simulated = target.simulated().is_some();
        let is_shared = is_simulated && self.leading.is_some();
        // What absorbs reads is known of simulated volumes only.
        if is_shared || !series.kind.writes() && !is_simulated {
            return None;
        }
        let in_flight = if series.kind.climbs() { IN_FLIGHT } else { 1 };
        let load = Load::spread(in_flight, series.limits.cores);
        let job = PlacedJob::new(
            series.kind.name(),
            Workload {
                threads: load.threads,
                outstanding: load.outstanding,
                ..series.workload.clone()
            },
        );
        let plan = PilotPlan {
            cache_bytes: options.cache_size_bytes,
            ..PilotPlan::new(!options.qualify)
        };
        pilot_on(target, &job, plan, Some(self.pilot_time_ns(series)))
    }

    /// Time for a pilot on a real target.
    fn pilot_time_ns(&self, series: &SeriesPlan) -> u64 {
        let elapsed_ns = self.elapsed();
        let Some((deadline_ns, end_ns)) = series.deadline_ns.zip(self.end_ns) else {
            return longest_ns(self.how.quick);
        };
        let own_ns = deadline_ns.saturating_sub(elapsed_ns);
        let all_ns = end_ns.saturating_sub(elapsed_ns);
        // The first step always runs.
        let most_ns = all_ns.saturating_sub(series.workload.length_ns());
        match most_ns < LEAST_NS {
            // What could not be finished would only take time from the ladder.
            true => 0,
            false => (own_ns / SHARE)
                .max(LEAST_NS)
                .min(most_ns)
                .min(longest_ns(self.how.quick)),
        }
    }

    fn piece_of_pilot(
        &mut self,
        kind: SeriesKind,
        piece: &PlacedJob,
        options: &RunOptions,
    ) -> Outcome<RunRecord> {
        let (elapsed_ns, length_ns) = (self.elapsed(), piece.workload.length_ns());
        let title = format!(
            "{} {}, until no cache absorbs it",
            kind.title(),
            ByteSize(piece.workload.block_size_bytes)
        );
        let later_ns = self.series_left_ns;
        self.progress.set_total(
            elapsed_ns
                .saturating_add(length_ns)
                .saturating_add(later_ns),
        );
        let place = RunPlace {
            title: &title,
            before_ns: elapsed_ns,
            expected_ns: length_ns,
            after_ns: Some(later_ns),
        };
        let virtual_ns = self.virtual_ns;
        let record = self.measured(piece.clone(), options, &place);
        // The given time is for the ladders.
        self.virtual_ns = virtual_ns;
        record
    }
}
