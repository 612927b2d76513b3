//! Bounded reads of kernel files below a root.
//!
//! Every result is optional: a missing, unreadable, oversized or odd file is an absent fact.
//! Non-UTF-8 text is converted lossily, except for paths, which are compared with others
//! ([`Tree::table`], [`Tree::path_in`]).
//!
//! A description of a whole machine reads the same files again for every device in a stack: with
//! [`TreeCache`] each is opened once, and its content stays consistent.

use crate::System;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use stripewise_units::DeviceNumber;

/// More than any kernel file that we read; `mountinfo` of a machine with many thousand mounts is
/// the largest.
const LIMIT_BYTES: u64 = 8 << 20;
/// More entries than any directory that we list.
const ENTRIES_MAX: usize = 65_536;

/// The files below one root.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    root: &'a Path,
    cache: Option<&'a TreeCache>,
}

/// Cached results by requested path.
type CacheMap<T> = RefCell<HashMap<OsString, T>>;

/// Files read during one inspection of a machine. Never reused for another.
#[derive(Debug, Default)]
pub struct TreeCache {
    texts: CacheMap<Option<String>>,
    tables: CacheMap<Option<String>>,
    paths: CacheMap<Option<PathBuf>>,
    names: CacheMap<Vec<String>>,
    resolved: CacheMap<Option<PathBuf>>,
    existing: CacheMap<bool>,
    root: OnceCell<Option<PathBuf>>,
}

impl<'a> Tree<'a> {
    /// The files of a machine.
    pub fn of(system: &'a System) -> Self {
        Tree::new(system.root())
    }

    /// The files below a root.
    pub fn new(root: &'a Path) -> Self {
        Tree { root, cache: None }
    }

    /// The same, reading each file and directory only once.
    #[must_use]
    pub fn remembering(self, cache: &'a TreeCache) -> Self {
        Tree {
            cache: Some(cache),
            ..self
        }
    }

    /// The cached result, or a new one.
    fn once<T: Clone>(
        self,
        answers: fn(&TreeCache) -> &CacheMap<T>,
        path: &Path,
        ask: impl FnOnce(&Path) -> T,
    ) -> T {
        let path = self.path(path);
        let Some(answers) = self.cache.map(answers) else {
            return ask(&path);
        };
        if let Some(known) = answers.borrow().get(path.as_os_str()) {
            return known.clone();
        }
        let answer = ask(&path);
        let mut answers = answers.borrow_mut();
        answers.insert(path.into_os_string(), answer.clone());
        answer
    }

    /// Whether this is the running machine, not a captured tree.
    pub fn is_live(self) -> bool {
        self.root == Path::new("/")
    }

    /// Maps an absolute path of the machine to a path that can be opened here. On the running
    /// machine relative paths keep their meaning.
    pub fn path(self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if self.is_live() {
            return path.to_path_buf();
        }
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The whole text of a file, without trailing white space.
    pub fn text(self, path: impl AsRef<Path>) -> Option<String> {
        self.once(
            |cache| &cache.texts,
            path.as_ref(),
            |path| {
                let bytes = read(path)?;
                Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
            },
        )
    }

    /// The text of a table in which the kernel escapes white space in paths (`mountinfo`, `swaps`).
    /// Bytes that are not UTF-8 are escaped as well, so that [`unescape_path`] restores the exact
    /// path.
    pub fn table(self, path: impl AsRef<Path>) -> Option<String> {
        let ask = |path: &Path| read(path).map(|bytes| table_text(&bytes));
        self.once(|cache| &cache.tables, path.as_ref(), ask)
    }

    /// The path in a one-line file, unescaped (`loop/backing_file`).
    pub fn path_in(self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let ask = |path: &Path| read(path).and_then(|bytes| path_of_line(&bytes));
        self.once(|cache| &cache.paths, path.as_ref(), ask)
    }

    /// The text of a file with a single word or line; absent when empty.
    pub fn word(self, path: impl AsRef<Path>) -> Option<String> {
        let text = self.text(path)?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A parsed file with a single number or the like.
    pub fn value<T: FromStr>(self, path: impl AsRef<Path>) -> Option<T> {
        self.word(path)?.parse().ok()
    }

    /// A file with `0` or `1`.
    pub fn flag(self, path: impl AsRef<Path>) -> Option<bool> {
        self.value::<u8>(path).map(|value| value != 0)
    }

    /// A file with a device number.
    pub fn number(self, path: impl AsRef<Path>) -> Option<DeviceNumber> {
        self.value(path)
    }

    /// Whether the path exists.
    pub fn exists(self, path: impl AsRef<Path>) -> bool {
        self.once(|cache| &cache.existing, path.as_ref(), Path::exists)
    }

    /// Names in a directory, sorted; empty when it cannot be listed.
    pub fn names(self, path: impl AsRef<Path>) -> Vec<String> {
        self.once(|cache| &cache.names, path.as_ref(), list)
    }

    /// A path below the root with its links resolved, as a path of the machine. Absent when it
    /// leads outside the root.
    pub fn resolve(self, path: impl AsRef<Path>) -> Option<PathBuf> {
        self.once(
            |cache| &cache.resolved,
            path.as_ref(),
            |path| self.inside(&fs::canonicalize(path).ok()?),
        )
    }

    /// A real path with its links resolved as a path of the machine; absent when it is not below
    /// the root.
    pub fn inside(self, real: &Path) -> Option<PathBuf> {
        let resolved = || fs::canonicalize(self.root).ok();
        let root = match self.cache {
            Some(cache) => cache.root.get_or_init(resolved).clone(),
            None => resolved(),
        };
        Some(Path::new("/").join(real.strip_prefix(root?).ok()?))
    }
}

fn list(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .take(ENTRIES_MAX)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn read(path: &Path) -> Option<Vec<u8>> {
    // Non-blocking, in case a captured tree contains a pipe.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let mut bytes = Vec::new();
    file.take(LIMIT_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// See [`Tree::table`].
pub fn table_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\{byte:03o}"));
        }
    }
    text
}

/// See [`Tree::path_in`].
pub fn path_of_line(bytes: &[u8]) -> Option<PathBuf> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    (!line.is_empty()).then(|| PathBuf::from(OsString::from_vec(line.to_vec())))
}

/// The value of `key` in text with one `key value` or `key: value` per line.
pub fn field<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?;
        let rest = rest.trim_start_matches([' ', '\t']);
        let rest = match rest.strip_prefix(':') {
            Some(value) => value,
            None if line.len() > key.len() && line[key.len()..].starts_with([' ', '\t']) => rest,
            None => return None,
        };
        Some(rest.trim())
    })
}

