//! What the mark on files that we made and kept says.
//!
//! It holds a version, a unique id and the size. It proves nothing alone, as
//! copies carry it too: together with the file's identity and size as the store
//! knows them it does. Where it is kept is the platform's affair.

use crate::{Knowledge, MadeFile};

/// Whose a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// No mark.
    Somebody,
    /// A mark, but not the file that was marked, or the store does not know it.
    /// The words say which.
    Doubtful(String),
    /// We, for certain.
    We,
}

/// The text of a mark.
pub(crate) fn text(id: &str, size_bytes: u64) -> String {
    format!("version=1 id={id} size={size_bytes}")
}

/// Judges a file by its mark, if it has one. `found`: the file as it is now,
/// with the id that its mark says.
pub(crate) fn judge(
    mark: Option<&str>,
    found: impl FnOnce(&str) -> MadeFile,
    knowledge: &Knowledge<'_>,
) -> Maker {
    let Some(mark) = mark else {
        return Maker::Somebody;
    };
    let Some((id, size_bytes)) = parse(mark) else {
        return Maker::Doubtful("its mark cannot be read".into());
    };
    let found = found(&id);
    if size_bytes != found.size_bytes {
        return Maker::Doubtful("its size is not the one it was made with".into());
    }
    if found.birth_time_ns.is_none() {
        return Maker::Doubtful("its file system keeps no birth times".into());
    }
    if !(knowledge.is_known)(&found) {
        return Maker::Doubtful(
            "it is a copy of a test file, or was made with another store".into(),
        );
    }
    Maker::We
}

/// Id and size of a mark.
pub(crate) fn parse(text: &str) -> Option<(String, u64)> {
    let mut words = text.split(' ');
    if words.next()? != "version=1" {
        return None;
    }
    let id = words.next()?.strip_prefix("id=")?;
    let size = words.next()?.strip_prefix("size=")?.parse().ok()?;
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && words.next().is_none()).then(|| (id.to_owned(), size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_marks_of_this_version_are_read() {
        let id = "0123456789abcdef0123456789abcdef";
        let good = format!("version=1 id={id} size=42");
        assert_eq!(parse(&good), Some((id.to_owned(), 42)));
        for bad in [
            String::new(),
            format!("version=2 id={id} size=42"),
            format!("version=1 id={id}"),
            format!("version=1 id={id} size=42 more=1"),
            format!("version=1 id={id} size=-1"),
            "version=1 id=short size=42".to_owned(),
            format!("version=1 id={} size=42", "g".repeat(32)),
        ] {
            assert_eq!(parse(&bad), None, "{bad}");
        }
    }
}
