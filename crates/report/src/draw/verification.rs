//! A verification in one picture: the verdict, its phases over time, and
//! each target as a strip with a mark wherever a fault was found.

use super::MARGIN;
use super::canvas::{Anchor, Canvas};
use super::font;
use super::palette::{CAUTION, Colour, FAINT, INK, MUTED, Theme};
use super::surface::{SIDE, SURFACE_SIZE, framed};
use crate::sheet::Judgement;
use stripewise_units::{capitalised, format_bytes, format_count, format_duration};

const WIDTH: f64 = SURFACE_SIZE[0] as f64;
const HEIGHT: f64 = SURFACE_SIZE[1] as f64;
/// Right and bottom edges of the drawing.
const RIGHT: f64 = WIDTH - MARGIN - SIDE - 24.0;
const UNDER: f64 = HEIGHT - 52.0;
const TOP: f64 = 96.0;
/// Names of phases and targets are left of here.
const LEFT: f64 = MARGIN + 190.0;
const PHASE_HEIGHT: f64 = 27.0;
const STRIP_HEIGHT: f64 = 52.0;
const HEADING: f64 = 30.0;
/// Gap between the phases and the targets.
const GAP: f64 = 18.0;
/// Maximum stretch of the rows if there are few.
const STRETCH_MAX: f64 = 1.9;
/// Room for the text right of a strip.
const COUNT: f64 = 110.0;
/// Further phases are only counted.
const PHASES_MAX: usize = 8;
const STRIPS_MAX: usize = 5;
/// Minimum width of a mark: positions closer than a pixel share one.
const MARK_MIN: f64 = 2.5;

/// One phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseBar {
    /// Its name: `Pass 1: write, direct`.
    pub name: String,
    /// Its duration.
    pub duration_ns: u64,
    /// Its result: `812 MiB/s`.
    pub rate: String,
}

/// One target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strip {
    /// Its name.
    pub name: String,
    /// Bytes of it in use.
    pub size_bytes: u64,
    /// First byte and length of each fault.
    pub faults: Vec<(u64, u64)>,
}

/// The content of the picture of a verification.
#[derive(Clone, Debug, PartialEq)]
pub struct VerificationPicture {
    /// Model, or the target's name.
    pub title: String,
    /// Size, device, date: the line below the title.
    pub subtitle: String,
    /// Judgement of the verdict, and its word.
    pub verdict: (Judgement, String),
    /// The verdict in a sentence.
    pub sentence: String,
    /// In chronological order.
    pub phases: Vec<PhaseBar>,
    /// The verified targets.
    pub strips: Vec<Strip>,
    /// Findings: name and value, one line each.
    pub findings: Vec<(String, String)>,
    /// Who measured: the last line.
    pub foot: String,
}

/// The picture as SVG.
pub fn verification_svg(picture: &VerificationPicture, theme: Theme) -> String {
    let texts = [&picture.title, &picture.subtitle, &picture.foot];
    let (texts, findings) = (texts.map(String::as_str), &picture.findings);
    framed(theme, texts, findings, &description(picture), |canvas| {
        let y = verdict(canvas, picture);
        let stretch = stretch(picture, y);
        let y = phases(canvas, &picture.phases, y, PHASE_HEIGHT * stretch);
        strips(canvas, &picture.strips, y, STRIP_HEIGHT * stretch);
    })
}

/// By how much everything drawn below `y` can be stretched.
fn stretch(picture: &VerificationPicture, y: f64) -> f64 {
    let phases = picture.phases.len().min(PHASES_MAX) as f64 * PHASE_HEIGHT;
    let strips = picture.strips.len().min(STRIPS_MAX) as f64 * STRIP_HEIGHT;
    let room = UNDER - y - 2.0 * HEADING - GAP;
    (room / (phases + strips).max(1.0)).clamp(1.0, STRETCH_MAX)
}

fn description(picture: &VerificationPicture) -> String {
    let phases = picture.phases.iter().map(|phase| {
        let duration = format_duration(phase.duration_ns);
        format!("{} in {duration}, {}", phase.name, phase.rate)
    });
    let phases: Vec<String> = phases.collect();
    format!(
        "{}: {}. {}.",
        picture.verdict.1,
        picture.sentence,
        phases.join("; ")
    )
}

