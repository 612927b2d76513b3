//! The sentences of an answer.

use super::plain::is_on_page;
use super::question::Question;
use super::set::{LayoutSet, LeftOut, words_of};
use stripewise_results::{AdviceRecord, EffectRecord, LayoutLevels, RecommendationRecord};
use stripewise_units::{capitalised, counted, format_duration, with_raid_words};

/// A bound above this says only that the noise was too high.
const BOUND_MAX: f64 = 50.0;

/// `log p99 at most 5 ms`.
pub(super) fn limit(cell: &str, p99_ns: u64) -> String {
    format!("{cell} p99 at most {}", format_duration(p99_ns))
}

/// A combination that cannot exist, for the list of those not tried.
pub(super) fn left_out(set: &LayoutSet) -> impl Fn(&LeftOut) -> String {
    |left: &LeftOut| {
        let layout = with_raid_words(&words_of(&set.factors, &left.layout));
        format!("{layout}: {}", left.why)
    }
}

/// `9.4 % (8.8 to 10.1)`.
fn with_interval(value: f64, low: f64, high: f64) -> String {
    format!("{value:.1} % ({low:.1} to {high:.1})")
}

/// Fills in the sentences, which are the answer, and the notes, which are the details behind it.
/// `open` are the layouts of which it is not known whether they meet the limits.
pub(super) fn write(question: &Question<'_>, record: &mut AdviceRecord, open: &[LayoutLevels]) {
    let words = |levels: &LayoutLevels| words_of(&question.set.factors, levels);
    // What no layout achieves comes before what the best of them achieves.
    let mut sentences: Vec<String> = of_void_limits(record).into_iter().collect();
    let mut details = Vec::new();
    if let Some(choice) = &record.recommendation {
        let verb = match (choice.is_present, choice.is_shown) {
            (true, true) => "Keep",
            (true, false) => "You may keep",
            (false, true) => "Choose",
            (false, false) => "The best may be",
        };
        let chosen = words(&choice.layout);
        let reason = |subject| reason(question, record, choice, subject);
        match of_gain(question, record) {
            Some(gain) => {
                sentences.push(format!("{verb} {chosen}: {gain}."));
                let why = format!("{}.", capitalised(&reason(Some(&chosen))));
                // A doubt belongs to the answer.
                match choice.is_shown {
                    true => details.push(why),
                    false => sentences.push(why),
                }
            }
            None => sentences.push(format!("{verb} {chosen}: {}.", reason(None))),
        }
    }
    sentences.extend(of_protection(record));
    sentences.extend(of_off_page(question, record));
    sentences.extend(of_unproven(question, record, open));
    sentences.extend(of_present_outside(question, record));
    let best = || record.layouts.iter().filter(|layout| layout.among_best);
    // One that is shown to be near the best may be chosen though it is behind it.
    let choice = record.recommendation.as_ref();
    let layouts = match choice.is_none_or(|choice| best().any(|one| one.layout == choice.layout)) {
        true => "layouts",
        false => "other layouts",
    };
    if best().count() > 1 {
        let passes = counted(record.passes as usize, "pass", "passes");
        match record.resolution_percent > BOUND_MAX {
            true => sentences.push(format!(
                "After {passes} the layouts cannot be judged yet: even a difference of {BOUND_MAX:.0} % would not show."
            )),
            false => details.push(format!(
                "{} {layouts} may be the best: differences below {:.1} % of IOPS do not show after {passes}.",
                best().count(),
                record.resolution_percent,
            )),
        }
    }
    record.sentences = in_words(&sentences);
    record.notes.extend(in_words(&details));
    record.notes.extend(of_limits(record));
    record.notes.extend(of_shares(record));
}

/// Sentences with RAID levels as people say them.
pub(super) fn in_words(sentences: &[String]) -> Vec<String> {
    let sentences = sentences.iter();
    sentences.map(|text| with_raid_words(text)).collect()
}

