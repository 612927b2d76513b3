//! DiskSpd: its text, its XML (`-Rxml`), its command line.

mod consistency;
mod parameters;
mod record;
mod text;
mod tree;
mod xml;

pub(crate) use text::Reader;
pub(crate) use xml::read_xml;
