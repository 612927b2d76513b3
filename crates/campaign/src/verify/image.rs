//! `--image`: verifies what an earlier run left, later or elsewhere: after a snapshot, a clone, a
//! restore, a replication. Reads only.

use crate::steps::verification::document::{
    JudgedBy, LeftByRun, Mode, SCHEMA_VERSION, VerifyDocument, VerifyErrors, VerifyVerdict,
};
use crate::steps::verification::pass::{Passed, pass};
use crate::steps::verification::{
    DOCUMENT_KIND, counts_of, finish_all, open_to_judge, run_number, verified, words,
};
use std::collections::BTreeMap;
use stripewise_conductor::context::{Context, store_or_report};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_store::{Store, StoredDocument};
use stripewise_targets::{Access, Size, Target};
use stripewise_units::format_bytes;
use stripewise_verify::{Account, Basis, FinishedState, Survey, run_text};
use stripewise_workload::CacheMode;

/// Maximum number of unproven places listed; all are counted.
const UNPROVEN_NAMED_MAX: usize = 100;

/// Judges the content of a target by its own stamps, and by the records of the runs that wrote
/// it.
///
/// # Errors
/// If it cannot be read at all, or contains nothing from Stripewise.
pub fn judge_image(
    context: &Context,
    store: &mut Store,
    name: &str,
    size_bytes: Option<u64>,
    permissions: &Permissions,
) -> Outcome<VerifyDocument> {
    let started_at = context.timestamp();
    let id = context.free_id(store, &started_at)?;
    let size = size_bytes.map_or(Size::Auto, Size::Exactly);
    let target = open_to_judge(context, store, name, size, permissions, || {
        Failure::usage(
            format!("{name} is a directory"),
            "name the file that `verify --keep` left there, a copy of it, or a device",
        )
    })?;
    target.drop_cache();
    let file = target.open(CacheMode::Direct, Access::Read)?;
    let known = records(context, store)?;
    let mut survey = Survey::new(target.logical_sector_bytes(), known.states);
    let mut show = |offset_bytes, bytes: &[u8]| survey.take(offset_bytes, bytes);
    let passed = pass(context, file, target.size_bytes(), &mut show)?;
    if passed.whole && survey.runs().is_empty() {
        return Err(Failure::target(
            format!(
                "{name} holds nothing that `stripewise verify` wrote: no sector of {} has a stamp",
                format_bytes(target.size_bytes())
            ),
            "name a file that `verify --keep` left, or a copy of one",
        ));
    }
    let now_ns = words::unix_ns(&context.timestamp());
    let left = left_by_runs(&known.ids, &survey, target.logical_sector_bytes(), now_ns);
    // Data outside the requested range, or unreadable, is not missing.
    let is_all = passed.whole && passed.unread_count == 0 && size_bytes.is_none();
    let document = document_of(
        context,
        ImageFacts {
            id,
            started_at,
            now_ns,
            left,
            survey,
            is_all,
        },
        &target,
        passed,
    );
    finish_all(context, vec![target]);
    store_or_report(context, store, DOCUMENT_KIND, &document.id, &document);
    Ok(document)
}

/// Facts about an image besides its content.
struct ImageFacts {
    id: String,
    started_at: String,
    /// Nanoseconds since 1970.
    now_ns: u64,
    left: Vec<LeftByRun>,
    survey: Survey,
    /// The whole target was read.
    is_all: bool,
}

fn document_of(
    context: &Context,
    judged: ImageFacts,
    target: &Target,
    passed: Passed,
) -> VerifyDocument {
    let ImageFacts {
        id,
        started_at,
        now_ns,
        mut left,
        survey,
        is_all,
    } = judged;
    let facts = target.facts();
    let cache = target.cache_in_effect(CacheMode::Direct).to_string();
    let phases = vec![passed.phase(&cache)];
    let unstamped_bytes = survey.unstamped_sectors() * u64::from(target.logical_sector_bytes());
    let account = survey.judge(is_all.then(|| target.size_bytes()));
    set_basis(&mut left, &account);
    let (unproven_bytes, more) = (account.unproven_bytes(), account.faults_more);
    let first = account.unproven.iter().take(UNPROVEN_NAMED_MAX);
    let unproven = first.map(|span| [span.start, span.end]).collect();
    let faults: Vec<_> = (account.faults.into_iter())
        .map(|fault| words::record_of(fault, &facts.name, Some(target), now_ns))
        .collect();
    let mut notes = Vec::new();
    if more > 0 {
        notes.push(format!("{more} more faults were counted and not kept"));
    }
    VerifyDocument {
        schema_version: SCHEMA_VERSION,
        mode: Mode::Image,
        run: run_text(run_number(&id)),
        id,
        started_at,
        host: context.host().name,
        verdict: match VerifyVerdict::of(faults.is_empty(), passed.unread_count, passed.whole) {
            VerifyVerdict::Passed if unproven_bytes > 0 => VerifyVerdict::NotProven,
            verdict => verdict,
        },
        engine: "threads".to_owned(),
        notes,
        duration_ns: passed.duration_ns,
        verified_bytes: passed.read_bytes - unstamped_bytes.min(passed.read_bytes),
        operations: passed.operations,
        errors: VerifyErrors {
            total: passed.unread_count,
            first: passed.unread,
        },
        targets: vec![verified(target, None, &phases)],
        phases,
        left,
        unstamped_bytes: Some(unstamped_bytes),
        unproven_bytes: Some(unproven_bytes),
        unproven,
        faults_by_class: counts_of(&faults),
        faults,
        ..VerifyDocument::default()
    }
}

/// Sets for each run by what it was judged.
fn set_basis(left: &mut [LeftByRun], account: &Account) {
    for run in left {
        let mut judged = account.basis.iter();
        let basis = judged.find(|(number, _)| run_text(**number) == run.run);
        run.judged_by = match basis {
            None => JudgedBy::Stamps,
            Some((_, Basis::EarlierMoment)) => JudgedBy::Extent,
            Some((_, Basis::End)) => JudgedBy::End,
        };
    }
}

/// The store's records of earlier verifications.
#[derive(Default)]
struct Records {
    /// By the number of the run.
    ids: BTreeMap<u64, String>,
    /// By the number of the run, and that of the target within it.
    states: BTreeMap<(u64, u16), FinishedState>,
}

fn records(context: &Context, store: &Store) -> Outcome<Records> {
    let mut records = Records::default();
    let mut see = |stored: StoredDocument| {
        let run = run_number(&stored.name);
        // A document that this version cannot read says nothing about the target.
        let read = serde_json::from_str::<VerifyDocument>(&stored.json);
        let targets = read.map_or_else(|_| Vec::new(), |document| document.targets);
        for (number, target) in (0u16..).zip(targets) {
            let state = target.finished.map(|state| ((run, number), state));
            records.states.extend(state);
        }
        records.ids.insert(run, stored.name);
    };
    let damaged = store.each_readable_document(DOCUMENT_KIND, &mut see);
    for one in damaged? {
        records.ids.insert(run_number(&one.run), one.run);
        context.unless_damaged::<()>(Err(one.error))?;
    }
    Ok(records)
}

/// What each run left, with its id if the store knows it.
fn left_by_runs(
    ids: &BTreeMap<u64, String>,
    survey: &Survey,
    sector_bytes: u32,
    now_ns: u64,
) -> Vec<LeftByRun> {
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
        judged_by: JudgedBy::Stamps,
    });
    each.collect()
}
