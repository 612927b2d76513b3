//! `prepare`: makes and keeps a test file.

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::document::{print_json, print_text};
use crate::switches::small::Prepare;
use serde::Serialize;
use stripewise_campaign::steps::targets;
use stripewise_results::SCHEMA_VERSION;
use stripewise_targets::{Intent, Size, TargetName};
use stripewise_units::{NameText, format_bytes, shell_word};
use stripewise_workload::DataPattern;

#[derive(Serialize)]
struct Prepared<'a> {
    schema_version: u32,
    path: &'a str,
    size_bytes: u64,
    id: Option<&'a str>,
}

pub fn prepare(context: &Context, arguments: &Prepare) -> Outcome {
    let name = TargetName::Path(arguments.path.clone());
    let intent = Intent {
        reads: false,
        writes: false,
        size: Size::Exactly(arguments.size.bytes()),
        keep: true,
        create: true,
        busy_ok: arguments.busy_ok,
        data: DataPattern {
            compressible_percent: arguments.compressible,
            dedupable_percent: arguments.dedupable,
        },
        seed: arguments.seed,
        ..Intent::default()
    };
    let mut store = context.open_store()?;
    let aimed = targets::prepare(context, &mut store, &name, &intent)?;
    let Some(target) = aimed.real() else {
        return Err(Failure::usage(
            "only a file can be prepared",
            "name a path that does not exist yet",
        ));
    };
    let path = arguments.path.as_text();
    let size_bytes = target.size_bytes();
    if context.global.json {
        let id = target.made_file().map(|made| made.id.as_str());
        print_json(&Prepared {
            schema_version: SCHEMA_VERSION,
            path: &path,
            size_bytes,
            id,
        })?;
    } else {
        print_text(&format!(
            "Made {path}, {}; `stripewise run {}` may read and write it.\n",
            format_bytes(size_bytes),
            shell_word(&path)
        ));
    }
    aimed.finish()?;
    Ok(Exit::Done)
}
