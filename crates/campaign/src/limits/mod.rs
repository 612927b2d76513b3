//! `limits`: which limit a volume has, whether a limiter sets it, and how long a burst lasts.

mod control_group;

pub use crate::steps::limits::{Cloud, LimitsRequest, StoredLimits};

use crate::steps::limits::KIND;
use crate::steps::resumable_answer::id_time_and_host;
use std::path::Path;
use stripewise_conductor::conduct::{ConductResult, Setup, conduct, needs, open, refuse_unusable};
use stripewise_conductor::context::{Context, store_measured};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::read_text;
use stripewise_conductor::measure::exit_of;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{OpenTarget, judge_requirements, reads_instead};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_store::Store;
use stripewise_studies::Study;
use stripewise_studies::limits::{
    BucketUnit, BurstResult, CapKind, LimitsDocument, LimitsFacts, LimitsOptions, LimitsStudy,
    VolumeTable,
};
use stripewise_targets::Size;
use stripewise_units::{
    NameText, WallTime, field_hint, format_bytes, format_duration, is_sim_target, path_of,
};
use stripewise_workload::Request;

const SECOND_NS: u64 = 1_000_000_000;
/// Minimum size: blocks of 1 MiB at random places of less would be too close together.
pub const SIZE_BYTES_MIN: u64 = 256 << 20;
const RUN_NS: u64 = 2 * SECOND_NS;
const RUNS_NS: std::ops::RangeInclusive<u64> = SECOND_NS / 10..=60 * SECOND_NS;
/// The same on simulated arrays, whose runs continue until enough operations completed.
const SIMULATED_RUN_NS: u64 = SECOND_NS / 5;
const SIMULATED_OPERATIONS_MIN: u64 = 2_000;
/// An end is certain only minutes after it; no bucket lasts longer than a week.
const BURSTS_NS: std::ops::RangeInclusive<u64> = 60 * SECOND_NS..=7 * 86_400 * SECOND_NS;
/// Maximum threads of deep cells, given enough processors.
const THREADS_MAX: u32 = 4;
/// Block sizes of the user's own load: its neighbours have half and twice its size.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 4 << 10..=4 << 20;
const OUTSTANDING_MAX: u32 = 128;
const TABLE_BYTES_MAX: u64 = 1 << 20;
/// A gp2 volume holds 5.4 million operations and bursts at 3,000 a second; it is refilled at
/// three per second per GiB.
const GP2_CREDITS: f64 = 5.4e6;
const GP2_BURST: f64 = 3_000.0;
const GP2_RATE_TOLERANCE: f64 = 0.03;
const GP2_PER_GIB: f64 = 3.0;
const GP2_MIN: f64 = 100.0;

/// What came of it.
pub struct LimitsResult {
    /// What was found, as it is kept.
    pub found: StoredLimits,
    /// How to end.
    pub exit: Exit,
}

/// Measures the limits of a target.
///
/// # Errors
/// If the target cannot be used, or the request is not possible.
pub fn limits(
    context: &Context,
    request: &LimitsRequest,
    permissions: &Permissions,
) -> Outcome<LimitsResult> {
    check(request)?;
    let table = match &request.table {
        Some(path) => read_table(context, &path_of(path))?,
        None => VolumeTable::bundled(),
    };
    let mut store = context.open_store()?;
    let begun = (request.resume.as_deref())
        .map(|name| begun(context, &store, request, name))
        .transpose()?;
    let stored = begun.as_ref().map(|(document, _)| document);
    let [id, measured_at, host] = id_time_and_host(context, &store, stored)?;
    let of_runs = of_runs(request);
    let setup = Setup {
        id: &id,
        target: &request.target,
        size: request.size_bytes.map_or(Size::Auto, Size::Exactly),
        request: &of_runs,
        permissions,
        recordings: None,
    };
    let mut study = match begun {
        Some((_, study)) => study,
        None => possible(context, &store, request, &setup)?,
    };
    let size_bytes = refuse_unusable(context, &store, &study, &setup)?;
    large_enough(&request.target, size_bytes)?;
    announce(context, request, &study);
    let targets = open(context, &mut store, &study, &setup)?;
    let target = &targets[0];
    let cloud = cloud_of(context, request.cloud, target);
    let facts = LimitsFacts {
        id: id.clone(),
        target: request.target.clone(),
        measured_at,
        host,
        control_group: control_group::of(target),
    };
    let found = |study: &LimitsStudy| {
        let named_by = cloud.as_deref().map(|cloud| (cloud, &table));
        let document = named(request, named_by, study.document(&facts));
        StoredLimits::of(study, document, request, context.timestamp())
    };
    // An interruption before its first run ends can be gone on from, too.
    store_measured(context, &mut store, KIND, &id, &found(&study))?;
    let mut changed = |store: &mut Store, study: &LimitsStudy| {
        store_measured(context, store, KIND, &id, &found(study))
    };
    let ConductResult { records, ended } = conduct(
        context,
        &mut store,
        &mut study,
        targets,
        &setup,
        &mut changed,
    );
    let found = found(&study);
    if records.is_empty() {
        ended?;
    } else if let Err(failure) = ended {
        context.note_failure(&failure.error.to_string(), &failure);
        let exit = failure.exit;
        return Ok(LimitsResult { found, exit });
    }
    let exit = match exit_of(context, &records) {
        // Numbers that are void are a finding, as everywhere.
        Exit::Done if found.document.refused.is_some() => Exit::Finding,
        exit => exit,
    };
    Ok(LimitsResult { found, exit })
}

