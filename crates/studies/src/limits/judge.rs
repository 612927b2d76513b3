//! From rates to the document: caps with their names, the limit that applies to each load, and
//! refusals.

use super::burst::Burst;
use super::document::{
    AppliesTo, BurstFound, BurstResult, BurstSearch, CapFound, CapKind, CellFound, Limit,
    LimitsDocument, LimitsFacts, LoadApplies, LoadKind, SCHEMA_VERSION,
};
use super::text::{self, MIB};
use super::{LimitsStudy, Planned};
use crate::{NextStep, Study};
use stripewise_results::InFullRecord;
use stripewise_stats::{
    BoundBy, Cap, Caps, Counting, Estimate, LimitCell, Nature, NatureFound, REPETITIONS_MIN,
    Sharing, TokenBucket, binding,
};

/// Loads this close to a corner are held by both of its limits.
const CORNER_RATIO: f64 = 1.25;
/// Block size of reads one at a time, which show latency.
const SINGLE_BYTES: u64 = 4 << 10;
/// A corner is measured in steps of 4 KiB: a load further beyond it has one limit.
const CORNER_STEP_RATIO: f64 = 1.1;
/// A cap on bytes below this share of what the units move may be a separate cap.
const UNITS_SHARE: f64 = 0.98;
/// Loads that count as equal although they differ by more than this form no plateau.
const TOLERANCE_MAX: f64 = 0.10;
/// A cap without a known limiter holds a load only if rates are known to within this.
const LEVEL_TOLERANCE_MAX: f64 = 0.06;
/// The processor or a control group holds a load if it held at least this share of its runs.
const HELD_SHARE: f64 = 0.5;

impl LimitsStudy {
    /// The document from what is known so far.
    pub fn document(&self, facts: &LimitsFacts) -> LimitsDocument {
        let is_whole = !self.is_partial() || self.rates.shows_refusals();
        let caps = self.rates.caps().filter(|_| is_whole);
        let nature = caps.and_then(|_| self.rates.nature());
        let refused = self.refusal(caps.as_ref());
        let control_group = facts.control_group.clone().map(|mut group| {
            group.reached = !self.control_group.is_empty();
            group
        });
        let named = match (&caps, &refused) {
            (Some(caps), None) => self.caps_found(caps, nature.as_ref()),
            _ => Vec::new(),
        };
        let grid = self.grid();
        let counting = self.counting(caps.as_ref(), &named);
        let counted_unit_bytes = match counting {
            Counting::Units(unit) => Some(unit),
            Counting::Bytes | Counting::Either(_) => None,
        };
        LimitsDocument {
            schema_version: SCHEMA_VERSION,
            id: facts.id.clone(),
            target: facts.target.clone(),
            measured_at: facts.measured_at.clone(),
            host: facts.host.clone(),
            // Rates that void a cap show no latency either.
            applies: self.applies(
                caps.as_ref().filter(|_| refused.is_none()),
                &named,
                counted_unit_bytes,
            ),
            may_be_burst: self.may_be_burst(&named),
            notes: self.notes(caps.as_ref(), &named, counting),
            caps: of_bytes_untested(named, counted_unit_bytes),
            control_group,
            burst: self.burst_found(),
            burst_search: self.burst_search(),
            volume: self
                .volume
                .as_ref()
                .map(super::volume::VolumeObservation::found),
            names: Vec::new(),
            cells: grid,
            scatter_percent: caps.map(|caps| 100.0 * caps.scatter),
            limiter_probability: nature.map(|found| found.limiter_probability),
            counted_unit_bytes,
            partial: self.is_partial(),
            refused,
            price_per_1000_iops: None,
            step_ns: Some(self.options.run_ns),
            duration_ns: self.spent_ns,
            seed: self.options.seed,
        }
    }

    /// Stopped before its end: the results so far are certain, but incomplete.
    fn is_partial(&self) -> bool {
        self.interrupted || self.next() != NextStep::Done
    }

