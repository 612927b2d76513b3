//! From SVG to PNG, and what a file says of itself.

use super::font;
use crate::about::About;
use crate::escape::escaped;
use base64::Engine;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{FontResolver, Options, Tree, fontdb};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
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

/// An SVG of [`crate::svg`] as a PNG with `scale` pixels for each of its own; the file
/// says what was measured (iTXt chunks, as the PNG specification names them).
///
/// Letters come from the embedded font, so that a picture looks the same wherever it is
/// made; those that it lacks, from the fonts of the system.
///
/// # Errors
/// [`PictureError::Unreadable`], for other SVGs than ours.
pub fn png(svg: &str, scale: f32, about: &About) -> Result<Vec<u8>, PictureError> {
    let unreadable = |reason: &dyn std::fmt::Display| PictureError::Unreadable(reason.to_string());
    let options = Options {
        font_family: "Roboto".to_owned(),
        font_resolver: FontResolver::default(),
        fontdb: Arc::new(fonts(svg)),
        ..Options::default()
    };
    let svg = with_fonts(svg, &options.fontdb);
    let tree = Tree::from_str(&svg, &options).map_err(|error| unreadable(&error))?;
    let size = tree.size().to_int_size();
    let pixels = |side: u32| (side as f32 * scale).round() as u32;
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| unreadable(&"it has no size"))?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixmap.as_mut(),
    );
    let bytes = pixmap.encode_png().map_err(|error| unreadable(&error))?;
    Ok(with_texts(bytes, about))
}

/// The embedded font, and those of the system where it lacks a letter.
fn fonts(text: &str) -> fontdb::Database {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font::ROBOTO.to_vec());
    if !font::has_all(&text.replace(['\n', '\t'], "")) {
        fonts.load_system_fonts();
    }
    fonts
}

/// The SVG, each text that the embedded font has not all letters for in the family of a
/// font that has most of them, so that a script is shaped as a whole: what falls back
/// letter by letter stops at the first that no font has, and loses letters that join into
/// one. A letter that no font has is a square.
fn with_fonts<'a>(svg: &'a str, fonts: &fontdb::Database) -> Cow<'a, str> {
    if fonts.len() < 2 {
        return Cow::Borrowed(svg);
    }
    let mut known: BTreeMap<char, Vec<String>> = BTreeMap::new();
    let mut families = |letter: char| -> Vec<String> {
        let found = known.entry(letter);
        found
            .or_insert_with(|| families_with(fonts, letter))
            .clone()
    };
    let mut whole = String::with_capacity(svg.len() + 256);
    for line in svg.split_inclusive('\n') {
        let words = line.strip_prefix("<text ").and_then(|rest| {
            let (looks, rest) = rest.split_once('>')?;
            let (words, end) = rest.split_once("</text>")?;
            Some((looks, words, end))
        });
        match words {
            Some((looks, words, end)) => {
                let (family, words) = in_family(words, &mut families);
                let _ = write!(whole, "<text {looks}{family}>{words}</text>{end}");
            }
            None => whole.push_str(line),
        }
    }
    Cow::Owned(whole)
}

/// The attribute that names a family, or nothing, and the words with squares for letters
/// that no font has.
fn in_family(words: &str, families: &mut dyn FnMut(char) -> Vec<String>) -> (String, String) {
    /// What stands for a letter that nothing can draw.
    const SQUARE: char = '\u{25a1}';
    let mut counts: Vec<(usize, String)> = Vec::new();
    let mut shown = String::with_capacity(words.len());
    for letter in words.chars() {
        if font::has_all(letter.encode_utf8(&mut [0; 4])) {
            shown.push(letter);
            continue;
        }
        let mut of_letter = families(letter);
        let is_drawn = !of_letter.is_empty();
        if !is_drawn {
            of_letter = families(SQUARE);
        }
        let square = !is_drawn && !of_letter.is_empty();
        shown.push(if square { SQUARE } else { letter });
        for name in of_letter {
            match counts.iter_mut().find(|(_, known)| *known == name) {
                Some((count, _)) => *count += 1,
                None => counts.push((1, name)),
            }
        }
    }
    // The first of those that have most: they come in the order in which they are liked.
    let most = counts.iter().map(|(count, _)| *count).max();
    let chosen = counts.iter().find(|(count, _)| Some(*count) == most);
    let family = chosen.map_or_else(String::new, |(_, name)| {
        format!(" font-family=\"'{}'\"", escaped(name))
    });
    (family, shown)
}

