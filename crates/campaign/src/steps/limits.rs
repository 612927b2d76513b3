//! An answer of `limits` as the store keeps it beside its runs: shown again and drawn.

use super::headroom::json_of_series;
use super::pages::{PictureLook, Rendered, ReportFormat};
use super::render_sheet::StoredAnswer;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{KeptFacts, Sheet, again, marked, sheet_line};
use stripewise_store::Store;
use stripewise_studies::limits::LimitsDocument;

/// Under which documents are stored.
pub const KIND: &str = "limits";

/// One that was stored.
///
/// # Errors
/// Where it cannot be read.
pub fn of_stored(json: &str) -> Outcome<LimitsDocument> {
    serde_json::from_str(json).map_err(|error| Failure::of(Exit::Store, error))
}

/// The one of this name in the store. None where there is none.
///
/// # Errors
/// Where the store cannot be read.
pub fn find(store: &Store, name: &str) -> Outcome<Option<LimitsDocument>> {
    let json = json_of_series(store, KIND, name)?;
    json.as_deref().map(of_stored).transpose()
}

/// The answer, with the command that shows it again.
#[must_use]
pub fn sheet(document: &LimitsDocument) -> Sheet {
    Sheet {
        pointers: vec![again(&document.id)],
        ..stripewise_studies::limits::sheet(document)
    }
}

/// The answer in a line, and the id under which it is stored.
#[must_use]
pub fn line(document: &LimitsDocument) -> String {
    let line = sheet_line(&sheet(document));
    // The volume that `--cloud` found is a finding beside the answer.
    match document.names.is_empty() {
        true => marked(&line, &document.id),
        false => marked(
            &format!("{line} As {}.", document.names.join("; or ")),
            &document.id,
        ),
    }
}

/// The answer in one of the forms of a report.
///
/// # Errors
/// Where a picture cannot be drawn, or there is none of that name.
pub fn rendered(
    document: &LimitsDocument,
    format: ReportFormat,
    wanted: &PictureLook,
) -> Outcome<Rendered> {
    let shown = StoredAnswer {
        sheet: sheet(document),
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

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_report::sheet_text;

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
        let document = of_stored(&json).expect("the same again");
        let text = sheet_text(&sheet(&document), 80);
        assert!(text.contains("No cap is named: rates scatter."), "{text}");
        let again = "Again  stripewise history show 20261127-111110-dhqk\n";
        assert!(text.ends_with(again), "{text}");
        let line = line(&document);
        assert!(
            line.starts_with("sim:raid10-10k: ")
                && line.contains(". As a gp3 of 3,000 IOPS and 125 MiB/s. [")
                && line.ends_with("-dhqk]"),
            "{line}"
        );
        let look = PictureLook::default();
        for format in [ReportFormat::Html, ReportFormat::Md, ReportFormat::Json] {
            let rendered = rendered(&document, format, &look).expect("a report");
            let text = String::from_utf8(rendered.bytes).expect("text");
            assert!(text.contains("rates scatter"), "{format:?}: {text}");
        }
    }
}
