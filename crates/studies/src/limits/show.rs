//! The sheet of limits.

use super::document::{
    AppliesTo, BurstFound, BurstResult, BurstSearch, CapFound, CapKind, ControlGroupLimit,
    LimitsDocument, LoadKind, VolumeFound,
};
use super::judge::{are_bytes_of_units, has_own_bytes};
use super::text::{self, MIB};
use stripewise_report::{Cell, Column, Sheet, SheetTable};
use stripewise_results::where_latency_arises;
use stripewise_stats::STEP_SECONDS;
use stripewise_units::{format_bytes, format_count, format_iops, format_share};

/// Example length of a rest, in seconds.
const REST_S: f64 = 600.0;

/// Scatter of single runs up to which their number and length decide nothing.
const SCATTER_PERCENT_MAX: f64 = 2.0;

/// The sheet of a document.
pub fn sheet(document: &LimitsDocument) -> Sheet {
    Sheet {
        title: document.target.clone(),
        subtitle: format!(
            "limits, {} of runs at random places",
            text::duration(document.duration_ns)
        ),
        answer: answer(document),
        findings: findings(document),
        tables: vec![loads(document)],
        charts: (!document.cells.is_empty())
            .then(|| super::roofline(document))
            .into_iter()
            .collect(),
        notes: document.notes.clone(),
        ..Sheet::default()
    }
}

/// The answer as sentences.
pub(super) fn answer(document: &LimitsDocument) -> String {
    let mut parts = Vec::new();
    if let Some(refused) = &document.refused {
        // Facts about the control group do not depend on how steady the rates were.
        let group = document.control_group.as_ref();
        parts.extend(group.filter(|group| group.reached).map(|group| {
            format!(
                "Control group {}, which was reached: it sets the limit, not the disk.",
                group_limits(group)
            )
        }));
        parts.push(match &document.burst {
            Some(_) => format!("No cap is named beyond the rates of the burst: {refused}."),
            None => format!("No cap is named: {refused}."),
        });
    } else if document.partial && document.caps.is_empty() {
        parts.push("Stopped before a cap could show.".to_owned());
    } else if document.caps.is_empty() {
        parts.push(no_cap(document));
    } else {
        parts.push(caps(document));
        parts.extend(match document.counted_unit_bytes {
            Some(unit) => units(&document.caps, unit),
            None => corner(&document.caps),
        });
        parts.extend(document.may_be_burst.then(|| {
            "This may be a burst rate that does not last: only `--burst` can tell.".to_owned()
        }));
    }
    parts.extend(match (&document.burst, &document.burst_search) {
        (Some(found), _) => Some(burst(found)),
        (None, Some(search)) => no_burst(search, document.refused.is_some()),
        (None, None) => None,
    });
    if document.partial && !(document.caps.is_empty() && document.refused.is_none()) {
        parts.push("Stopped early: only part of it was measured.".to_owned());
    }
    parts.join(" ")
}

fn no_cap(document: &LimitsDocument) -> String {
    let most = |kind, of: fn(&super::CellFound) -> f64| {
        let cells = document.cells.iter().filter(|cell| cell.kind == kind);
        cells.map(of).fold(0.0, f64::max)
    };
    let reads = most(LoadKind::Reads, |cell| cell.iops);
    let writes = most(LoadKind::Writes, |cell| cell.iops);
    let answer = format!(
        "No cap shows: the rate of reads depends on size and depth up to {} IOPS and {} MiB/s.",
        format_iops(reads),
        format_iops(most(LoadKind::Reads, |cell| cell.bytes_per_s) / MIB)
    );
    // A cache takes short writes faster than the medium behind it.
    match writes > reads {
        true => format!(
            "{answer} Short runs of writes reached {} IOPS, more than reads do: a cache took them \
             (`bench` finds the rate that lasts).",
            format_iops(writes)
        ),
        false => answer,
    }
}

