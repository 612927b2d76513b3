//! Rasterises the elements that [`super::canvas`] writes; other SVGs are refused.
//!
//! Text is placed letter by letter by the widths of its font, scaled to `textLength`.

use super::glyphs::Fonts;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use tiny_skia::{FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};

/// The picture with `scale` pixels per SVG pixel.
///
/// # Errors
/// Why it cannot be drawn.
pub(super) fn pixels(svg: &str, scale: f32) -> Result<Pixmap, String> {
    let mut reader = Reader::from_str(svg);
    let mut drawing: Option<Drawing<'_>> = None;
    let fonts = Fonts::for_letters(svg);
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => match start.name().as_ref() {
                b"svg" => {
                    let attributes = Attributes::of(&start)?;
                    match &mut drawing {
                        Some(drawing) => drawing.open_view(&attributes)?,
                        None => drawing = Some(Drawing::new(&attributes, scale, &fonts)?),
                    }
                }
                b"text" => {
                    let attributes = Attributes::of(&start)?;
                    let words = reader.read_text(start.name());
                    let words = words.map_err(|error| error.to_string())?;
                    let words = words.decode().map_err(|error| error.to_string())?;
                    let words = quick_xml::escape::unescape(&words);
                    let words = words.map_err(|error| error.to_string())?;
                    on(&mut drawing)?.text(&attributes, &words)?;
                }
                // Invisible elements.
                b"title" | b"desc" | b"metadata" | b"style" => {
                    let skipped = reader.read_to_end(start.name());
                    skipped.map_err(|error| error.to_string())?;
                }
                other => return Err(unknown(other)),
            },
            Event::Empty(element) => {
                let attributes = Attributes::of(&element)?;
                on(&mut drawing)?.shape(element.name().as_ref(), &attributes)?;
            }
            Event::End(_) => on(&mut drawing)?.close_view(),
            Event::Eof => break,
            _ => {}
        }
    }
    drawing
        .map(|drawing| drawing.pixmap)
        .ok_or_else(|| "it is no SVG".to_owned())
}

fn on<'a, 'f>(drawing: &'a mut Option<Drawing<'f>>) -> Result<&'a mut Drawing<'f>, String> {
    drawing
        .as_mut()
        .ok_or_else(|| "its first element is not `svg`".to_owned())
}

fn unknown(element: &[u8]) -> String {
    let name = String::from_utf8_lossy(element);
    format!("Stripewise does not draw the element `{name}`")
}

/// The attributes of an element.
struct Attributes(HashMap<String, String>);

impl Attributes {
    fn of(element: &BytesStart<'_>) -> Result<Attributes, String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let each = element.attributes().map(|attribute| {
            let attribute = attribute.map_err(|error| error.to_string())?;
            Ok((text(attribute.key.as_ref()), text(&attribute.value)))
        });
        Ok(Attributes(each.collect::<Result<_, String>>()?))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The numbers of an attribute, between spaces or commas.
    fn numbers(&self, name: &str) -> Result<Vec<f32>, String> {
        let words = self.get(name).unwrap_or("").split([' ', ',']);
        let numbers = words.filter(|word| !word.is_empty()).map(str::parse);
        let numbers: Result<Vec<f32>, _> = numbers.collect();
        numbers.map_err(|_| format!("`{name}` is not a number"))
    }

    fn number(&self, name: &str, otherwise: f32) -> Result<f32, String> {
        Ok(self.numbers(name)?.first().copied().unwrap_or(otherwise))
    }

    /// The paint of an attribute; `None` if it is `none` or missing.
    fn paint(&self, name: &str) -> Result<Option<Paint<'static>>, String> {
        let Some(colour) = self.get(name).filter(|colour| *colour != "none") else {
            return Ok(None);
        };
        let parts = colour
            .strip_prefix('#')
            .filter(|hex| hex.len() == 6)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .ok_or_else(|| format!("`{colour}` is not a colour"))?;
        let [_, red, green, blue] = parts.to_be_bytes();
        let alpha = (self.number("opacity", 1.0)? * 255.0).round() as u8;
        let mut paint = Paint::default();
        paint.set_color_rgba8(red, green, blue, alpha);
        Ok(Some(paint))
    }
}

