//! What is asked of `limits`, and its answer as the store keeps it.

use super::resumable_answer::{ResumableAnswer, ResumableDocument};
use super::resuming::{OptionTexts, refuse_differing};
use serde::{Deserialize, Serialize};
use stripewise_conductor::failure::Outcome;
use stripewise_report::{Sheet, sheet_line};
use stripewise_studies::Origin;
use stripewise_studies::limits::{LimitsDocument, LimitsStudy};
use stripewise_units::{ByteSize, Nanoseconds};

/// Kind of its documents in the store.
pub const KIND: &str = "limits";

// As typed.
stripewise_units::named! {
    /// Whose volume types are compared with the caps.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Cloud {
        /// Of the cloud that the machine or the device names.
        #[default]
        Auto = "auto",
        /// Amazon's.
        Aws = "aws",
        /// Microsoft's.
        Azure = "azure",
        /// Google's.
        Gcp = "gcp",
        /// Nobody's.
        None = "none",
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
    pub fn refuse_differing(&self, before: &LimitsRequest) -> Outcome<()> {
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

/// An answer of `limits` in the store.
pub type StoredLimits = ResumableAnswer<LimitsDocument>;

impl ResumableDocument for LimitsDocument {
    type Study = LimitsStudy;
    type Request = LimitsRequest;
    const KIND: &'static str = KIND;

    fn origin(&self) -> Origin<'_> {
        Origin {
            id: &self.id,
            target: &self.target,
            started_at: &self.measured_at,
            host: &self.host,
        }
    }

    fn is_open(study: &LimitsStudy) -> bool {
        study.is_open()
    }

    fn why_stopped(study: &LimitsStudy) -> Option<&'static str> {
        let is_stopped = study.is_stopped_burst();
        is_stopped.then_some("a burst was being driven, and its bucket fills meanwhile")
    }

    fn sheet(&self, _: Option<&LimitsStudy>) -> Sheet {
        stripewise_studies::limits::sheet(self)
    }

    fn line(&self, sheet: &Sheet) -> String {
        let line = sheet_line(sheet);
        // The volume that `--cloud` found is a finding beside the answer.
        match self.names.is_empty() {
            true => line,
            false => format!("{line} As {}.", self.names.join("; or ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::pages::{PictureLook, ReportFormat};
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
        let request = LimitsRequest {
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
            load: request.load,
            burst_ns_max: None,
            seed: 1,
        });
        let document = LimitsDocument {
            id: "20261127-111110-dhqk".to_owned(),
            ..study.document(&LimitsFacts::default())
        };
        let stored = StoredLimits::of(
            &study,
            document,
            &request,
            "2026-11-28T04:00:00Z".to_owned(),
        );
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
        assert_eq!(stored.study, Some(study));
        assert_eq!(stored.stored_at, "2026-11-28T04:00:00Z");
        assert_eq!(stored.into_request().expect("what was asked"), request);
        let other = LimitsRequest {
            load: Some((16 << 10, 32)),
            read_only: true,
            ..request.clone()
        };
        let refused = other.refuse_differing(&request).expect_err("two options");
        assert_eq!(
            refused.error.to_string(),
            "it cannot go on with different options: --block was 8K and is 16K; --read-only was \
             not given and is given"
        );
    }
}
