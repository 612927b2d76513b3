//! A minimal XML parser: elements with their text, as a tree of bounded depth and size. Unused
//! elements, all attributes but one, comments and declarations are skipped; entities defined by a
//! document are not expanded, so none can grow.

use quick_xml::Reader;
use quick_xml::events::Event;

const DEPTH_MAX: usize = 32;
const NODES_MAX: usize = 500_000;

/// Elements that are kept; others are dropped with their contents.
const NAMES: [&str; 53] = [
    "Results",
    "System",
    "ComputerName",
    "Tool",
    "Version",
    "RunTime",
    "Profile",
    "TimeSpans",
    "TimeSpan",
    "Error",
    "Duration",
    "Warmup",
    "RandSeed",
    "ThreadCount",
    "RequestCount",
    "Targets",
    "Target",
    "ThinkTime",
    "BurstSize",
    "Throughput",
    "ParallelAsyncIO",
    "Distribution",
    "Path",
    "BlockSize",
    "Random",
    "RandomRatio",
    "StrideSize",
    "InterlockedSequential",
    "DisableOSCache",
    "DisableAllCache",
    "DisableLocalCache",
    "WriteThrough",
    "MemoryMappedIo",
    "WriteRatio",
    "ThreadsPerFile",
    "BaseFileOffset",
    "MaxFileSize",
    "FileSize",
    "TestTimeSeconds",
    "Thread",
    "BytesCount",
    "IOCount",
    "ReadCount",
    "ReadBytes",
    "WriteCount",
    "WriteBytes",
    "Latency",
    "AverageReadMilliseconds",
    "AverageWriteMilliseconds",
    "Bucket",
    "Percentile",
    "ReadMilliseconds",
    "WriteMilliseconds",
];

/// An element.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) name: &'static str,
    text: String,
    /// It has the attribute `unit="IOPS"`.
    pub(super) of_iops: bool,
    children: Vec<Node>,
}

impl Node {
    /// The first child of this name.
    pub(super) fn child(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children of this name.
    pub(super) fn each<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Node> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the first child of this name.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.trim())
    }

    /// The text of the first child of this name as a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// Its own text as a number.
    pub(super) fn own_number(&self) -> Option<u64> {
        self.text.trim().parse().ok()
    }

    /// The text of the first child of this name as a boolean.
    pub(super) fn truth(&self, name: &str) -> Option<bool> {
        match self.text(name)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}

/// The first element of `xml` with its contents, and the offset after it.
///
/// # Errors
/// The offset of the first invalid byte, and why.
pub(super) fn parse(xml: &str) -> Result<(Node, usize), (usize, String)> {
    let mut reader = Reader::from_str(xml);
    let mut open: Vec<Node> = Vec::new();
    let mut nodes = 0;
    loop {
        let position =
            |reader: &Reader<&[u8]>| usize::try_from(reader.buffer_position()).unwrap_or(0);
        let event = reader
            .read_event()
            .map_err(|error| (position(&reader), format!("is not complete XML: {error}")))?;
        match event {
            Event::Start(start) => {
                nodes += 1;
                if open.len() >= DEPTH_MAX || nodes > NODES_MAX {
                    return Err((
                        position(&reader),
                        "has more elements than any result".to_owned(),
                    ));
                }
                let known = |name: &&&str| name.as_bytes() == start.name().as_ref();
                let Some(known) = NAMES.iter().find(known) else {
                    reader.read_to_end(start.name()).map_err(|error| {
                        (position(&reader), format!("is not complete XML: {error}"))
                    })?;
                    continue;
                };
                let unit = start.try_get_attribute("unit").ok().flatten();
                open.push(Node {
                    name: known,
                    of_iops: unit.is_some_and(|unit| &*unit.value == b"IOPS"),
                    ..Node::default()
                });
            }
            Event::Empty(_) => {}
            Event::End(_) => {
                let Some(node) = open.pop() else {
                    return Err((
                        position(&reader),
                        "closes an element that was not opened".to_owned(),
                    ));
                };
                match open.last_mut() {
                    Some(parent) => parent.children.push(node),
                    None => return Ok((node, position(&reader))),
                }
            }
            Event::Text(text) => {
                if let Some(node) = open.last_mut() {
                    node.text.push_str(&text.decode().unwrap_or_default());
                }
            }
            Event::GeneralRef(reference) => {
                if let Some(node) = open.last_mut() {
                    node.text
                        .push_str(known_reference(&reference.decode().unwrap_or_default()));
                }
            }
            Event::Eof => {
                return Err((xml.len(), "ends in the middle of the XML".to_owned()));
            }
            _ => {}
        }
    }
}

/// The five entities predefined in XML; others are dropped.
fn known_reference(name: &str) -> &'static str {
    match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}
