//! The surface of a disk in one picture: the rate over position as a curve, access times
//! as dots on a second axis, zones, and findings on the side, in the style of classic disk
//! benchmarks.

use super::MARGIN;
use super::canvas::{Anchor, Canvas, Frame};
use super::font;
use super::palette::{Colour, FAINT, GRID, INK, MUTED, Theme};

/// Width and height of the picture, in pixels of the SVG.
pub const SURFACE_SIZE: [f32; 2] = [1200.0, 675.0];
const WIDTH: f64 = SURFACE_SIZE[0] as f64;
const HEIGHT: f64 = SURFACE_SIZE[1] as f64;
/// Room for the numbers of an axis.
const AXIS: f64 = 62.0;
/// Room for the findings.
pub(super) const SIDE: f64 = 262.0;
const TOP: f64 = 112.0;
const BOTTOM: f64 = 78.0;
const RATE: Colour = Colour::Tone(0);
const ACCESS: Colour = Colour::Tone(1);
const AGAIN: Colour = Colour::Tone(2);
const RATE_WIDTH: f64 = 2.4;
const AGAIN_WIDTH: f64 = 1.6;
/// Number of bars of the distribution of dots, and the length of the longest.
const BARS: usize = 48;
const BAR_SHARE: f64 = 0.16;
/// Length of a line in the legend.
const SAMPLE: f64 = 30.0;

/// The quantities of the axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axes {
    /// Horizontal axis: `Position`, `Written`.
    pub across: String,
    /// Unit of the dots, on the right; shown if there are dots.
    pub dots: String,
    /// Bars on the right show the distribution of the dots.
    pub distribution: bool,
    /// Names of the first and the second curve; shown if there is a second one.
    pub curves: [String; 2],
}

/// The content of the picture of a surface, or of a fill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfacePicture {
    /// Model, or the target's name.
    pub title: String,
    /// Size, device, date: the line below the title.
    pub subtitle: String,
    /// Its axes.
    pub axes: Axes,
    /// Bytes of the target.
    pub size_bytes: u64,
    /// Byte and MiB/s, by rising byte.
    pub rates: Vec<(u64, f64)>,
    /// A second curve: the same after a rest.
    pub again: Vec<(u64, f64)>,
    /// Byte and milliseconds (or the unit in `axes`).
    pub accesses: Vec<(u64, f64)>,
    /// Bytes at which zones begin.
    pub boundaries: Vec<u64>,
    /// Bytes at which something is slow or unreadable.
    pub spots: Vec<u64>,
    /// Findings: name and value, one line each.
    pub findings: Vec<(String, String)>,
    /// Who measured: the last line.
    pub foot: String,
}

/// The picture as SVG.
pub fn surface_svg(picture: &SurfacePicture, theme: Theme) -> String {
    let texts = [&picture.title, &picture.subtitle, &picture.foot];
    let (texts, findings) = (texts.map(String::as_str), &picture.findings);
    framed(theme, texts, findings, &description(picture), |canvas| {
        let plot = Plot::of(picture);
        plot.grid(canvas, picture);
        plot.values(canvas, picture);
        legend(canvas, picture);
    })
}

/// A picture with a title, a line below it, findings on the side and a last line, as SVG; `draw`
/// draws the rest.
pub(super) fn framed(
    theme: Theme,
    [title, subtitle, foot]: [&str; 3],
    findings: &[(String, String)],
    description: &str,
    draw: impl FnOnce(&mut Canvas),
) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, theme);
    let room = WIDTH - 2.0 * MARGIN;
    let top = font::cut(title, 27.0, room);
    canvas.text((MARGIN, 20.0), &top, 27.0, INK, Anchor::Start);
    let subtitle = font::cut(subtitle, 15.0, room);
    canvas.text((MARGIN, 56.0), &subtitle, 15.0, MUTED, Anchor::Start);
    draw(&mut canvas);
    side(&mut canvas, findings);
    let foot = font::cut(foot, 13.0, room);
    canvas.text((MARGIN, HEIGHT - 24.0), &foot, 13.0, MUTED, Anchor::Start);
    canvas.finish(&Frame {
        title,
        description,
        ..Frame::default()
    })
}

fn description(picture: &SurfacePicture) -> String {
    let each = picture.findings.iter();
    let each: Vec<String> = each
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    format!(
        "Transfer rate as a curve over {}. {}.",
        picture.axes.across.to_lowercase(),
        each.join("; ")
    )
}

/// Positions in the drawing.
struct Plot {
    size_bytes: f64,
    rate_max: f64,
    access_max: f64,
}

impl Plot {
    const LEFT: f64 = MARGIN + AXIS;
    const RIGHT: f64 = WIDTH - MARGIN - SIDE - AXIS;
    const UNDER: f64 = HEIGHT - BOTTOM;

