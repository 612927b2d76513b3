//! Stored qualifications: saved after each piece, so that they can be resumed; and their
//! answers, for `qualify`, `history` and `report`.

use super::typed_target::whole_target;
use crate::steps::measured::{self, by_id};
use crate::steps::pages::{PictureLook, Rendered, ReportFormat};
use crate::steps::render_sheet::StoredAnswer;
use serde::{Deserialize, Serialize};
use stripewise_conductor::context::{Context, store_measured};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_report::{Caution, Sheet, StoredFacts, again, go_on_by, with_warnings};
use stripewise_results::{RunRecord, Severity};
use stripewise_store::Store;
use stripewise_studies::commit::{CommitStudy, PART};
use stripewise_studies::qualify::{Qualify, QualifyDocument, Verdict};
use stripewise_studies::{Origin, Study};
use stripewise_workload::Request;

/// Kind of its documents in the store.
pub const KIND: &str = "qualification";

/// A stored qualification.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredQualification {
    /// Its id: the series of its runs.
    pub id: String,
    /// As typed.
    pub target: String,
    /// Full path of the target, if it was typed without its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_target: Option<String>,
    /// The requested engine.
    pub engine: String,
    /// Label stored with its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Other load was allowed during some of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_busy_ok: bool,
    /// RFC 3339, UTC.
    pub began_at: String,
    /// Name of the measuring machine; empty if an earlier version began it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// It compares commit methods.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_commit: bool,
    /// The state of the study.
    pub study: String,
}

/// A study stored as a qualification.
#[derive(Debug)]
pub enum StoredStudy {
    /// Requirements of a product.
    Product(Box<Qualify>),
    /// Commit methods.
    Commit(Box<CommitStudy>),
}

impl StoredQualification {
    /// A new qualification for a product; its study is stored with the first state.
    pub fn begun(
        context: &Context,
        store: &Store,
        (target, engine): (&str, &str),
        label: Option<&str>,
        permissions: &Permissions,
    ) -> Outcome<StoredQualification> {
        let began_at = context.timestamp();
        Ok(StoredQualification {
            id: context.free_id(store, &began_at)?,
            target: target.to_owned(),
            whole_target: whole_target(target),
            engine: engine.to_owned(),
            label: label.map(str::to_owned),
            is_busy_ok: permissions.busy_ok,
            began_at,
            host: context.host().name,
            is_commit: false,
            study: String::new(),
        })
    }

    /// The request of its runs.
    pub fn request(&self) -> Request {
        Request {
            engine: self.engine.clone(),
            label: self.label.clone(),
            ..Request::default()
        }
    }

    /// Stores the present state of the study.
    pub fn keep(
        &mut self,
        context: &Context,
        store: &mut Store,
        study: Result<String, serde_json::Error>,
    ) -> Outcome<()> {
        self.study = study.map_err(|error| Failure::of(Exit::Store, error))?;
        store_measured(context, store, KIND, &self.id, self)
    }

    /// Stores it at the end; what was measured is shown even if the store rejects it.
    pub fn store_or_report(
        &mut self,
        context: &Context,
        store: &mut Store,
        study: Result<String, serde_json::Error>,
    ) {
        if let Err(failure) = self.keep(context, store, study) {
            context.note_late_failure(&failure);
        }
    }

    /// The qualification of this id or its beginning; `last`: the newest.
    ///
    /// # Errors
    /// If there is none, or several ids begin with it.
    pub fn load(store: &Store, name: &str) -> Outcome<StoredQualification> {
        let found = match name {
            "last" => store.documents(KIND)?.into_iter().next(),
            id => by_id(store, KIND, id, ("qualifications", "give more of the id"))?,
        };
        let Some(found) = found else {
            return Err(match name {
                "last" => Failure::usage(
                    "there is no qualification yet",
                    "`stripewise history` lists what was measured",
                ),
                _ => Failure::usage(
                    format!("there is no qualification {name}"),
                    "give the id that `qualify` printed, or last; `stripewise history` lists them",
                ),
            });
        };
        serde_json::from_str(&found.json).map_err(|error| damaged(&found.name, &error.to_string()))
    }

    /// The qualification of exactly this id, if it is one.
    ///
    /// # Errors
    /// If the store cannot be read, or the document is damaged.
    pub fn named(store: &Store, id: &str) -> Outcome<Option<StoredQualification>> {
        let Some(found) = store.document(KIND, id)? else {
            return Ok(None);
        };
        let stored = serde_json::from_str(&found.json);
        stored
            .map(Some)
            .map_err(|error| damaged(id, &error.to_string()))
    }

    fn origin(&self) -> Origin<'_> {
        Origin {
            id: &self.id,
            target: &self.target,
            started_at: &self.began_at,
            host: &self.host,
        }
    }

    /// The study from its stored state.
    pub fn study(&self) -> Outcome<StoredStudy> {
        let study = match self.is_commit {
            true => CommitStudy::from_json(&self.study)
                .map(Box::new)
                .map(StoredStudy::Commit),
            false => Qualify::from_json(&self.study)
                .map(Box::new)
                .map(StoredStudy::Product),
        };
        study.map_err(|error| damaged(&self.id, &error))
    }
}

