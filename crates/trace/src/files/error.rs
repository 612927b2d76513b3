//! Why a file cannot be read as a trace.

use thiserror::Error;

/// An error in a trace file, or in the description of its columns.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The first bytes could not be read.
    #[error("the trace could not be read: {0}")]
    Read(#[from] std::io::Error),
    /// The file is empty.
    #[error("the trace is empty")]
    Empty,
    /// What is packed is packed itself.
    #[error("the trace is packed twice")]
    PackedTwice,
    /// No known format begins this way.
    #[error("the trace has no format that is known")]
    Unknown,
    /// The traces of cache simulators (`oracleGeneral`).
    #[error(
        "this is an oracleGeneral file: it does not say which operations write, its times are \
         whole seconds, and its numbers are objects of a cache, not offsets"
    )]
    OracleGeneral,
    /// An invalid description of columns.
    #[error("`{part}` is not a column of a trace: {reason}")]
    Columns {
        /// The part as typed.
        part: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A description without a required column.
    #[error("the columns lack {0}")]
    MissingColumn(&'static str),
}

impl FileError {
    /// How to resolve it.
    pub fn hint(&self) -> &'static str {
        match self {
            FileError::Read(_) => "check that the file is whole and can be read",
            FileError::Empty => "record again, or name another file",
            FileError::PackedTwice => "unpack it once, and name what comes out",
            FileError::Unknown => {
                "describe its columns in their order, as in \
                 time=us,op=R/W,offset=bytes,size=sectors"
            }
            FileError::OracleGeneral => {
                "use the trace that it was made from: MSR Cambridge, Alibaba, Tencent and \
                 CloudPhysics publish theirs"
            }
            FileError::Columns { .. } | FileError::MissingColumn(_) => {
                "columns are time=s|ms|us|ns|100ns|local, op=R/W, offset=bytes|sectors|4K, \
                 size=bytes|sectors|4K, latency=s|ms|us|ns|100ns, device, and - for others"
            }
        }
    }
}
