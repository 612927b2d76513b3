//! File names as reversible text.
//!
//! On systems other than Windows a name is bytes, not necessarily UTF-8; records, JSON and messages
//! are text. So a byte that is not UTF-8 is written as `\xNN`, and the backslash of a name that
//! already looks like that as `\x5c`; all other names are unchanged. On Windows, where a backslash
//! separates folders, names are unchanged, and names that are not Unicode cannot be represented.

use crate::platform;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Names and paths as text.
pub trait NameText {
    /// The name as text; [`path_of`] is the inverse.
    fn as_text(&self) -> String;
}

impl NameText for OsStr {
    fn as_text(&self) -> String {
        platform::text_of(self)
    }
}

impl NameText for Path {
    fn as_text(&self) -> String {
        platform::text_of(self.as_os_str())
    }
}

/// The name from text of [`NameText::as_text`].
pub fn name_of(text: &str) -> OsString {
    platform::name_of(text)
}

/// The path from text of [`NameText::as_text`].
pub fn path_of(text: &str) -> PathBuf {
    PathBuf::from(name_of(text))
}

/// How the name of a simulated array begins, as a target.
const SIM: &str = "sim:";

/// The simulated array that a target names, with its overrides; `None` for every other target. A file
/// whose name begins like that is reached as `./sim:...`.
///
/// ```
/// assert_eq!(stripewise_units::sim_array("sim:nvme?offset=63s"), Some("nvme?offset=63s"));
/// assert_eq!(stripewise_units::sim_array("./sim:nvme"), None);
/// ```
pub fn sim_array(target: &str) -> Option<&str> {
    target.strip_prefix(SIM)
}

/// Whether a target, as typed or stored, is a simulated array: its time is not the clock's, and it
/// is no file and no device. One that cannot be parsed is one, too: who opens it says why.
pub fn is_sim_target(target: &str) -> bool {
    sim_array(target).is_some()
}

/// Whether [`path_of`] restores this name from its text.
pub fn has_text(name: &OsStr) -> bool {
    name_of(&name.as_text()) == name
}

/// A command-line word in the form of [`NameText`], quoted for a POSIX shell; non-UTF-8 bytes as
/// `$'...'`, which bash, zsh and ksh support.
pub fn shell_word(text: &str) -> String {
    let name = name_of(text);
    let Some(word) = name.to_str() else {
        let mut word = "$'".to_owned();
        for chunk in name.as_encoded_bytes().utf8_chunks() {
            push_escaped(&mut word, chunk.valid());
            for byte in chunk.invalid() {
                word.push_str(&format!(r"\x{byte:02x}"));
            }
        }
        return word + "'";
    };
    quoted(word)
}

/// Quotes any text as one word of a POSIX shell; of bash where it has control characters, which
/// would end the line.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+%@".contains(letter);
    if word.contains(char::is_control) {
        let mut escaped = "$'".to_owned();
        push_escaped(&mut escaped, word);
        return escaped + "'";
    }
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Adds a text as it stands between `$'` and `'`.
fn push_escaped(word: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '\\' => word.push_str(r"\\"),
            '\'' => word.push_str(r"\'"),
            '\n' => word.push_str(r"\n"),
            '\t' => word.push_str(r"\t"),
            letter if letter.is_control() => {
                for byte in letter.to_string().bytes() {
                    word.push_str(&format!(r"\x{byte:02x}"));
                }
            }
            letter => word.push(letter),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    #[test]
    fn any_name_becomes_text_and_is_given_back() {
        let cases: [(&[u8], &str); 10] = [
            (b"/data/test.dat", "/data/test.dat"),
            ("ünï 数据".as_bytes(), "ünï 数据"),
            (b"a\xffb", r"a\xffb"),
            (b"\xe4\xf6.dat", r"\xe4\xf6.dat"),
            // The beginning of a truncated character, and half a surrogate pair.
            (b"a\xf0\x9f", r"a\xf0\x9f"),
            (b"\xed\xa0\x80", r"\xed\xa0\x80"),
            // A name that looks like an escape is a different name.
            (br"a\xffb", r"a\x5cxffb"),
            (br"a\x5cxffb", r"a\x5cx5cxffb"),
            (br"\\x41\", r"\\x5cx41\"),
            (br"C:\xyz\x4", r"C:\xyz\x4"),
        ];
        for (bytes, text) in cases {
            let name = OsStr::from_bytes(bytes);
            assert_eq!(name.as_text(), text, "{name:?}");
            assert_eq!(name_of(text), name, "{text}");
            assert!(has_text(name));
        }
        // Upper-case digits, as users may type them in a plan.
        assert_eq!(name_of(r"a\xFF"), OsStr::from_bytes(b"a\xff"));
    }

    #[test]
    fn a_shell_gives_the_program_the_same_word() {
        let words: [&[u8]; 10] = [
            b"a\nb\tc\x1b'\\\xc2\x85",
            b"plain-1.dat",
            b"",
            b"two words",
            b"it's",
            br"a\xffb",
            b"a\xffb",
            b"\xe4'\\n\\\\x\\x41 $(x)",
            b"\\\xff\\",
            b"line\nend\xff0",
        ];
        for word in words {
            let shown = shell_word(&OsStr::from_bytes(word).as_text());
            let script = format!("printf %s {shown}");
            let bash = std::process::Command::new("bash")
                .args(["-c", &script])
                .output();
            // Skipped without bash.
            if let Ok(output) = bash {
                assert_eq!(output.stdout, word, "{shown}");
            }
        }
    }

    #[test]
    fn names_of_any_bytes_are_given_back() {
        // All names of three pieces that could be mistaken for each other.
        let pieces: [&[u8]; 9] = [
            b"\\", b"x", b"5", b"c", b"ff", b"\xff", b"\xc3", b"\xa4", b"\\x5c",
        ];
        let mut texts = std::collections::HashMap::new();
        for index in 0..pieces.len().pow(4) {
            let digits = [0, 1, 2, 3].map(|place| index / pieces.len().pow(place) % pieces.len());
            let name = OsString::from_vec(digits.map(|digit| pieces[digit]).concat());
            let text = name.as_text();
            assert_eq!(name_of(&text), name, "{text}");
            let other = texts.insert(text, name.clone());
            assert!(other.is_none_or(|other| other == name));
        }
    }
}