    /// The cells that were measured; of two with the same load the first.
    fn cells(&self) -> Vec<LimitCell> {
        let corners = [
            LimitCell::SizeCorner,
            LimitCell::BeyondUnit,
            LimitCell::DepthCorner,
        ];
        let load = |cell: LimitCell| {
            let size = self.rates.block_size_bytes(cell);
            (size, self.rates.outstanding(cell), kind_of(cell))
        };
        let mut cells: Vec<LimitCell> = Vec::new();
        for cell in LimitCell::FIXED.into_iter().chain(corners) {
            let is_new = cells.iter().all(|other| load(*other) != load(cell));
            if is_new && !self.rates.of(cell).is_empty() {
                cells.push(cell);
            }
        }
        cells
    }

    fn grid(&self) -> Vec<CellFound> {
        let found = self.cells().into_iter().filter_map(|cell| {
            let load = (
                self.rates.block_size_bytes(cell)?,
                self.rates.outstanding(cell)?,
            );
            let runs = self.rates.of(cell).len();
            Some(cell_found(
                load,
                kind_of(cell),
                self.rates.rate(cell)?,
                runs,
            ))
        });
        let mut found: Vec<CellFound> = found.collect();
        let own = self.options.load.zip(binding(&self.binding));
        if let Some((load, binding)) = own {
            let runs = self.binding.load.len();
            let own = cell_found(load, LoadKind::Reads, binding.per_s, runs);
            let is_same = |cell: &CellFound| {
                (cell.block_size_bytes, cell.outstanding, cell.kind) == (load.0, load.1, own.kind)
            };
            if !found.iter().any(is_same) {
                found.push(own);
            }
        }
        found
    }

    /// Why no cap may be named.
    fn refusal(&self, caps: Option<&Caps>) -> Option<String> {
        if let Some(obstacle) = self.obstacle() {
            return Some(obstacle.message.clone());
        }
        let of_caps = [LimitCell::Small, LimitCell::Medium, LimitCell::HalfDepth];
        let all_held = |by: &[Planned]| {
            let mut cells = of_caps.into_iter();
            cells.all(|cell| self.is_held(by, Planned::Grid(cell)))
        };
        if all_held(&self.processor) && !all_held(&self.control_group) {
            return Some(
                "this host's processor was the limit of small operations, not the target"
                    .to_owned(),
            );
        }
        let caps = caps?;
        let shows = caps.iops.is_some() || caps.bytes_per_s.is_some();
        if shows && caps.tolerance > TOLERANCE_MAX {
            return Some(format!(
                "{} {:.0} %, so that a level rate cannot be told from a rising one",
                text::SCATTERS,
                100.0 * caps.scatter
            ));
        }
        let drift = caps.drift?;
        Some(text::drift(&drift))
    }

    fn is_held(&self, by: &[Planned], planned: Planned) -> bool {
        let runs = match planned {
            Planned::Grid(cell) => self.rates.of(cell).len(),
            _ => self.binding.load.len(),
        };
        let held = by.iter().filter(|one| **one == planned).count();
        held > 0 && held as f64 >= HELD_SHARE * runs as f64
    }

    fn caps_found(&self, caps: &Caps, nature: Option<&NatureFound>) -> Vec<CapFound> {
        let sharing = nature.map_or(self.default_sharing(), |found| found.sharing);
        let applies_to = match sharing {
            Sharing::Shared => AppliesTo::Both,
            Sharing::Untested => AppliesTo::ReadsUntestedWrites,
            Sharing::Separate | Sharing::Neither => AppliesTo::Reads,
        };
        // A known control group is named instead of a limiter; limits that the volume
        // reports are not estimates.
        let limiter = |kind| match nature.map(|found| found.nature) {
            _ if !self.control_group.is_empty() => None,
            _ if self.volume.as_ref().is_some_and(|seen| seen.holds(kind)) => Some(true),
            Some(Nature::Limiter) => Some(true),
            Some(Nature::Device) => Some(false),
            Some(Nature::Undecided) | None => None,
        };
        let found = |kind, applies_to, per_s: Estimate| CapFound {
            kind,
            applies_to,
            per_s: per_s.value,
            per_s_low: per_s.low,
            per_s_high: per_s.high,
            limiter: limiter(kind),
        };
        let mut all = Vec::new();
        all.extend(
            caps.iops
                .map(|cap| found(CapKind::Iops, applies_to, cap.per_s)),
        );
        if let (Some(iops), Sharing::Separate, Some(true)) =
            (caps.iops, sharing, limiter(CapKind::Iops))
            && let Some(rate) = self.rates.rate(LimitCell::Writes)
        {
            let scale = rate / iops.per_s.value;
            let per_s = iops.per_s.map(|value| value * scale);
            // A device whose writes are slower than reads runs a mix at twice their rate, too.
            let is_equal = (scale - 1.0).abs() < caps.tolerance;
            all.push(CapFound {
                limiter: is_equal.then_some(true),
                ..found(CapKind::Iops, AppliesTo::Writes, per_s)
            });
        }
        // Large operations were only read.
        let of_bytes = match applies_to {
            AppliesTo::Both => AppliesTo::Both,
            AppliesTo::ReadsUntestedWrites => AppliesTo::ReadsUntestedWrites,
            _ => AppliesTo::Reads,
        };
        all.extend(
            caps.bytes_per_s
                .map(|cap| found(CapKind::BytesPerS, of_bytes, cap.per_s)),
        );
        all
    }

