//! `lab run study:NAME`: repeats a published study, on its simulated array or on any
//! target, and compares it with the printed figures.

pub use crate::steps::study::{StudyDocument, StudyRate, StudyRow, StudyTable, study_sheet};

use crate::steps::experiment::target_range::find;
use crate::steps::layouts::factors::overridden;
use crate::steps::study::designs::{Study, StudyDesign, StudyFactor, study, words};
use crate::steps::study::rate_of;
use stripewise_conductor::context::Context;
use stripewise_conductor::durations::{DurationRequest, durations};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{PlacedJob, RunOptions, measure};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::observer::Progress;
use stripewise_conductor::parallel::{SimulatedCell, simulate_cells, store_new};
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::simulated::Simulated;
use stripewise_conductor::targets::{OpenTarget, lacks_permission_to_write, open_target};
use stripewise_lab::offsets::shift;
use stripewise_store::Store;
use stripewise_targets::TargetName;
use stripewise_units::{ByteSize, format_duration, is_sim_target};
use stripewise_workload::{Request, Workload};

const SECOND_NS: u64 = 1_000_000_000;

/// Parameters of the repetition.
#[derive(Clone, Debug, Default)]
pub struct StudyOptions {
    /// Its name.
    pub name: String,
    /// The target; `None`: its own simulated array.
    pub target: Option<String>,
    /// Include the additions requested by readers of the article.
    pub readers: bool,
    /// Length of a run on a real target; `None`: one second.
    pub step_ns: Option<u64>,
    /// Seed of all streams.
    pub seed: Option<u64>,
    /// The user's label.
    pub label: Option<String>,
}

/// A repeated study, and the failure that ended it early.
pub struct StudyResult {
    /// The results so far.
    pub document: StudyDocument,
    /// Why it ended early, if it did.
    pub ended: Outcome<()>,
}

/// Repeats a study.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn repeat(
    context: &Context,
    options: &StudyOptions,
    permissions: &Permissions,
) -> Outcome<StudyResult> {
    let study = study(&options.name, options.readers)?;
    let own = format!("sim:{}", study.array);
    let target = options.target.clone().unwrap_or(own);
    let mut store = context.open_store()?;
    let id = context.free_id(&store, &context.timestamp())?;
    let is_simulated = is_sim_target(&target);
    let document = StudyDocument::new(&study, &id, &target, is_simulated);
    let mut session = ExperimentSession {
        context,
        store: &mut store,
        options,
        document,
        bar: Progress::begin(context.observer(), false, 1, "Repeating the study"),
        done: 0,
    };
    let ended = match is_simulated {
        true => session.simulate(&study),
        false => session.measure(&study, permissions),
    };
    let ended = ended.and_then(|()| match context.signal() {
        None => Ok(()),
        Some(signal) => {
            session.document.status = "partial";
            Err(Failure::of(
                Exit::Interrupted(signal),
                "interrupted; what was measured is shown and kept",
            ))
        }
    });
    let document = session.document;
    match ended {
        // There is nothing to show.
        Err(failure) if !document.has_figures() => Err(failure),
        ended => Ok(StudyResult { document, ended }),
    }
}

struct ExperimentSession<'a> {
    context: &'a Context,
    store: &'a mut Store,
    options: &'a StudyOptions,
    document: StudyDocument,
    bar: Progress<'a>,
    done: u64,
}