/// What all runs have in common.
fn of_runs(request: &LimitsRequest) -> Request {
    Request {
        engine: request.engine.clone(),
        label: request.label.clone(),
        load_by_number: false,
        cache_by_name: false,
        ..Request::default()
    }
}

/// The study of this name, which has something left to measure, and what is stored of it.
fn begun(
    context: &Context,
    store: &Store,
    request: &LimitsRequest,
    name: &str,
) -> Outcome<(LimitsDocument, LimitsStudy)> {
    let (document, mut study, stored_at) = StoredLimits::begun(store, name)?;
    // A simulated array begins anew.
    let pause_s = (!is_sim_target(&request.target)).then(|| {
        let stored_at: WallTime = stored_at.parse().unwrap_or_default();
        context.wall().ns().saturating_sub(stored_at.ns()) as f64 / SECOND_NS as f64
    });
    study.resumed(pause_s);
    Ok((document, study))
}

/// Refuses anything invalid without access to the target.
fn check(request: &LimitsRequest) -> Outcome<()> {
    if let Some(bytes) = request.size_bytes.filter(|bytes| *bytes < SIZE_BYTES_MIN) {
        return Err(Failure::usage(
            format!(
                "--size {}: limits need {} at least, to be random over",
                format_bytes(bytes),
                format_bytes(SIZE_BYTES_MIN)
            ),
            "use a larger --size",
        ));
    }
    if let Some(run_ns) = request.run_ns.filter(|run_ns| !RUNS_NS.contains(run_ns)) {
        return Err(Failure::usage(
            format!(
                "--step {}: a run of limits takes 100 ms to 1 m",
                format_duration(run_ns)
            ),
            "use a time in that range, or leave it out",
        ));
    }
    if let Some(burst_ns) = request.burst_ns_max.filter(|ns| !BURSTS_NS.contains(ns)) {
        return Err(Failure::usage(
            format!(
                "--burst {}: a burst is driven for 1 m to 7 d",
                format_duration(burst_ns)
            ),
            "use a time in that range, or --burst alone for 30 minutes",
        ));
    }
    if request.table.is_some() && request.cloud == Cloud::None {
        return Err(Failure::usage(
            "--table has the volume types of providers, and --cloud none asks for none",
            "leave out one of them",
        ));
    }
    if let Some(price) = request
        .price
        .filter(|price| !(price.is_finite() && *price > 0.0))
    {
        return Err(Failure::usage(
            format!("--price {price} is not a price"),
            "use a number above 0",
        ));
    }
    let Some((bytes, outstanding)) = request.load else {
        return Ok(());
    };
    if !BLOCK_BYTES.contains(&bytes) || !bytes.is_multiple_of(8 << 10) && bytes != 4 << 10 {
        return Err(Failure::usage(
            format!(
                "--block {}: a load of limits has 4K to 4M, above 4K in multiples of 8K",
                format_bytes(bytes)
            ),
            "use 4K or a multiple of 8K: half and twice as much are measured too",
        ));
    }
    if outstanding == 0 || outstanding > OUTSTANDING_MAX {
        return Err(Failure::usage(
            format!("--outstanding {outstanding}: a load of limits has 1 to {OUTSTANDING_MAX}"),
            "use a number in that range: twice as many are measured too",
        ));
    }
    Ok(())
}