/// The result.
#[derive(Debug)]
pub struct QualifyResult {
    /// The answer, with its id in the store.
    pub sheet: Sheet,
    /// The answer in one line, for cron.
    pub line: String,
    /// What `--json` prints.
    pub document: QualifyDocument,
    /// Label stored with its runs.
    pub label: Option<String>,
    /// The exit of the command.
    pub exit: Exit,
    /// The failure that ended it early, if any.
    pub ended: Option<Failure>,
}

/// The answer of a stored qualification; `None` if `name` is something else.
///
/// # Errors
/// If the store cannot be read, or several ids begin with it.
pub fn answered(store: &Store, name: &str) -> Outcome<Option<QualifyResult>> {
    let name = measured::full_name(store, name)?;
    let Some(stored) = StoredQualification::named(store, &name)? else {
        return Ok(None);
    };
    let is_measured = store.is_measured_elsewhere(&name)?;
    let answer = match stored.study()? {
        StoredStudy::Product(mut study) => {
            study.set_being_measured(is_measured);
            let exit = exit_of_verdict(study.verdict());
            qualified(&study, &stored, exit, None)
        }
        StoredStudy::Commit(mut study) => {
            study.set_being_measured(is_measured);
            compared(&study, &stored, Exit::Done, None)
        }
    };
    Ok(Some(answer))
}

/// The present answer of a study.
pub fn qualified(
    study: &Qualify,
    stored: &StoredQualification,
    exit: Exit,
    ended: Option<Failure>,
) -> QualifyResult {
    let document = QualifyDocument::of(study, &stored.origin());
    finished(study.sheet(), document, study.line(), stored, (exit, ended))
}

/// The same for a comparison of commit methods.
pub fn compared(
    study: &CommitStudy,
    stored: &StoredQualification,
    exit: Exit,
    ended: Option<Failure>,
) -> QualifyResult {
    let document = QualifyDocument::of_commits(study, &stored.origin());
    let sheet = study.sheet();
    let line = format!("commit methods: {}", sheet.answer);
    finished(sheet, document, line, stored, (exit, ended))
}

fn finished(
    mut sheet: Sheet,
    mut document: QualifyDocument,
    line: String,
    stored: &StoredQualification,
    (exit, ended): (Exit, Option<Failure>),
) -> QualifyResult {
    if stored.is_busy_ok {
        let text = match document.verdict {
            Verdict::NotJudged => "--busy-ok was given: other load may be in the numbers",
            _ => {
                "--busy-ok was given: other load may be in the numbers, and it is no verdict to sign"
            }
        };
        document.warnings.push(text.to_owned());
        let caution = Caution::own(Severity::Warning, text, "");
        sheet.cautions.push(caution);
        sheet
            .cautions
            .sort_by_key(|one| std::cmp::Reverse(one.severity));
    }
    let line = with_warnings(line, &sheet.cautions);
    QualifyResult {
        sheet: on_target(sheet, &document),
        line,
        document,
        label: stored.label.clone(),
        exit,
        ended,
    }
}

/// The sheet of a study, with its target and its id in the store.
fn on_target(sheet: Sheet, document: &QualifyDocument) -> Sheet {
    let mut pointers = vec![again(&document.id)];
    if document.resumable {
        let command = format!("stripewise qualify --resume {}", document.id);
        pointers.push(go_on_by(command));
    }
    Sheet {
        title: document.target.clone(),
        subtitle: format!("{}: {}", sheet.title, sheet.subtitle),
        pointers,
        ..sheet
    }
}

/// [`Exit::Done`] only if all requirements are met, or nothing is judged.
pub fn exit_of_verdict(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Met | Verdict::NotJudged => Exit::Done,
        Verdict::Undecided | Verdict::Void | Verdict::Missed => Exit::Finding,
    }
}

impl QualifyResult {
    /// It compares commit methods and nothing else.
    pub fn is_commit_alone(&self) -> bool {
        self.document.requirements.is_empty()
    }

    /// This run of it compares commit methods: a table has all of them.
    pub fn is_of_commits(run: &RunRecord) -> bool {
        run.series_part.as_deref() == Some(PART)
    }

    /// In one of the forms of a report.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of that name.
    pub fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let document = &self.document;
        let stored_answer = StoredAnswer {
            sheet: self.sheet.clone(),
            stored: StoredFacts {
                label: self.label.as_deref(),
                target: &document.target,
                host: Some(&document.host),
                started_at: &document.started_at,
                id: &document.id,
                ..StoredFacts::default()
            },
            csv: &String::new,
            document,
        };
        stored_answer.rendered(format, wanted)
    }
}

fn damaged(id: &str, why: &str) -> Failure {
    Failure::new(
        Exit::Store,
        format!("the stored qualification {id} cannot be read: {why}"),
        "measure again",
    )
}