/// The caps in a sentence, with what sets them. Large operations were only read: where a cap on
/// bytes begins beyond one on operations, and is not what units of that move, nothing says whether
/// writes share it.
fn caps(document: &LimitsDocument) -> String {
    let of = |kind| document.caps.iter().find(|cap| cap.kind == kind);
    let has_own_bytes = has_own_bytes(&document.caps, document.counted_unit_bytes);
    let is_shared = of(CapKind::Iops).is_some_and(|cap| cap.applies_to == AppliesTo::Both);
    let listed: Vec<String> = document
        .caps
        .iter()
        .map(|cap| {
            let of = match cap.applies_to {
                AppliesTo::Writes if cap.limiter.is_none() => {
                    " of writes (a limiter's or the device's)"
                }
                AppliesTo::Writes => " of writes",
                AppliesTo::Reads => " of reads",
                AppliesTo::ReadsUntestedWrites if is_shared => " of reads",
                AppliesTo::Both if has_own_bytes => match cap.kind {
                    CapKind::Iops => ", shared by reads and writes,",
                    CapKind::BytesPerS => " of reads",
                },
                AppliesTo::Both | AppliesTo::ReadsUntestedWrites => "",
            };
            format!("{}{of}", text::cap(cap))
        })
        .collect();
    let shared = match document.caps.first().map(|cap| cap.applies_to) {
        Some(AppliesTo::Both) if !has_own_bytes => ", shared by reads and writes",
        Some(AppliesTo::ReadsUntestedWrites) => " of reads; shared with writes? Not tested",
        _ => "",
    };
    let group = document
        .control_group
        .as_ref()
        .filter(|group| group.reached);
    let nature = match (group, of(CapKind::Iops), of(CapKind::BytesPerS)) {
        (Some(group), ..) => format!(
            "control group {} sets the limit, not the disk",
            group.cgroup
        ),
        (None, Some(iops), Some(bytes)) if iops.limiter != bytes.limiter => format!(
            "of the IOPS {}; of the bandwidth {}",
            nature(iops.limiter),
            nature(bytes.limiter)
        ),
        (None, Some(iops), Some(_))
            if has_own_bytes && iops.limiter.is_some() && !reports_bandwidth(document) =>
        {
            format!("{} (judged by the IOPS)", nature(iops.limiter))
        }
        (None, iops, bytes) => nature(iops.or(bytes).and_then(|cap| cap.limiter)).to_owned(),
    };
    let listed = listed.join(" and ");
    match document.shows_levels_only() {
        true => format!("The rate levels off at {listed}{shared}: {nature}."),
        false => format!("{listed}{shared}: {nature}."),
    }
}

/// Whether the volume itself says that it limits bandwidth.
fn reports_bandwidth(document: &LimitsDocument) -> bool {
    let mut throttled = document.volume.iter().flat_map(|volume| &volume.throttled);
    throttled.any(|one| one.limit.ends_with("bandwidth"))
}

fn nature(limiter: Option<bool>) -> &'static str {
    match limiter {
        Some(true) => "a limiter, not the disk",
        Some(false) => "what the device can do",
        None => "limiter or device is undecided",
    }
}

/// Where one cap takes over from the other.
fn corner(caps: &[CapFound]) -> Option<String> {
    let of = |kind| caps.iter().find(|cap| cap.kind == kind);
    let (iops, bytes) = (of(CapKind::Iops)?, of(CapKind::BytesPerS)?);
    let kib = bytes.per_s / iops.per_s / 1024.0;
    Some(format!(
        "Below {kib:.0}K blocks the IOPS limit applies, above it the bandwidth."
    ))
}

/// How blocks beyond a unit count.
fn units(caps: &[CapFound], unit_bytes: u64) -> Option<String> {
    let iops = caps.iter().find(|cap| cap.kind == CapKind::Iops)?;
    let unit = text::size(unit_bytes);
    if !are_bytes_of_units(caps, Some(unit_bytes)) {
        let corner = corner(caps)?;
        return Some(format!("{corner} It counts I/O in units of {unit}."));
    }
    Some(format!(
        "It counts I/O in units of {unit}: {} units/s, which move no more than {} MiB/s.",
        format_iops(iops.per_s),
        format_iops(iops.per_s * unit_bytes as f64 / MIB)
    ))
}