    fn of(picture: &SurfacePicture) -> Plot {
        let most = |values: &[(u64, f64)]| values.iter().map(|one| one.1).fold(0.0, f64::max);
        // A few extreme dots would squash the others.
        let mut times: Vec<f64> = picture.accesses.iter().map(|one| one.1).collect();
        times.sort_by(f64::total_cmp);
        let high = times.get(times.len() * 99 / 100).copied().unwrap_or(1.0);
        Plot {
            size_bytes: picture.size_bytes.max(1) as f64,
            rate_max: (most(&picture.rates).max(most(&picture.again)) * 1.12).max(1e-3),
            access_max: (high * 1.6).max(1e-3),
        }
    }

    fn x(&self, byte: u64) -> f64 {
        Self::LEFT + (Self::RIGHT - Self::LEFT) * byte as f64 / self.size_bytes
    }

    fn height(part: f64) -> f64 {
        Self::UNDER - (Self::UNDER - TOP) * part.clamp(0.0, 1.0)
    }

    fn grid(&self, canvas: &mut Canvas, picture: &SurfacePicture) {
        for value in steps(self.rate_max) {
            let y = Self::height(value / self.rate_max);
            canvas.line(&[(Self::LEFT, y), (Self::RIGHT, y)], GRID, 1.0);
            let at = (Self::LEFT - 8.0, y);
            canvas.text_centred(at, &number(value), 13.0, MUTED, Anchor::End);
        }
        let dots = !picture.accesses.is_empty();
        for value in steps(self.access_max).into_iter().filter(|_| dots) {
            let at = (Self::RIGHT + 8.0, Self::height(value / self.access_max));
            canvas.text_centred(at, &number(value), 13.0, MUTED, Anchor::Start);
        }
        let (unit, name) = unit_of(self.size_bytes);
        for value in steps(self.size_bytes / unit) {
            let at = (self.x((value * unit) as u64), Self::UNDER + 8.0);
            canvas.text(at, &number(value), 13.0, MUTED, Anchor::Middle);
        }
        let middle = f64::midpoint(Self::LEFT, Self::RIGHT);
        let title = format!("{}, {name}", picture.axes.across);
        canvas.text(
            (middle, Self::UNDER + 26.0),
            &title,
            14.0,
            MUTED,
            Anchor::Middle,
        );
        canvas.text(
            (Self::LEFT - 8.0, TOP - 22.0),
            "MiB/s",
            14.0,
            RATE,
            Anchor::End,
        );
        if dots {
            canvas.text(
                (Self::RIGHT + 8.0, TOP - 22.0),
                &picture.axes.dots,
                14.0,
                ACCESS,
                Anchor::Start,
            );
        }
        let frame = [
            (Self::LEFT, TOP),
            (Self::LEFT, Self::UNDER),
            (Self::RIGHT, Self::UNDER),
            (Self::RIGHT, TOP),
        ];
        canvas.line(&frame, FAINT, 1.0);
    }

    /// The number of dots at each height, as bars from the right. Dots above the
    /// axis count as its top, where they are drawn.
    fn distribution(&self, canvas: &mut Canvas, dots: &[(u64, f64)]) {
        let mut counts = [0_u32; BARS];
        for (_, value) in dots {
            let bar = (value / self.access_max * BARS as f64) as usize;
            counts[bar.min(BARS - 1)] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        for (number, count) in counts.into_iter().enumerate().filter(|(_, n)| *n > 0) {
            let part = |number: usize| Self::height(number as f64 / BARS as f64);
            let length = (Self::RIGHT - Self::LEFT) * BAR_SHARE * f64::from(count);
            let left = Self::RIGHT - length / f64::from(most);
            let corners = [
                (left, part(number + 1) + 0.5),
                (Self::RIGHT, part(number) - 0.5),
            ];
            canvas.rectangle(corners, ACCESS, 0.3);
        }
    }

    fn values(&self, canvas: &mut Canvas, picture: &SurfacePicture) {
        for &boundary in &picture.boundaries {
            let x = self.x(boundary);
            canvas.dashes((x, TOP), (x, Self::UNDER), FAINT);
        }
        if picture.axes.distribution {
            self.distribution(canvas, &picture.accesses);
        }
        for &(byte, ms) in &picture.accesses {
            let at = (self.x(byte), Self::height(ms / self.access_max));
            canvas.disc(at, 1.7, ACCESS);
        }
        let curve = |rates: &[(u64, f64)]| -> Vec<(f64, f64)> {
            let at = |&(byte, rate)| (self.x(byte), Self::height(rate / self.rate_max));
            rates.iter().map(at).collect()
        };
        if !picture.again.is_empty() {
            canvas.line(&curve(&picture.again), AGAIN, AGAIN_WIDTH);
        }
        canvas.line(&curve(&picture.rates), RATE, RATE_WIDTH);
        for &spot in &picture.spots {
            canvas.ring(
                (self.x(spot), Self::UNDER - 7.0),
                5.0,
                super::palette::CAUTION,
            );
        }
    }
}

/// The legend above the plot: a sample of each line and its name.
fn legend(canvas: &mut Canvas, picture: &SurfacePicture) {
    if picture.again.is_empty() {
        return;
    }
    let mut left = Plot::LEFT + 14.0;
    let lines = [(RATE, RATE_WIDTH), (AGAIN, AGAIN_WIDTH)];
    for ((colour, width), name) in lines.into_iter().zip(&picture.axes.curves) {
        let y = TOP - 13.0;
        canvas.line(&[(left, y), (left + SAMPLE, y)], colour, width);
        left += SAMPLE + 8.0;
        canvas.text_centred((left, y), name, 14.0, MUTED, Anchor::Start);
        left += font::width(name, 14.0) + 26.0;
    }
}

/// The findings, on the right.
fn side(canvas: &mut Canvas, findings: &[(String, String)]) {
    let left = WIDTH - MARGIN - SIDE + 14.0;
    let mut y = 92.0;
    for (name, value) in findings {
        canvas.text((left, y), name, 13.0, MUTED, Anchor::Start);
        y += 17.0;
        for line in font::wrapped_to(value, 17.0, SIDE - 14.0, 2) {
            canvas.text((left, y), &line, 17.0, INK, Anchor::Start);
            y += 22.0;
        }
        y += 8.0;
        if y > HEIGHT - BOTTOM {
            break;
        }
    }
}

/// Round values from 0 to a maximum.
fn steps(most: f64) -> Vec<f64> {
    let rough = most / 6.0;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|times| times * power)
        .find(|step| *step >= rough)
        .unwrap_or(power);
    let count = (most / step) as u32;
    (0..=count).map(|number| f64::from(number) * step).collect()
}

