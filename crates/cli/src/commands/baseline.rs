//! `baseline`: keeps runs for `check` to hold later ones against.
//!
//! A baseline carries its runs whole (without their intervals), so that it
//! outlives a tidied history. It is a document of the store, kind `baseline`.

use crate::context::{Context, keep_document, store_failure};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::document::{print_json, print_text};
use crate::show::terminal::{say, say_part};
use crate::subject::{SubjectKind, subject};
use crate::switches::baseline::{Baseline, BaselineAction, BaselineSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stripewise_campaign::steps::measure::exit_of;
use stripewise_campaign::steps::rerun::{Repetitions, Work, aim_all, rerun};
use stripewise_lab::SeriesKind;
use stripewise_lab::compare::{doubts, fewest_repetitions, void_codes};
use stripewise_report::wrapped;
use stripewise_results::{RunRecord, SCHEMA_VERSION, Status};
use stripewise_store::{KeptDocument, Store};
use stripewise_units::{counted, format_duration};
use stripewise_workload::Request;

/// Kind of its documents in the store.
const KIND: &str = "baseline";

/// A baseline as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptBaseline {
    pub schema_version: u32,
    pub name: String,
    /// What was named when it was set.
    pub from: String,
    /// RFC 3339, UTC.
    pub set_at: String,
    pub runs: Vec<RunRecord>,
    /// What earlier versions kept beside runs that carried no request.
    #[serde(default, skip_serializing)]
    asked: AskedBefore,
    /// Its numbers are void by these warnings, and it was kept all the same
    /// (`--anyway`).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub void_accepted: BTreeSet<String>,
    /// Runs at a low rate, which `check --gentle` compares with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gentle_runs: Vec<RunRecord>,
    /// Changes that were made on purpose since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// Two switches of `run`, as baselines of earlier versions have them.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct AskedBefore {
    #[serde(default)]
    interval_ns: Option<u64>,
    #[serde(default)]
    cache_size_bytes: Option<u64>,
}

/// A change that `check --changed` recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Change {
    /// RFC 3339, UTC.
    pub at: String,
    /// The user's words.
    pub words: String,
    /// Series of the runs that were made after it.
    pub series: String,
}

impl KeptBaseline {
    /// Its history in a line: `the one of RUN (6 runs), set 2026-11-22, with 1
    /// recorded change`.
    fn words(&self) -> String {
        let day = self.set_at.get(..10).unwrap_or(&self.set_at);
        let mut words = format!(
            "the one of {} ({}), set {day}",
            self.from,
            counted(self.runs.len(), "run", "runs")
        );
        let more = [
            (self.gentle_runs.len(), "gentle run", "gentle runs"),
            (self.changes.len(), "recorded change", "recorded changes"),
        ];
        for (count, one, several) in more.into_iter().filter(|(count, ..)| *count > 0) {
            words.push_str(&format!(", with {}", counted(count, one, several)));
        }
        words
    }

