//! Glyph outlines: from the embedded font, and from system fonts for letters it lacks.
//!
//! Letters are placed one after the other. Scripts that need shaping - Hebrew and
//! Arabic run the other way, the letters of Arabic and of India's scripts depend on their
//! neighbours - would come out wrong, and become boxes like letters without a font.

use super::font::{self, ROBOTO};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Font folders of operating systems; missing ones are skipped.
const FOLDERS: [&str; 5] = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "C:/Windows/Fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
];
/// Maximum folder depth: links can form a cycle.
const DEPTH_MAX: usize = 6;
/// Maximum number of fonts in a file: the file itself claims the number.
const FONTS_MAX: u32 = 256;
/// The glyph for missing letters: glyph 0, `.notdef`, usually a box.
const BOX: GlyphId = GlyphId(0);

/// Fonts searched for letters, the embedded font first.
pub(super) struct Fonts {
    files: Vec<(Cow<'static, [u8]>, u32)>,
}

/// A line of text from its left end, on its baseline.
pub(super) struct Line {
    pub(super) width: f32,
    /// `None` if all of it is blank.
    pub(super) outline: Option<Path>,
}

impl Fonts {
    /// Finds fonts for as many letters of a text as possible.
    pub(super) fn for_letters(text: &str) -> Fonts {
        let mut files = vec![(Cow::Borrowed(ROBOTO), 0)];
        let mut lacking = not_embedded(text);
        lacking.retain(|letter| !needs_shaping(*letter));
        if !lacking.is_empty() {
            let mut found = Vec::new();
            for folder in FOLDERS {
                find(FilePath::new(folder), DEPTH_MAX, &lacking, &mut found);
            }
            found.sort_by(|a, b| a.likeness.cmp(&b.likeness));
            while let Some(best) = best(&found, &lacking) {
                lacking.retain(|letter| !best.letters.contains(letter));
                let data = fs::read(&best.path);
                files.extend(data.ok().map(|data| (Cow::Owned(data), best.index)));
            }
        }
        Fonts { files }
    }

    fn faces(&self) -> Vec<Face<'_>> {
        let faces = self.files.iter();
        let faces = faces.filter_map(|(data, index)| Face::parse(data, *index).ok());
        faces.collect()
    }

    /// Letters of the text that are drawn as boxes.
    pub(super) fn boxes(&self, text: &str) -> String {
        let faces = self.faces();
        let letters = not_embedded(text).into_iter();
        letters
            .filter(|letter| glyph(&faces, *letter).is_none())
            .collect()
    }

    /// A line of text of this size in pixels.
    pub(super) fn line(&self, text: &str, size: f32) -> Line {
        let faces = self.faces();
        let mut pen = Pen::default();
        for letter in text.chars().filter(|letter| !font::is_invisible(*letter)) {
            let letter = if letter.is_control() { ' ' } else { letter };
            let glyph = glyph(&faces, letter).or_else(|| Some((faces.first()?, BOX)));
            let Some((face, glyph)) = glyph else { continue };
            pen.scale = size / f32::from(face.units_per_em());
            // A blank has no outline.
            let _ = face.outline_glyph(glyph, &mut pen);
            pen.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * pen.scale;
        }
        Line {
            width: pen.x,
            outline: pen.path.finish(),
        }
    }
}

fn glyph<'a, 'f>(faces: &'a [Face<'f>], letter: char) -> Option<(&'a Face<'f>, GlyphId)> {
    let of = |face: &'a Face<'f>| Some((face, face.glyph_index(letter)?));
    match needs_shaping(letter) {
        true => None,
        false => faces.iter().find_map(of),
    }
}

/// Letters that the embedded font lacks; control and invisible characters
/// are not letters.
fn not_embedded(text: &str) -> BTreeSet<char> {
    let is_letter = |letter: &char| !letter.is_control() && !font::is_invisible(*letter);
    let letters = text.chars().filter(is_letter);
    letters
        .filter(|letter| !font::has_all(letter.encode_utf8(&mut [0; 4])))
        .collect()
}

/// A letter of a script that needs shaping: Hebrew,
/// Arabic, those of India and South East Asia, Mongolian, and their presentation forms.
fn needs_shaping(letter: char) -> bool {
    matches!(u32::from(letter),
        0x590..=0x109f | 0x1700..=0x18af | 0x1900..=0x1cff | 0xa800..=0xabff
        | 0xfb1d..=0xfdff | 0xfe70..=0xfefc | 0x10800..=0x11fff)
}

/// A font of the system.
struct SystemFont {
    path: PathBuf,
    /// Index in a file with several.
    index: u32,
    /// The wanted letters that it has.
    letters: BTreeSet<char>,
    /// The smallest is the most similar to the embedded font: upright, proportional, regular.
    likeness: (bool, bool, bool, u16, PathBuf),
}

/// The fonts in a folder that have any of these letters.
fn find(folder: &FilePath, depth: usize, wanted: &BTreeSet<char>, found: &mut Vec<SystemFont>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            if depth > 0 {
                find(&path, depth - 1, wanted, found);
            }
        } else if extension.is_some_and(|name| {
            ["ttf", "otf", "ttc", "otc"].contains(&name.to_ascii_lowercase().as_str())
        }) {
            let data = fs::read(&path).unwrap_or_default();
            let fonts = ttf_parser::fonts_in_collection(&data).unwrap_or(1);
            for index in 0..fonts.min(FONTS_MAX) {
                let Ok(face) = Face::parse(&data, index) else {
                    continue;
                };
                let wanted = wanted.iter().copied();
                let letters: BTreeSet<char> = wanted.filter(|&letter| has(&face, letter)).collect();
                if !letters.is_empty() {
                    let likeness = (
                        face.is_italic(),
                        face.is_monospaced(),
                        path.to_string_lossy().contains("Serif"),
                        face.weight().to_number().abs_diff(400),
                        path.clone(),
                    );
                    found.push(SystemFont {
                        path: path.clone(),
                        index,
                        letters,
                        likeness,
                    });
                }
            }
        }
    }
}

/// The font maps the letter and has its outline: bitmap glyphs are not drawn.
fn has(face: &Face<'_>, letter: char) -> bool {
    let glyph = face.glyph_index(letter);
    glyph.is_some_and(|glyph| {
        letter.is_whitespace() || face.outline_glyph(glyph, &mut Pen::default()).is_some()
    })
}

/// The first of those with the most of these letters, so that words are in one font.
fn best<'a>(found: &'a [SystemFont], lacking: &BTreeSet<char>) -> Option<&'a SystemFont> {
    let count = |font: &SystemFont| font.letters.intersection(lacking).count();
    let best = found.iter().rev().max_by_key(|font| count(font))?;
    (count(best) > 0).then_some(best)
}

/// Draws outlines one after the other.
#[derive(Default)]
struct Pen {
    path: PathBuilder,
    x: f32,
    scale: f32,
}

impl Pen {
    /// A font's y axis points up.
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