/// The reason for this choice, which is named where the sentence has not done it yet.
fn reason(
    question: &Question<'_>,
    record: &AdviceRecord,
    choice: &RecommendationRecord,
    subject: Option<&String>,
) -> String {
    let (why, margin_percent) = (&choice.why, record.margin_percent);
    if !choice.is_shown {
        let subject = subject.map_or("it", String::as_str);
        return format!(
            "{subject} is not shown to be within {margin_percent} % of the best; {why}"
        );
    }
    let is_limited = record.limits.iter().any(|limit| !limit.is_void);
    let of_which = match (off_page(question).next().is_some(), is_limited) {
        (true, true) => " that starts at a multiple of 4 KiB and that no limit excludes",
        (true, false) => " that starts at a multiple of 4 KiB",
        (false, true) => " that no limit excludes",
        (false, false) => "",
    };
    let than = subject.map_or_else(String::new, |subject| format!(" than {subject}"));
    format!("no other layout{of_which} is better{than} by more than {margin_percent} %, and {why}")
}

/// That the choice survives fewer failures than what is there now, or than another level that was
/// tried: the score does not count them.
fn of_protection(record: &AdviceRecord) -> Option<String> {
    let chosen = record.recommendation.as_ref()?.layout.get("raid")?;
    let present = record.present.as_ref().and_then(|one| one.get("raid"));
    let factor = record.factors.iter().find(|factor| factor.name == "raid")?;
    let safest = || factor.levels.iter().max_by_key(|level| survives(level));
    let other = present.or_else(safest)?;
    let [of_chosen, of_other] = [survives(chosen)?, survives(other)?];
    let of_chosen_words = match of_chosen {
        0 => "does not survive a disk failure".to_owned(),
        1 => "survives one disk failure".to_owned(),
        more => format!("survives {more} disk failures"),
    };
    let of_other_words = match of_other {
        1 => "one".to_owned(),
        more => more.to_string(),
    };
    (of_chosen < of_other).then(|| {
        format!(
            "{} {of_chosen_words}, {} survives {of_other_words}; only IOPS are compared.",
            capitalised(&with_raid_words(&format!("raid {chosen}"))),
            with_raid_words(&format!("raid {other}")),
        )
    })
}

/// How many disks may fail, whichever they are; `None` for a level that is not known.
fn survives(level: &str) -> Option<u32> {
    let (name, disks) = level.split_once(':').unwrap_or((level, ""));
    match name {
        "single" | "raid0" => Some(0),
        "raid1" => Some(
            disks
                .parse::<u32>()
                .map_or(1, |disks| disks.saturating_sub(1)),
        ),
        "raid10" | "raid5" => Some(1),
        "raid6" => Some(2),
        _ => None,
    }
}

/// Layouts that are never recommended because of where they start.
fn off_page<'a>(question: &'a Question<'_>) -> impl Iterator<Item = LayoutLevels> + 'a {
    let layouts = 0..question.set.len();
    let off = layouts.filter(|layout| !is_on_page(question.set, *layout));
    off.map(|layout| question.set.levels(layout))
}

/// The gain of the best of those, and why it is not recommended.
fn of_off_page(question: &Question<'_>, record: &AdviceRecord) -> Option<String> {
    let why = "a start off 4 KiB puts each page of everything else on the volume on two \
               physical sectors of a drive, or two pages of parity";
    let off: Vec<LayoutLevels> = off_page(question).collect();
    if off.len() == question.set.len() {
        return Some(format!("No layout is recommended: {why}. Try one at 1M."));
    }
    // What may be noise is in the table.
    let better = record.layouts.iter().filter(|layout| {
        let ahead = layout.breaks.is_none() && layout.ahead_percent_low > 0.0;
        ahead && off.contains(&layout.layout)
    });
    let most = better.max_by(|a, b| a.ahead_percent.total_cmp(&b.ahead_percent))?;
    let gain = with_interval(
        most.ahead_percent,
        most.ahead_percent_low,
        most.ahead_percent_high,
    );
    let words = words_of(&question.set.factors, &most.layout);
    Some(format!(
        "In these loads {words} would give {gain} more IOPS than the best other start, but is not recommended: {why}."
    ))
}

