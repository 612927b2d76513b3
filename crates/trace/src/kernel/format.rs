//! The text of `events/*/*/format` and `events/header_page`: where each field of a record is.

/// A longer file is not one of the kernel's.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Records do not reach past a page, and pages of other kernels have up to 64 KiB.
const FIELD_END_MAX: usize = 64 << 10;

/// Where a field is in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, such as `nr_sector`.
    pub name: String,
    /// Bytes from the beginning of the record.
    pub offset: usize,
    /// Bytes of it.
    pub size: usize,
    /// It is a signed number.
    pub is_signed: bool,
}

impl Field {
    /// The bytes of the field; None where the record is shorter.
    #[must_use]
    pub fn bytes<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..self.offset + self.size)
    }

    /// The field as a number in the machine's order of bytes, which is little-endian on all
    /// machines that are supported; None for texts and for records that are shorter.
    #[must_use]
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
    /// The number that records carry.
    pub id: u16,
    /// Its fields, those that all events have included.
    pub fields: Vec<Field>,
}

impl EventFormat {
    /// Reads a `format` file. None where it has no name, number or field.
    #[must_use]
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

    /// The field of a name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Where a page has its time, its length and its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFormat {
    commit_offset: usize,
    commit_size: usize,
    data_offset: usize,
}

impl Default for PageFormat {
    /// That of kernels of 64 bits.
    fn default() -> Self {
        PageFormat {
            commit_offset: 8,
            commit_size: 8,
            data_offset: 16,
        }
    }
}

impl PageFormat {
    /// Reads `events/header_page`. None where a field is missing or out of place.
    #[must_use]
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

    /// Time, length with its flags, and what follows the header.
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
    // `__data_loc char[] cmd`: the name is behind the brackets.
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
