//! `--image`: what an earlier run left, later or elsewhere: after a snapshot, a clone, a
//! restore, a replication. Reads only.

use crate::context::{Context, keep_measured, store_failure};
use crate::failure::{Failure, Outcome};
use crate::permissions::Permissions;
use crate::steps::targets::{prepare, target_failure};
use crate::steps::verification::document::{
    LeftByRun, Mode, PhaseOutcome, SCHEMA_VERSION, VerifyDocument, VerifyErrors, VerifyVerdict,
};
use crate::steps::verification::pass::{Passed, pass};
use crate::steps::verification::{
    DOCUMENT_KIND, counts_of, refuse_what_holds_no_data, run_number, verified, words,
};
use std::collections::BTreeMap;
use stripewise_results::KindOutcome;
use stripewise_store::Store;
use stripewise_targets::{Access, Intent, Size, Target, TargetName};
use stripewise_units::{format_bytes, path_of};
use stripewise_verify::{Survey, run_text};
use stripewise_workload::CacheMode;

/// Judges what lies on a target by its own account.
///
/// # Errors
/// Where it cannot be read at all, or holds nothing of Stripewise.
pub fn judge_image(
    context: &Context,
    store: &mut Store,
    name: &str,
    size_bytes: Option<u64>,
    permissions: &Permissions,
) -> Outcome<VerifyDocument> {
    let started_at = context.timestamp();
    let id = context.free_id(store, &started_at)?;
    let parsed: TargetName = name.parse().map_err(target_failure)?;
    refuse_what_holds_no_data(&parsed, name)?;
    if path_of(name).is_dir() {
        // A test file would be made there, and nothing be found on it.
        return Err(Failure::usage(
            format!("{name} is a directory"),
            "name the file that `verify --keep` left there, a copy of it, or a device",
        ));
    }
    let intent = Intent {
        reads: true,
        writes: false,
        size: size_bytes.map_or(Size::Auto, Size::Exactly),
        busy_ok: permissions.busy_ok,
        cache: CacheMode::Direct,
        ..Intent::default()
    };
    let opened = prepare(context, store, &parsed, &intent)?;
    let target = opened.real().ok_or_else(|| {
        Failure::usage(format!("{name} holds no data"), "name a file or a device")
    })?;
    target.drop_cache();
    let file = target
        .open(CacheMode::Direct, Access::Read)
        .map_err(target_failure)?;
    let mut survey = Survey::new(target.logical_sector_bytes());
    let mut show = |offset_bytes, bytes: &[u8]| survey.take(offset_bytes, bytes);
    let passed = pass(context, file, target.size_bytes(), &mut show)?;
    if passed.whole && survey.runs().is_empty() {
        return Err(Failure::new(
            crate::exit::Exit::Target,
            format!(
                "{name} holds nothing that `stripewise verify` wrote: no sector of {} has a stamp",
                format_bytes(target.size_bytes())
            ),
            "name a file that `verify --keep` left, or a copy of one",
        ));
    }
    let now_ns = words::unix_ns(&context.timestamp());
    let left = left_by_runs(store, &survey, target.logical_sector_bytes(), now_ns)?;
    let document = document_of(
        context,
        Judged {
            id,
            started_at,
            now_ns,
            left,
            survey,
        },
        target,
        passed,
    );
    opened.finish()?;
    keep_measured(context, store, DOCUMENT_KIND, &document.id, &document)?;
    Ok(document)
}

/// What is known of an image beside what was read of it.
struct Judged {
    id: String,
    started_at: String,
    /// Nanoseconds since 1970.
    now_ns: u64,
    left: Vec<LeftByRun>,
    survey: Survey,
}

fn document_of(
    context: &Context,
    judged: Judged,
    target: &Target,
    passed: Passed,
) -> VerifyDocument {
    let Judged {
        id,
        started_at,
        now_ns,
        left,
        survey,
    } = judged;
    let facts = target.facts();
    let cache = target.cache_in_effect(CacheMode::Direct).to_string();
    let Passed {
        read_bytes,
        operations,
        unread,
        unread_count,
        duration_ns,
        whole,
    } = passed;
    let unstamped_bytes = survey.unstamped_sectors() * u64::from(target.logical_sector_bytes());
    let (faults, more) = survey.into_faults();
    let faults: Vec<_> = (faults.into_iter())
        .map(|fault| words::record_of(fault, &facts.name, Some(target), now_ns))
        .collect();
    let mut notes = Vec::new();
    if more > 0 {
        notes.push(format!("{more} more faults were counted and not kept"));
    }
    let read = PhaseOutcome::of(
        "check",
        &cache,
        duration_ns,
        read_only(operations, read_bytes),
        KindOutcome::default(),
    );
    let phases = vec![read];
    VerifyDocument {
        schema_version: SCHEMA_VERSION,
        mode: Mode::Image,
        run: run_text(run_number(&id)),
        id,
        started_at,
        host: context.host().name,
        verdict: match (faults.is_empty(), unread_count, whole) {
            (false, ..) => VerifyVerdict::Faults,
            (true, 1.., _) => VerifyVerdict::Errors,
            (true, 0, false) => VerifyVerdict::Interrupted,
            (true, 0, true) => VerifyVerdict::Passed,
        },
        engine: "threads".to_owned(),
        notes,
        duration_ns,
        verified_bytes: read_bytes - unstamped_bytes.min(read_bytes),
        operations,
        errors: VerifyErrors {
            total: unread_count,
            first: unread,
        },
        targets: vec![verified(target, None, &phases)],
        phases,
        left,
        unstamped_bytes: Some(unstamped_bytes),
        faults_by_class: counts_of(&faults),
        faults,
        ..VerifyDocument::default()
    }
}

/// What each run left, with its id where the store knows it.
fn left_by_runs(
    store: &Store,
    survey: &Survey,
    sector_bytes: u32,
    now_ns: u64,
) -> Outcome<Vec<LeftByRun>> {
    let known = store.documents(DOCUMENT_KIND).map_err(store_failure)?;
    let ids: BTreeMap<u64, String> = (known.into_iter())
        .map(|document| (run_number(&document.name), document.name))
        .collect();
    let age = |written_ns: u64| now_ns.saturating_sub(written_ns);
    let each = survey.runs().iter().map(|(run, left)| LeftByRun {
        run: run_text(*run),
        id: ids.get(run).cloned(),
        bytes: left.sectors * u64::from(sector_bytes),
        oldest_unix_ns: left.oldest_ns,
        newest_unix_ns: left.newest_ns,
        oldest_age_ns: age(left.oldest_ns),
        mean_age_ns: age(left.mean_ns()),
        newest_age_ns: age(left.newest_ns),
        generation_max: left.generation_max,
    });
    Ok(each.collect())
}

fn read_only(operations: u64, bytes: u64) -> KindOutcome {
    KindOutcome {
        operations,
        bytes,
        ..KindOutcome::default()
    }
}