/// The families that have a letter, those like the embedded one first: upright, of no
/// fixed width, without serifs.
fn families_with(fonts: &fontdb::Database, letter: char) -> Vec<String> {
    let faces = fonts.faces();
    let faces = faces.filter(|face| has_letter(fonts, face.id, letter));
    let mut found: Vec<(bool, bool, bool, String)> = faces
        .filter_map(|face| {
            let name = face.families.first()?.0.clone();
            let slanted = face.style != fontdb::Style::Normal;
            Some((slanted, face.monospaced, name.contains("Serif"), name))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, _, _, name)| name).collect()
}

/// Letters of a picture that neither the embedded font nor one of the system has: in a
/// PNG they are boxes.
#[must_use]
pub fn letters_without_font(svg: &str) -> String {
    let fonts = fonts(svg);
    let lacking = |letter: &char| {
        !font::has_all(&letter.to_string())
            && !letter.is_control()
            && !fonts
                .faces()
                .any(|face| has_letter(&fonts, face.id, *letter))
    };
    let letters: BTreeSet<char> = svg.chars().filter(lacking).collect();
    letters.into_iter().collect()
}

fn has_letter(fonts: &fontdb::Database, id: fontdb::ID, letter: char) -> bool {
    use skrifa::MetadataProvider;
    let has = fonts.with_face_data(id, |data, index| {
        let font = skrifa::FontRef::from_index(data, index).ok()?;
        font.charmap().map(letter)
    });
    has.flatten().is_some()
}

/// What an SVG file has before its drawing: the font, and what was measured.
pub(crate) fn facts_head(about: &About) -> String {
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

/// Where a PNG's first chunk ends: signature, and IHDR of 13 bytes.
const IHDR_END: usize = 8 + 25;

/// The PNG with a text chunk for each fact, before its pixels.
fn with_texts(mut png: Vec<u8>, about: &About) -> Vec<u8> {
    let mut chunks = Vec::new();
    let named = about
        .facts
        .iter()
        .map(|(name, value)| (*name, value.as_str()));
    for (name, value) in named.chain([("Software", "Stripewise")]) {
        chunks.extend(text_chunk(name, &crate::plain::plain(value)));
    }
    if png.len() > IHDR_END {
        png.splice(IHDR_END..IHDR_END, chunks);
    }
    png
}

/// An iTXt chunk: keyword, not compressed, no language, UTF-8 text.
fn text_chunk(keyword: &str, text: &str) -> Vec<u8> {
    let mut body = b"iTXt".to_vec();
    body.extend(keyword.as_bytes());
    body.extend([0, 0, 0, 0, 0]);
    body.extend(text.as_bytes());
    let length = u32::try_from(body.len() - 4).unwrap_or(0);
    let mut chunk = length.to_be_bytes().to_vec();
    let sum = crc32fast::hash(&body);
    chunk.extend(body);
    chunk.extend(sum.to_be_bytes());
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_another_script_are_in_the_family_that_has_most_of_their_letters() {
        let mut families = |letter: char| -> Vec<String> {
            let names: &[&str] = match letter {
                '\u{645}' => &["Another", "Arab & Co"],
                '\u{600}'..='\u{6ff}' => &["Arab & Co"],
                '\u{25a1}' => &["Another"],
                _ => &[],
            };
            names.iter().map(|&name| name.to_owned()).collect()
        };
        let mut told = |words: &str| in_family(words, &mut families);
        let plain = "disk &lt;1&gt;".to_owned();
        assert_eq!(told(&plain), (String::new(), plain.clone()));
        let word = "\u{633}\u{644}\u{627}\u{645}";
        let family = " font-family=\"'Arab &amp; Co'\"".to_owned();
        assert_eq!(told(word), (family.clone(), word.to_owned()));
        let with_square = format!("\u{25a1} {word}");
        assert_eq!(told(&format!("\u{6570} {word}")), (family, with_square));
    }
}