    /// What each check must say of it: void numbers, few repetitions, conditions of
    /// the moment in which it was measured. Whole sentences.
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let void = void_codes(&self.runs);
        if !void.is_empty() {
            let codes: Vec<&str> = void.iter().map(String::as_str).collect();
            cautions.push(format!(
                "VOID ({}): its numbers are not the disk's{}.",
                codes.join(", "),
                match self.void_accepted.is_empty() {
                    true => "; set a new one: `stripewise baseline set ID --replace`",
                    false => ", and it was kept all the same (--anyway)",
                }
            ));
        }
        cautions.extend(doubts(&self.runs));
        let name = &self.name;
        let named = cautions.into_iter();
        named
            .map(|caution| format!("The baseline `{name}`: {caution}"))
            .collect()
    }

    /// Keeps it, in place of one of the same name.
    pub fn keep(&self, context: &Context, store: &mut Store) -> Outcome<()> {
        keep_document(context, store, KIND, &self.name, self)
    }

    fn of_json(document: &KeptDocument) -> Outcome<KeptBaseline> {
        let unreadable = |why: String| {
            Failure::new(
                Exit::Store,
                format!("the baseline {} cannot be read: {why}", document.name),
                format!(
                    "use the version of Stripewise that set it, or remove it with `stripewise baseline remove {}` and set it again",
                    document.name
                ),
            )
        };
        let mut kept: KeptBaseline =
            serde_json::from_str(&document.json).map_err(|error| unreadable(error.to_string()))?;
        if kept.schema_version != SCHEMA_VERSION {
            return Err(unreadable(format!(
                "it has schema version {}, and this program reads {SCHEMA_VERSION}",
                kept.schema_version
            )));
        }
        kept.bring_up_to_date();
        Ok(kept)
    }

    /// Gives runs of earlier versions the request that they answer.
    fn bring_up_to_date(&mut self) {
        let asked = std::mem::take(&mut self.asked);
        for run in self.runs.iter_mut().filter(|run| run.request.is_none()) {
            let derived = run.asked();
            run.request = Some(Box::new(Request {
                interval_ns: asked.interval_ns.unwrap_or(derived.interval_ns),
                cache_size_bytes: asked.cache_size_bytes.or(derived.cache_size_bytes),
                ..derived
            }));
        }
    }

    /// All of them, newest first.
    pub fn all(store: &Store) -> Outcome<Vec<KeptBaseline>> {
        let documents = store.documents(KIND).map_err(store_failure)?;
        documents.iter().map(KeptBaseline::of_json).collect()
    }

    /// The one of this name; without a name the only one, or the one called
    /// `baseline`; none where there is none at all.
    pub fn find(store: &Store, name: Option<&str>) -> Outcome<Option<KeptBaseline>> {
        let mut all = KeptBaseline::all(store)?;
        let names = all
            .iter()
            .map(|one| one.name.clone())
            .collect::<Vec<_>>()
            .join(", ");
        let wanted = match name {
            Some(name) => name,
            None if all.len() <= 1 => return Ok(all.pop()),
            None => "baseline",
        };
        match all.into_iter().find(|one| one.name == wanted) {
            Some(one) => Ok(Some(one)),
            None if name.is_none() => Err(Failure::usage(
                "there are several baselines",
                format!("name one with --baseline: {names}"),
            )),
            None => Err(Failure::usage(
                format!("there is no baseline `{wanted}`"),
                if names.is_empty() {
                    "`stripewise baseline set ID` makes one".to_owned()
                } else {
                    format!("there are {names}")
                },
            )),
        }
    }
}

pub fn baseline(context: &Context, arguments: &Baseline) -> Outcome {
    match &arguments.action {
        None | Some(BaselineAction::List) => list(context),
        Some(BaselineAction::Set(wanted)) => set(context, wanted),
        Some(BaselineAction::Remove { name }) => remove(context, name),
    }
}

