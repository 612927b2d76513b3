//! `doctor`: what this machine offers, and what to change for more.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::switches::small::Doctor;
use std::path::Path;
use stripewise_campaign::doctor::doctor as look;
use stripewise_report::wrapped;

pub fn doctor(context: &Context, arguments: &Doctor) -> Outcome {
    let path = arguments.path.as_deref().unwrap_or(Path::new("."));
    let seen = look(context, path)?;
    if context.global.json {
        context.output.print_json(&seen)?;
        return Ok(seen.exit);
    }
    let mut text = String::new();
    for check in &seen.checks {
        let mark = if check.good { "ok  " } else { "look" };
        text.push_str(&wrapped(
            &format!("{mark} {}: {}", check.name, check.found),
            "     ",
        ));
        if !check.hint.is_empty() {
            text.push_str(&wrapped(
                &format!("     hint: {}", check.hint),
                "           ",
            ));
        }
    }
    context.output.print_text(&text);
    Ok(seen.exit)
}
