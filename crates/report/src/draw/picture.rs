//! From SVG to PNG, with the embedded font and no other, so that a picture looks
//! the same wherever it is made.

use super::font;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{FontResolver, Options, Tree, fontdb};
use std::sync::Arc;

/// A picture that could not be drawn.
#[derive(Debug)]
#[non_exhaustive]
pub enum PictureError {
    /// The SVG is not one, or asks for more pixels than there can be.
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

/// An SVG of [`crate::svg`] as a PNG with `scale` pixels for each of its own.
///
/// # Errors
/// [`PictureError::Unreadable`], for other SVGs than ours.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PictureError> {
    let unreadable = |reason: &dyn std::fmt::Display| PictureError::Unreadable(reason.to_string());
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font::ROBOTO.to_vec());
    let options = Options {
        font_family: "Roboto".to_owned(),
        font_resolver: FontResolver::default(),
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| unreadable(&error))?;
    let size = tree.size().to_int_size();
    let pixels = |side: u32| (side as f32 * scale).round() as u32;
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| unreadable(&"it has no size"))?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixmap.as_mut(),
    );
    pixmap.encode_png().map_err(|error| unreadable(&error))
}
