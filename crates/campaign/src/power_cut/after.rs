//! `--after-cut`: compares what survived with what the witness recorded as durable. Reads
//! only.

use super::preparation::used_bytes;
use crate::steps::verification::document::{
    Mode, SCHEMA_VERSION, SurvivalRecord, VerifyDocument, VerifyErrors, VerifyVerdict, WitnessKept,
};
use crate::steps::verification::pass::{Passed, pass};
use crate::steps::verification::witnessed::{CutTarget, HEADER_VERSION, WitnessHeader};
use crate::steps::verification::{
    DOCUMENT_KIND, counts_of, open_to_judge, too_little_memory, verified, words,
};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use stripewise_conductor::context::{Context, store_or_report};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_store::Store;
use stripewise_targets::{Access, Size, Target};
use stripewise_units::{NameText, format_bytes, format_count};
use stripewise_verify::power_cut_check::{Circumstances, PostCutState, Survival};
use stripewise_verify::witness::{Covered, Intake};
use stripewise_verify::{Fault, run_text};
use stripewise_workload::CacheMode;

const PIECE_BYTES: usize = 1 << 20;

/// A parsed witness file.
struct WitnessFile {
    header: WitnessHeader,
    run: u64,
    intake: Intake,
}

impl WitnessFile {
    /// A time of the run's clock, in nanoseconds since 1970.
    fn at_ns(&self, ms: u64) -> u64 {
        (self.header.started_unix_ns).saturating_add(ms.saturating_mul(1_000_000))
    }
}

/// Judges what survived a power cut.
///
/// # Errors
/// If the witness file is invalid, or of another run; if a target is smaller than it
/// was, or cannot be read.
pub fn after_cut(
    context: &Context,
    store: &mut Store,
    file: &Path,
    names: &[String],
    permissions: &Permissions,
) -> Outcome<VerifyDocument> {
    let started_at = context.timestamp();
    let id = context.free_id(store, &started_at)?;
    let witness_file = witness_file(file)?;
    let header = &witness_file.header;
    if names.len() != header.targets.len() {
        let theirs: Vec<&str> = (header.targets.iter())
            .map(|target| target.name.as_str())
            .collect();
        return Err(Failure::usage(
            format!(
                "the run {} wrote to {} targets, and {} are named",
                header.id,
                theirs.len(),
                names.len()
            ),
            format!("name all of them, in this order: {}", theirs.join(" ")),
        ));
    }
    check_memory(header)?;
    let mut judged = ReadBack::new(&witness_file);
    for (number, name) in names.iter().enumerate() {
        let target = open(context, store, name, &header.targets[number], permissions)?;
        judged.read(context, number as u16, &target, &witness_file)?;
        judged.targets.push(target);
    }
    judged.refuse_another_run(&witness_file)?;
    let document = judged.document(context, file, &witness_file, id, started_at);
    store_or_report(context, store, DOCUMENT_KIND, &document.id, &document);
    Ok(document)
}

fn no_file(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::usage(
        format!("{} is not a witness file: {why}", path.as_text()),
        "name the file that `stripewise witness FILE` or `--witness FILE` made",
    )
}

fn witness_file(path: &Path) -> Outcome<WitnessFile> {
    let mut file = File::open(path).map_err(|error| no_file(path, error))?;
    let mut intake = Intake::default();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = file
            .read(&mut piece)
            .map_err(|error| no_file(path, error))?;
        if count == 0 {
            break;
        }
        intake
            .take(&piece[..count], |_| {})
            .map_err(|_| no_file(path, "it does not begin as one"))?;
    }
    let (Some(run), Some(text)) = (intake.run(), intake.header()) else {
        return Err(no_file(path, "its header is not all there"));
    };
    let header: WitnessHeader = serde_json::from_str(text)
        .map_err(|error| no_file(path, format!("its header cannot be read: {error}")))?;
    if header.schema_version > HEADER_VERSION {
        return Err(no_file(
            path,
            format!("it is of version {}, a later one", header.schema_version),
        ));
    }
    let is_listed = |worker: &stripewise_verify::cut::CutWorker| {
        (intake.covered.sequence(worker.target, worker.worker)).is_some()
    };
    if !header.workers.iter().any(is_listed) {
        return Err(Failure::target(
            format!(
                "the witness of the run {} saw nothing become durable before it ended: nothing was promised",
                header.id
            ),
            "let the next run write everything once before the power is cut",
        ));
    }
    Ok(WitnessFile {
        header,
        run,
        intake,
    })
}

