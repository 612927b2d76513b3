//! The output of `lab clean` for people.

use super::Cleaned;
use crate::steps::layouts::real::clean::LeftLayout;
use stripewise_units::format_bytes;

/// What was removed, or would be; `named`: experiments were named.
pub fn cleaned_text(cleaned: &Cleaned, named: bool) -> String {
    let verb = match cleaned.done {
        true => "Removed",
        false => "Would remove",
    };
    let mut text = String::new();
    for file in &cleaned.files {
        text.push_str(&match (file.gone_before, &file.refused, cleaned.done) {
            (true, _, true) => format!("{} is gone already; forgotten.\n", file.path),
            (true, _, false) => format!("{} is gone already; would be forgotten.\n", file.path),
            (false, Some(_), true) => format!("{} stays.\n", file.path),
            (false, Some(_), false) => format!("{} would stay.\n", file.path),
            (false, None, _) => format!(
                "{verb} {} ({}).\n",
                file.path,
                format_bytes(file.size_bytes)
            ),
        });
    }
    for experiment in &cleaned.experiments {
        text.push_str(&format!(
            "{verb} experiment {} and its {} runs.\n",
            experiment.id, experiment.runs
        ));
    }
    for left in &cleaned.layouts {
        text.push_str(&left_text(left, cleaned.done));
    }
    if cleaned.files.is_empty() && cleaned.layouts.is_empty() && !named {
        text.push_str("No test file is kept.\n");
    } else if !cleaned.done {
        text.push_str("Nothing was removed; --yes does it.\n");
    }
    text
}

/// A layout left on devices, and what happens to it.
fn left_text(left: &LeftLayout, done: bool) -> String {
    let devices = left.devices.join(", ");
    let place = match (&left.array, devices.as_str()) {
        (_, "") => String::new(),
        (Some(array), devices) => format!(" on {devices} ({array})"),
        (None, devices) => format!(" on {devices}"),
    };
    let outcome_text = match (&left.refused, done) {
        (Some(why), _) => format!("stays: {why}"),
        (None, true) => "was taken down".to_owned(),
        (None, false) => format!(
            "would be taken down, with --yes --destroy {}",
            left.destroy.join(",")
        ),
    };
    format!(
        "The layout {} of experiment {}{place} {outcome_text}.\n",
        left.layout, left.experiment
    )
}
