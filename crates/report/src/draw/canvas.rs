//! SVG as text: lines, areas, words. Each text has an explicit width, so that it takes
//! the same room in a viewer with another font.

use super::font;
pub(crate) use super::palette::Colour;
use super::palette::Theme;
use crate::escape::escaped;
use std::fmt::Write;

/// Which end of a text is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The drawing surface.
pub(crate) struct Canvas {
    drawn: String,
    width: f64,
    height: f64,
    theme: Theme,
}

/// The context of a drawing.
#[derive(Default)]
pub(crate) struct Frame<'a> {
    /// Alternative text.
    pub(crate) title: &'a str,
    /// The same in more detail.
    pub(crate) description: &'a str,
    /// Size of the picture in pixels; that of the drawing if not given.
    pub(crate) pixels: Option<[u32; 2]>,
    /// Invisible SVG elements: the font, what was measured.
    pub(crate) head: &'a str,
}

/// Shorter texts have nearly the same width in any font, except in large sizes.
const SIZED_FROM: usize = 4;
const LARGE: f64 = 20.0;

impl Canvas {
    pub(crate) fn new(width: f64, height: f64, theme: Theme) -> Canvas {
        let mut canvas = Canvas {
            drawn: String::new(),
            width,
            height,
            theme,
        };
        canvas.rectangle([(0.0, 0.0), (width, height)], Colour::Background, 1.0);
        canvas
    }

    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    pub(crate) fn line(&mut self, places: &[(f64, f64)], colour: Colour, width: f64) {
        let points = points(places);
        let colour = colour.hex(self.theme);
        let _ = writeln!(
            self.drawn,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"/>",
            Short(width)
        );
    }

    /// A straight dashed line.
    pub(crate) fn dashes(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        let points = points(&[from, to]);
        let colour = colour.hex(self.theme);
        let _ = writeln!(
            self.drawn,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-dasharray=\"8 6\"/>"
        );
    }

    pub(crate) fn fill(&mut self, places: &[(f64, f64)], colour: Colour) {
        let points = points(places);
        let colour = colour.hex(self.theme);
        let _ = writeln!(
            self.drawn,
            "<polygon points=\"{points}\" fill=\"{colour}\"/>"
        );
    }

    pub(crate) fn rectangle(&mut self, corners: [(f64, f64); 2], colour: Colour, opacity: f64) {
        let [(left, top), (right, bottom)] = corners;
        let colour = colour.hex(self.theme);
        let _ = write!(
            self.drawn,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\"",
            Short(left),
            Short(top),
            Short((right - left).max(0.0)),
            Short((bottom - top).max(0.0)),
        );
        if opacity < 1.0 {
            let _ = write!(self.drawn, " opacity=\"{}\"", Short(opacity));
        }
        self.drawn.push_str("/>\n");
    }

    pub(crate) fn disc(&mut self, (x, y): (f64, f64), radius: f64, colour: Colour) {
        let colour = colour.hex(self.theme);
        let _ = writeln!(
            self.drawn,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{colour}\"/>",
            Short(x),
            Short(y),
            Short(radius),
        );
    }

    pub(crate) fn ring(&mut self, (x, y): (f64, f64), radius: f64, colour: Colour) {
        let colour = colour.hex(self.theme);
        let _ = writeln!(
            self.drawn,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
            Short(x),
            Short(y),
            Short(radius),
        );
    }

    /// Text below a position.
    pub(crate) fn text(
        &mut self,
        (x, y): (f64, f64),
        text: &str,
        size: f64,
        colour: Colour,
        anchor: Anchor,
    ) {
        if text.is_empty() {
            return;
        }
        let colour = colour.hex(self.theme);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        // Capitals are 0.71 em high.
        let y = y + 0.76 * size;
        let _ = write!(
            self.drawn,
            "<text x=\"{}\" y=\"{}\"{anchor} font-size=\"{}\" fill=\"{colour}\"",
            Short(x),
            Short(y),
            Short(size),
        );
        if (text.len() >= SIZED_FROM || size >= LARGE) && font::has_all(text) {
            let _ = write!(
                self.drawn,
                " textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"",
                Short(font::width(text, size))
            );
        }
        let _ = writeln!(self.drawn, ">{}</text>", escaped(text));
    }

    /// Text centred vertically on a position.
    pub(crate) fn text_centred(
        &mut self,
        place: (f64, f64),
        text: &str,
        size: f64,
        colour: Colour,
        anchor: Anchor,
    ) {
        // Digits are 0.71 em high; renderers disagree about their middle.
        let place = (place.0, place.1 - 0.405 * size);
        self.text(place, text, size, colour, anchor);
    }

    /// Completes the picture, with a title and a description for those who cannot see it.
    pub(crate) fn finish(self, frame: &Frame<'_>) -> String {
        let [width, height] = match frame.pixels {
            Some(pixels) => pixels.map(|pixels| pixels.to_string()),
            None => [self.width, self.height].map(|side| Short(side).to_string()),
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" \
             font-family=\"{}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n{}{}</svg>\n",
            Short(self.width),
            Short(self.height),
            font::FAMILY,
            escaped(frame.title),
            escaped(frame.description),
            frame.head,
            self.drawn,
        )
    }
}

/// A length with two decimals at most: finer than anyone can see.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scaled = self.0 * 100.0;
        let from_middle = (scaled - scaled.floor() - 0.5).abs();
        // Close to the middle of two hundredths all decimals of the number decide.
        if from_middle < 1e-6 || scaled.is_nan() || scaled.abs() > 1e8 {
            let text = format!("{:.2}", self.0);
            let text = text.trim_end_matches('0').trim_end_matches('.');
            return f.write_str(if text == "-0" { "0" } else { text });
        }
        let hundredths = scaled.round() as i64;
        if hundredths < 0 {
            f.write_str("-")?;
        }
        let (whole, part) = (hundredths.abs() / 100, hundredths.abs() % 100);
        match part {
            0 => write!(f, "{whole}"),
            _ if part % 10 == 0 => write!(f, "{whole}.{}", part / 10),
            _ => write!(f, "{whole}.{part:02}"),
        }
    }
}

fn points(places: &[(f64, f64)]) -> String {
    let each = places
        .iter()
        .map(|(x, y)| format!("{},{}", Short(*x), Short(*y)));
    each.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_the_shortest_decimals_of_their_hundredths() {
        let usual = |length: f64| {
            let text = format!("{length:.2}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            if text == "-0" { "0" } else { text }.to_owned()
        };
        let halves = (-4_000..4_000).map(|number| f64::from(number) / 200.0);
        let others = (-9_000..9_000).map(|number| f64::from(number) * 1.000_7 / 13.0);
        let odd = [1e300, -1e300, f64::NAN, 1e9 + 0.125, -0.001, 0.0, -0.0];
        for length in halves.chain(others).chain(odd) {
            assert_eq!(Short(length).to_string(), usual(length), "{length:?}");
        }
    }
}