    /// How large operations count, where both caps are named. Units are a limiter's: a device's
    /// rate beyond the corner may come close by chance.
    fn counting(&self, caps: Option<&Caps>, named: &[CapFound]) -> Counting {
        let of = |kind| named.iter().find(|cap| cap.kind == kind);
        let (Some(caps), Some(iops), Some(_)) = (caps, of(CapKind::Iops), of(CapKind::BytesPerS))
        else {
            return Counting::Bytes;
        };
        match (caps.counting, iops.limiter) {
            (_, Some(false)) => Counting::Bytes,
            _ if !self.control_group.is_empty() => Counting::Bytes,
            (Counting::Units(unit), None) => Counting::Either(unit),
            (counting, _) => counting,
        }
    }

    fn default_sharing(&self) -> Sharing {
        match self.options.writes {
            true => Sharing::Neither,
            false => Sharing::Untested,
        }
    }

    fn applies(
        &self,
        caps: Option<&Caps>,
        named: &[CapFound],
        unit_bytes: Option<u64>,
    ) -> Vec<LoadApplies> {
        let mut all: Vec<LoadApplies> = self
            .cells()
            .into_iter()
            .filter_map(|cell| {
                Some(LoadApplies {
                    block_size_bytes: self.rates.block_size_bytes(cell)?,
                    kind: kind_of(cell),
                    outstanding: self.rates.outstanding(cell)?,
                    limits: self.limits_of(cell, caps, named, unit_bytes)?,
                })
            })
            .collect();
        if let Some((block_size_bytes, outstanding)) = self.options.load
            && let Some(limits) = self.limits_of_load(caps, named, unit_bytes)
        {
            let own = LoadApplies {
                block_size_bytes,
                kind: LoadKind::Reads,
                outstanding,
                limits,
            };
            all.retain(|one| {
                let same = (one.block_size_bytes, one.kind, one.outstanding);
                same != (block_size_bytes, LoadKind::Reads, outstanding)
            });
            all.insert(0, own);
        }
        all
    }

    /// Something outside the target that held a load back.
    fn held_outside(&self, planned: Planned) -> Option<Vec<Limit>> {
        if self.is_held(&self.control_group, planned) {
            return Some(vec![Limit::ControlGroup]);
        }
        let processor = self.is_held(&self.processor, planned);
        processor.then(|| vec![Limit::Processor])
    }

    /// For the user's own load, by the slopes around it; near a corner, where these decide
    /// nothing, by the caps that it reaches.
    fn limits_of_load(
        &self,
        caps: Option<&Caps>,
        named: &[CapFound],
        unit_bytes: Option<u64>,
    ) -> Option<Vec<Limit>> {
        if let Some(outside) = self.held_outside(Planned::Load) {
            return Some(outside);
        }
        let rates = &self.binding;
        let runs = [&rates.load, &rates.larger, &rates.deeper].map(Vec::len);
        let is_whole = runs.iter().all(|runs| *runs >= REPETITIONS_MIN);
        let found = binding(rates).filter(|_| is_whole)?;
        Some(vec![match found.bound_by {
            Some(BoundBy::Iops) => Limit::Iops,
            Some(BoundBy::Bandwidth) if are_bytes_of_units(named, unit_bytes) => Limit::Iops,
            Some(BoundBy::Bandwidth) => Limit::Bandwidth,
            Some(BoundBy::Latency) => Limit::Latency,
            None => {
                let load = cell_found(self.options.load?, LoadKind::Reads, found.per_s, 0);
                return Some(self.limits_by_caps(&load, None, caps, named, unit_bytes));
            }
        }])
    }

