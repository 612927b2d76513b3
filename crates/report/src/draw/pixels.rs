//! The size of a picture, as typed.

use std::ops::RangeInclusive;
use std::str::FromStr;
use stripewise_units::ParseError;

/// Width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels(pub [u32; 2]);

/// Allowed pixels per side: below, nothing is legible; above, a picture is merely large.
const SIDES: RangeInclusive<u32> = 320..=8_192;
/// Maximum ratio of the longer to the shorter side.
const RATIO_MAX: u32 = 4;

impl FromStr for Pixels {
    type Err = ParseError;

    /// `1920x1080`.
    fn from_str(text: &str) -> Result<Pixels, ParseError> {
        let refused = |problem: &str| {
            let hint = format!(
                "use WIDTHxHEIGHT in pixels, from {} to {} each, like 1920x1080 or 1200x630",
                SIDES.start(),
                SIDES.end()
            );
            ParseError::new(text, problem, hint)
        };
        let sides = text.split_once(['x', 'X', '\u{d7}']);
        let sides = sides.and_then(|(width, height)| {
            let side = |text: &str| text.trim().parse::<u32>().ok();
            Some([side(width)?, side(height)?])
        });
        let sides = sides.ok_or_else(|| refused("is not a size in pixels"))?;
        if !sides.iter().all(|side| SIDES.contains(side)) {
            return Err(refused("is too small or too large for a picture"));
        }
        let [short, long] = [sides[0].min(sides[1]), sides[0].max(sides[1])];
        match long > short * RATIO_MAX {
            true => Err(refused("is too long and thin for a picture")),
            false => Ok(Pixels(sides)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_pictures_are_checked() {
        for (text, sides) in [
            ("1920x1080", Some([1_920, 1_080])),
            ("1200X630", Some([1_200, 630])),
            ("1080\u{d7}1920", Some([1_080, 1_920])),
            ("1920", None),
            ("1920x", None),
            ("-5x10", None),
            ("100x100", None),
            ("100000x100000", None),
            ("8000x400", None),
        ] {
            assert_eq!(
                text.parse::<Pixels>().ok().map(|size| size.0),
                sides,
                "{text}"
            );
        }
    }
}