fn options(context: &Context, request: &LimitsRequest, writes: bool) -> LimitsOptions {
    let simulated = is_sim_target(&request.target);
    let (usual_ns, operations_min) = match simulated {
        true => (SIMULATED_RUN_NS, SIMULATED_OPERATIONS_MIN),
        false => (RUN_NS, 0),
    };
    let run_ns = request.run_ns.unwrap_or(usual_ns);
    LimitsOptions {
        writes,
        run_ns,
        ramp_ns: run_ns / 4,
        simulated_operations_min: operations_min,
        threads: match simulated {
            true => 1,
            false => largest_power(context.host().cpu.count.min(THREADS_MAX)),
        },
        size_bytes: request.size_bytes,
        load: request.load,
        burst_ns_max: request.burst_ns_max,
        seed: request.seed,
    }
}

/// The largest power of two up to a number: depths divide by it.
fn largest_power(count: u32) -> u32 {
    1 << count.max(1).ilog2()
}

/// The study with the given permissions: only reads unless writes are permitted.
fn possible(
    context: &Context,
    store: &Store,
    request: &LimitsRequest,
    setup: &Setup<'_>,
) -> Outcome<LimitsStudy> {
    let reading = || LimitsStudy::new(options(context, request, false));
    if request.read_only {
        return Ok(reading());
    }
    let study = LimitsStudy::new(options(context, request, true));
    let permissions = setup.permissions;
    let need = needs(&study.loads(), setup);
    match judge_requirements(context, store, setup.target, &need, permissions) {
        Ok(()) => Ok(study),
        Err(failure) => reads_instead(context, permissions, failure).map(|()| reading()),
    }
}

fn announce(context: &Context, request: &LimitsRequest, study: &LimitsStudy) {
    let time = match is_sim_target(&request.target) {
        // The duration of its runs depends on their rates, which are not known yet.
        true => "in simulated time, each run until enough operations completed".to_owned(),
        false => {
            let [expected, most] = study.grid_time_ns().map(format_duration);
            format!("about {expected}, up to {most} if rates scatter")
        }
    };
    let mut text = format!(
        "Reads{} of 4K to 1M at random places of {}, 1 to 64 in flight: {time}",
        if study.writes() { " and writes" } else { "" },
        request.target,
    );
    if let Some((burst_ns, whole_ns)) = request.burst_ns_max.zip(study.burst_time_ns()) {
        text = format!(
            "{text}; a burst is driven for {} at most, about {} with a rest and a second drive",
            format_duration(burst_ns),
            format_duration(whole_ns)
        );
        if let Some((lasts, longer)) = gp2_bursts(&request.target, burst_ns as f64 / 1e9) {
            text = format!("{text}. {lasts}{}", longer.unwrap_or_default());
        }
    }
    context.plan(text);
}

/// How long full gp2 volumes burst, and which `--burst` sees the end where this many seconds do
/// not. `None` if a volume of the target's size does not burst.
fn gp2_bursts(target: &str, burst_s: f64) -> Option<(String, Option<String>)> {
    let examples = volume_gib(target).map_or_else(|| vec![100.0, 500.0], |gib| vec![gib]);
    let minutes = examples.iter().filter_map(|gib| gp2_minutes(*gib));
    let longest_minutes = minutes.fold(0.0, f64::max);
    let lasts = examples.into_iter().filter_map(|gib| {
        Some(format!(
            "of {gib:.0} GiB bursts for {:.0} min",
            gp2_minutes(gib)?
        ))
    });
    let lasts: Vec<String> = lasts.collect();
    // Rounded to tens of minutes, and somewhat longer than the burst.
    let enough = (longest_minutes * 1.1 / 10.0).ceil() * 10.0;
    let longer = format!(": `--burst {enough:.0}m` would see its end");
    let is_short = longest_minutes * 60.0 > burst_s;
    (!lasts.is_empty()).then(|| {
        (
            format!("A full gp2 volume {}", lasts.join(", one ")),
            is_short.then_some(longer),
        )
    })
}