    /// For a cell, by the caps that it reaches.
    fn limits_of(
        &self,
        cell: LimitCell,
        caps: Option<&Caps>,
        named: &[CapFound],
        unit_bytes: Option<u64>,
    ) -> Option<Vec<Limit>> {
        if let Some(outside) = self.held_outside(Planned::Grid(cell)) {
            return Some(outside);
        }
        let load = (
            self.rates.block_size_bytes(cell)?,
            self.rates.outstanding(cell)?,
        );
        let load = cell_found(load, kind_of(cell), self.rates.rate(cell)?, 0);
        Some(self.limits_by_caps(&load, Some(cell), caps, named, unit_bytes))
    }

    /// For a load, which may be a cell, by its rate.
    fn limits_by_caps(
        &self,
        load: &CellFound,
        cell: Option<LimitCell>,
        caps: Option<&Caps>,
        named: &[CapFound],
        unit_bytes: Option<u64>,
    ) -> Vec<Limit> {
        let has_own = |cap: &CapFound| cap.applies_to == AppliesTo::Writes;
        let separate = named.iter().any(has_own);
        // Half of a mix goes into either bucket.
        let share = match load.kind {
            LoadKind::Mix if separate => 0.5,
            _ => 1.0,
        };
        let rate = share * load.iops;
        let bytes = load.block_size_bytes;
        let units = unit_bytes.map_or(1, |unit| bytes.div_ceil(unit));
        let holds = |cap: &&CapFound| match (cap.applies_to, load.kind) {
            (AppliesTo::Both, _) => true,
            (_, LoadKind::Mix) => separate,
            (AppliesTo::Writes, kind) => kind == LoadKind::Writes,
            (_, kind) => kind == LoadKind::Reads,
        };
        let cap_on = |kind| {
            let mut caps = named.iter().filter(holds);
            caps.find(|cap| cap.kind == kind)
        };
        let any_iops = cap_on(CapKind::Iops).map(|cap| in_operations(cap, units as f64));
        // The bytes of units are no cap beside them.
        let any_bandwidth = cap_on(CapKind::BytesPerS)
            .filter(|_| !are_bytes_of_units(named, unit_bytes))
            .map(|cap| in_operations(cap, bytes as f64));
        let (any_iops, any_bandwidth) = (any_iops.as_ref(), any_bandwidth.as_ref());
        // A cap of unknown nature does not name the limit of a load, but may be what holds it.
        let iops = any_iops.filter(|cap| is_known(cap, caps));
        let bandwidth = any_bandwidth.filter(|cap| is_known(cap, caps));
        let tolerance = caps.map_or(1.0, |caps| 1.0 + caps.tolerance);
        let at = |cap: Option<&CapFound>| cap.is_some_and(|cap| cap.per_s <= tolerance * rate);
        let near = |cap: Option<&CapFound>| cap.is_some_and(|cap| cap.per_s <= CORNER_RATIO * rate);
        let is_single = load.outstanding == 1 && bytes == SINGLE_BYTES;
        let is_corner = match cell {
            Some(LimitCell::SizeCorner) => iops.is_some() && bandwidth.is_some(),
            Some(LimitCell::DepthCorner) => iops.is_some(),
            _ => false,
        };
        let is_held = |cap: Option<&CapFound>, other: Option<&CapFound>| match is_corner {
            true => near(cap) && !is_lower(other, cap, CORNER_STEP_RATIO),
            false => at(cap) && !is_lower(other, cap, 1.0),
        };
        let mut limits = Vec::new();
        if is_corner || at(iops) || at(bandwidth) {
            limits.extend(is_held(iops, any_bandwidth).then_some(Limit::Iops));
            limits.extend(is_held(bandwidth, any_iops).then_some(Limit::Bandwidth));
            let latency = cell == Some(LimitCell::DepthCorner) && near(iops);
            limits.extend(latency.then_some(Limit::Latency));
        } else if is_single && caps.is_some() && !near(any_iops) && !near(any_bandwidth) {
            limits.extend(self.gains_by_depth(rate).then_some(Limit::Latency));
        }
        if limits.is_empty() {
            limits.push(Limit::Undecided);
        }
        limits
    }