/// The word, and the sentence below it. Each part returns where the next begins.
fn verdict(canvas: &mut Canvas, picture: &VerificationPicture) -> f64 {
    let (judged, word) = &picture.verdict;
    let colour = match judged {
        Judgement::Good => Colour::Good,
        Judgement::Bad => CAUTION,
        Judgement::Open => MUTED,
    };
    canvas.text((MARGIN, TOP), word, 30.0, colour, Anchor::Start);
    let mut y = TOP + 40.0;
    for line in font::wrapped_to(&capitalised(&picture.sentence), 17.0, RIGHT - MARGIN, 3) {
        canvas.text((MARGIN, y), &line, 17.0, INK, Anchor::Start);
        y += 23.0;
    }
    y + 14.0
}

fn heading(canvas: &mut Canvas, words: &str, y: f64) -> f64 {
    canvas.text((MARGIN, y), words, 14.0, MUTED, Anchor::Start);
    canvas.line(&[(MARGIN, y + 21.0), (RIGHT, y + 21.0)], FAINT, 1.0);
    y + HEADING
}

/// One bar per phase, from its start to its end.
fn phases(canvas: &mut Canvas, all: &[PhaseBar], y: f64, each: f64) -> f64 {
    let whole_ns: u64 = all.iter().map(|phase| phase.duration_ns).sum();
    if whole_ns == 0 {
        return y;
    }
    let title = format!("What was done, over {}", format_duration(whole_ns));
    let mut y = heading(canvas, &title, y);
    let (room, mut passed_ns) = (RIGHT - LEFT, 0);
    let at = |ns: u64| LEFT + room * ns as f64 / whole_ns as f64;
    for phase in all.iter().take(PHASES_MAX) {
        let middle = y + each / 2.0;
        let name = font::cut(&phase.name, 14.0, LEFT - MARGIN - 10.0);
        canvas.text_centred((MARGIN, middle), &name, 14.0, INK, Anchor::Start);
        let [left, right] = [passed_ns, passed_ns + phase.duration_ns].map(at);
        let right = right.max(left + 2.0);
        let corners = [(left, y + 4.0), (right, y + each - 4.0)];
        canvas.rectangle(corners, Colour::Tone(0), 1.0);
        let words = match phase.rate.as_str() {
            "" => format_duration(phase.duration_ns),
            rate => format!("{}, {rate}", format_duration(phase.duration_ns)),
        };
        draw_side_text(canvas, [left, right], middle, &words);
        passed_ns += phase.duration_ns;
        y += each;
    }
    if let Some(more) = all.len().checked_sub(PHASES_MAX + 1) {
        let words = format!("and {} more phases", more + 1);
        canvas.text((MARGIN, y + 4.0), &words, 14.0, MUTED, Anchor::Start);
        y += PHASE_HEIGHT;
    }
    y + GAP
}

/// Text where there is room for it: right of a bar, left of it, else on top of it with the
/// background colour behind it.
fn draw_side_text(canvas: &mut Canvas, [left, right]: [f64; 2], y: f64, words: &str) {
    let long = font::width(words, 14.0) + 10.0;
    if RIGHT - right >= long {
        canvas.text_centred((right + 8.0, y), words, 14.0, MUTED, Anchor::Start);
    } else if left - LEFT >= long {
        canvas.text_centred((left - 8.0, y), words, 14.0, MUTED, Anchor::End);
    } else {
        let middle = f64::midpoint(left, right);
        canvas.text_centred((middle, y), words, 14.0, Colour::Background, Anchor::Middle);
    }
}