/// The fastest of those of which it is not known whether they meet the limits, if it is ahead of the
/// best that does.
fn of_unproven(
    question: &Question<'_>,
    record: &AdviceRecord,
    open: &[LayoutLevels],
) -> Option<String> {
    let choice = record.recommendation.as_ref()?;
    if open.contains(&choice.layout) {
        return None;
    }
    let off: Vec<LayoutLevels> = off_page(question).collect();
    let faster = record.layouts.iter().filter(|layout| {
        let is_ahead =
            layout.ahead_percent > record.margin_percent && layout.ahead_percent_low > 0.0;
        let is_out = layout.breaks.is_some() || off.contains(&layout.layout);
        is_ahead && !is_out && open.contains(&layout.layout)
    });
    let most = faster.max_by(|a, b| a.ahead_percent.total_cmp(&b.ahead_percent))?;
    Some(format!(
        "In these loads {} would give {} more IOPS than the best that is shown to meet the limits; whether it meets them is not known.",
        words_of(&question.set.factors, &most.layout),
        with_interval(
            most.ahead_percent,
            most.ahead_percent_low,
            most.ahead_percent_high
        )
    ))
}

/// Limits that no layout meets.
fn of_void_limits(record: &AdviceRecord) -> Option<String> {
    let void = || record.limits.iter().filter(|limit| limit.is_void);
    let all: Vec<String> = void().map(|one| limit(&one.cell, one.p99_ns)).collect();
    let is_met_by_some = void().any(|one| (one.broken as usize) < record.layouts.len());
    match all.as_slice() {
        [] => None,
        several if is_met_by_some => Some(format!(
            "No layout meets all of these limits: {}.",
            several.join(", ")
        )),
        [one] => Some(format!("No layout meets the limit: {one}.")),
        several => Some(format!(
            "No layout meets any limit: {}.",
            several.join(", ")
        )),
    }
}

/// The gain of the choice over the present layout.
fn of_gain(question: &Question<'_>, record: &AdviceRecord) -> Option<String> {
    let choice = record.recommendation.as_ref()?;
    let gain = choice.gain_percent?;
    if choice.is_present {
        return None;
    }
    let (low, high) = (choice.gain_percent_low?, choice.gain_percent_high?);
    let present = words_of(&question.set.factors, record.present.as_ref()?);
    let interval = with_interval(gain, low, high);
    // A start that is never recommended is left for another even if nothing is gained.
    let is_off = (question.present).is_some_and(|present| !is_on_page(question.set, present));
    let moving = match is_off {
        true => "; an existing volume need not be moved for this",
        false => "",
    };
    Some(match (low > 0.0, high < 0.0) {
        (true, _) => format!("it gives {interval} more IOPS than the present layout ({present})"),
        (_, true) => format!("it gives {interval} of IOPS against the present layout ({present})"),
        _ => format!(
            "no gain of IOPS over the present layout ({present}) is shown: {interval}{moving}"
        ),
    })
}

/// Why not to keep the present layout, if its loss does not show it.
fn of_present_outside(question: &Question<'_>, record: &AdviceRecord) -> Option<String> {
    let gain = record.recommendation.as_ref();
    let gain = gain.and_then(|choice| choice.gain_percent_low);
    if !record.present_is_outside || gain.is_some_and(|low| low > record.margin_percent) {
        return None;
    }
    let present = record.layouts.iter().find(|layout| layout.is_present)?;
    let words = words_of(&question.set.factors, &present.layout);
    Some(match (&present.breaks, present.dropped_after) {
        (Some(limit), _) => {
            format!("The present layout ({words}) misses a limit that others meet: {limit}.")
        }
        (None, Some(passes)) => format!(
            "The present layout ({words}) was dropped after {passes} passes: it is not among the best."
        ),
        (None, None) => format!(
            "The present layout ({words}) is worse than the best by more than {} %.",
            record.margin_percent
        ),
    })
}