fn burst(burst: &BurstFound) -> String {
    let rate = |value| text::rate(value, burst.bucket_unit);
    let above = burst.burst_per_s - burst.sustained_per_s;
    let (full, at_most) = match is_bound(burst) {
        true => (burst.bucket_high, "at most "),
        false => (burst.bucket, ""),
    };
    let back = burst.refill_per_s.map(|refill| {
        let (rest, refilled) = (text::seconds(REST_S), refill * REST_S);
        match refilled >= full {
            true => format!("; after {rest} of rest all of it is back"),
            false => format!(
                "; after {rest} of rest {at_most}{} are back",
                text::seconds(refilled / above)
            ),
        }
    });
    let lasts = match is_bound(burst) {
        true => text::seconds(burst.lasts_s_high),
        false => text::seconds_interval(burst.lasts_s, [burst.lasts_s_low, burst.lasts_s_high]),
    };
    format!(
        "At {} a full burst lasts {at_most}{lasts}, then {}{}.",
        rate(burst.burst_per_s),
        rate(burst.sustained_per_s),
        back.unwrap_or_default()
    )
}

/// What the bucket holds at most is all that is known.
fn is_bound(burst: &BurstFound) -> bool {
    burst.bucket_low <= 0.0
}

/// What is known about a burst whose end was searched for and not measured.
fn no_burst(search: &BurstSearch, is_refused: bool) -> Option<String> {
    let (Some(per_s), Some(unit)) = (search.per_s, search.unit) else {
        let why = match is_refused {
            true => "as no cap is named",
            false => "as no cap shows",
        };
        return (search.result == BurstResult::NotDriven)
            .then(|| format!("No burst was looked for, {why}."));
    };
    let (rate, driven) = (text::rate(per_s, unit), text::seconds(search.driven_s));
    Some(match search.result {
        BurstResult::NotEnded => {
            // Where the rate fell within the grid, the drive began with an empty bucket.
            let before = match is_refused {
                true => ", and one that ended before is not measured",
                false => "",
            };
            format!(
                "No burst ended within {driven} at {rate}; bursts shorter than {STEP_SECONDS} s are \
                 not detected{before}."
            )
        }
        BurstResult::NotMeasured => format!(
            "After {driven} at {rate} the rate fell in a way that fits no burst: no rest was made \
             that would show whether it comes back."
        ),
        BurstResult::NotRefilled => format!(
            "After {driven} at {rate} the rate fell, and a rest did not bring it back: a full cache \
             or heat, not a burst."
        ),
        BurstResult::Interrupted => {
            format!("The search for the end of a burst was stopped after {driven} at {rate}.")
        }
        BurstResult::Ended | BurstResult::NotDriven => return None,
    })
}

fn findings(document: &LimitsDocument) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut find = |name: &str, value: String| all.push((name.to_owned(), value));
    if let Some(group) = &document.control_group {
        let reached = if group.reached {
            "reached"
        } else {
            "not reached"
        };
        find(
            "control group",
            format!("{}: {reached}", group_limits(group)),
        );
    }
    if let Some(burst) = &document.burst {
        let ends = [burst.bucket_low, burst.bucket_high];
        let held = match is_bound(burst) {
            true => text::held_at_most(burst.bucket_high, burst.bucket_unit),
            false => text::held(burst.bucket, ends, burst.bucket_unit),
        };
        find("bucket", held);
        if let Some(refill) = burst.refill_per_s {
            find("refill", text::rate(refill, burst.bucket_unit));
        }
    }
    for (name, value) in document.volume.iter().flat_map(volume) {
        find(name, value);
    }
    if !document.names.is_empty() {
        find("as", document.names.join("; or "));
    }
    if let Some(price) = document.price_per_1000_iops {
        find("price", format!("{price:.2} for 1,000 IOPS"));
    }
    all
}

/// `/slice limits sda to 1,500 reads/s, 50 MiB/s read`.
fn group_limits(group: &ControlGroupLimit) -> String {
    let rates = [(group.read_iops, "reads/s"), (group.write_iops, "writes/s")];
    let bytes = [
        (group.read_bytes_per_s, "read"),
        (group.write_bytes_per_s, "written"),
    ];
    let rates = rates
        .iter()
        .filter_map(|(rate, what)| Some(format!("{} {what}", format_count((*rate)?))));
    let bytes = bytes
        .iter()
        .filter_map(|(rate, what)| Some(format!("{}/s {what}", format_bytes((*rate)?))));
    let limits: Vec<String> = rates.chain(bytes).collect();
    format!(
        "{} limits {} to {}",
        group.cgroup,
        group.device,
        limits.join(", ")
    )
}