/// The same as a number; a unit after it is ignored.
pub fn field_number(text: &str, key: &str) -> Option<u64> {
    field(text, key)?.split_whitespace().next()?.parse().ok()
}

/// Decodes the kernel's `\040` escapes of white space; non-UTF-8 results are converted lossily.
pub fn unescape(text: &str) -> String {
    String::from_utf8_lossy(&unescaped(text)).into_owned()
}

/// The exact path in a table ([`Tree::table`], [`table_text`]), whatever its bytes.
pub fn unescape_path(text: &str) -> PathBuf {
    OsString::from_vec(unescaped(text)).into()
}

fn unescaped(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).filter(|digits| {
            bytes[at] == b'\\'
                && digits.iter().all(|digit| (b'0'..=b'7').contains(digit))
                && digits[0] <= b'3'
        });
        if let Some(digits) = octal {
            out.push((digits[0] - b'0') * 64 + (digits[1] - b'0') * 8 + (digits[2] - b'0'));
            at += 4;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

/// Number of items in a list such as `0-3,8`; `None` if malformed.
pub fn list_count(text: &str) -> Option<u32> {
    let mut count: u32 = 0;
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

/// Items of a list such as `0-3,8`; `None` if malformed or longer than Linux's maximum number of
/// CPUs.
pub fn list_numbers(text: &str) -> Option<Vec<u32>> {
    const PROCESSORS_MAX: u32 = 8192;
    let mut numbers = Vec::new();
    list_count(text).filter(|count| *count <= PROCESSORS_MAX)?;
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.trim().parse::<u32>().ok()?..=last.trim().parse().ok()?);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "MemTotal:       24683908 kB\nMemFree: 1 kB\nnr_throttled 7\nnr 9\n";
        assert_eq!(field_number(text, "MemTotal"), Some(24_683_908));
        assert_eq!(field_number(text, "nr_throttled"), Some(7));
        assert_eq!(field_number(text, "nr"), Some(9));
        assert_eq!(field_number(text, "Mem"), None);
        assert_eq!(field(text, "absent"), None);
    }

    #[test]
    fn escapes_become_white_space_and_odd_ones_stay() {
        assert_eq!(unescape(r"/mnt/a\040b\134c"), r"/mnt/a b\c");
        assert_eq!(unescape(r"\04"), r"\04");
        assert_eq!(unescape(r"\999\"), r"\999\");
        let table = table_text(b"/mnt/\xff\\040x \xc3\xa4 -\n");
        assert_eq!(table, "/mnt/\\377\\040x ä -\n");
        let path = unescape_path(table.split(' ').next().unwrap());
        assert_eq!(path.as_os_str().as_encoded_bytes(), b"/mnt/\xff x");
        let line = path_of_line(b"/a\xff b \n").unwrap();
        assert_eq!(line.as_os_str().as_encoded_bytes(), b"/a\xff b ");
        assert_eq!(path_of_line(b"\n"), None);
    }

    #[test]
    fn lists_of_processors_are_counted() {
        for (text, count) in [
            ("0-1", Some(2)),
            ("0", Some(1)),
            ("0-3,8,10-11\n", Some(7)),
            ("", None),
            ("3-1", None),
            ("0-4294967295", None),
            ("x", None),
        ] {
            assert_eq!(list_count(text), count, "{text}");
            let numbers = list_numbers(text).map(|numbers| numbers.len());
            assert_eq!(numbers, count.map(|count| count as usize), "{text}");
        }
    }

    #[test]
    fn a_pipe_or_directory_where_a_file_should_be_is_an_absent_fact() {
        let root = std::env::temp_dir();
        assert_eq!(Tree::new(&root).text("/"), None);
        assert_eq!(Tree::new(&root).value::<u64>("no-such-file-here"), None);
    }

    #[test]
    fn a_look_that_remembers_is_told_one_thing_and_the_next_look_another() {
        // The kernel generates a new one on each read.
        let path = "/proc/sys/kernel/random/uuid";
        let plain = Tree::new(Path::new("/"));
        assert_ne!(plain.text(path), plain.text(path));
        let cache = TreeCache::default();
        let remembering = plain.remembering(&cache);
        let first = remembering.text(path);
        assert!(first.is_some());
        assert_eq!(remembering.text(path), first);
        let later = TreeCache::default();
        assert_ne!(plain.remembering(&later).text(path), first);
    }
}