fn of_limits(record: &AdviceRecord) -> Vec<String> {
    let layouts = u32::try_from(record.layouts.len()).unwrap_or(u32::MAX);
    let note = |one: &stripewise_results::LimitRecord| {
        let limit = limit(&one.cell, one.p99_ns);
        let unknown = match layouts.saturating_sub(one.met + one.broken) {
            0 => String::new(),
            open => format!("; of {open} it is not known"),
        };
        match (one.met, one.broken) {
            (met, 0) if unknown.is_empty() => {
                format!("All {met} layouts meet the limit \"{limit}\".")
            }
            (met, 0) => {
                format!("The limit \"{limit}\" is met by {met} of {layouts} layouts{unknown}.")
            }
            (_, broken) => {
                let excluded = match one.is_void {
                    true => "",
                    false => ", which are excluded",
                };
                format!(
                    "The limit \"{limit}\" is missed by {broken} of {layouts} layouts{excluded}{unknown}."
                )
            }
        }
    };
    let is_of_some = |limit: &&stripewise_results::LimitRecord| limit.broken < layouts;
    let separating = record.limits.iter().filter(is_of_some);
    separating.map(note).collect()
}

fn of_shares(record: &AdviceRecord) -> Vec<String> {
    let assumed = record
        .cells
        .iter()
        .filter(|cell| cell.assumed && cell.share_percent > 0.0);
    let assumed: Vec<String> = assumed
        .map(|cell| format!("{} {:.0} %", cell.name, cell.share_percent))
        .collect();
    if assumed.is_empty() || record.variations.is_empty() {
        return Vec::new();
    }
    let broken: Vec<String> = (record.variations.iter())
        .filter(|variation| !variation.choice_holds)
        .map(|variation| {
            let by = match variation.by < 1.0 {
                true => "half",
                false => "twice",
            };
            format!("{} counts {by}", variation.cell)
        })
        .collect();
    let end = match broken.is_empty() {
        true => "the choice is the same with each of them halved and doubled".to_owned(),
        false => format!("the choice changes if {}", broken.join(", or ")),
    };
    vec![format!(
        "Assumed shares (no source gives them): {}; {end}.",
        assumed.join(", ")
    )]
}

/// Which factors matter: a sentence for each factor and each pair of factors
/// with an effect, then one for the pairs without. Unless it is the `whole`, nothing of what has no
/// effect by arithmetic or of pairs without one, and not where each effect holds, which the
/// heading says.
pub fn effect_sentences(record: &AdviceRecord, whole: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut quiet: Vec<&EffectRecord> = Vec::new();
    let mut quiet_most: f64 = 0.0;
    let mut seen: Vec<&Vec<String>> = Vec::new();
    for effect in &record.effects {
        if seen.contains(&&effect.factors) {
            continue;
        }
        seen.push(&effect.factors);
        let same = || {
            record
                .effects
                .iter()
                .filter(|other| other.factors == effect.factors)
        };
        match same().find(|effect| effect.found) {
            Some(found) => sentences.push(found_words(record, found, whole)),
            None => {
                let most = |most: f64, effect: &EffectRecord| {
                    most.max(effect.high.abs()).max(effect.low.abs())
                };
                let most = same().fold(0.0, most);
                if effect.by_arithmetic {
                    let most = same().max_by(|a, b| a.percent.total_cmp(&b.percent));
                    sentences.extend(arithmetic_words(record, most.unwrap_or(effect), whole));
                } else if effect.factors.len() == 1 {
                    let all: Vec<&EffectRecord> = same().collect();
                    sentences.push(quiet_words(record, &all, most, whole));
                } else {
                    quiet.push(effect);
                    quiet_most = quiet_most.max(most);
                }
            }
        }
    }
    if whole && !quiet.is_empty() {
        let what: Vec<String> = quiet.iter().map(|one| name_of(&one.factors)).collect();
        let what = what.join(", ");
        let of_quiet =
            |effect: &&EffectRecord| quiet.iter().any(|one| one.factors == effect.factors);
        let of_quiet: Vec<&EffectRecord> = record.effects.iter().filter(of_quiet).collect();
        let others = match record.factors.len() > 2 {
            false => String::new(),
            true => on_others(
                record,
                &of_quiet,
                "the recommended levels of the other factors",
            ),
        };
        sentences.push(match quiet_most > BOUND_MAX {
            true => {
                format!("{what}: interactions not known, one of {BOUND_MAX:.0} % would not show")
            }
            false => format!("{what}: no interaction above {quiet_most:.1} %{others}"),
        });
    }
    in_words(&sentences)
}