fn number(value: f64) -> String {
    if value >= 1_000.0 && value.fract() == 0.0 {
        return stripewise_units::format_count(value as u64);
    }
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

fn unit_of(size_bytes: f64) -> (f64, &'static str) {
    const G: f64 = 1_073_741_824.0;
    match size_bytes {
        size if size >= 4.0 * 1024.0 * G => (1024.0 * G, "TiB"),
        size if size >= 4.0 * G => (G, "GiB"),
        _ => (1_048_576.0, "MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_not_too_many() {
        assert_eq!(steps(100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(steps(7.0), [0.0, 2.0, 4.0, 6.0]);
        for most in [0.03, 1.0, 17.3, 960.0, 123_456.0] {
            let count = steps(most).len();
            assert!((3..=8).contains(&count), "{most}: {count}");
        }
    }

    #[test]
    fn a_picture_has_curve_dots_and_what_was_found() {
        let picture = SurfacePicture {
            title: "A disk <of> 2007".to_owned(),
            size_bytes: 100 << 30,
            rates: vec![(0, 100.0), (50 << 30, 80.0), (99 << 30, 50.0)],
            accesses: vec![(10 << 30, 8.0), (70 << 30, 12.0)],
            boundaries: vec![60 << 30],
            findings: vec![("Fastest".to_owned(), "100 MiB/s".to_owned())],
            ..SurfacePicture::default()
        };
        let svg = surface_svg(&picture, Theme::Light);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("100 MiB/s") && svg.contains("A disk &lt;of&gt; 2007"));
    }

    #[test]
    fn the_distribution_of_the_dots_is_drawn_where_it_is_wanted() {
        let mut picture = SurfacePicture {
            size_bytes: 1 << 30,
            accesses: (0..100)
                .map(|dot| (dot << 20, 5.0 + (dot % 4) as f64))
                .collect(),
            ..SurfacePicture::default()
        };
        let bars = |picture: &SurfacePicture| {
            surface_svg(picture, Theme::Light)
                .matches("opacity=\"0.3\"")
                .count()
        };
        assert_eq!(bars(&picture), 0);
        picture.axes.distribution = true;
        // One for each of the four times.
        assert_eq!(bars(&picture), 4);
    }

    #[test]
    fn two_curves_have_a_legend_and_one_has_none() {
        let mut picture = SurfacePicture {
            axes: Axes {
                curves: ["the fill".to_owned(), "after 60 s idle".to_owned()],
                ..Axes::default()
            },
            size_bytes: 1 << 30,
            rates: vec![(0, 100.0), (1 << 29, 80.0)],
            ..SurfacePicture::default()
        };
        let named = |svg: &str| svg.contains(">the fill<") && svg.contains(">after 60 s idle<");
        let alone = surface_svg(&picture, Theme::Light);
        assert!(!named(&alone) && !alone.contains(">the fill<"));
        picture.again = vec![(0, 90.0), (1 << 28, 85.0)];
        let both = surface_svg(&picture, Theme::Light);
        assert!(named(&both));
        // The second curve, and a sample of each line.
        let lines = |svg: &str| svg.matches("<polyline").count();
        assert_eq!(lines(&both), lines(&alone) + 3);
    }
}
