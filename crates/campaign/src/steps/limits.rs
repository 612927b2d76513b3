//! An answer of `limits` as the store keeps it beside its runs: shown again, drawn, and gone
//! on with.

use super::headroom::json_of_series;
use super::pages::{PictureLook, Rendered, ReportFormat};
use super::render_sheet::StoredAnswer;
use super::resuming::{OptionTexts, begun_by_an_earlier_version, refuse_differing};
use super::typed_target::{refuse_elsewhere, whole_target};
use serde::{Deserialize, Serialize};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{KeptFacts, Sheet, again, go_on_by, marked_to_go_on, sheet_line};
use stripewise_store::Store;
use stripewise_studies::limits::{LimitsDocument, LimitsStudy};
use stripewise_units::{ByteSize, Nanoseconds};

/// Kind of its documents in the store.
pub const KIND: &str = "limits";

/// Whose volume types are compared with the caps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cloud {
    /// Of the cloud that the machine or the device names.
    #[default]
    Auto,
    /// Amazon's.
    Aws,
    /// Microsoft's.
    Azure,
    /// Google's.
    Gcp,
    /// Nobody's.
    None,
}

impl Cloud {
    /// As it is typed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Cloud::Auto => "auto",
            Cloud::Aws => "aws",
            Cloud::Azure => "azure",
            Cloud::Gcp => "gcp",
            Cloud::None => "none",
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitsRequest {
    /// The target, as typed.
    pub target: String,
    /// Size of the test file, or how much of the target to use.
    pub size_bytes: Option<u64>,
    /// Block size and depth of the user's own load.
    pub load: Option<(u64, u32)>,
    /// Measured time of one run; `None`: the usual.
    pub run_ns: Option<u64>,
    /// A burst is driven until it ends, for so long at most.
    pub burst_ns_max: Option<u64>,
    /// Nothing is written.
    pub read_only: bool,
    /// Whose volume types are compared with the caps.
    pub cloud: Cloud,
    /// A table of volume types in place of the one that comes with the program: its path.
    pub table: Option<String>,
    /// What the target costs, in the user's unit.
    pub price: Option<f64>,
    /// The engine.
    pub engine: String,
    /// Stored with the runs.
    pub label: Option<String>,
    /// Seed of positions and order.
    pub seed: u64,
    /// One that was interrupted: it goes on.
    #[serde(skip)]
    pub resume: Option<String>,
}

impl Default for LimitsRequest {
    fn default() -> LimitsRequest {
        LimitsRequest {
            target: ".".to_owned(),
            size_bytes: None,
            load: None,
            run_ns: None,
            burst_ns_max: None,
            read_only: false,
            cloud: Cloud::default(),
            table: None,
            price: None,
            engine: "auto".to_owned(),
            label: None,
            seed: 1,
            resume: None,
        }
    }
}

impl LimitsRequest {
    /// Refuses options that are others than before.
    ///
    /// # Errors
    /// Where one is another.
    pub(crate) fn refuse_differing(&self, before: &LimitsRequest) -> Outcome<()> {
        let texts = |one: &LimitsRequest| -> OptionTexts {
            // As they were typed: rounded, two of them may look the same.
            let duration = |ns: Option<u64>| ns.map(|ns| Nanoseconds(ns).to_string());
            let bytes = |bytes: Option<u64>| bytes.map(|bytes| ByteSize(bytes).to_string());
            let given = |is_given: bool| is_given.then(|| "given".to_owned());
            vec![
                ("the target", Some(one.target.clone())),
                ("--size", bytes(one.size_bytes)),
                ("--block", bytes(one.load.map(|(bytes, _)| bytes))),
                (
                    "--outstanding",
                    one.load.map(|(_, depth)| depth.to_string()),
                ),
                ("--step", duration(one.run_ns)),
                ("--burst", duration(one.burst_ns_max)),
                ("--read-only", given(one.read_only)),
                ("--cloud", Some(one.cloud.name().to_owned())),
                ("--table", one.table.clone()),
                ("--price", one.price.map(|price| price.to_string())),
                ("--engine", Some(one.engine.clone())),
                ("--label", one.label.clone()),
                ("--seed", Some(one.seed.to_string())),
            ]
        };
        refuse_differing(texts(before), texts(self))
    }
}

/// The document, and the study that it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredLimits {
    /// What `--json` prints.
    #[serde(flatten)]
    pub document: LimitsDocument,
    /// None where an earlier version stored the document alone.
    #[serde(default, deserialize_with = "stripewise_studies::if_readable")]
    study: Option<LimitsStudy>,
    /// What was asked.
    #[serde(default, deserialize_with = "stripewise_studies::if_readable")]
    asked: Option<LimitsRequest>,
    /// When it was stored, RFC 3339, UTC.
    #[serde(default)]
    stored_at: String,
    /// Where the target was, if it was typed without its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole_target: Option<String>,
}

impl StoredLimits {
    /// A study as far as it came.
    #[must_use]
    pub fn of(
        study: &LimitsStudy,
        document: LimitsDocument,
        asked: &LimitsRequest,
        stored_at: String,
    ) -> StoredLimits {
        StoredLimits {
            document,
            study: Some(study.clone()),
            asked: Some(asked.clone()),
            stored_at,
            whole_target: whole_target(&asked.target),
        }
    }

