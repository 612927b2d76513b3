//! `witness`: records which flushes completed on another machine.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::context::Context;
use crate::show::terminal::{Stdout, say};
use crate::switches::witness::Witness;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;
use stripewise_campaign::witness::{Ending, Reports, in_words, witness as keep};
use stripewise_conductor::input::read_text;
use stripewise_units::NameText;

/// Maximum size of a file with a token.
const TOKEN_BYTES_MAX: u64 = 4096;

pub fn witness(context: &Context, arguments: &Witness, stdin: Box<dyn Read + Send>) -> Outcome {
    if arguments.stdin && context.global.json {
        return Err(Failure::usage(
            "--stdin answers on stdout, where the document of --json would go",
            "leave out --json; what it came to is printed on stderr",
        ));
    }
    let reports = match &arguments.listen {
        Some(address) => Reports::Network {
            address: address.clone(),
            token: (arguments.token_file.as_deref())
                .map(|path| token(context, path))
                .transpose()?,
        },
        None => Reports::Pipe {
            from: stdin,
            to: Box::new(Stdout(Rc::clone(&context.output))),
        },
    };
    let document = keep(context, &arguments.file, reports)?;
    if context.global.json {
        context.output.print_json(&document)?;
    } else if arguments.stdin {
        say!(context.output, "{}", in_words(&document));
    } else {
        context
            .output
            .print_text(&format!("{}\n", in_words(&document)));
    }
    Ok(match (document.ending, context.signal()) {
        (Ending::Interrupted, Some(signal)) => Exit::Interrupted(signal),
        _ => Exit::Done,
    })
}

fn token(context: &Context, path: &Path) -> Outcome<String> {
    let hint = "name a text file with the token in its first line";
    let text = read_text(context, path, TOKEN_BYTES_MAX, hint)?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() || line.contains('/') {
        return Err(Failure::usage(
            format!("{} has no token in its first line", path.as_text()),
            hint,
        ));
    }
    Ok(line.to_owned())
}
