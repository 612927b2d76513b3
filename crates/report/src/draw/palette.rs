//! Colours: Okabe and Ito's, which people with any kind of colour blindness can
//! distinguish (jfly.uni-koeln.de/color), a little darker on white and lighter on
//! black for contrast. A series also has a mark of its own, so that
//! colour is never the only distinction.

/// Colours of series on white, by [`crate::Series::tone`]: eight for unordered
/// series, then five shades of one hue for ordered ones ([`PERCENTILES`]).
pub const PALETTE_LIGHT: [&str; 13] = [
    "#0072b2", "#c8500a", "#00805c", "#a8548a", "#8a6500", "#2f8fc4", "#555555", "#7b5cb8",
    "#08306b", "#1f5a9e", "#2f7fc1", "#5b9bd0", "#8fb9dc",
];
/// The same on a dark page.
pub const PALETTE_DARK: [&str; 13] = [
    "#5cb3ec", "#ff8f4d", "#2dc99a", "#e59acb", "#e6b830", "#8fd3ff", "#b4b4b4", "#b79cf0",
    "#e3f0fb", "#b4d7f3", "#7dbbe8", "#4a9bd6", "#2f79b0",
];

/// Tones of p50, p90, p99, p99.9 and the maximum: the darker, the more operations.
pub(crate) const PERCENTILES: [usize; 5] = [8, 9, 10, 11, 12];

/// The background of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on nearly black.
    Dark,
}

/// A colour by purpose; the theme decides on the actual one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Colour {
    /// Text.
    Ink,
    /// Less important text.
    Muted,
    /// Axes and leading lines.
    Faint,
    /// Grid lines.
    Grid,
    /// The background.
    Background,
    /// Slightly different from the background: tracks of bars.
    Raised,
    /// Text to be read first, missed limits.
    Caution,
    /// Limits that are met.
    Good,
    /// Text on a dark shade.
    OnDark,
    /// Text on a light shade.
    OnLight,
    /// The colour of a series.
    Tone(usize),
    /// The same, blended halfway to the background.
    Pale(usize),
    /// For a share of the largest value, 0 to 1.
    Shade(f64),
}

pub(crate) const INK: Colour = Colour::Ink;
pub(crate) const MUTED: Colour = Colour::Muted;
pub(crate) const FAINT: Colour = Colour::Faint;
pub(crate) const GRID: Colour = Colour::Grid;
pub(crate) const SHADE: Colour = Colour::Muted;
/// For text to be read first.
pub(crate) const CAUTION: Colour = Colour::Caution;
pub(crate) const BACKGROUND: Colour = Colour::Background;

/// The colour of a tone.
pub(crate) fn tone(tone: usize) -> Colour {
    Colour::Tone(tone)
}

/// Blended halfway to the background.
pub(crate) fn pale(colour: Colour) -> Colour {
    match colour {
        Colour::Tone(tone) => Colour::Pale(tone),
        other => other,
    }
}

/// The shade for a share of the largest value, 0 to 1: white to dark blue, uniform in
/// lightness (ColorBrewer's Blues, sampled at five positions).
pub(crate) fn shade(share: f64) -> Colour {
    Colour::Shade(share)
}

type Parts = [u8; 3];

impl Colour {
    /// `#0072b2`.
    pub(crate) fn hex(self, theme: Theme) -> String {
        let [red, green, blue] = self.parts(theme);
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    fn parts(self, theme: Theme) -> Parts {
        let dark = theme == Theme::Dark;
        let of = |light: Parts, on_black: Parts| if dark { on_black } else { light };
        match self {
            Colour::Ink => of([0x1f, 0x23, 0x28], [0xe8, 0xea, 0xed]),
            Colour::Muted => of([0x57, 0x5f, 0x68], [0xa7, 0xb0, 0xb9]),
            Colour::Faint => of([0x9a, 0xa2, 0xab], [0x6c, 0x75, 0x7e]),
            Colour::Grid => of([0xe4, 0xe7, 0xea], [0x2c, 0x32, 0x38]),
            Colour::Background => of([0xff; 3], [0x14, 0x17, 0x1a]),
            Colour::Raised => of([0xed, 0xf0, 0xf3], [0x26, 0x2c, 0x32]),
            Colour::Caution => of([0xb4, 0x23, 0x18], [0xff, 0x8f, 0x4d]),
            Colour::Good => of([0x00, 0x69, 0x4c], [0x2d, 0xc9, 0x9a]),
            Colour::OnDark => [0xff; 3],
            Colour::OnLight => [0x1f, 0x23, 0x28],
            Colour::Tone(tone) => tone_parts(tone, dark),
            Colour::Pale(tone) => {
                let (part, ground) = (tone_parts(tone, dark), Colour::Background.parts(theme));
                std::array::from_fn(|index| part[index].midpoint(ground[index]))
            }
            Colour::Shade(share) => shade_parts(share),
        }
    }
}

fn tone_parts(tone: usize, dark: bool) -> Parts {
    let palette = if dark { PALETTE_DARK } else { PALETTE_LIGHT };
    let text = palette[tone % palette.len()];
    let part = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap_or(0);
    [part(1), part(3), part(5)]
}

fn shade_parts(share: f64) -> Parts {
    const STOPS: [Parts; 5] = [
        [0xef, 0xf4, 0xfa],
        [0xbd, 0xd7, 0xe7],
        [0x6b, 0xae, 0xd6],
        [0x31, 0x82, 0xbd],
        [0x08, 0x45, 0x94],
    ];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let index = (at as usize).min(STOPS.len() - 2);
    let (from, to, part) = (STOPS[index], STOPS[index + 1], at - index as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    std::array::from_fn(|index| mix(from[index], to[index]))
}