fn check_memory(header: &WitnessHeader) -> Outcome<()> {
    let needed: u64 = header.workers.iter().map(PostCutState::bytes_of).sum();
    too_little_memory(needed).map_or(Ok(()), |available| {
        Err(Failure::target(
            format!(
                "judging takes {}, and {} of memory are available",
                format_bytes(needed),
                format_bytes(available)
            ),
            "judge on a machine with more memory: the witness's file and the disk are enough",
        ))
    })
}

fn open(
    context: &Context,
    store: &mut Store,
    name: &str,
    was: &CutTarget,
    permissions: &Permissions,
) -> Outcome<Target> {
    let target = open_to_judge(context, store, name, Size::Auto, permissions, || {
        Failure::usage(
            format!("{name} is a directory; the run wrote to {}", was.name),
            "name that file, or where it is now",
        )
    })?;
    if target.size_bytes() < was.size_bytes {
        return Err(Failure::target(
            format!(
                "{name} has {}, and the run wrote to {} of it: it is smaller than it was, or another one",
                format_bytes(target.size_bytes()),
                format_bytes(was.size_bytes)
            ),
            format!("check that it is what was {} then", was.name),
        ));
    }
    Ok(target)
}

/// The data read, by worker.
struct ReadBack {
    states: Vec<PostCutState>,
    targets: Vec<Target>,
    passed: Passed,
}

impl ReadBack {
    fn new(witness_file: &WitnessFile) -> ReadBack {
        let after = |worker: &stripewise_verify::cut::CutWorker| {
            let covered = &witness_file.intake.covered;
            let sequence = covered.sequence(worker.target, worker.worker);
            PostCutState::new(witness_file.run, *worker, sequence)
        };
        ReadBack {
            states: witness_file.header.workers.iter().map(after).collect(),
            targets: Vec::new(),
            passed: Passed {
                whole: true,
                ..Passed::default()
            },
        }
    }

    fn read(
        &mut self,
        context: &Context,
        number: u16,
        target: &Target,
        witness_file: &WitnessFile,
    ) -> Outcome<()> {
        target.drop_cache();
        let file = target.open(CacheMode::Direct, Access::Read)?;
        let mut mine: Vec<&mut PostCutState> = (self.states.iter_mut())
            .filter(|after| after.worker().target == number)
            .collect();
        let was = &witness_file.header.targets[usize::from(number)];
        let sector = u64::from(target.logical_sector_bytes());
        let bytes = (was.size_bytes.next_multiple_of(sector)).min(target.size_bytes());
        let passed = pass(context, file, bytes, &mut |offset_bytes, bytes| {
            for after in &mut mine {
                after.take(offset_bytes, bytes);
            }
        })?;
        self.passed.add(passed);
        Ok(())
    }

    /// What was read of one target.
    fn of_target(&self, number: usize) -> impl Iterator<Item = &PostCutState> {
        (self.states.iter()).filter(move |after| usize::from(after.worker().target) == number)
    }

    /// Whether no sector of a target has a stamp of this run, though all of them could be read.
    fn is_lost_whole(&self, number: usize) -> bool {
        self.of_target(number).all(PostCutState::holds_nothing)
    }

    /// Refuses a target that contains nothing of this run, if another run or another size shows
    /// that it is not the one the run wrote to.
    fn refuse_another_run(&self, witness_file: &WitnessFile) -> Outcome<()> {
        let header = &witness_file.header;
        for (number, target) in self.targets.iter().enumerate() {
            let was = &header.targets[number];
            let name = &target.facts().name;
            let other = self.of_target(number).find_map(PostCutState::other_run);
            if let (true, Some(other)) = (self.of_target(number).all(PostCutState::is_empty), other)
            {
                return Err(Failure::target(
                    format!(
                        "the witness's file is of the run {}, and {name} holds the run {}",
                        run_text(witness_file.run),
                        run_text(other)
                    ),
                    format!(
                        "name the witness's file of that run, or the target that this one is about: {}",
                        was.name
                    ),
                ));
            }
            // A size that was asked for says nothing of how large the target was.
            let request = &header.request;
            let is_other_size = request.size_bytes.is_none()
                && used_bytes(target.size_bytes(), request.threads) != was.size_bytes;
            if is_other_size && self.is_lost_whole(number) {
                return Err(Failure::target(
                    format!(
                        "{name} holds nothing that the run {} wrote, and its size is another: it has {}, and the run wrote to {}, {} of it",
                        header.id,
                        format_bytes(target.size_bytes()),
                        was.name,
                        format_bytes(was.size_bytes)
                    ),
                    format!("name what was {} then", was.name),
                ));
            }
        }
        Ok(())
    }

