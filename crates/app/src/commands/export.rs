//! `export`: records one after the other. Stored runs are read and written one by
//! one, so that a store of any size passes through little memory.

use crate::cli::export::{Export, ExportFormat};
use crate::context::{Context, store_failure};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::write_new_with;
use crate::subject::subject;
use std::io::{BufWriter, ErrorKind, Write};
use stripewise_report::{csv_heading, csv_rows};
use stripewise_results::RunRecord;
use stripewise_store::Filter;

pub fn export(context: &Context, arguments: &Export) -> Outcome {
    let format = arguments.format.unwrap_or_else(|| {
        let csv = arguments
            .output
            .as_ref()
            .and_then(|path| path.extension())
            .is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        if csv {
            ExportFormat::Csv
        } else {
            ExportFormat::Jsonl
        }
    });
    match &arguments.output {
        Some(path) => write_new_with(path, |out| all(context, arguments, format, out))?,
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            let written = all(context, arguments, format, &mut out);
            match written.and_then(|()| out.flush().map_err(unwritten)) {
                // A broken pipe means that the reader has seen enough.
                Err(failure) if is_broken_pipe(&failure) => {}
                other => other?,
            }
        }
    }
    Ok(Exit::Done)
}

fn all(
    context: &Context,
    arguments: &Export,
    format: ExportFormat,
    out: &mut dyn Write,
) -> Outcome<()> {
    if format == ExportFormat::Csv {
        out.write_all(csv_heading().as_bytes()).map_err(unwritten)?;
    }
    if !arguments.subjects.is_empty() {
        for name in &arguments.subjects {
            for run in subject(context, name)?.runs {
                one(&run, format, out)?;
            }
        }
        return Ok(());
    }
    let store = context.open_store_to_read()?;
    let listed = store.list(&Filter::default()).map_err(store_failure)?;
    for id in listed.into_iter().rev().map(|run| run.id) {
        one(&store.load(&id).map_err(store_failure)?, format, out)?;
    }
    Ok(())
}

fn one(run: &RunRecord, format: ExportFormat, out: &mut dyn Write) -> Outcome<()> {
    let text = match format {
        ExportFormat::Csv => csv_rows(run),
        ExportFormat::Jsonl => {
            let line = serde_json::to_string(run).map_err(|error| Failure {
                exit: Exit::Store,
                error: error.into(),
                hint: None,
            })?;
            line + "\n"
        }
    };
    out.write_all(text.as_bytes()).map_err(unwritten)
}

fn unwritten(error: std::io::Error) -> Failure {
    Failure {
        exit: Exit::Target,
        error: anyhow::Error::new(error).context("cannot write the export"),
        hint: Some("make room there, or name a file elsewhere".to_owned()),
    }
}

fn is_broken_pipe(failure: &Failure) -> bool {
    let io = failure.error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