fn set(context: &Context, wanted: &BaselineSet) -> Outcome {
    let (from, mut runs) = of_id(context, &wanted.id)?;
    let mut store = context.open_store()?;
    let replaced = replaced(&store, wanted)?;
    let mut exit = Exit::Done;
    if let Some(repeat) = wanted.repeat {
        let work = Work::of_records(&runs, None)?;
        let ready = aim_all(context, &mut store, &work, &wanted.safety.permissions())?;
        let mut records = Vec::new();
        let how = Repetitions {
            repeat,
            title: "Repeating the baseline",
            label: Some(format!("baseline {}", wanted.name)),
        };
        let outcome = rerun(context, &mut store, &work, &ready, how, &mut records);
        for target in ready.aimed {
            target.finish()?;
        }
        exit = exit_of(context, &records);
        outcome?;
        if exit != Exit::Done {
            say!(
                "note: the baseline was not set: its repetitions did not end well; they are kept in the history"
            );
            return Ok(exit);
        }
        // The runs just made have a sitting and an order in common; the one that
        // they repeat was made at another time and stays out.
        runs = records;
    }
    let void = void_codes(&runs);
    if !void.is_empty() && !wanted.anyway {
        return Err(refused(&from, &void, wanted.repeat.is_some()));
    }
    let kept = KeptBaseline {
        schema_version: SCHEMA_VERSION,
        name: wanted.name.clone(),
        from,
        set_at: context.timestamp(),
        runs: runs.into_iter().map(as_kept).collect(),
        asked: AskedBefore::default(),
        void_accepted: void,
        gentle_runs: Vec::new(),
        changes: Vec::new(),
    };
    kept.keep(context, &mut store)?;
    if context.global.json {
        print_json(&Baselines::of(std::slice::from_ref(&kept)))?;
    } else {
        print_text(&wrapped(&format!("Baseline {}", line(&kept)?), "  "));
        if let Some(old) = &replaced {
            print_text(&wrapped(
                &format!(
                    "It takes the place of {}, whose runs stay in the history.",
                    old.words()
                ),
                "  ",
            ));
        }
    }
    for caution in kept.cautions() {
        say_part!("{}", wrapped(&format!("warning: {caution}"), "  "));
    }
    if fewest_repetitions(&kept.runs) < 4 {
        say!("hint: add --repeat 6 (and --replace) to run it again as the baseline");
    }
    Ok(exit)
}

/// A run without what only its own report needs, and with the request that it answers,
/// which records of earlier versions lack.
fn as_kept(run: RunRecord) -> RunRecord {
    RunRecord {
        request: Some(Box::new(run.asked())),
        ..run.without_intervals()
    }
}

/// Void numbers are no reference: a loss of the disk's would not show in them.
fn refused(from: &str, void: &BTreeSet<String>, repeated: bool) -> Failure {
    let codes: Vec<&str> = void.iter().map(String::as_str).collect();
    let what = match repeated {
        true => format!("the repetitions of {from}"),
        false => from.to_owned(),
    };
    Failure::usage(
        format!(
            "the numbers of {what} are VOID ({}): they are not the disk's, and no baseline was set",
            codes.join(", ")
        ),
        "fix what the warnings name and measure again, or take it all the same with --anyway",
    )
}

/// The baseline that has the name already. It goes only by `--replace`: with it go
/// its gentle runs and the changes that were recorded.
fn replaced(store: &Store, wanted: &BaselineSet) -> Outcome<Option<KeptBaseline>> {
    let all = KeptBaseline::all(store)?;
    let Some(old) = all.into_iter().find(|one| one.name == wanted.name) else {
        return Ok(None);
    };
    if wanted.replace {
        return Ok(Some(old));
    }
    Err(Failure::usage(
        format!(
            "there is a baseline `{}` already: {}",
            old.name,
            old.words()
        ),
        "keep both with --name OTHER, or take its place with --replace",
    ))
}

/// The runs that an id or file means, fit to be a baseline, and its full name.
fn of_id(context: &Context, id: &str) -> Outcome<(String, Vec<RunRecord>)> {
    let found = subject(context, id)?;
    if found.kind == SubjectKind::Experiment {
        return Err(Failure::usage(
            format!("{id} is an experiment: it has levels to compare with each other already"),
            "take a run, a grid or a series as baseline",
        ));
    }
    let whole = |run: &RunRecord| run.status == Status::Complete;
    let runs = at_answers(found.runs.into_iter().filter(whole).collect());
    if runs.is_empty() {
        return Err(Failure::usage(
            format!("{id} was stopped before its end: it has no whole run"),
            "take a run that was completed",
        ));
    }
    // Said now, not when it is to be run again.
    Work::of_records(&runs, None)?;
    Ok((found.name, runs))
}