    /// One that was stored.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn of_stored(json: &str) -> Outcome<StoredLimits> {
        serde_json::from_str(json).map_err(|error| Failure::of(Exit::Store, error))
    }

    /// The one of this name in the store. None where there is none.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn find(store: &Store, name: &str) -> Outcome<Option<StoredLimits>> {
        let json = json_of_series(store, KIND, name)?;
        json.as_deref().map(StoredLimits::of_stored).transpose()
    }

    /// With its study, and when that was stored; none where it cannot be read.
    #[must_use]
    pub fn into_study(self) -> Option<(LimitsDocument, LimitsStudy, String)> {
        Some((self.document, self.study?, self.stored_at))
    }

    /// What was asked, which can go on from here.
    ///
    /// # Errors
    /// Where an earlier version stored it, or its target is another one from here.
    pub(crate) fn into_asked(self) -> Outcome<LimitsRequest> {
        let id = &self.document.id;
        let asked = (self.asked).ok_or_else(|| begun_by_an_earlier_version(id))?;
        refuse_elsewhere(&asked.target, self.whole_target.as_deref())?;
        Ok(asked)
    }

    /// The answer, with the commands that show it again and go on with it.
    #[must_use]
    pub fn sheet(&self) -> Sheet {
        let id = &self.document.id;
        let mut pointers = vec![again(id)];
        let is_open = self.study.as_ref().is_some_and(LimitsStudy::is_open);
        if is_open && self.asked.is_some() {
            pointers.push(go_on_by(format!("stripewise limits --resume {id}")));
        }
        Sheet {
            pointers,
            ..stripewise_studies::limits::sheet(&self.document)
        }
    }

    /// The answer in a line, and the id under which it is stored.
    #[must_use]
    pub fn line(&self) -> String {
        let sheet = self.sheet();
        let mut line = sheet_line(&sheet);
        // The volume that `--cloud` found is a finding beside the answer.
        if !self.document.names.is_empty() {
            line = format!("{line} As {}.", self.document.names.join("; or "));
        }
        marked_to_go_on(&line, &self.document.id, &sheet.pointers)
    }

    /// The answer in one of the forms of a report.
    ///
    /// # Errors
    /// Where a picture cannot be drawn, or there is none of that name.
    pub fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let document = &self.document;
        let shown = StoredAnswer {
            sheet: self.sheet(),
            kept: KeptFacts {
                title: "",
                label: None,
                target: &document.target,
                host: Some(&document.host),
                started_at: &document.measured_at,
                version: env!("CARGO_PKG_VERSION"),
                id: &document.id,
            },
            csv: &String::new,
            document,
        };
        shown.rendered(format, wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_report::sheet_text;
    use stripewise_studies::limits::{LimitsFacts, LimitsOptions};

    #[test]
    fn a_stored_answer_is_shown_with_its_command_and_in_every_form() {
        let document = LimitsDocument {
            id: "20261127-111110-dhqk".to_owned(),
            target: "sim:raid10-10k".to_owned(),
            refused: Some("rates scatter".to_owned()),
            names: vec!["a gp3 of 3,000 IOPS and 125 MiB/s".to_owned()],
            ..LimitsDocument::default()
        };
        let json = serde_json::to_string(&document).expect("JSON");
        let stored = StoredLimits::of_stored(&json).expect("the same again");
        let text = sheet_text(&stored.sheet(), 80);
        assert!(text.contains("No cap is named: rates scatter."), "{text}");
        let again = "Again  stripewise history show 20261127-111110-dhqk\n";
        assert!(text.ends_with(again), "{text}");
        let line = stored.line();
        assert!(
            line.starts_with("sim:raid10-10k: ")
                && line.contains(". As a gp3 of 3,000 IOPS and 125 MiB/s. [")
                && line.ends_with("-dhqk]"),
            "{line}"
        );
        let look = PictureLook::default();
        for format in [ReportFormat::Html, ReportFormat::Md, ReportFormat::Json] {
            let rendered = stored.rendered(format, &look).expect("a report");
            let text = String::from_utf8(rendered.bytes).expect("text");
            assert!(text.contains("rates scatter"), "{format:?}: {text}");
        }
    }

    #[test]
    fn what_was_stopped_goes_on_as_it_was_asked() {
        let asked = LimitsRequest {
            target: "sim:ebs-gp3".to_owned(),
            load: Some((8 << 10, 32)),
            ..LimitsRequest::default()
        };
        let study = LimitsStudy::new(LimitsOptions {
            writes: true,
            run_ns: 1,
            ramp_ns: 0,
            simulated_operations_min: 0,
            threads: 1,
            size_bytes: None,
            load: asked.load,
            burst_ns_max: None,
            seed: 1,
        });
        let document = LimitsDocument {
            id: "20261127-111110-dhqk".to_owned(),
            ..study.document(&LimitsFacts::default())
        };
        let stored = StoredLimits::of(&study, document, &asked, "2026-11-28T04:00:00Z".to_owned());
        let json = serde_json::to_string(&stored).expect("JSON");
        let stored = StoredLimits::of_stored(&json).expect("the same again");
        let text = sheet_text(&stored.sheet(), 80);
        assert!(
            text.ends_with("Go on  stripewise limits --resume 20261127-111110-dhqk\n"),
            "{text}"
        );
        // What reads answers alone is not disturbed by it.
        let read: LimitsDocument = serde_json::from_str(&json).expect("a document");
        assert_eq!(read, stored.document);
        let (_, again, stored_at) = stored.clone().into_study().expect("a study");
        assert_eq!((again, stored_at.as_str()), (study, "2026-11-28T04:00:00Z"));
        assert_eq!(stored.into_asked().expect("what was asked"), asked);
        let other = LimitsRequest {
            load: Some((16 << 10, 32)),
            read_only: true,
            ..asked.clone()
        };
        let refused = other.refuse_differing(&asked).expect_err("two options");
        assert_eq!(
            refused.error.to_string(),
            "it cannot go on with different options: --block was 8K and is 16K; --read-only was \
             not given and is given"
        );
    }
}
