//! LVM's text format for metadata: sections in braces, `key = value` with numbers, quoted strings
//! and lists in brackets, comments from `#`.
//!
//! Nesting is limited to [`DEPTH_MAX`] and the tree to [`NODES_MAX`] nodes; text that exceeds
//! these, or is malformed, is rejected as a whole.

const DEPTH_MAX: usize = 8;
const NODES_MAX: usize = 262_144;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Number(u64),
    Text(String),
    List(Vec<Value>),
    Section(Section),
}

/// Keys and values in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    fields: Vec<(String, Value)>,
}

impl Section {
    fn get(&self, key: &str) -> Option<&Value> {
        self.fields
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    pub fn number(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self, key: &str) -> &[Value] {
        match self.get(key) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    pub fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        self.list(key).iter().filter_map(|item| match item {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    pub fn section(&self, key: &str) -> Option<&Section> {
        match self.get(key)? {
            Value::Section(section) => Some(section),
            _ => None,
        }
    }

    pub fn sections(&self) -> impl Iterator<Item = (&str, &Section)> {
        self.fields.iter().filter_map(|(name, value)| match value {
            Value::Section(section) => Some((name.as_str(), section)),
            _ => None,
        })
    }
}

/// Parses a whole text.
pub fn parse(text: &str) -> Option<Section> {
    let mut parser = Parser {
        rest: text.trim_end_matches('\0'),
        nodes: 0,
    };
    let root = parser.section(0)?;
    parser.rest.is_empty().then_some(root)
}

struct Parser<'t> {
    rest: &'t str,
    nodes: usize,
}

impl<'t> Parser<'t> {
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
        }
    }

    fn take(&mut self, mark: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn node(&mut self) -> Option<()> {
        self.nodes += 1;
        (self.nodes <= NODES_MAX).then_some(())
    }

    /// Fields up to a closing brace or the end; the caller checks which.
    fn section(&mut self, depth: usize) -> Option<Section> {
        if depth > DEPTH_MAX {
            return None;
        }
        let mut section = Section::default();
        loop {
            self.skip();
            if self.rest.is_empty() || self.rest.starts_with('}') {
                return Some(section);
            }
            self.node()?;
            let name = self.word(|c| c.is_alphanumeric() || "_-.+/@".contains(c))?;
            let value = if self.take('{') {
                let inner = self.section(depth + 1)?;
                if !self.take('}') {
                    return None;
                }
                Value::Section(inner)
            } else if self.take('=') {
                self.value(depth)?
            } else {
                return None;
            };
            section.fields.push((name.to_owned(), value));
        }
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> Option<&'t str> {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.node()?;
        if self.take('[') {
            if depth >= DEPTH_MAX {
                return None;
            }
            let mut items = Vec::new();
            while !self.take(']') {
                items.push(self.value(depth + 1)?);
                self.take(',');
            }
            return Some(Value::List(items));
        }
        if self.take('"') {
            return self.quoted().map(Value::Text);
        }
        // Numbers may be negative or fractional; the ones needed never are.
        let word = self.word(|c| c.is_ascii_digit() || matches!(c, '.' | '-'))?;
        Some(
            word.parse()
                .map_or(Value::Text(word.to_owned()), Value::Number),
        )
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(letters.next()?.1),
                _ => text.push(letter),
            }
        }
        None
    }
}
