//! The switches of `serve` and `watch`.

use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

/// Pages on this machine that follow the store: what is running now, history, trends,
/// comparisons, reports, disks, and simulated arrays to try.
///
/// A run that is started anywhere with the same store appears while it goes on. Only this
/// machine is listened to, and only who has the token is answered.
#[derive(Debug, Args)]
#[command(after_help = "\
The address that is printed signs one browser in, once. Scripts send the token of the file that is\n\
printed: curl -H \"Authorization: Bearer $(cat FILE)\" http://127.0.0.1:PORT/api/now; /metrics is for\n\
Prometheus. From afar: ssh -L 8080:127.0.0.1:8080 HOST, with `serve --port 8080` there.\n\
Ctrl-C ends it; a run that was started on a page is stopped, and what it measured is kept.")]
pub struct Serve {
    /// The port [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// An address of this machine alone: 127.0.0.1 or ::1
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub address: IpAddr,
    /// Listen on a Unix socket in place of an address
    #[arg(long, value_name = "PATH", conflicts_with_all = ["port", "address"])]
    pub socket: Option<PathBuf>,
    /// Files and devices that runs may be started on from the page; they only read
    #[arg(long, value_name = "TARGET", num_args = 1..)]
    pub allow_runs: Vec<PathBuf>,
    /// Let these runs begin while others use the disk
    #[arg(long, requires = "allow_runs")]
    pub busy_ok: bool,
}

/// What runs now with this store, a line for each interval, until it is over.
///
/// Also of runs that were started elsewhere: in another terminal, by cron, through the
/// SQLIO drop-in, from a page.
#[derive(Debug, Args)]
pub struct Watch {
    /// Wait for the next run when one is over, until Ctrl-C
    #[arg(long)]
    pub follow: bool,
}