    /// A disk that ignores flushes may lose everything, and a wrong one has nothing to lose: only
    /// people can tell them apart.
    fn lost_whole(&self, witness_file: &WitnessFile) -> Vec<String> {
        (witness_file.header.targets.iter().enumerate())
            .filter(|(number, _)| self.is_lost_whole(*number))
            .map(|(number, was)| {
                format!(
                    "no sector of {} has a stamp of the run: either everything was lost, or this is not what was {} then",
                    self.targets[number].facts().name,
                    was.name
                )
            })
            .collect()
    }

    /// When the power went: the last known event of the run, in nanoseconds since 1970.
    fn cut_ns(&self, witness_file: &WitnessFile) -> u64 {
        let newest_ns = self.states.iter().map(PostCutState::newest_ns).max();
        let reported_ns = witness_file.at_ns(witness_file.intake.covered.clock_ms);
        reported_ns.max(newest_ns.unwrap_or(0))
    }

    /// What survived on each target, and all faults.
    fn verdicts(
        &self,
        witness_file: &WitnessFile,
        cut_ns: u64,
    ) -> (Vec<SurvivalRecord>, Vec<Fault>) {
        let request = &witness_file.header.request;
        let flushed_ns = witness_file.at_ns(witness_file.intake.covered.last_flush_ms);
        let mut survivals: Vec<SurvivalRecord> = Vec::new();
        let mut faults: Vec<Fault> = Vec::new();
        for (number, was) in witness_file.header.targets.iter().enumerate() {
            let known = Circumstances {
                outstanding: u64::from(request.outstanding),
                row_bytes: was.row_bytes,
                buffered: request.buffered,
                cut_ns,
            };
            let mut all = Survival::default();
            let mut newest_ns = 0;
            for after in self.of_target(number) {
                let (survival, found) = after.judge(&known);
                all.add(&survival);
                faults.extend(found);
                newest_ns = newest_ns.max(after.newest_ns());
            }
            survivals.push(SurvivalRecord {
                target: number as u16,
                target_name: self.targets[number].facts().name.clone(),
                durability: request.durability.name().to_owned(),
                kept_beyond_ns: (all.beyond_writes > 0)
                    .then(|| newest_ns.saturating_sub(flushed_ns)),
                survival: all,
            });
        }
        (survivals, faults)
    }

    fn document(
        self,
        context: &Context,
        path: &Path,
        witness_file: &WitnessFile,
        id: String,
        started_at: String,
    ) -> VerifyDocument {
        let (header, covered) = (&witness_file.header, &witness_file.intake.covered);
        let now_ns = words::unix_ns(&context.timestamp());
        let cut_ns = self.cut_ns(witness_file);
        let (survival, faults) = self.verdicts(witness_file, cut_ns);
        let mut notes = notes_of(covered);
        notes.extend(self.lost_whole(witness_file));
        let record = |fault: Fault| {
            let target = self.targets.get(usize::from(fault.target));
            let name = target.map_or("?", |target| target.facts().name.as_str());
            words::record_of(fault, name, target, now_ns)
        };
        let faults: Vec<_> = faults.into_iter().map(record).collect();
        let passed = self.passed;
        let phases = vec![passed.phase("direct")];
        VerifyDocument {
            schema_version: SCHEMA_VERSION,
            mode: Mode::AfterCut,
            run: run_text(witness_file.run),
            id,
            started_at,
            host: context.host().name,
            verdict: VerifyVerdict::of(faults.is_empty(), passed.unread_count, passed.whole),
            targets: (self.targets.iter())
                .map(|target| verified(target, None, &phases))
                .collect(),
            engine: "threads".to_owned(),
            notes,
            duration_ns: passed.duration_ns,
            verified_bytes: passed.read_bytes,
            operations: passed.operations,
            errors: VerifyErrors {
                total: passed.unread_count,
                first: passed.unread,
            },
            phases,
            survival,
            witness: Some(WitnessKept {
                file: path.as_text(),
                run_id: header.id.clone(),
                records: covered.records,
                dropped_bytes: covered.dropped_bytes + witness_file.intake.unfinished_bytes(),
                failed: covered.failed,
                ended: covered.ended,
                cut_unix_ns: cut_ns,
            }),
            faults_by_class: counts_of(&faults),
            faults,
            ..VerifyDocument::default()
        }
    }
}

fn notes_of(covered: &Covered) -> Vec<String> {
    let mut notes = Vec::new();
    if covered.ended {
        notes
            .push("the run ended normally: the power did not fail while it was writing".to_owned());
    }
    if covered.failed > 0 {
        notes.push(format!(
            "{} writes or flushes failed before it ended; nothing after them was promised",
            format_count(covered.failed)
        ));
    }
    notes
}
