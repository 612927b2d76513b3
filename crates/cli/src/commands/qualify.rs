//! `qualify`: is this target good enough for a product?

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::{marked_to_go_on, print_result};
use crate::show::page::{check_outputs, format_of_answer, say_written, write_rendered};
use crate::switches::qualify::Qualify;
use stripewise_campaign::qualify::{
    CommitRequest, ProductLine, QualifyDesign, QualifyRequest, QualifyResult, commit,
    product_lines, product_text, qualify as measure, resume,
};
use stripewise_campaign::steps::pages::PictureLook;
use stripewise_report::{Sheet, SheetTable};

pub fn qualify(context: &Context, arguments: &Qualify) -> Outcome {
    if arguments.list {
        return list(context);
    }
    check_outputs(&arguments.output, format_of_answer)?;
    let permissions = arguments.safety.permissions();
    let qualified = match &arguments.resume {
        Some(id) => resume(context, id, &permissions)?,
        None if arguments.commit => commit(context, &commits(arguments), &permissions)?,
        None => measure(context, &request(context, arguments)?, &permissions)?,
    };
    show(context, &qualified)?;
    for path in &arguments.output {
        let rendered = qualified.rendered(format_of_answer(path)?, &PictureLook::default())?;
        write_rendered(context, &rendered, path)?;
        say_written(context, path);
    }
    match qualified.ended {
        Some(failure) => Err(failure),
        None => Ok(qualified.exit),
    }
}

fn commits(arguments: &Qualify) -> CommitRequest {
    CommitRequest {
        target: arguments.target.clone().unwrap_or_default(),
        engine: arguments.engine.to_string(),
        label: arguments.label.clone(),
        seed: arguments.seed,
    }
}

fn request(context: &Context, arguments: &Qualify) -> Outcome<QualifyRequest> {
    // Both are required unless another mode is requested.
    let product = arguments.product.clone().unwrap_or_default();
    Ok(QualifyRequest {
        target: arguments.target.clone().unwrap_or_default(),
        product: product_text(context, &product)?,
        design: match (arguments.sign, arguments.quick) {
            (true, _) => QualifyDesign::Signed,
            (_, true) => QualifyDesign::Quick,
            _ => QualifyDesign::Usual,
        },
        processors: arguments.processors,
        seed: arguments.seed,
        ends_at_miss: arguments.fail_fast,
        engine: arguments.engine.to_string(),
        label: arguments.label.clone(),
    })
}

/// The answer in a line.
pub(super) fn line(qualified: &QualifyResult) -> String {
    let document = &qualified.document;
    let line = format!("{}: {}", document.target, qualified.line);
    marked_to_go_on(&line, &document.id, &qualified.sheet.pointers)
}

fn show(context: &Context, qualified: &QualifyResult) -> Outcome<()> {
    let sheet = || qualified.sheet.clone();
    print_result(context, &qualified.document, sheet, || line(qualified))
}

fn list(context: &Context) -> Outcome {
    let lines = product_lines()?;
    if context.global.json {
        context.output.print_json(&lines)?;
        return Ok(Exit::Done);
    }
    let sheet = Sheet {
        tables: vec![SheetTable::new(
            "",
            ["product", "requirement", "limit", "source"],
            rows(&lines),
        )],
        ..Sheet::default()
    };
    context.output.print_lines(&context.sheet_text(&sheet));
    Ok(Exit::Done)
}

/// A row for each requirement, with the product's name in its first.
fn rows(lines: &[ProductLine]) -> Vec<Vec<String>> {
    let of_product = |line: &ProductLine| {
        let rows = line.requirements.iter().enumerate().map(|(index, one)| {
            let name = if index == 0 { line.name.as_str() } else { "" };
            let limit = one.limit.as_deref().unwrap_or("measured, not judged");
            [name, &one.name, limit, &one.source]
                .map(str::to_owned)
                .to_vec()
        });
        rows.collect::<Vec<_>>()
    };
    lines.iter().flat_map(of_product).collect()
}
