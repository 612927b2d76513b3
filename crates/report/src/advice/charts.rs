//! Charts of advice: the ranking with intervals, the effects, and interactions of factors.

use super::{
    effect_levels, effect_name, effects_heading, factor_name, largest, layout_words, level_words,
    reference,
};
use crate::chart::{Annotation, Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::choose::axis;
use stripewise_results::{AdviceRecord, FactorRecord, LayoutRecord};

/// Maximum number of layouts in one picture.
const LAYOUTS_MAX: usize = 24;

/// All charts, the ranking first; empty before there is an answer.
pub fn advice_charts(record: &AdviceRecord) -> Vec<Chart> {
    if record.layouts.is_empty() {
        // If nothing was measured, the effects come from arithmetic alone; before there is an
        // answer, they would show something no one measured.
        let by_arithmetic = record.recommendation.as_ref().and_then(|_| effects(record));
        return by_arithmetic.into_iter().collect();
    }
    std::iter::once(ranking(record))
        .chain(effects(record))
        .chain(interactions(record))
        .collect()
}

/// A row for each layout with its simultaneous interval, the fastest at the top; those that
/// are not among the best are pale.
fn ranking(record: &AdviceRecord) -> Chart {
    let shown: Vec<&LayoutRecord> = record.layouts.iter().take(LAYOUTS_MAX).collect();
    // The axis title names the factors.
    let levels = |layout: &LayoutRecord| {
        let of = |factor: &FactorRecord| {
            let level = layout.layout.get(&factor.name)?;
            Some(level_words(&factor.name, level))
        };
        let each: Vec<String> = record.factors.iter().filter_map(of).collect();
        each.join(", ")
    };
    let best = reference(record);
    let is_best = |layout: &LayoutRecord| best.is_some_and(|best| std::ptr::eq(layout, best));
    let rows = shown.iter().map(|layout| Row {
        name: match layout.is_present {
            true => format!("{} (now)", levels(layout)),
            false => levels(layout),
        },
        value: if is_best(layout) {
            0.0
        } else {
            layout.ahead_percent
        },
        span: match is_best(layout) {
            true => [0.0, 0.0],
            false => [layout.ahead_percent_low, layout.ahead_percent_high],
        },
        pale: !layout.among_best,
    });
    let factors: Vec<String> = (record.factors.iter())
        .map(|factor| factor_name(&factor.name))
        .collect();
    let factors = stripewise_units::capitalised(&factors.join(", "));
    let best = best.map(|layout| layout_words(record, &layout.layout));
    let score = axis(
        "Difference of the mix's IOPS from the best layout",
        Quantity::Difference,
        Scale::FromZero,
    );
    let none = Annotation::AtX {
        x: 0.0,
        label: String::new(),
    };
    Chart {
        name: "ranking".to_owned(),
        title: record.title.clone(),
        summary: format!(
            "How far each layout is from the best one that may be chosen ({}). Pale rows are not among the best; lines are simultaneous {:.0} % intervals.",
            best.unwrap_or_default(),
            100.0 * record.level
        ),
        cautions: Vec::new(),
        x: score,
        panels: vec![panel_of_rows(&factors, "mix", rows.collect(), Some(none))],
    }
}

/// The largest effect of each factor and pair of factors.
fn effects(record: &AdviceRecord) -> Option<Chart> {
    let shown = largest(record);
    if shown.is_empty() {
        return None;
    }
    let rows = shown.iter().map(|effect| Row {
        name: format!("{}: {}", effect_name(effect), effect_levels(record, effect)),
        value: effect.percent,
        span: [effect.low, effect.high],
        pale: !effect.found,
    });
    let none = Annotation::AtX {
        x: 0.0,
        label: String::new(),
    };
    let rows = panel_of_rows("Factor", "effect", rows.collect(), Some(none));
    Some(Chart {
        name: "effects".to_owned(),
        title: "What matters, and what does not".to_owned(),
        summary: format!(
            "The largest effect of each factor and pair of factors on the mix{}; lines are 95 % intervals. Pale rows are not shown to be effects.",
            effects_heading(record)
        ),
        cautions: Vec::new(),
        x: axis(
            "Gain of the better level",
            Quantity::Difference,
            Scale::FromZero,
        ),
        panels: vec![rows],
    })
}

/// A value with its interval and a possibly long name.
struct Row {
    name: String,
    value: f64,
    span: [f64; 2],
    pale: bool,
}

/// Rows one below the other, the first at the top: names of layouts and effects are too long to
/// be placed side by side.
fn panel_of_rows(title: &str, name: &str, rows: Vec<Row>, annotation: Option<Annotation>) -> Panel {
    let points = rows.iter().rev().enumerate().map(|(index, row)| Point {
        x: row.value,
        y: index as f64,
        span: Some(row.span),
        value: None,
        pale: row.pale,
        apart: false,
    });
    let points = points.collect();
    let names = rows.into_iter().rev().map(|row| row.name).collect();
    Panel {
        y: axis(title, Quantity::Name, Scale::Names(names)),
        series: vec![Series::new(name, Form::Intervals, 0, points)],
        annotations: annotation.into_iter().collect(),
    }
}

/// For each pair of factors, a line for each level of the second over the levels of the
/// first: parallel lines mean no interaction.
fn interactions(record: &AdviceRecord) -> Vec<Chart> {
    let factors = &record.factors;
    let mut charts = Vec::new();
    for (number, first) in factors.iter().enumerate() {
        for second in &factors[number + 1..] {
            charts.push(interaction(record, first, second));
        }
    }
    charts
}

fn interaction(record: &AdviceRecord, first: &FactorRecord, second: &FactorRecord) -> Chart {
    let mean = |a: &String, b: &String| {
        let of = record.layouts.iter().filter(|layout| {
            layout.layout.get(&first.name) == Some(a) && layout.layout.get(&second.name) == Some(b)
        });
        let scores: Vec<f64> = of.map(|layout| layout.score).collect();
        let sum: f64 = scores.iter().map(|score| score.ln()).sum();
        (!scores.is_empty()).then(|| (sum / scores.len() as f64).exp())
    };
    let lines = second.levels.iter().enumerate().map(|(tone, b)| {
        let points = first.levels.iter().enumerate();
        let points = points.filter_map(|(x, a)| Some(Point::new(x as f64, mean(a, b)?)));
        let name = level_words(&second.name, b);
        Series::new(&name, Form::Line, tone, points.collect())
    });
    let (a, b) = (factor_name(&first.name), factor_name(&second.name));
    let others = match record.factors.len() > 2 {
        true => ", averaged over the other factors",
        false => "",
    };
    Chart {
        name: format!("interaction-{}-{}", first.name, second.name),
        title: format!("{} and {b}", stripewise_units::capitalised(&a)),
        summary: format!(
            "Operations a second of the mix over {a}, a line for each {b}{others}. Lines that are parallel do not interact."
        ),
        cautions: Vec::new(),
        x: axis(
            &stripewise_units::capitalised(&a),
            Quantity::Name,
            Scale::Names(
                (first.levels.iter())
                    .map(|level| level_words(&first.name, level))
                    .collect(),
            ),
        ),
        panels: vec![Panel {
            y: axis(
                "Operations a second of the mix",
                Quantity::Iops,
                Scale::Linear,
            ),
            series: lines.collect(),
            annotations: Vec::new(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::svg;
    use stripewise_results::{EffectRecord, LayoutLevels};

    const FACTORS: [(&str, [&str; 3]); 3] = [
        ("offset", ["63s", "1M", "64K"]),
        ("stripe-unit", ["16K", "64K", "256K"]),
        ("file-system", ["ext4", "xfs", "btrfs"]),
    ];

    /// The maximum number of layouts and effects of one picture.
    fn record() -> AdviceRecord {
        let numbers = 0..LAYOUTS_MAX;
        let layouts = numbers.map(|number| {
            let places = [number / 9, number / 3 % 3, number % 3];
            let levels = FACTORS.iter().zip(places);
            let levels = levels.map(|((name, all), at)| ((*name).to_owned(), all[at].to_owned()));
            let score = 2_000.0 - 10.0 * number as f64;
            LayoutRecord {
                layout: LayoutLevels::from_iter(levels),
                score,
                low: score - 15.0,
                high: score + 15.0,
                ahead_percent: if number == 0 {
                    0.5
                } else {
                    -0.5 * number as f64
                },
                ahead_percent_low: -0.5 * number as f64 - 1.0,
                ahead_percent_high: (1.0 - 0.5 * number as f64).max(0.0),
                among_best: number < 3,
                is_present: number == 4,
                breaks: None,
                dropped_after: None,
            }
        });
        let effect = |of: &[usize]| EffectRecord {
            factors: of.iter().map(|at| FACTORS[*at].0.to_owned()).collect(),
            levels: (of.iter())
                .map(|at| [FACTORS[*at].1[0].to_owned(), FACTORS[*at].1[2].to_owned()])
                .collect(),
            at: LayoutLevels::new(),
            percent: 2.0,
            low: -1.0,
            high: 5.0,
            p_value: 0.3,
            found: false,
            by_arithmetic: false,
        };
        let all: [&[usize]; 6] = [&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2]];
        AdviceRecord {
            title: "Layout of a disk".to_owned(),
            target: "sda".to_owned(),
            profile: None,
            factors: (FACTORS.iter())
                .map(|(name, levels)| FactorRecord {
                    name: (*name).to_owned(),
                    levels: levels.map(str::to_owned).to_vec(),
                })
                .collect(),
            recommendation: None,
            present: None,
            layouts: layouts.collect(),
            unjudged: Vec::new(),
            effects: all.into_iter().map(effect).collect(),
            cells: Vec::new(),
            limits: Vec::new(),
            variations: Vec::new(),
            margin_percent: 2.0,
            resolution_percent: 2.0,
            level: 0.95,
            passes: 6,
            present_is_outside: false,
            commands: Vec::new(),
            sentences: Vec::new(),
            notes: Vec::new(),
            not_tried: Vec::new(),
        }
    }

    /// Vertical positions of the right-aligned texts of a picture: the names of rows.
    fn heights(svg: &str, names: &[String]) -> Vec<f64> {
        let height = |name: &String| {
            let (before, _) = svg
                .split_once(&format!(">{name}<"))
                .unwrap_or_else(|| panic!("{name} is not written out: {svg}"));
            let (_, tag) = before.rsplit_once("<text").expect("a text");
            let (_, y) = tag.split_once(" y=\"").expect("its height");
            let (y, _) = y.split_once('"').expect("its end");
            y.parse().expect("a number")
        };
        names.iter().map(height).collect()
    }

    #[test]
    fn terminal_page_and_markdown_have_the_same_words_and_numbers() {
        let record = record();
        let effects = vec!["offset: 9.4 % (8.8 to 10.1), 1M over 63s".to_owned()];
        let sheet = crate::advice_sheet(&record, &effects, true);
        let text = crate::sheet_text(&sheet, 200);
        let markdown = crate::sheet_markdown(&sheet);
        let page = crate::sheet_page(&sheet, &|_| String::new());
        let cells = sheet.tables.iter().flat_map(|table| &table.rows).flatten();
        let mut numbers = 0;
        for cell in cells.filter(|cell| !cell.text.is_empty()) {
            for (what, shown) in [
                ("terminal", &text),
                ("Markdown", &markdown),
                ("page", &page),
            ] {
                let is_there = shown.contains(&cell.text)
                    || shown.contains(&crate::escape::escaped(&cell.text));
                assert!(is_there, "{what}: {}", cell.text);
            }
            numbers += usize::from(cell.value.is_some());
        }
        assert!(numbers > 2 * LAYOUTS_MAX, "{numbers}");
        // The short form has fewer rows with the same content.
        let first = crate::advice_sheet(&record, &effects, false);
        assert!(first.tables[0].rows.len() < sheet.tables[0].rows.len());
        for row in &first.tables[0].rows {
            assert!(sheet.tables[0].rows.contains(row), "{row:?}");
        }
    }

    #[test]
    fn the_higher_confidence_in_the_best_is_explained() {
        let mut record = record();
        let subtitle = |record: &AdviceRecord| crate::advice_sheet(record, &[], false).subtitle;
        assert_eq!(subtitle(&record), "6 passes, 95 % confidence");
        record.level = 0.97;
        record.limits.push(stripewise_results::LimitRecord {
            cell: "log".to_owned(),
            p99_ns: 5_000_000,
            met: 1,
            broken: 1,
            is_void: false,
        });
        let limited = "6 passes, 97 % confidence (95 % together with the limits)";
        assert_eq!(subtitle(&record), limited);
    }

    #[test]
    fn what_is_ahead_and_never_chosen_is_compared_with_the_best_that_may_be() {
        let mut record = record();
        let first = &mut record.layouts[0];
        (first.ahead_percent, first.among_best) = (4.0, false);
        (first.ahead_percent_low, first.ahead_percent_high) = (3.0, 5.0);
        record.layouts[1].ahead_percent = 0.5;
        let sheet = crate::advice_sheet(&record, &[], true);
        let text = |row: usize, column: usize| sheet.tables[0].rows[row][column].text.as_str();
        let shown = [text(0, 4), text(0, 5), text(0, 6), text(1, 4)];
        assert_eq!(shown, ["+4.0 %", "+3.0 to +5.0", "off 4 KiB", "-"]);
        // Where all are equal, too.
        let [first, second, ..] = record.layouts.as_mut_slice() else {
            panic!("two layouts");
        };
        (first.ahead_percent, second.ahead_percent) = (0.0, 0.0);
        first.score = second.score;
        let equal = crate::advice_sheet(&record, &[], true);
        assert_eq!(equal.tables[0].rows[1][4].text, "-");
        // It is shown to be behind, and so not 0 behind.
        assert_eq!(text(3, 5), "-2.5 to below 0");
        // The names of factors are said once, so that the interval fits.
        let levels = [text(1, 0), text(1, 1), text(1, 2)];
        assert_eq!(levels, ["63s", "16K", "xfs"]);
        let terminal = crate::sheet_text(&sheet, 100);
        assert!(terminal.contains("-2.5 to below 0"), "{terminal}");
        let best = "(offset 63s, stripe unit 16K, file system xfs)";
        let ranking = &advice_charts(&record)[0];
        assert!(ranking.summary.contains(best), "{}", ranking.summary);
    }

    #[test]
    fn no_effect_stands_below_a_heading_that_is_not_true_of_it() {
        let heading = |record: &AdviceRecord| {
            let sheet = crate::advice_sheet(record, &[], true);
            let mut tables = sheet.tables.into_iter();
            let table = tables.find(|table| table.title.starts_with("Main effects"));
            let table = table.expect("effects");
            let levels = table.rows.iter().map(|row| row[1].text.clone());
            (table.title.clone(), levels.collect::<Vec<_>>())
        };
        let mut record = record();
        let (title, levels) = heading(&record);
        assert!(
            title.ends_with(", averaged over the other factors"),
            "{title}"
        );
        assert!(levels.iter().all(|one| !one.ends_with("averaged")));
        // RAID levels without a stripe unit: only some combinations exist.
        let at = [("stripe-unit".to_owned(), "16K".to_owned())];
        record.effects[0].at = LayoutLevels::from(at);
        let (title, levels) = heading(&record);
        assert!(
            title.ends_with(", with the other factors as recommended unless averaged"),
            "{title}"
        );
        assert!(!levels[0].ends_with("averaged") && levels[1].ends_with(", averaged"));
    }

    #[test]
    fn the_short_form_has_the_recommended_layout_and_raid_levels_in_words() {
        let mut record = record();
        record.factors[2].name = "raid".to_owned();
        record.factors[2].levels = ["single:1", "raid10:4", "raid5:3"]
            .map(str::to_owned)
            .to_vec();
        for layout in &mut record.layouts {
            let system = layout.layout.remove("file-system");
            let level = match system.as_deref() {
                Some("ext4") => "single:1",
                Some("xfs") => "raid10:4",
                _ => "raid5:3",
            };
            layout.layout.insert("raid".to_owned(), level.to_owned());
        }
        record.recommendation = Some(stripewise_results::RecommendationRecord {
            layout: record.layouts[7].layout.clone(),
            gain_percent: None,
            gain_percent_low: None,
            gain_percent_high: None,
            is_shown: true,
            is_present: false,
            why: String::new(),
        });
        let short = crate::advice_sheet(&record, &[], false);
        let levels = short.tables[0].rows.iter().map(|row| row[2].text.as_str());
        assert_eq!(
            levels.collect::<Vec<_>>(),
            [
                "a single disk",
                "RAID 10 of 4",
                "RAID 5 of 3",
                "RAID 10 of 4",
                "RAID 10 of 4"
            ],
        );
        let charts = advice_charts(&record);
        assert_eq!(charts[0].table().rows[0][0], "63s, 16K, a single disk");
        let of_raid = charts
            .iter()
            .find(|chart| chart.name == "interaction-offset-raid");
        let lines = &of_raid.expect("a chart").panels[0].series;
        assert_eq!(lines[1].name, "RAID 10 of 4");
    }

    #[test]
    fn every_layout_and_every_effect_has_its_name_in_a_row_of_its_own() {
        let record = record();
        for chart in advice_charts(&record).iter().take(2) {
            let Scale::Names(names) = &chart.panels[0].y.scale else {
                panic!("{} has no names", chart.name);
            };
            assert!(names.len() >= 6);
            let mut heights = heights(&svg(chart), names);
            heights.sort_by(f64::total_cmp);
            let apart = heights.windows(2).map(|two| two[1] - two[0]);
            let least = apart.fold(f64::INFINITY, f64::min);
            assert!(least >= 12.0, "{}: {least} pixels apart", chart.name);
        }
        let ranking = &advice_charts(&record)[0];
        let rows = ranking.table().rows;
        assert!(rows[0][0] == "63s, 16K, ext4" && rows[4][0] == "63s, 64K, xfs (now)");
    }
}
