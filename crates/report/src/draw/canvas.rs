//! A thin coat over plotters' SVG back end: pixels as floats, and a head that
//! says what the picture shows.
//!
//! plotters draws at whole pixels, so everything is drawn twice as large and the
//! picture is then declared half as large.

use super::font;
use plotters::coord::Shift;
use plotters::prelude::{
    Circle, DrawingArea, DrawingBackend, IntoDrawingArea, PathElement, Polygon, RGBAColor,
    Rectangle, SVGBackend, ShapeStyle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoFont, TextStyle};

/// Drawn pixels of one pixel.
const FINE: f64 = 2.0;
/// What the SVG back end divides sizes of text by.
const PLOTTERS_SIZE: f64 = 1.24;

/// A colour as red, green, blue.
pub(crate) type Colour = (u8, u8, u8);

/// Which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// What is drawn on.
pub(crate) struct Canvas {
    shapes: Vec<Shape>,
    width: f64,
    height: f64,
}

/// Drawn at the end, because the back end borrows the text that it writes.
enum Shape {
    Line(Vec<(i32, i32)>, ShapeStyle),
    Fill(Vec<(i32, i32)>, ShapeStyle),
    Box([(i32, i32); 2], ShapeStyle),
    Ring((i32, i32), i32, ShapeStyle),
    Text((i32, i32), String, Letters),
}

/// How a text looks.
struct Letters {
    size: f64,
    colour: Colour,
    anchor: Anchor,
}

fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    ((x * FINE).round() as i32, (y * FINE).round() as i32)
}

fn style((red, green, blue): Colour, opacity: f64, width: f64, filled: bool) -> ShapeStyle {
    ShapeStyle {
        color: RGBAColor(red, green, blue, opacity),
        filled,
        stroke_width: (width * FINE).round() as u32,
    }
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64) -> Canvas {
        Canvas {
            shapes: Vec::new(),
            width,
            height,
        }
    }

    pub(crate) fn line(&mut self, places: &[(f64, f64)], colour: Colour, width: f64) {
        let places = places.iter().copied().map(pixel).collect();
        self.shapes
            .push(Shape::Line(places, style(colour, 1.0, width, false)));
    }

    /// A straight line of dashes.
    pub(crate) fn dashes(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let at = |along: f64| {
            let share = (along / length).min(1.0);
            (
                from.0 + (to.0 - from.0) * share,
                from.1 + (to.1 - from.1) * share,
            )
        };
        let mut along = 0.0;
        while along < length {
            self.line(&[at(along), at(along + 8.0)], colour, 1.0);
            along += 14.0;
        }
    }

    pub(crate) fn fill(&mut self, places: &[(f64, f64)], colour: Colour) {
        let places = places.iter().copied().map(pixel).collect();
        self.shapes
            .push(Shape::Fill(places, style(colour, 1.0, 1.0, true)));
    }

    pub(crate) fn rectangle(&mut self, corners: [(f64, f64); 2], colour: Colour, opacity: f64) {
        self.shapes.push(Shape::Box(
            corners.map(pixel),
            style(colour, opacity, 0.0, true),
        ));
    }

    pub(crate) fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Colour) {
        let radius = (radius * FINE).round() as i32;
        self.shapes.push(Shape::Ring(
            pixel(centre),
            radius,
            style(colour, 1.0, 1.0, true),
        ));
    }

    pub(crate) fn ring(&mut self, centre: (f64, f64), radius: f64, colour: Colour) {
        let radius = (radius * FINE).round() as i32;
        self.shapes.push(Shape::Ring(
            pixel(centre),
            radius,
            style(colour, 1.0, 1.5, false),
        ));
    }

    /// Text below a place.
    pub(crate) fn text(
        &mut self,
        place: (f64, f64),
        text: &str,
        size: f64,
        colour: Colour,
        anchor: Anchor,
    ) {
        let letters = Letters {
            size,
            colour,
            anchor,
        };
        self.shapes
            .push(Shape::Text(pixel(place), text.to_owned(), letters));
    }

    /// Text whose middle is at the height of a place.
    pub(crate) fn text_centred(
        &mut self,
        place: (f64, f64),
        text: &str,
        size: f64,
        colour: Colour,
        anchor: Anchor,
    ) {
        // Digits are 0.71 em high; the renderers disagree about their middle.
        let place = (place.0, place.1 - 0.405 * size);
        self.text(place, text, size, colour, anchor);
    }

    /// The picture, with a title and a description for those who cannot see it.
    pub(crate) fn finish(self, title: &str, description: &str) -> String {
        let size = ((self.width * FINE) as u32, (self.height * FINE) as u32);
        let mut drawn = String::new();
        {
            let area = SVGBackend::with_string(&mut drawn, size).into_drawing_area();
            draw_all(&area, self.shapes, size).expect("a string takes whatever is written to it");
        }
        let inside = drawn.split_once('>').map_or("", |(_, inside)| inside);
        let inside = without_defaults(inside);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" \
             font-family=\"{}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>{inside}",
            self.width,
            size.1 as f64 / FINE,
            size.0,
            size.1,
            font::FAMILY,
            crate::page::escaped(title),
            crate::page::escaped(description),
        )
    }
}

/// A third of the bytes of a picture say what holds anyway. A page has many
/// pictures. Quotes are only in tags: in text they are escaped.
fn without_defaults(drawn: &str) -> String {
    let family = format!(" font-family=\"{}\"", font::FAMILY);
    drawn
        .replace(&family, "")
        .replace(" opacity=\"1\"", "")
        .replace(" stroke=\"none\"", "")
        .replace(" stroke-width=\"1\"", "")
        .replace(" \"/>", "\"/>")
}

type Drawn<B> =
    Result<(), plotters::drawing::DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

fn draw_all<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    shapes: Vec<Shape>,
    size: (u32, u32),
) -> Drawn<B> {
    let white = style((255, 255, 255), 1.0, 0.0, true);
    area.draw(&Rectangle::new(
        [(0, 0), (size.0 as i32, size.1 as i32)],
        white,
    ))?;
    for shape in shapes {
        match shape {
            Shape::Line(places, style) => area.draw(&PathElement::new(places, style))?,
            Shape::Fill(places, style) => area.draw(&Polygon::new(places, style))?,
            Shape::Box(corners, style) => area.draw(&Rectangle::new(corners, style))?,
            Shape::Ring(centre, radius, style) => area.draw(&Circle::new(centre, radius, style))?,
            Shape::Text(place, text, letters) => {
                let (red, green, blue) = letters.colour;
                let colour = RGBAColor(red, green, blue, 1.0);
                let h_pos = match letters.anchor {
                    Anchor::Start => HPos::Left,
                    Anchor::Middle => HPos::Center,
                    Anchor::End => HPos::Right,
                };
                let style = TextStyle::from(
                    (font::FAMILY, letters.size * FINE * PLOTTERS_SIZE).into_font(),
                )
                .color(&colour)
                .pos(Pos::new(h_pos, VPos::Top));
                area.draw(&Text::new(text, place, style))?;
            }
        }
    }
    area.present()
}