/// What would see the end of a burst that was driven at the rate of gp2 volumes, in vain.
fn longer_burst(target: &str, document: &LimitsDocument) -> Option<String> {
    let search = document.burst_search.as_ref()?;
    let is_gp2_rate = search.unit == Some(BucketUnit::Operations)
        && (search.per_s? / GP2_BURST - 1.0).abs() < GP2_RATE_TOLERANCE;
    let names = &document.names;
    let may_be_gp2 = names.is_empty() || names.iter().any(|name| name.contains("gp2"));
    if search.result != BurstResult::NotEnded || !is_gp2_rate || !may_be_gp2 {
        return None;
    }
    let (lasts, longer) = gp2_bursts(target, search.driven_s)?;
    Some(format!("{lasts}{}.", longer?))
}

/// Size of the one disk that is under a target.
fn volume_gib(target: &str) -> Option<f64> {
    let storage = System::live().storage_of_path(&path_of(target)).ok()?;
    match storage.bottom()[..] {
        [disk] => Some(disk.size_bytes as f64 / (1u64 << 30) as f64),
        _ => None,
    }
}

/// Minutes for which a full gp2 volume of this size bursts; `None` if it does not.
fn gp2_minutes(gib: f64) -> Option<f64> {
    let sustained = (GP2_PER_GIB * gib).max(GP2_MIN);
    (sustained < GP2_BURST).then(|| GP2_CREDITS / (GP2_BURST - sustained) / 60.0)
}

/// Refuses a target that is too small, before anything is made.
fn large_enough(target: &str, size_bytes: Option<u64>) -> Outcome<()> {
    let Some(bytes) = size_bytes.filter(|bytes| *bytes < SIZE_BYTES_MIN) else {
        return Ok(());
    };
    Err(Failure::new(
        Exit::Target,
        format!(
            "{target} has {}; limits need {} at least, to be random over",
            format_bytes(bytes),
            format_bytes(SIZE_BYTES_MIN)
        ),
        "name the whole device, or a larger file",
    ))
}

/// The name of a cloud; `None` if unknown, or not to be determined.
fn cloud_of(context: &Context, cloud: Cloud, target: &OpenTarget) -> Option<String> {
    let name = match cloud {
        Cloud::Aws | Cloud::Azure | Cloud::Gcp => cloud.name(),
        Cloud::None => return None,
        Cloud::Auto => {
            // This machine's cloud is irrelevant for a simulated volume.
            let facts = target.real()?.facts();
            let device = facts.device.as_ref();
            let model = device.and_then(|device| device.model.as_deref());
            let is_ebs = model.is_some_and(|model| model.contains("Amazon Elastic Block Store"));
            match is_ebs {
                true => "aws",
                false => cloud_of_machine(context.host().virtualization.as_deref()?)?,
            }
        }
    };
    Some(name.to_owned())
}

/// The cloud of a machine, by its hypervisor's name, which may be followed by a container's.
fn cloud_of_machine(virtualization: &str) -> Option<&'static str> {
    match virtualization.split('/').next()? {
        "amazon" => Some("aws"),
        "azure" => Some("azure"),
        "google" => Some("gcp"),
        _ => None,
    }
}

fn read_table(context: &Context, path: &Path) -> Outcome<VolumeTable> {
    const HINT: &str = "see docs/LIMITS.md for the form of a table";
    let text = read_text(context, path, TABLE_BYTES_MAX, HINT)?;
    VolumeTable::parse(&text).map_err(|error| {
        Failure::usage(
            format!(
                "{} is not a table of volume types: {}",
                path.as_text(),
                error.trim_end()
            ),
            field_hint(&error, HINT),
        )
    })
}