    /// Whether more operations in flight make 4 KiB reads clearly faster than this rate.
    fn gains_by_depth(&self, rate: f64) -> bool {
        let deep = self.rates.rate(LimitCell::Small);
        deep.is_some_and(|deep| deep > CORNER_RATIO * rate)
    }

    fn notes(&self, caps: Option<&Caps>, named: &[CapFound], counting: Counting) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_partial() {
            notes.push(format!(
                "Stopped after {} runs: this is what is certain so far.",
                self.runs
            ));
        }
        let Some(caps) = caps else {
            return notes;
        };
        if !caps.is_quiet && !named.is_empty() {
            notes.push(format!(
                "Runs of one load scatter by {:.1} %: too much to say whether a limiter or the \
                 device sets a cap.",
                100.0 * caps.scatter
            ));
        }
        // The interval leaves out what some runs met.
        let of = |cap: Option<Cap>, in_bytes: bool, unit: &str| {
            let cap = cap?;
            let full = InFullRecord::of(&cap.in_full?, cap.per_s.value, 1.0 / MIB);
            Some(format!("{}.", full.words(in_bytes, unit)))
        };
        if !named.is_empty() {
            notes.extend(of(caps.iops, false, "IOPS"));
            notes.extend(of(caps.bytes_per_s, true, "MiB/s"));
        }
        notes.extend(self.first_runs_note(named));
        if let Counting::Either(unit) = counting {
            notes.push(format!(
                "The two caps meet at {unit} blocks. Either bandwidth is capped, or each started \
                 {unit} counts as an operation: both fit.",
                unit = text::size(unit)
            ));
        }
        if !self.options.writes {
            notes.push(
                "Nothing was written: whether writes share the caps was not tested.".to_owned(),
            );
        }
        notes.extend(self.bucket_note());
        notes
    }

    /// Anything that a limiter sets may be the rate of a full bucket, unless a burst was looked for
    /// or ended already.
    fn may_be_burst(&self, named: &[CapFound]) -> bool {
        let is_limited = named.iter().any(|cap| cap.limiter == Some(true));
        let search = self.burst_search();
        let is_looked_for = search.is_some_and(|search| search.result != BurstResult::Interrupted);
        is_limited && !is_looked_for && self.rates.first_run_ratio().is_none()
    }

    fn first_runs_note(&self, named: &[CapFound]) -> Option<String> {
        named.iter().find(|cap| cap.limiter != Some(false))?;
        let ratio = self.rates.first_run_ratio()?;
        Some(format!(
            "The first runs were up to {ratio:.1} times as fast as later ones: a burst may have ended \
             with them, and the caps are what came behind it."
        ))
    }

    fn bucket_note(&self) -> Option<String> {
        let burst = self.recovered_burst()?;
        let bucket = burst.bucket?;
        let above = bucket.burst_per_s.value - bucket.sustained_per_s.value;
        let driven_s = bucket.step_s.saturating_sub(burst.grid_s);
        let earlier = bucket.bucket.value - above * driven_s as f64;
        let share = 100.0 * earlier.max(0.0) / bucket.bucket.value;
        Some(format!(
            "The bucket counts as full when the measurement began; {share:.0} % of it went into the \
             grid. If it was not full, it holds more."
        ))
    }

    fn recovered_burst(&self) -> Option<&Burst> {
        self.burst.as_ref().filter(|burst| burst.recovered())
    }

    /// The result of the search for the end of a burst; `None` if it was not requested, or the
    /// grid is not done.
    fn burst_search(&self) -> Option<BurstSearch> {
        self.options.burst_ns_max?;
        let Some(burst) = &self.burst else {
            return self.round.is_empty().then_some(BurstSearch {
                result: BurstResult::NotDriven,
                per_s: None,
                unit: None,
                driven_s: 0.0,
            });
        };
        Some(BurstSearch {
            result: burst.result(),
            per_s: burst.driven_per_s(),
            unit: Some(burst.unit),
            driven_s: burst.driven_s() as f64,
        })
    }

    fn burst_found(&self) -> Option<BurstFound> {
        let burst = self.recovered_burst()?;
        // Of what the grid took from it only an upper bound is known: some volumes count large
        // operations several times, and runs after its end took nothing.
        let is_bound = burst.grid_s > 0;
        let low = |estimate: Estimate| if is_bound { 0.0 } else { estimate.low };
        let TokenBucket {
            burst_per_s,
            sustained_per_s,
            bucket,
            lasts_s,
            ..
        } = burst.bucket?;
        Some(BurstFound {
            burst_per_s: burst_per_s.value,
            sustained_per_s: sustained_per_s.value,
            bucket: bucket.value,
            bucket_low: low(bucket),
            bucket_high: bucket.high,
            bucket_unit: burst.unit,
            refill_per_s: burst.refill.map(|refill| refill.per_s.value),
            refill_per_s_low: burst.refill.map(|refill| refill.per_s.low),
            refill_per_s_high: burst.refill.map(|refill| refill.per_s.high),
            lasts_s: lasts_s.value,
            lasts_s_low: low(lasts_s),
            lasts_s_high: lasts_s.high,
        })
    }
}