/// Pixels, and the positions of the open views in them.
struct Drawing<'f> {
    pixmap: Pixmap,
    views: Vec<Transform>,
    fonts: &'f Fonts,
}

impl<'f> Drawing<'f> {
    fn new(svg: &Attributes, scale: f32, fonts: &'f Fonts) -> Result<Drawing<'f>, String> {
        let side = |name: &str| -> Result<u32, String> {
            Ok((svg.number(name, 0.0)?.ceil() * scale).round() as u32)
        };
        let pixmap = Pixmap::new(side("width")?, side("height")?);
        let mut drawing = Drawing {
            pixmap: pixmap.ok_or("it has no size")?,
            views: vec![Transform::from_scale(scale, scale)],
            fonts,
        };
        drawing.open_view(svg)?;
        Ok(drawing)
    }

    fn view(&self) -> Transform {
        self.views.last().copied().unwrap_or_default()
    }

    /// Begins an `svg` element: its box as large as fits, centred.
    fn open_view(&mut self, svg: &Attributes) -> Result<(), String> {
        let (width, height) = (svg.number("width", 0.0)?, svg.number("height", 0.0)?);
        let inside = match svg.numbers("viewBox")?[..] {
            [left, top, across, down] => {
                let scale = (width / across).min(height / down);
                let aside = |room: f32, side: f32| (room - side * scale) / 2.0;
                Transform::from_translate(aside(width, across), aside(height, down))
                    .pre_scale(scale, scale)
                    .pre_translate(-left, -top)
            }
            _ => Transform::identity(),
        };
        let placed = self
            .view()
            .pre_translate(svg.number("x", 0.0)?, svg.number("y", 0.0)?);
        self.views.push(placed.pre_concat(inside));
        Ok(())
    }

    fn close_view(&mut self) {
        self.views.pop();
    }

    /// An element without content.
    fn shape(&mut self, element: &[u8], of: &Attributes) -> Result<(), String> {
        let number = |name: &str| of.number(name, 0.0);
        let path = match element {
            b"rect" => {
                let (width, height) = (number("width")?, number("height")?);
                Rect::from_xywh(number("x")?, number("y")?, width, height)
                    .map(PathBuilder::from_rect)
            }
            b"circle" => PathBuilder::from_circle(number("cx")?, number("cy")?, number("r")?),
            b"polygon" | b"polyline" => {
                let mut path = PathBuilder::new();
                for (index, place) in of.numbers("points")?.chunks_exact(2).enumerate() {
                    match index {
                        0 => path.move_to(place[0], place[1]),
                        _ => path.line_to(place[0], place[1]),
                    }
                }
                if element == b"polygon" {
                    path.close();
                }
                path.finish()
            }
            other => return Err(unknown(other)),
        };
        // A shape without extent has no path.
        let Some(path) = path else { return Ok(()) };
        if let Some(paint) = of.paint("fill")? {
            self.fill(&path, &paint);
        }
        if let Some(paint) = of.paint("stroke")? {
            let stroke = Stroke {
                width: of.number("stroke-width", 1.0)?,
                dash: StrokeDash::new(of.numbers("stroke-dasharray")?, 0.0),
                ..Stroke::default()
            };
            let view = self.view();
            self.pixmap.stroke_path(&path, &paint, &stroke, view, None);
        }
        Ok(())
    }

    fn fill(&mut self, path: &Path, paint: &Paint<'_>) {
        let view = self.view();
        self.pixmap
            .fill_path(path, paint, FillRule::Winding, view, None);
    }

    fn text(&mut self, of: &Attributes, words: &str) -> Result<(), String> {
        let size = of.number("font-size", 0.0)?;
        let line = self.fonts.line(words, size);
        let back = match of.get("text-anchor") {
            Some("middle") => line.width / 2.0,
            Some("end") => line.width,
            _ => 0.0,
        };
        let place = Transform::from_translate(of.number("x", 0.0)? - back, of.number("y", 0.0)?);
        let path = line.outline.and_then(|outline| outline.transform(place));
        if let (Some(path), Some(paint)) = (path, of.paint("fill")?) {
            self.fill(&path, &paint);
        }
        Ok(())
    }
}
