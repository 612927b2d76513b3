//! `sim list` and `sim show`.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::document::{print_json, print_text};
use crate::switches::small::{Sim, SimAction};
use stripewise_campaign::sim::{SimulatedArray, list, show};
use stripewise_units::{ByteSize, format_bytes};

pub fn sim(context: &Context, arguments: &Sim) -> Outcome {
    match &arguments.action {
        SimAction::List => {
            let arrays = list();
            match context.global.json {
                true => print_json(&arrays)?,
                false => print_text(&text(&arrays.arrays)),
            }
        }
        SimAction::Show { name } => {
            let shown = show(context, name)?;
            let keys = shown.array.description.as_deref().unwrap_or_default();
            match (context.global.json, shown.file) {
                (true, _) => print_json(&shown)?,
                (false, Some(file)) => print_text(&format!(
                    "{file}\n# All keys, with those left at their defaults:\n#\n{}",
                    commented(keys)
                )),
                (false, None) => print_text(keys),
            }
        }
    }
    Ok(Exit::Done)
}

fn text(arrays: &[SimulatedArray]) -> String {
    let mut text = String::new();
    for array in arrays {
        let unit = match array.stripe_unit_bytes {
            0 => String::new(),
            bytes => format!(", stripe unit {}", ByteSize(bytes)),
        };
        text.push_str(&format!(
            "{:<18} {:<8} {:>3} {}, {}{unit}\n",
            array.name,
            array.level,
            array.disks,
            match (array.rotational, array.disks) {
                (true, 1) => "disk",
                (true, _) => "disks",
                (false, 1) => "SSD",
                (false, _) => "SSDs",
            },
            format_bytes(array.size_bytes),
        ));
    }
    text.push_str("\nUse one as sim:NAME, with sim:NAME?key=value to change it; `stripewise sim show NAME` has the keys.\n");
    text
}

fn commented(text: &str) -> String {
    text.lines().map(|line| format!("# {line}\n")).collect()
}
