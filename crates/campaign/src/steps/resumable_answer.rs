//! The answer of a study as the store keeps it beside its runs: what `--json` prints, the study
//! behind it and what was asked, so that it is shown again, drawn, and resumed.

use super::pages::{PictureLook, Rendered, ReportFormat};
use super::render_sheet::StoredAnswer;
use super::resuming::{
    begun_by_an_earlier_version, cannot_go_on, finished, nothing_to_resume,
    refuse_measured_elsewhere,
};
use super::typed_target::{refuse_other_directory, whole_target};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{Sheet, StoredFacts, again, go_on_by, marked_to_go_on};
use stripewise_store::Store;
use stripewise_studies::{Origin, if_readable};

/// What `--json` prints of a study that can be resumed.
pub trait ResumableDocument: Clone + Debug + Serialize + DeserializeOwned {
    /// The study behind it.
    type Study: Clone + Debug + Serialize + DeserializeOwned;
    /// What is asked for.
    type Request: Clone + Debug + Serialize + DeserializeOwned;
    /// The command, and the kind of these documents in the store.
    const KIND: &'static str;

    /// Its id, target, host and time.
    fn origin(&self) -> Origin<'_>;

    /// Whether something is left to measure.
    fn is_open(study: &Self::Study) -> bool;

    /// Why one that is not open was stopped for good; `None` if it is finished.
    fn why_stopped(_study: &Self::Study) -> Option<&'static str> {
        None
    }

    /// The answer; `None` for the study if an earlier version stored the document alone.
    fn sheet(&self, study: Option<&Self::Study>) -> Sheet;

    /// The answer in a line.
    fn line(&self, sheet: &Sheet) -> String;

    /// A row for each run, if the answer has such a table.
    fn csv(&self) -> String {
        String::new()
    }
}

/// The document, and the study behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ResumableAnswer<A: ResumableDocument> {
    /// What `--json` prints.
    #[serde(flatten)]
    pub document: A,
    /// `None` if an earlier version stored the document alone.
    #[serde(default, deserialize_with = "if_readable")]
    pub(super) study: Option<A::Study>,
    /// What was asked.
    #[serde(default, deserialize_with = "if_readable")]
    #[serde(rename = "asked")]
    request: Option<A::Request>,
    /// When it was stored, RFC 3339, UTC; empty if an earlier version stored it.
    #[serde(default)]
    pub(super) stored_at: String,
    /// Full path of the target, if it was typed without its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole_target: Option<String>,
}

impl<A: ResumableDocument> ResumableAnswer<A> {
    /// Of a study so far.
    pub fn of(
        study: &A::Study,
        document: A,
        request: &A::Request,
        stored_at: String,
    ) -> ResumableAnswer<A> {
        ResumableAnswer {
            whole_target: whole_target(document.origin().target),
            document,
            study: Some(study.clone()),
            request: Some(request.clone()),
            stored_at,
        }
    }

    /// Parses a stored one.
    pub fn of_stored(json: &str) -> Outcome<ResumableAnswer<A>> {
        serde_json::from_str(json).map_err(|error| Failure::of(Exit::Store, error))
    }

    /// The one of this name in the store. `None` if there is none.
    pub fn find(store: &Store, name: &str) -> Outcome<Option<ResumableAnswer<A>>> {
        let json = json_of_series(store, A::KIND, name)?;
        json.as_deref().map(ResumableAnswer::of_stored).transpose()
    }

    /// The one of this name that is to be resumed; `last`: the newest of its command, whatever was
    /// measured since.
    fn find_to_resume(store: &Store, name: &str) -> Outcome<Option<ResumableAnswer<A>>> {
        if name != "last" {
            return ResumableAnswer::find(store, name);
        }
        let documents = store.documents(A::KIND)?;
        let newest = documents.first();
        newest
            .map(|document| ResumableAnswer::of_stored(&document.json))
            .transpose()
    }

    /// The document and the unfinished study of this name, and when they were stored.
    ///
    /// # Errors
    /// If there is none, nothing is left to measure, or another process is measuring it.
    pub fn begun(store: &Store, name: &str) -> Outcome<(A, A::Study, String)> {
        let found = ResumableAnswer::<A>::find_to_resume(store, name)?;
        let begun = found.and_then(|found| Some((found.document, found.study?, found.stored_at)));
        let begun = begun.ok_or_else(|| nothing_to_resume(A::KIND, name))?;
        if A::is_open(&begun.1) {
            refuse_measured_elsewhere(store, begun.0.origin().id)?;
            return Ok(begun);
        }
        let id = begun.0.origin().id;
        Err(match A::why_stopped(&begun.1) {
            Some(why) => cannot_go_on(id, why),
            None => finished(id),
        })
    }

    /// What was asked by the one of this name, which is to be resumed.
    ///
    /// # Errors
    /// If there is none, an earlier version stored it, or its target differs from here.
    pub fn stored_request(context: &Context, name: &str) -> Outcome<A::Request> {
        let store = context.open_store()?;
        let found = ResumableAnswer::<A>::find_to_resume(&store, name)?;
        let found = found.ok_or_else(|| nothing_to_resume(A::KIND, name))?;
        found.into_request()
    }

    pub(super) fn into_request(self) -> Outcome<A::Request> {
        let Origin { id, target, .. } = self.document.origin();
        let request = self
            .request
            .ok_or_else(|| begun_by_an_earlier_version(id))?;
        refuse_other_directory(target, self.whole_target.as_deref())?;
        Ok(request)
    }

    /// The answer, with the commands that show it again and resume it.
    pub fn sheet(&self) -> Sheet {
        let id = self.document.origin().id;
        let mut pointers = vec![again(id)];
        if self.study.as_ref().is_some_and(A::is_open) && self.request.is_some() {
            pointers.push(go_on_by(format!("stripewise {} --resume {id}", A::KIND)));
        }
        Sheet {
            pointers,
            ..self.document.sheet(self.study.as_ref())
        }
    }

    /// The answer in a line, and the id under which it is stored.
    pub fn line(&self) -> String {
        let sheet = self.sheet();
        let line = self.document.line(&sheet);
        marked_to_go_on(&line, self.document.origin().id, &sheet.pointers)
    }

    /// Renders it in a report format.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of that name.
    pub fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let document = &self.document;
        let origin = document.origin();
        let shown = StoredAnswer {
            sheet: self.sheet(),
            stored: StoredFacts {
                target: origin.target,
                host: Some(origin.host),
                started_at: origin.started_at,
                id: origin.id,
                ..StoredFacts::default()
            },
            csv: &|| document.csv(),
            document,
        };
        shown.rendered(format, wanted)
    }
}

/// Id, time and host of an answer: as stored if it is resumed.
pub fn id_time_and_host<A: ResumableDocument>(
    context: &Context,
    store: &Store,
    begun: Option<&A>,
) -> Outcome<[String; 3]> {
    if let Some(origin) = begun.map(A::origin) {
        return Ok([origin.id, origin.started_at, origin.host].map(str::to_owned));
    }
    let now = context.timestamp();
    Ok([context.free_id(store, &now)?, now, context.host().name])
}

/// The JSON of the answer of this kind for a series of runs. `None` if there is none.
pub fn json_of_series(store: &Store, kind: &str, name: &str) -> Outcome<Option<String>> {
    // A name unknown to the store may be a file's.
    let id = store.full_name(name).unwrap_or_else(|_| name.to_owned());
    let document = store.document(kind, &id)?;
    Ok(document.map(|document| document.json))
}
