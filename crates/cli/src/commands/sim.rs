//! `sim list` and `sim show`.

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::document::{print_json, print_text};
use crate::switches::small::{Sim, SimAction};
use serde::Serialize;
use stripewise_array_sim::layout::Level;
use stripewise_array_sim::{ArraySpec, Simulate, bundled};
use stripewise_campaign::steps::simulated;
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::{ByteSize, format_bytes};

/// One array, as `--json` prints it.
#[derive(Serialize)]
struct Shown {
    name: String,
    level: String,
    disks: u32,
    stripe_unit_bytes: u64,
    partition_offset_bytes: u64,
    size_bytes: u64,
    rotational: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

pub fn sim(context: &Context, arguments: &Sim) -> Outcome {
    match &arguments.action {
        SimAction::List => list(context),
        SimAction::Show { name } => show(context, name),
    }
}

fn shown(name: &str, spec: &ArraySpec) -> Shown {
    let array = spec.build();
    let facts = array.facts();
    Shown {
        name: name.to_owned(),
        level: level_name(facts.level),
        disks: facts.disks,
        stripe_unit_bytes: facts.stripe_unit_bytes,
        partition_offset_bytes: facts.partition_offset_bytes,
        size_bytes: array.size_bytes(),
        rotational: facts.rotational,
        description: None,
    }
}

/// `RAID 10`, `single`: as people say it.
fn level_name(level: Level) -> String {
    let known = Level::ALL.iter().find(|(known, _)| *known == level);
    let name = known.map_or("?", |(_, name)| name);
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("RAID {name}")
    } else {
        name.to_owned()
    }
}

fn list(context: &Context) -> Outcome {
    #[derive(Serialize)]
    struct List {
        schema_version: u32,
        arrays: Vec<Shown>,
    }
    let arrays: Vec<Shown> = bundled()
        .iter()
        .map(|array| shown(array.name, &array.spec()))
        .collect();
    if context.global.json {
        print_json(&List {
            schema_version: SCHEMA_VERSION,
            arrays,
        })?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for array in &arrays {
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
    print_text(&text);
    Ok(Exit::Done)
}

fn show(context: &Context, name: &str) -> Outcome {
    let name = name.strip_prefix("sim:").unwrap_or(name);
    let spec = simulated::spec(context, name)?;
    if context.global.json {
        #[derive(Serialize)]
        struct One {
            schema_version: u32,
            array: Shown,
        }
        let array = Shown {
            description: Some(spec.describe()),
            ..shown(name, &spec)
        };
        print_json(&One {
            schema_version: SCHEMA_VERSION,
            array,
        })?;
        return Ok(Exit::Done);
    }
    // The bundled file carries the sources of its figures; an array that was
    // changed or read from elsewhere is described as it resolves.
    match bundled().iter().find(|array| array.name == name) {
        Some(array) => print_text(&format!(
            "{}\n# All keys, with those left at their defaults:\n#\n{}",
            array.text,
            commented(&spec.describe())
        )),
        None => print_text(&spec.describe()),
    }
    Ok(Exit::Done)
}

fn commented(text: &str) -> String {
    text.lines().map(|line| format!("# {line}\n")).collect()
}