/// One strip per target, from its first byte to its last, with a mark at every fault.
fn strips(canvas: &mut Canvas, all: &[Strip], y: f64, each: f64) {
    if all.is_empty() || y + HEADING + each > UNDER {
        return;
    }
    let mut y = heading(canvas, "Where faults are", y);
    let room = (((UNDER - y) / each) as usize).min(STRIPS_MAX);
    for strip in all.iter().take(room) {
        // Its ends are labelled below it.
        let under = y + each - 26.0;
        let middle = f64::midpoint(y, under);
        let name = font::cut(&strip.name, 14.0, LEFT - MARGIN - 10.0);
        canvas.text_centred((MARGIN, middle), &name, 14.0, INK, Anchor::Start);
        let right = RIGHT - COUNT;
        canvas.rectangle([(LEFT, y), (right, under)], Colour::Raised, 1.0);
        let frame = [
            (LEFT, y),
            (right, y),
            (right, under),
            (LEFT, under),
            (LEFT, y),
        ];
        canvas.line(&frame, FAINT, 1.0);
        for (from, to) in marks(strip, right - LEFT) {
            let corners = [(LEFT + from, y + 1.0), (LEFT + to, under - 1.0)];
            canvas.rectangle(corners, CAUTION, 1.0);
        }
        let (count, colour) = match strip.faults.len() {
            0 => ("no fault".to_owned(), MUTED),
            1 => ("1 fault".to_owned(), CAUTION),
            many => (format!("{} faults", format_count(many as u64)), CAUTION),
        };
        canvas.text_centred((right + 12.0, middle), &count, 14.0, colour, Anchor::Start);
        canvas.text((LEFT, under + 4.0), "0", 12.0, MUTED, Anchor::Start);
        let end = format_bytes(strip.size_bytes);
        canvas.text((right, under + 4.0), &end, 12.0, MUTED, Anchor::End);
        y += each;
    }
    if let Some(more) = all.len().checked_sub(room + 1) {
        let words = format!("and {} more targets", more + 1);
        let at = (RIGHT, y - each * (room as f64) - 26.0);
        canvas.text(at, &words, 13.0, MUTED, Anchor::End);
    }
}

/// Pixel ranges of marks; marks that touch are merged.
fn marks(strip: &Strip, width: f64) -> Vec<(f64, f64)> {
    let scale = width / strip.size_bytes.max(1) as f64;
    let mut sorted = strip.faults.clone();
    sorted.sort_unstable();
    let mut marks: Vec<(f64, f64)> = Vec::new();
    for (offset, length) in sorted {
        let from = (offset as f64 * scale).clamp(0.0, width - MARK_MIN);
        let to = (offset.saturating_add(length) as f64 * scale).clamp(from + MARK_MIN, width);
        match marks.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => marks.push((from, to)),
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> VerificationPicture {
        let phase = |name: &str, seconds: u64| PhaseBar {
            name: name.to_owned(),
            duration_ns: seconds * 1_000_000_000,
            rate: "512 MiB/s".to_owned(),
        };
        VerificationPicture {
            title: "A disk <of> 2007".to_owned(),
            subtitle: "8 GiB".to_owned(),
            verdict: (Judgement::Bad, "Faults".to_owned()),
            sentence: "2 torn; 16 GiB verified".to_owned(),
            phases: vec![phase("Written once", 10), phase("Worked on", 80)],
            strips: vec![Strip {
                name: "/dev/sdb".to_owned(),
                size_bytes: 8 << 30,
                faults: vec![(4 << 30, 4096), (6 << 30, 4096), ((6 << 30) + 4096, 512)],
            }],
            findings: vec![("Operations".to_owned(), "123".to_owned())],
            foot: "Stripewise".to_owned(),
        }
    }

    #[test]
    fn a_picture_has_the_verdict_the_phases_and_the_faults_where_they_are() {
        let svg = verification_svg(&picture(), Theme::Light);
        for words in [
            ">Faults<",
            ">2 torn; 16 GiB verified<",
            ">Written once<",
            ">1 m 20 s, 512 MiB/s<",
            ">3 faults<",
            ">8 GiB<",
            "A disk &lt;of&gt; 2007",
        ] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
    }

    #[test]
    fn marks_lie_where_faults_do_and_those_that_touch_are_one() {
        let strip = &picture().strips[0];
        let marks = marks(strip, 800.0);
        let [(left, _), (from, to)] = marks[..] else {
            panic!("{marks:?}");
        };
        assert_eq!((left, from), (400.0, 600.0));
        assert!(
            (MARK_MIN..MARK_MIN + 0.01).contains(&(to - from)),
            "{marks:?}"
        );
        // There is a mark at the very end, too.
        let last = Strip {
            size_bytes: 8 << 30,
            faults: vec![((8 << 30) - 512, 512)],
            ..Strip::default()
        };
        assert_eq!(super::marks(&last, 800.0), [(800.0 - MARK_MIN, 800.0)]);
    }

    #[test]
    fn as_many_targets_are_drawn_as_there_is_room_for() {
        let mut many = picture();
        many.strips = vec![many.strips[0].clone(); 40];
        let svg = verification_svg(&many, Theme::Dark);
        let drawn = svg.matches(">3 faults<").count();
        assert!((2..=STRIPS_MAX).contains(&drawn), "{drawn}");
        assert!(svg.contains(&format!("and {} more targets", 40 - drawn)));
    }
}
