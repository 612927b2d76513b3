//! Advice on layouts: a sheet, and pictures.

mod charts;
mod sheet;

pub use charts::advice_charts;
pub use sheet::advice_sheet;

use stripewise_results::{AdviceRecord, EffectRecord, LayoutLevels};

/// A layout as text, in the order of the factors: `offset 1M, stripe unit 64K`.
fn layout_words(record: &AdviceRecord, levels: &LayoutLevels) -> String {
    let each = record.factors.iter().filter_map(|factor| {
        let level = levels.get(&factor.name)?;
        Some(format!("{} {level}", factor.name.replace('-', " ")))
    });
    each.collect::<Vec<_>>().join(", ")
}

/// `offset`, `offset x stripe unit`.
fn effect_name(effect: &EffectRecord) -> String {
    let names: Vec<String> = effect
        .factors
        .iter()
        .map(|name| name.replace('-', " "))
        .collect();
    names.join(" x ")
}

/// `1M over 63s`; for an interaction `1M over 63s, at 64K against 256K`.
fn effect_levels(effect: &EffectRecord) -> String {
    match effect.levels.as_slice() {
        [[from, to]] => format!("{to} over {from}"),
        [[from, to], [low, high]] => format!("{to} over {from}, at {high} against {low}"),
        _ => String::new(),
    }
}

/// Which levels the other factors have in the effects: `, with the other factors as recommended`.
fn effects_at(record: &AdviceRecord) -> &'static str {
    let is_at = record.effects.iter().any(|effect| !effect.at.is_empty());
    match (is_at, record.factors.len() > 1) {
        (true, _) => ", with the other factors as recommended",
        (false, true) => ", averaged over the other factors",
        (false, false) => "",
    }
}

/// The largest effect of each factor or pair of factors.
fn largest(record: &AdviceRecord) -> Vec<&EffectRecord> {
    let mut largest: Vec<&EffectRecord> = Vec::new();
    for effect in &record.effects {
        match largest
            .iter_mut()
            .find(|known| known.factors == effect.factors)
        {
            Some(known) if effect.percent > known.percent => *known = effect,
            Some(_) => {}
            None => largest.push(effect),
        }
    }
    largest
}
