//! From SVG to PNG, and the metadata of a file.

use super::glyphs::Fonts;
use super::{font, raster};
use crate::attribution::Attribution;
use crate::escape::escaped;
use base64::Engine;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;
use tiny_skia::Pixmap;

/// Why a picture could not be drawn.
#[derive(Debug)]
#[non_exhaustive]
pub enum PictureError {
    /// The SVG is invalid, or requires too many pixels.
    Unreadable(String),
}

impl std::fmt::Display for PictureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PictureError::Unreadable(reason) => write!(f, "the chart cannot be drawn: {reason}"),
        }
    }
}

impl std::error::Error for PictureError {}

/// An SVG of [`crate::svg`] as a PNG with `scale` pixels per SVG pixel; its
/// metadata say what was measured (iTXt chunks, as the PNG specification names them).
///
/// Letters come from the embedded font, so that a picture looks the same wherever it is
/// made; letters that it lacks come from system fonts.
///
/// # Errors
/// [`PictureError::Unreadable`] for SVGs not made by this crate.
pub fn png(svg: &str, scale: f32, about: &Attribution) -> Result<Vec<u8>, PictureError> {
    let pixels = raster::pixels(svg, scale).map_err(PictureError::Unreadable)?;
    encoded(pixels, about).map_err(|error| PictureError::Unreadable(error.to_string()))
}

/// Letters of a picture that are boxes in a PNG: neither the embedded font nor a system
/// font has them, or their script needs shaping.
pub fn letters_without_font(svg: &str) -> String {
    Fonts::for_letters(svg).boxes(svg)
}

/// The head of an SVG file before its drawing: the font, and what was measured.
pub(crate) fn facts_head(about: &Attribution) -> String {
    let font = base64::engine::general_purpose::STANDARD.encode(font::ROBOTO_LATIN);
    let facts = about.facts.iter().map(|(name, value)| {
        format!(
            "<fact xmlns=\"https://stripewise.org/picture\" name=\"{}\">{}</fact>\n",
            escaped(name),
            escaped(value)
        )
    });
    format!(
        "<metadata>\n{}</metadata>\n<style>@font-face{{font-family:Roboto;src:url(data:font/woff2;base64,{font})}}</style>\n",
        facts.collect::<String>()
    )
}

/// A PNG (its specification, third edition): red, green, blue and opacity, 8 bits each, and
/// a text chunk for each fact.
fn encoded(pixels: Pixmap, about: &Attribution) -> std::io::Result<Vec<u8>> {
    /// Each byte is stored as its difference from the one above it.
    const UP: u8 = 2;
    let (width, height) = (pixels.width(), pixels.height());
    let row_bytes = 4 * width as usize;
    let bytes = pixels.take_demultiplied();
    let mut above = vec![0; row_bytes];
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in bytes.chunks_exact(row_bytes) {
        let differences = row
            .iter()
            .zip(&above)
            .map(|(byte, up)| byte.wrapping_sub(*up));
        let differences: Vec<u8> = std::iter::once(UP).chain(differences).collect();
        packed.write_all(&differences)?;
        above.copy_from_slice(row);
    }
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, 6, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png.extend(chunk(b"IHDR", &head));
    let facts = about.facts.iter();
    let facts = facts.map(|(name, value)| (*name, value.as_str()));
    for (name, value) in facts.chain([("Software", "Stripewise")]) {
        png.extend(text_chunk(name, &crate::plain::plain(value)));
    }
    png.extend(chunk(b"IDAT", &packed.finish()?));
    png.extend(chunk(b"IEND", &[]));
    Ok(png)
}

/// An iTXt chunk: keyword, not compressed, no language, UTF-8 text.
fn text_chunk(keyword: &str, text: &str) -> Vec<u8> {
    chunk(
        b"iTXt",
        &[keyword.as_bytes(), &[0; 5], text.as_bytes()].concat(),
    )
}

/// A chunk: the length of its body, its name, its body and its CRC.
fn chunk(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("a picture has less than 4 GiB");
    let named = [name, body].concat();
    let sum = crc32fast::hash(&named).to_be_bytes();
    [&length.to_be_bytes()[..], &named, &sum].concat()
}
