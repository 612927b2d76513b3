//! Plans of `partition` and `format`, their results, and the command to type for carrying one out.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::print_or;
use serde::Serialize;
use stripewise_campaign::steps::provision::ProvisionDocument;
use stripewise_campaign::steps::provision::text::HANGING;

/// Prints a plan that was not carried out, or one that was with its report.
pub fn print_provision<Plan: Serialize, Report: Serialize>(
    context: &Context,
    plan: &Plan,
    report: Option<&Report>,
    text: &str,
    then: Option<String>,
) -> Outcome<()> {
    print_or(context, &ProvisionDocument::new(plan, report), || {
        let output = &context.output;
        output.print_text(&output.broken(text, Some(HANGING)));
        if let Some(then) = then {
            output.print_text(&then);
        }
    })
}

/// The command to type.
pub struct ConfirmationHint {
    missing: String,
    busy_ok: bool,
}

impl ConfirmationHint {
    pub fn of(yes: bool, destroy: Option<&str>, busy_ok: bool) -> Self {
        let missing = match (yes, destroy) {
            (false, Some(_)) => "--yes".to_owned(),
            _ => String::new(),
        };
        ConfirmationHint { missing, busy_ok }
    }

    /// `unseen`: it cannot be determined whether a program has the device open.
    pub fn text(&self, name: &str, in_the_way: Option<&str>, unseen: Option<&str>) -> String {
        let mut add = if self.missing.is_empty() {
            format!("--yes --destroy {name}")
        } else {
            self.missing.clone()
        };
        if unseen.is_some() && !self.busy_ok {
            add.push_str(" --busy-ok");
        }
        match in_the_way {
            None => format!("Nothing was written. To do it, add: {add}\n"),
            Some(_) => {
                "Nothing was written, and in the present state it would be refused.\n".to_owned()
            }
        }
    }
}
