//! The JSON Schemas of `--json` documents. `cargo xtask schemas` writes them to
//! `docs/schema`; a test compares the files with the types.

use crate::commands::{export, lab, manual, report, serve};
use crate::usage_error::Version;
use serde_json::Value;
use stripewise_campaign::described;
use stripewise_campaign::schema::Described;
use stripewise_results::schema::of;

/// Documents that do not come from a use case.
const OWN: [Described; 7] = described! {
    "lab-init": "`lab init`: the plan that was written", of::<lab::Template>;
    "report": "`report -o FILE`: what was written", of::<report::Written>;
    "export": "`export -o FILE`: the file that was written", of::<export::Exported>;
    "man": "`man`: the pages that were written", of::<manual::Pages>;
    "completions": "`completions`: the script for a shell", of::<manual::Script>;
    "version": "`--version`: which program this is", of::<Version>;
    "serve": "`serve`: where it listens", of::<serve::Document>;
};

/// The names of their files, and their contents.
pub fn schemas() -> [(&'static str, Value); 4] {
    stripewise_campaign::schema::schemas(&OWN)
}