impl ExperimentSession<'_> {
    fn how(&self, level: &str, simulated: bool) -> RunOptions {
        let request = Request {
            label: self.options.label.clone(),
            ..Request::default()
        };
        RunOptions {
            series: Some((self.document.id.clone(), level.to_owned())),
            ..RunOptions::of(self.context, request, simulated)
        }
    }

    fn seeded(&self, workload: &Workload, number: usize) -> Workload {
        let seed = self.options.seed.unwrap_or(Workload::SEED);
        Workload {
            seed: seed ^ (number as u64).wrapping_mul(0xd1b5_4a32_d192_ed03),
            size_bytes: None,
            ..workload.clone()
        }
    }

    fn simulate(&mut self, study: &Study) -> Outcome<()> {
        self.context.plan(crate::steps::TIMES_ARE_SIMULATED);
        let runs = |table: &StudyDesign| table.rows.len() * table.levels.len();
        let all: usize = study.tables.iter().map(runs).sum();
        self.bar.set_total(all as u64);
        for design in &study.tables {
            let mut own = vec![vec![None; design.levels.len()]; design.rows.len()];
            let mut ended = Ok(());
            for (level, name) in design.levels.iter().enumerate() {
                if self.context.signal().is_some() || ended.is_err() {
                    break;
                }
                ended = self.simulate_level(design, (level, name), &mut own);
            }
            self.document.tables.push(StudyTable::of(design, &own));
            ended?;
        }
        Ok(())
    }

    fn simulate_level(
        &mut self,
        design: &StudyDesign,
        (level, name): (usize, &str),
        own: &mut [Vec<Option<f64>>],
    ) -> Outcome<()> {
        let target = &self.document.target;
        // A level overrides the target's own value.
        let text = match design.factor.overrides(name) {
            none if none.is_empty() => target.clone(),
            overrides => overridden(target, &[overrides]),
        };
        let parsed: TargetName = text.parse()?;
        let array = Simulated::open(self.context, &parsed)?;
        let opened = [OpenTarget::Simulated(Box::new(array))];
        let how = self.how(name, true);
        let workloads: Vec<Workload> = (design.rows.iter().enumerate())
            .map(|(number, row)| self.seeded(&row.workload, number))
            .collect();
        let looks: Vec<DurationRequest> = (design.rows.iter().zip(&workloads))
            .map(|(row, workload)| DurationRequest {
                is_sustained: false,
                ..DurationRequest::at(&words(&row.workload), workload.clone())
            })
            .collect();
        let found = durations(self.context, &opened, &how, &looks)?;
        let cells = design
            .rows
            .iter()
            .zip(&workloads)
            .zip(found)
            .map(|((row, workload), time)| {
                let job = PlacedJob {
                    name: words(&row.workload),
                    workload: Workload {
                        ramp_ns: time.ramp_ns,
                        duration_ns: time.duration_ns,
                        ..workload.clone()
                    },
                    targets: vec![0],
                };
                SimulatedCell::prepare(self.context, &opened, &[job], &how)
            })
            .collect::<Outcome<Vec<_>>>()?;
        let (context, store, bar) = (self.context, &mut *self.store, &self.bar);
        let (mut row, done) = (0, &mut self.done);
        simulate_cells(context, &cells, &mut |record| {
            let mut record = record.without_intervals();
            own[row][level] = rate_of(&record);
            row += 1;
            *done += 1;
            bar.update(*done, &format!("Level {name}"), None);
            store_new(context, store, &mut record)
        })
    }

    fn measure(&mut self, study: &Study, permissions: &Permissions) -> Outcome<()> {
        let workloads = || study.tables.iter().flat_map(|table| &table.rows);
        let requirements = Needs {
            reads: true,
            // The study defines the number in flight.
            outstanding_by_number: true,
            fill_time_limit_ns: Some(25 * SECOND_NS),
            ..Needs::of_loads(workloads().map(|row| &row.workload))
        };
        let target = self.document.target.clone();
        let mut writes = requirements.writes;
        let open = |store: &mut Store, requirements: &Needs| {
            open_target(self.context, store, &target, requirements, permissions)
        };
        let opened = match open(self.store, &requirements) {
            Err(failure) if writes && lacks_permission_to_write(&failure) => {
                writes = false;
                self.document
                    .notes
                    .push("Rows that write were left out: writing was not permitted.".to_owned());
                open(self.store, &requirements.clone().reading())
            }
            opened => opened,
        };
        let opened = [opened?];
        let step_ns = self.options.step_ns.unwrap_or(SECOND_NS);
        self.document.notes.push(format!(
            "Every cell is one run of {}: own gains have no interval here, and on a disk they scatter. `stripewise align {target}` gives one.",
            format_duration(step_ns)
        ));
        let measured = self.tables(study, &opened, writes);
        let [target] = opened;
        let finished = target.finish();
        measured.and(finished)
    }

    fn tables(&mut self, study: &Study, opened: &[OpenTarget], writes: bool) -> Outcome<()> {
        for design in &study.tables {
            if !matches!(design.factor, StudyFactor::None | StudyFactor::Offset) {
                self.document.notes.push(format!(
                    "The table over the {} was left out: on a target that is there it stays as it is.",
                    design.factor.name()
                ));
                continue;
            }
            let places = self.places(design, &opened[0])?;
            let mut own = vec![vec![None; design.levels.len()]; design.rows.len()];
            let ended = self.rows(design, &places, opened, writes, &mut own);
            self.document.tables.push(StudyTable::of(design, &own));
            ended?;
        }
        Ok(())
    }

    /// Base offset and size of each level.
    fn places(
        &mut self,
        design: &StudyDesign,
        opened: &OpenTarget,
    ) -> Outcome<Vec<(u64, Option<u64>)>> {
        if design.factor == StudyFactor::None {
            return Ok(vec![(0, None); design.levels.len()]);
        }
        let blocks = design.rows.iter().map(|row| row.workload.block_size_bytes);
        let found = find(
            self.context,
            opened,
            &self.document.target,
            blocks.max().unwrap_or(8 << 10),
            None,
        );
        self.document.notes.extend(found.place.notes);
        let offset = |level: &String| level.parse::<ByteSize>().map_or(0, ByteSize::bytes);
        let offsets: Vec<u64> = design.levels.iter().map(offset).collect();
        let shifted = shift(&found.usable, &offsets)?;
        let bases = shifted.base_offsets_bytes.iter();
        Ok(bases
            .map(|base| (*base, Some(shifted.size_bytes)))
            .collect())
    }

    /// All levels of a row one after the other, so that drift affects them alike.
    fn rows(
        &mut self,
        design: &StudyDesign,
        places: &[(u64, Option<u64>)],
        opened: &[OpenTarget],
        writes: bool,
        own: &mut [Vec<Option<f64>>],
    ) -> Outcome<()> {
        let step_ns = self.options.step_ns.unwrap_or(SECOND_NS);
        let all = (design.rows.len() * places.len()) as u64;
        for (number, row) in design.rows.iter().enumerate() {
            if row.workload.read_percent < 100 && !writes {
                continue;
            }
            for (level, (base_offset_bytes, size_bytes)) in places.iter().enumerate() {
                if self.context.signal().is_some() {
                    return Ok(());
                }
                let workload = Workload {
                    base_offset_bytes: *base_offset_bytes,
                    size_bytes: *size_bytes,
                    ramp_ns: step_ns / 10,
                    duration_ns: step_ns,
                    ..self.seeded(&row.workload, number)
                };
                let job = PlacedJob {
                    name: words(&row.workload),
                    workload,
                    targets: vec![0],
                };
                let how = self.how(&design.levels[level], false);
                let length_ns = step_ns + step_ns / 10;
                let place = RunPlace {
                    title: &job.name.clone(),
                    before_ns: self.done * length_ns,
                    expected_ns: length_ns,
                    after_ns: Some(all.saturating_sub(self.done + 1) * length_ns),
                };
                self.bar.set_total(all * length_ns);
                let measured = measure(
                    self.context,
                    self.store,
                    opened,
                    &[job],
                    &how,
                    &self.bar,
                    &place,
                )?;
                own[number][level] = rate_of(&measured.record);
                measured.stored?;
                self.done += 1;
            }
        }
        Ok(())
    }
}