/// What the volume reports about itself.
fn volume(volume: &VolumeFound) -> Vec<(&'static str, String)> {
    let report = &volume.report;
    let name = format!("{} ({})", report.device, report.source);
    if let Some(why) = &report.not_read {
        return vec![("volume", format!("{name}: not read ({why})"))];
    }
    let each = volume.throttled.iter().map(|one| {
        format!(
            "throttled[{}] for {} of the runs",
            one.limit,
            format_share(one.share)
        )
    });
    let mut throttled: Vec<String> = each.collect();
    if throttled.is_empty() {
        throttled.push("neither its limits nor the instance's were exceeded".to_owned());
    }
    let mut found = vec![("volume", format!("{name}: {}", throttled.join(", ")))];
    let ends = volume.latency_at_volume_ns.zip(volume.latency_here_ns);
    let parts = ends.and_then(|(there, here)| where_latency_arises(there, here));
    found.extend(parts.map(|parts| ("latency", format!("4K reads one at a time: {parts}"))));
    found
}

fn loads(document: &LimitsDocument) -> SheetTable {
    let columns = [
        Column::text("load"),
        Column::number("in flight"),
        Column::number("IOPS"),
        Column::number("MiB/s"),
        Column::text("limit"),
    ];
    let row = |applies: &super::LoadApplies| {
        let same = |cell: &&super::CellFound| {
            (cell.block_size_bytes, cell.kind, cell.outstanding)
                == (applies.block_size_bytes, applies.kind, applies.outstanding)
        };
        let cell = document.cells.iter().find(same);
        let number = |value: Option<f64>| {
            value.map_or_else(Cell::default, |value| {
                Cell::exact(format_iops(value), value)
            })
        };
        vec![
            Cell::from(format!(
                "{} {}",
                text::size(applies.block_size_bytes),
                text::kind(applies.kind)
            )),
            Cell::exact(
                applies.outstanding.to_string(),
                f64::from(applies.outstanding),
            ),
            number(cell.map(|cell| cell.iops)),
            number(cell.map(|cell| cell.bytes_per_s / MIB)),
            Cell::from(text::limits(&applies.limits)),
        ]
    };
    let rows = document.applies.iter().map(row).collect();
    let mut limits = document.applies.iter().flat_map(|one| &one.limits);
    let table = SheetTable::new("Which limit applies", columns, rows);
    match limits.any(|limit| *limit == super::Limit::Undecided) {
        true => table.with_note(format!(
            "undecided: the load reaches no cap that is known to be one, and how its rate depends on \
             size and depth does not tell{}.",
            more_evidence(document)
        )),
        false => table,
    }
}

/// What may decide a load that is undecided.
fn more_evidence(document: &LimitsDocument) -> String {
    // A burst that was being driven cannot go on, and all else is measured by then.
    if document.partial && document.burst_search.is_none() {
        return "; what was not measured may (--resume last)".to_owned();
    }
    let refused = document.refused.as_ref();
    if refused.is_some_and(|why| !why.starts_with(text::SCATTERS)) {
        return String::new();
    }
    match document.scatter_percent {
        // Longer runs scatter less, and nothing else changes.
        Some(scatter) if scatter <= SCATTER_PERCENT_MAX => match document.refused {
            Some(_) => String::new(),
            None => {
                format!(", nor would longer runs: those of one load hardly differ ({scatter:.1} %)")
            }
        },
        _ => longer_runs(document.step_ns).to_owned(),
    }
}

/// Hint about what longer runs may show.
fn longer_runs(step_ns: Option<u64>) -> &'static str {
    const SECOND_NS: u64 = 1_000_000_000;
    match step_ns.unwrap_or(0) / SECOND_NS {
        ..10 => "; longer runs may (--step 10s)",
        10..60 => "; longer runs may (--step 1m)",
        _ => "",
    }
}