/// Of a bench the runs that its answers rest on: several of each load. The steps of a climb
/// are single runs, from which no later run can be told apart; they count where a series
/// has no others.
fn at_answers(runs: Vec<RunRecord>) -> Vec<RunRecord> {
    let series = |run: &RunRecord| (run.series.clone(), run.series_part.clone());
    let answered: BTreeSet<_> = runs
        .iter()
        .filter(|run| run.answer_block.is_some())
        .map(series)
        .collect();
    let log = SeriesKind::Log.name();
    let counts = |run: &RunRecord| {
        let is_log = run.series_part.as_deref() == Some(log);
        run.answer_block.is_some() || is_log || !answered.contains(&series(run))
    };
    runs.into_iter().filter(counts).collect()
}

fn remove(context: &Context, name: &str) -> Outcome {
    let mut store = context.open_store_there()?;
    if !store.forget_document(KIND, name).map_err(store_failure)? {
        // Names what there is instead.
        KeptBaseline::find(&store, Some(name))?;
    }
    if context.global.json {
        #[derive(Serialize)]
        struct Removed<'a> {
            schema_version: u32,
            removed: &'a str,
        }
        print_json(&Removed {
            schema_version: SCHEMA_VERSION,
            removed: name,
        })?;
    } else {
        print_text(&format!(
            "Removed the baseline {name}; its runs stay in the history.\n"
        ));
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Baselines<'a> {
    schema_version: u32,
    baselines: Vec<Listed<'a>>,
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    from: &'a str,
    set_at: &'a str,
    runs: Vec<&'a str>,
    changes: &'a [Change],
    /// What each check says of it.
    cautions: Vec<String>,
}

impl<'a> Baselines<'a> {
    fn of(all: &'a [KeptBaseline]) -> Baselines<'a> {
        Baselines {
            schema_version: SCHEMA_VERSION,
            baselines: all
                .iter()
                .map(|one| Listed {
                    name: &one.name,
                    from: &one.from,
                    set_at: &one.set_at,
                    runs: one.runs.iter().map(|run| run.id.as_str()).collect(),
                    changes: &one.changes,
                    cautions: one.cautions(),
                })
                .collect(),
        }
    }
}

fn list(context: &Context) -> Outcome {
    let all = match context.open_store_if_any()? {
        Some(store) => KeptBaseline::all(&store)?,
        None => Vec::new(),
    };
    if context.global.json {
        print_json(&Baselines::of(&all))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for one in &all {
        text.push_str(&wrapped(&line(one)?, "  "));
        for change in &one.changes {
            let words = format!("  {} changed: {}", change.at, change.words);
            text.push_str(&wrapped(&words, "    "));
        }
    }
    if all.is_empty() {
        text.push_str("There is no baseline yet; `stripewise baseline set ID` keeps one.\n");
    }
    print_text(&text);
    Ok(Exit::Done)
}

fn line(kept: &KeptBaseline) -> Outcome<String> {
    let work = Work::of_records(&kept.runs, None)?;
    let targets: Vec<&str> = work
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    Ok(format!(
        "{}: {} of {} on {}, from {}; a check of 6 repetitions takes {}",
        kept.name,
        counted(kept.runs.len(), "run", "runs"),
        counted(work.steps.len(), "workload", "workloads"),
        targets.join(", "),
        kept.from,
        format_duration(work.length_ns(6)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_of_another_schema_is_refused_by_name() {
        let of_version = |version: u32| {
            KeptBaseline::of_json(&KeptDocument {
                name: "nightly".to_owned(),
                kept_at: String::new(),
                json: format!(
                    r#"{{"schema_version": {version}, "name": "nightly", "from": "x", "set_at": "", "runs": []}}"#
                ),
            })
        };
        assert!(of_version(SCHEMA_VERSION).is_ok());
        let failure = of_version(SCHEMA_VERSION + 1).unwrap_err();
        assert_eq!(failure.exit, Exit::Store);
        let text = failure.error.to_string();
        assert!(
            text.contains("nightly") && text.contains("schema version"),
            "{text}"
        );
    }
}
