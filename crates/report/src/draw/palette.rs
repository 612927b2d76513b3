//! Colours: Okabe and Ito's, which people with any kind of colour blindness can
//! tell apart (jfly.uni-koeln.de/color), a little darker on white and lighter on
//! black where contrast asks for it. A series also has a mark of its own, so that
//! colour is never the only sign.

use super::canvas::Colour;

/// Colours of series on white, by [`crate::Series::tone`].
pub const PALETTE_LIGHT: [&str; 8] = [
    "#0072b2", "#c8500a", "#00805c", "#a8548a", "#8a6500", "#2f8fc4", "#555555", "#7b5cb8",
];
/// The same on a dark page.
pub const PALETTE_DARK: [&str; 8] = [
    "#5cb3ec", "#ff8f4d", "#2dc99a", "#e59acb", "#e6b830", "#8fd3ff", "#b4b4b4", "#b79cf0",
];

pub(crate) const INK: Colour = (0x1f, 0x23, 0x28);
pub(crate) const MUTED: Colour = (0x57, 0x5f, 0x68);
pub(crate) const FAINT: Colour = (0x9a, 0xa2, 0xab);
pub(crate) const GRID: Colour = (0xe4, 0xe7, 0xea);
pub(crate) const SHADE: Colour = (0x57, 0x5f, 0x68);
/// Of words that must be read first.
pub(crate) const CAUTION: Colour = (0xb4, 0x23, 0x18);
pub(crate) const WHITE: Colour = (0xff, 0xff, 0xff);

/// The colour of a tone.
pub(crate) fn tone(tone: usize) -> Colour {
    let text = PALETTE_LIGHT[tone % PALETTE_LIGHT.len()];
    let part = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap_or(0);
    (part(1), part(3), part(5))
}

/// Halfway to white.
pub(crate) fn pale((red, green, blue): Colour) -> Colour {
    let mix = |part: u8| part.midpoint(0xff);
    (mix(red), mix(green), mix(blue))
}

/// The shade of a share of the largest value, 0 to 1: white to dark blue, even in
/// lightness (ColorBrewer's Blues, read off at five places).
pub(crate) fn shade(share: f64) -> Colour {
    const STOPS: [Colour; 5] = [
        (0xef, 0xf4, 0xfa),
        (0xbd, 0xd7, 0xe7),
        (0x6b, 0xae, 0xd6),
        (0x31, 0x82, 0xbd),
        (0x08, 0x45, 0x94),
    ];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let index = (at as usize).min(STOPS.len() - 2);
    let (from, to, part) = (STOPS[index], STOPS[index + 1], at - index as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}
