//! Parses `events/*/*/format` and `events/header_page`: the position of each field in a record.

/// Longer files are not the kernel's.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Records do not extend past a page, and other kernels have pages of up to 64 KiB.
const FIELD_END_MAX: usize = 64 << 10;

/// A field's position in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, such as `nr_sector`.
    pub name: String,
    /// Offset from the start of the record, bytes.
    pub offset: usize,
    /// Bytes of it.
    pub size: usize,
    /// Whether it is a signed number.
    pub is_signed: bool,
}

impl Field {
    /// The bytes of the field; None if the record is too short.
    pub fn bytes<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..self.offset + self.size)
    }

    /// The field as a number in the machine's byte order, which is little-endian on all supported
    /// machines; None for text and for records that are too short.
    pub fn number(&self, record: &[u8]) -> Option<u64> {
        let bytes = self.bytes(record).filter(|bytes| bytes.len() <= 8)?;
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        Some(u64::from_le_bytes(all))
    }
}

/// One kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// Its name, such as `block_rq_issue`.
    pub name: String,
    /// Its number in records.
    pub id: u16,
    /// Its fields, including those common to all events.
    pub fields: Vec<Field>,
}

impl EventFormat {
    /// Parses a `format` file. None if it has no name, number or field.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.get(..text.len().min(TEXT_BYTES_MAX))?;
        let after = |start: &str| {
            let line = text.lines().find(|line| line.starts_with(start))?;
            Some(line[start.len()..].trim())
        };
        let name = after("name:")?.to_owned();
        let id = after("ID:")?.parse().ok()?;
        let fields: Vec<Field> = text.lines().filter_map(field).collect();
        let is_whole = !name.is_empty() && !fields.is_empty();
        is_whole.then_some(EventFormat { name, id, fields })
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// The positions of a page's time, length and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFormat {
    commit_offset: usize,
    commit_size: usize,
    data_offset: usize,
}

impl Default for PageFormat {
    /// The layout of 64-bit kernels.
    fn default() -> Self {
        PageFormat {
            commit_offset: 8,
            commit_size: 8,
            data_offset: 16,
        }
    }
}

impl PageFormat {
    /// Parses `events/header_page`. None if a field is missing or misplaced.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.get(..text.len().min(TEXT_BYTES_MAX))?;
        let fields: Vec<Field> = text.lines().filter_map(field).collect();
        let find = |name: &str| fields.iter().find(|field| field.name == name);
        let (commit, data) = (find("commit")?, find("data")?);
        let in_order = find("timestamp")?.size == 8
            && matches!(commit.size, 4 | 8)
            && commit.offset >= 8
            && data.offset >= commit.offset + commit.size
            && data.offset <= 256;
        in_order.then_some(PageFormat {
            commit_offset: commit.offset,
            commit_size: commit.size,
            data_offset: data.offset,
        })
    }

    /// Time, length with its flags, and the rest after the header.
    pub(crate) fn split<'a>(&self, page: &'a [u8]) -> Option<(u64, u64, &'a [u8])> {
        let time = page.get(..8)?;
        let commit = page.get(self.commit_offset..self.commit_offset + self.commit_size)?;
        let mut length = [0; 8];
        length[..commit.len()].copy_from_slice(commit);
        let data = page.get(self.data_offset..)?;
        let time = u64::from_le_bytes(time.try_into().ok()?);
        Some((time, u64::from_le_bytes(length), data))
    }
}

/// A line such as `field:char rwbs[10]; offset:34; size:10; signed:0;`.
fn field(line: &str) -> Option<Field> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';');
    let declaration = parts.next()?;
    let plain = declaration.split('[').next().unwrap_or(declaration);
    // `__data_loc char[] cmd`: the name is after the brackets.
    let named = if declaration.trim_end().ends_with(']') {
        plain
    } else {
        declaration
    };
    let name = named.split_whitespace().next_back()?.trim_matches('*');
    let mut number = |key: &str| -> Option<usize> {
        parts.next()?.trim().strip_prefix(key)?.trim().parse().ok()
    };
    let (offset, size) = (number("offset:")?, number("size:")?);
    let is_signed = number("signed:") == Some(1);
    let end = offset.checked_add(size)?;
    let is_sound = size > 0 && end <= FIELD_END_MAX && !name.is_empty();
    is_sound.then(|| Field {
        name: name.to_owned(),
        offset,
        size,
        is_signed,
    })
}
