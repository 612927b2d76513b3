//! Products by name, or in the user's own file.

use schemars::JsonSchema;
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::{PLAN_BYTES_MAX, read};
use stripewise_studies::product::{BUNDLED, Product};
use stripewise_units::{nearest, path_of};

/// A product's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductText {
    /// As typed.
    pub name: String,
    /// Its TOML.
    pub text: String,
}

/// A bundled product, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProductLine {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// What is measured of it.
    pub requirements: Vec<RequirementLine>,
}

/// A requirement, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequirementLine {
    /// Its name.
    pub name: String,
    /// `p99 < 10 ms`; null where no number is published.
    pub limit: Option<String>,
    /// Where the limit comes from, in short.
    pub source: String,
}

/// All bundled products.
///
/// # Errors
/// None: a test parses every one of them.
pub fn product_lines() -> Outcome<Vec<ProductLine>> {
    let line = |(name, text): &(&str, &str)| {
        let product: Product = text
            .parse()
            .map_err(|error| super::product_failure(name, &error))?;
        let requirements = product.requirements.iter().map(|one| RequirementLine {
            name: one.name.clone(),
            limit: one.limit.map(|limit| match one.per_processor {
                true => format!("{} per processor", limit.text(one.metric)),
                false => limit.text(one.metric),
            }),
            source: one.source.name.clone(),
        });
        Ok(ProductLine {
            requirements: requirements.collect(),
            name: product.name,
            about: product.about,
        })
    };
    BUNDLED.iter().map(line).collect()
}

/// Names of the bundled products.
pub fn product_names() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|(name, _)| *name)
}

/// The file of a product: a bundled one by its name, or `FILE.toml`.
///
/// # Errors
/// If there is none of that name: the error suggests the closest match, and lists all.
pub fn product_text(context: &Context, name: &str) -> Outcome<ProductText> {
    if let Some((_, text)) = BUNDLED.iter().find(|(known, _)| *known == name) {
        return Ok(ProductText {
            name: name.to_owned(),
            text: (*text).to_owned(),
        });
    }
    if name.ends_with(".toml") {
        let hint =
            "name a file in the format of QUALIFY.md, or a product of `stripewise qualify --list`";
        let bytes = read(context, &path_of(name), PLAN_BYTES_MAX, hint)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::usage(format!("{name} is not UTF-8 text"), hint))?;
        return Ok(ProductText {
            name: name.to_owned(),
            text,
        });
    }
    let near = nearest(name, product_names());
    let near = near.map_or(String::new(), |near| format!("did you mean {near}? "));
    let all = product_lines()?;
    let lines = all
        .iter()
        .map(|one| format!("\n  {:<16}{}", one.name, one.about));
    let lines: String = lines.collect();
    Err(Failure::usage(
        format!("there is no product {name}"),
        format!("{near}Name one of these, or a FILE.toml of your own:{lines}"),
    ))
}
