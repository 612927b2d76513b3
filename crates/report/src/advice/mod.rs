//! Advice on layouts: a sheet, and pictures.

mod charts;
mod sheet;

pub use charts::advice_charts;
pub use sheet::advice_sheet;

use stripewise_results::{AdviceRecord, EffectRecord, LayoutLevels, LayoutRecord};
use stripewise_units::with_raid_words;

/// A layout as text, in the order of the factors: `offset 1M, stripe unit 64K`.
fn layout_words(record: &AdviceRecord, levels: &LayoutLevels) -> String {
    let each = record.factors.iter().filter_map(|factor| {
        let level = levels.get(&factor.name)?;
        Some(format!("{} {level}", factor.name.replace('-', " ")))
    });
    with_raid_words(&each.collect::<Vec<_>>().join(", "))
}

/// A level where the name of its factor is in a heading: `64K`, `RAID 10 of 4`.
fn level_words(factor: &str, level: &str) -> String {
    match factor {
        "raid" => with_raid_words(&format!("raid {level}")),
        _ => level.to_owned(),
    }
}

/// `stripe unit`, `RAID`.
fn factor_name(name: &str) -> String {
    with_raid_words(&name.replace('-', " "))
}

/// `offset`, `offset x stripe unit`.
fn effect_name(effect: &EffectRecord) -> String {
    let names: Vec<String> = effect
        .factors
        .iter()
        .map(|name| factor_name(name))
        .collect();
    names.join(" x ")
}

/// `1M over 63s`; for an interaction `1M over 63s, at 64K against 256K`. Says that it is an average
/// where only some effects are.
fn effect_levels(record: &AdviceRecord, effect: &EffectRecord) -> String {
    let is_average = effects_at(record).is_none() && effect.is_averaged(record.factors.len());
    let averaged = if is_average { ", averaged" } else { "" };
    with_raid_words(&match effect.levels.as_slice() {
        [[from, to]] => format!("{to} over {from}{averaged}"),
        [[from, to], [low, high]] => {
            format!("{to} over {from}, at {high} against {low}{averaged}")
        }
        _ => String::new(),
    })
}

/// Which levels the other factors have in all effects: `, with the other factors as recommended`.
/// `None` if some are averages and others are not.
fn effects_at(record: &AdviceRecord) -> Option<&'static str> {
    let is_averaged = |effect: &EffectRecord| effect.is_averaged(record.factors.len());
    let is_at = record.effects.iter().any(|effect| !effect.at.is_empty());
    match (is_at, record.effects.iter().any(is_averaged)) {
        (true, false) => Some(", with the other factors as recommended"),
        (false, true) => Some(", averaged over the other factors"),
        (false, false) => Some(""),
        (true, true) => None,
    }
}

/// Heading of the table of effects.
fn effects_heading(record: &AdviceRecord) -> &'static str {
    effects_at(record).unwrap_or(", with the other factors as recommended unless averaged")
}

/// The layout that all others are compared with: the best of those that may be recommended. Those
/// that are ahead of it start off 4 KiB, or miss a limit or may do.
fn reference(record: &AdviceRecord) -> Option<&LayoutRecord> {
    let layouts = record.layouts.iter();
    let not_behind = layouts.filter(|one| one.dropped_after.is_none() && one.ahead_percent >= 0.0);
    // Where a rate limit makes all equal, one that may be chosen.
    not_behind.min_by(|a, b| (a.score.total_cmp(&b.score)).then(b.among_best.cmp(&a.among_best)))
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