fn cell_found(
    (block_size_bytes, outstanding): (u64, u32),
    kind: LoadKind,
    iops: f64,
    runs: usize,
) -> CellFound {
    CellFound {
        block_size_bytes,
        kind,
        outstanding,
        iops,
        bytes_per_s: iops * block_size_bytes as f64,
        runs: runs as u32,
    }
}

/// A cap expressed in operations, each of which counts as `each`.
fn in_operations(cap: &CapFound, each: f64) -> CapFound {
    CapFound {
        per_s: cap.per_s / each,
        per_s_low: cap.per_s_low / each,
        per_s_high: cap.per_s_high / each,
        ..cap.clone()
    }
}

/// Whether a cap is certainly below another by more than this ratio, in operations of one load.
fn is_lower(cap: Option<&CapFound>, other: Option<&CapFound>, ratio: f64) -> bool {
    cap.zip(other)
        .is_some_and(|(cap, other)| cap.per_s_high * ratio < other.per_s_low)
}

/// Whether this cap may be named as the limit of a load. Rates of disks may be level in size or
/// depth by chance, above all with a large scatter: then the cap must be a limiter's.
fn is_known(cap: &CapFound, caps: Option<&Caps>) -> bool {
    let is_quiet = caps.is_some_and(|caps| caps.tolerance <= LEVEL_TOLERANCE_MAX);
    match (cap.kind, cap.limiter) {
        (_, Some(true)) => true,
        (CapKind::Iops, None) => false,
        (CapKind::Iops, Some(false)) | (CapKind::BytesPerS, _) => is_quiet,
    }
}

fn kind_of(cell: LimitCell) -> LoadKind {
    match cell {
        LimitCell::Writes => LoadKind::Writes,
        LimitCell::Mix => LoadKind::Mix,
        _ => LoadKind::Reads,
    }
}

/// Whether a cap on bytes beside one on operations is one of its own. Large operations were only
/// read, so nothing says whether writes share it.
pub(super) fn has_own_bytes(caps: &[CapFound], unit_bytes: Option<u64>) -> bool {
    let has = |kind| caps.iter().any(|cap| cap.kind == kind);
    has(CapKind::Iops) && has(CapKind::BytesPerS) && !are_bytes_of_units(caps, unit_bytes)
}

/// The caps; one on bytes that is one of its own holds reads, and perhaps writes.
fn of_bytes_untested(mut named: Vec<CapFound>, unit_bytes: Option<u64>) -> Vec<CapFound> {
    if has_own_bytes(&named, unit_bytes) {
        for cap in &mut named {
            if cap.kind == CapKind::BytesPerS && cap.applies_to == AppliesTo::Both {
                cap.applies_to = AppliesTo::ReadsUntestedWrites;
            }
        }
    }
    named
}

/// Whether the cap on bytes is what units move, and not one of its own below that.
pub(super) fn are_bytes_of_units(named: &[CapFound], unit_bytes: Option<u64>) -> bool {
    let of = |kind| named.iter().find(|cap| cap.kind == kind);
    let caps = of(CapKind::Iops)
        .zip(of(CapKind::BytesPerS))
        .zip(unit_bytes);
    caps.is_some_and(|((iops, bytes), unit)| {
        let unit = unit as f64;
        let is_near = bytes.per_s >= UNITS_SHARE * iops.per_s * unit;
        is_near && bytes.per_s_high >= iops.per_s_low * unit
    })
}