/// How much slots differ; `None` if that is not known.
pub fn slot_note(differences: &[(String, f64)]) -> Option<String> {
    let each: Vec<String> = (differences.iter())
        .map(|(cell, percent)| format!("{percent:.1} % in {cell}"))
        .collect();
    (!each.is_empty()).then(|| {
        format!(
            "Layouts were placed side by side and changed places. The best slot is ahead of the worst by {}; all figures are corrected for that.",
            each.join(", ")
        )
    })
}

fn name_of(factors: &[String]) -> String {
    let names: Vec<String> = factors.iter().map(|name| name.replace('-', " ")).collect();
    names.join(" x ")
}

/// Where an effect holds: `, with stripe unit 64K`; nothing if the heading says it for all.
fn with_others(record: &AdviceRecord, effect: &EffectRecord, whole: bool) -> String {
    match whole {
        true => on_others(record, &[effect], &levels_at(effect)),
        false => String::new(),
    }
}

/// `stripe unit 64K`.
fn levels_at(effect: &EffectRecord) -> String {
    let level = |(name, level): (&String, &String)| format!("{} {level}", name.replace('-', " "));
    effect.at.iter().map(level).collect::<Vec<_>>().join(", ")
}

/// Where effects hold: at these levels of the other factors, or averaged over them.
fn on_others(record: &AdviceRecord, effects: &[&EffectRecord], levels: &str) -> String {
    let factors = record.factors.len();
    let averaged = effects.iter().filter(|effect| effect.is_averaged(factors));
    match averaged.count() {
        0 if levels.is_empty() => String::new(),
        0 => format!(", with {levels}"),
        all if all == effects.len() => ", averaged over the layouts tried".to_owned(),
        _ => format!(", with {levels} or, where that was not tried, on average"),
    }
}

/// A factor without a demonstrated effect: its upper bound, if it is useful. `effects` are all of it.
fn quiet_words(
    record: &AdviceRecord,
    effects: &[&EffectRecord],
    most_percent: f64,
    whole: bool,
) -> String {
    let first = effects.iter().find(|effect| !effect.at.is_empty());
    let Some(first) = first.or_else(|| effects.first()) else {
        return String::new();
    };
    let name = name_of(&first.factors);
    match most_percent > BOUND_MAX {
        true => format!("{name}: not known, an effect of {BOUND_MAX:.0} % would not show"),
        false => {
            let others = match whole {
                true => on_others(record, effects, &levels_at(first)),
                false => String::new(),
            };
            format!("{name}: no effect above {most_percent:.1} % on IOPS{others}")
        }
    }
}

/// `None` for an effect of nothing that is not part of the whole.
fn arithmetic_words(record: &AdviceRecord, effect: &EffectRecord, whole: bool) -> Option<String> {
    let name = name_of(&effect.factors);
    match effect.levels.as_slice() {
        [[from, to]] if effect.percent >= 0.05 => Some(format!(
            "{name}: at most {:.1} % more IOPS at {to} than at {from}{} (by arithmetic, not measured)",
            effect.percent,
            with_others(record, effect, whole)
        )),
        _ => whole.then(|| format!("{name}: none (by arithmetic, not measured)")),
    }
}

fn found_words(record: &AdviceRecord, effect: &EffectRecord, whole: bool) -> String {
    let name = name_of(&effect.factors);
    let size = with_interval(effect.percent, effect.low, effect.high);
    let others = with_others(record, effect, whole);
    match effect.levels.as_slice() {
        [[from, to]] => {
            format!("{name}: {size} more IOPS at {to} than at {from}{others}")
        }
        [[from, to], [less, more]] => {
            let size = match whole {
                true => size,
                false => format!("{:.1} %", effect.percent),
            };
            format!(
                "{name}: {to} instead of {from} gains {size} more at {more} than at {less}{others}"
            )
        }
        _ => format!("{name}: {size}{others}"),
    }
}
