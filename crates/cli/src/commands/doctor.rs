//! `doctor`: what this machine supports, and what to change for more.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::print_answer;
use crate::switches::small::Doctor;
use std::path::Path;
use stripewise_campaign::doctor::doctor as look;

pub fn doctor(context: &Context, arguments: &Doctor) -> Outcome {
    let path = arguments.path.as_deref().unwrap_or(Path::new("."));
    let seen = look(context, path, arguments.engine)?;
    if context.global.json {
        context.output.print_json(&seen)?;
        return Ok(seen.exit);
    }
    let mut text = String::new();
    for check in &seen.checks {
        let mark = if check.good { "ok  " } else { "warn" };
        let found = format!("{mark} {}: {}\n", check.name, check.found);
        text.push_str(&context.output.broken(&found, Some(5)));
        if !check.hint.is_empty() {
            let hint = format!("     hint: {}\n", check.hint);
            text.push_str(&context.output.broken(&hint, Some(11)));
        }
    }
    print_answer(
        context,
        || text,
        || {
            let all = seen.checks.len();
            let others = seen.checks.iter().filter(|check| !check.good);
            let others: Vec<&str> = others.map(|check| check.name).collect();
            match others.as_slice() {
                [] => format!("all {all} checks are good"),
                others => format!(
                    "{} of {all} checks could be better: {}",
                    others.len(),
                    others.join(", ")
                ),
            }
        },
    );
    Ok(seen.exit)
}
