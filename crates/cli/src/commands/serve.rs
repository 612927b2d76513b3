//! `serve`: passes a server's parameters to the function that the program supplies.

use crate::failure::{Failure, Outcome};
use crate::show::context::Context;
use crate::switches::serve::Serve;
use serde::Serialize;
use stripewise_campaign::live::{Announced, Serve as Server, Serving};
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::NameText;

pub fn serve(context: &Context, arguments: &Serve, server: Server) -> Outcome {
    // Migrates an older store, and completes runs that a killed process left.
    if context.store_is_there()? {
        context.open_store_to_read()?;
    }
    let program = std::env::current_exe().map_err(|error| {
        Failure::target(
            format!("cannot find this program's own file: {error}"),
            "start it by its full path",
        )
    })?;
    let announce = |announced: &Announced<'_>| announced_to(context, announced);
    let serving = Serving {
        view: context.view()?,
        address: arguments.address,
        port: arguments.port,
        socket: arguments.socket.clone(),
        allow_runs: arguments.allow_runs.clone(),
        busy_ok: arguments.busy_ok,
        program,
        announce: &announce,
    };
    server(context, &serving)
}

/// The address it listens on, as `--json` prints it.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Document<'a> {
    schema_version: u32,
    serve: Listening<'a>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Listening<'a> {
    url: &'a str,
    listens_on: &'a str,
    token_file: String,
}

/// Announces the address: a document with `--json`, else text.
fn announced_to(context: &Context, announced: &Announced<'_>) {
    let token_file = announced.token_file.as_text();
    if !context.global.json {
        context.output.print_text(&format!(
            "Open {}\n(once; it signs a browser in). Token for scripts: {token_file}. Ctrl-C ends it.\n",
            announced.url
        ));
        return;
    }
    let listening = Listening {
        url: announced.url,
        listens_on: announced.listens_on,
        token_file,
    };
    // A failed write is reported when the command ends.
    let _ = context.output.print_json(&Document {
        schema_version: SCHEMA_VERSION,
        serve: listening,
    });
}