/// The document with matching volume types, or why there are none, and the price. If no matching
/// type bursts like this, its caps are not those of a burst; nor are they if none matches and none
/// of the cloud bursts at all.
fn named(
    request: &LimitsRequest,
    named_by: Option<(&str, &VolumeTable)>,
    mut document: LimitsDocument,
) -> LimitsDocument {
    let iops = document.caps.iter().find(|cap| cap.kind == CapKind::Iops);
    let price = request.price.zip(iops);
    document.price_per_1000_iops = price.map(|(price, cap)| price / cap.per_s * 1_000.0);
    if let Some((cloud, table)) = named_by {
        document.names = table.names(cloud, &document);
        document.notes.extend(table.why_none(cloud, &document));
        document.may_be_burst &= match document.names.is_empty() {
            true => table.may_burst(cloud),
            false => table.has_burst(cloud, &document),
        };
    } else if request.table.is_some() && !document.caps.is_empty() {
        document.notes.push(
            "The table was not used, as neither the machine nor the volume names a cloud: give \
             --cloud NAME."
                .to_owned(),
        );
    }
    let longer = longer_burst(&request.target, &document);
    document.notes.extend(longer);
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_studies::limits::{AppliesTo, BurstSearch, CapFound};

    #[test]
    fn clouds_are_known_by_their_machines() {
        let clouds = [
            "amazon",
            "azure/docker",
            "google/kubernetes",
            "hyper-v",
            "docker",
        ];
        let named = clouds.map(cloud_of_machine);
        assert_eq!(named, [Some("aws"), Some("azure"), Some("gcp"), None, None]);
    }

    #[test]
    fn caps_of_a_type_that_does_not_burst_so_are_no_burst() {
        let document = |per_s: f64| LimitsDocument {
            caps: vec![CapFound {
                kind: CapKind::Iops,
                applies_to: AppliesTo::Both,
                per_s,
                per_s_low: 0.99 * per_s,
                per_s_high: 1.01 * per_s,
                limiter: Some(true),
            }],
            may_be_burst: true,
            ..LimitsDocument::default()
        };
        let table = VolumeTable::bundled();
        let may_be = |cloud: Option<&str>, per_s| {
            let named_by = cloud.map(|cloud| (cloud, &table));
            named(&LimitsRequest::default(), named_by, document(per_s)).may_be_burst
        };
        assert!(may_be(None, 6_000.0));
        // A gp2 bursts to this, a gp3 does not; an instance may.
        assert!(may_be(Some("aws"), 3_000.0));
        assert!(!may_be(Some("aws"), 6_000.0));
        assert!(may_be(Some("aws"), 90_000.0));
        let with_table = LimitsRequest {
            table: Some("types.toml".to_owned()),
            ..LimitsRequest::default()
        };
        let notes = named(&with_table, None, document(3_000.0)).notes;
        assert!(notes[0].starts_with("The table was not used"), "{notes:?}");
        // Neither does any type of a cloud without bursts.
        assert!(!may_be(Some("gcp"), 500.0));
    }

    #[test]
    fn a_burst_that_did_not_end_names_the_drive_that_sees_its_end() {
        let notes = |per_s, driven_s| {
            let document = LimitsDocument {
                burst_search: Some(BurstSearch {
                    result: BurstResult::NotEnded,
                    per_s: Some(per_s),
                    unit: Some(BucketUnit::Operations),
                    driven_s,
                }),
                ..LimitsDocument::default()
            };
            let request = LimitsRequest {
                target: "sim:ebs-gp2-100".to_owned(),
                ..LimitsRequest::default()
            };
            named(&request, None, document).notes
        };
        let note = "A full gp2 volume of 100 GiB bursts for 33 min, one of 500 GiB bursts for 60 \
            min: `--burst 70m` would see its end.";
        assert_eq!(notes(3_000.0, 1_800.0), [note]);
        // Long enough, or no gp2.
        assert!(notes(3_000.0, 4_200.0).is_empty());
        assert!(notes(6_000.0, 1_800.0).is_empty());
    }

    #[test]
    fn the_plan_knows_how_long_a_gp2_volume_bursts() {
        let minutes = |gib| gp2_minutes(gib).map(f64::round);
        assert_eq!(minutes(100.0), Some(33.0));
        assert_eq!(minutes(500.0), Some(60.0));
        assert_eq!(minutes(900.0), Some(300.0));
        assert_eq!(minutes(1_000.0), None);
        assert_eq!([1, 2, 3, 4, 6].map(largest_power), [1, 2, 2, 4, 4]);
    }
}
