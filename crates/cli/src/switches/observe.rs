//! The switches of `observe`.

use clap::Args;
use std::path::PathBuf;
use stripewise_units::{ByteSize, Nanoseconds};

/// What does this server do to its disks, and what is slow?
#[derive(Debug, Args)]
#[command(after_help = "\
Reads the kernel's own events of block I/O and writes nothing to a device that it observes. The \
answer names the cause of slow operations: one at a time, a limit of a control group, a queue in \
the host, the device, more load than it carries, another process, a cap, flushes, no processor; \
\"unknown\" is an answer.\n\
--from reads a trace that another tool recorded: blktrace, blkparse, trace-cmd, fio's iolog, MSR \
Cambridge, Alibaba, Tencent CBS, CloudPhysics vscsi, or any rows with --columns; packed with gzip \
or Zstandard or not. Two of them are snapshots (CSV) of sys.dm_io_virtual_file_stats or \
pg_stat_io, the earlier one first.\n\
Exit code 1 where a cause of slow operations was found, or too many events were lost.")]
pub struct Observe {
    /// A block device, or a path on one; with --from a device of the trace [default: all]
    #[arg(value_name = "TARGET", value_parser = super::name_text())]
    pub target: Option<String>,
    /// Observe for this long [default: 60s]
    #[arg(long, short, value_name = "TIME", conflicts_with = "from")]
    pub duration: Option<Nanoseconds>,
    /// Judge the load of this process and of those that it starts, with its system calls
    #[arg(long, value_name = "PID", conflicts_with = "from", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Option<i32>,
    /// Read the trace in this file instead of observing this machine; given twice, two snapshots of a database's
    /// counters
    #[arg(long, value_name = "FILE")]
    pub from: Vec<PathBuf>,
    /// What the columns of a row are, in their order: time=us,op=R/W,offset=bytes,size=sectors
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, requires = "from", conflicts_with_all = ["duration", "pid", "buffer", "keep_trace", "clean"])]
    pub columns: Option<String>,
    /// Operations that take longer are slow [default: by the calm moments]
    #[arg(long, value_name = "TIME")]
    pub slow: Option<Nanoseconds>,
    /// Memory of the kernel for events that wait to be read, of all processors together; where events are lost, more
    /// helps [default: 32M]
    #[arg(long, value_name = "SIZE", conflicts_with = "from")]
    pub buffer: Option<ByteSize>,
    /// Write a model of the load of one device, without its data, to a new file (.swmodel)
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Write every operation to a new file, packed; it can be read again with --from
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub keep_trace: Option<PathBuf>,
    /// Leave names of the host, processes and files out of all that is written, and places on the device out of the
    /// model
    #[arg(long)]
    pub anonymous: bool,
    /// Remove recordings that killed observers left in the kernel, and do nothing else
    #[arg(long, conflicts_with_all = ["target", "duration", "buffer", "pid", "from", "slow", "model", "keep_trace", "anonymous", "output"])]
    pub clean: bool,
    /// Write a page (.html, .md), a picture (.svg, .png), a table (.csv) or the document (.json) to a new file; may be
    /// given several times
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}
