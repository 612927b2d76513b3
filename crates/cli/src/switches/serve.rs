//! The switches of `serve` and `watch`.

use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

/// Pages in a browser: running measurements, history, disks.
///
/// They follow the store: what is running now, history, trends, comparisons, reports, disks,
/// and simulated arrays to try.
/// A run appears while it is in progress, wherever it was started with the same store. The
/// server listens on this machine only, and answers only with the token.
#[derive(Debug, Args)]
#[command(after_help = "\
The address that is printed signs one browser in, once. Scripts send the token of the file that is\n\
printed: curl -H \"Authorization: Bearer $(cat FILE)\" http://127.0.0.1:PORT/api/now; /metrics is for\n\
Prometheus. From afar: ssh -L 8080:127.0.0.1:8080 HOST, with `serve --port 8080` there.\n\
Ctrl-C ends it; a run that was started on a page is stopped, and what it measured is kept.")]
pub struct Serve {
    /// The port [default: any free port]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// A loopback address: 127.0.0.1 or ::1
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub address: IpAddr,
    /// Listen on a Unix socket instead of an address
    #[arg(long, value_name = "PATH", conflicts_with_all = ["port", "address"])]
    pub socket: Option<PathBuf>,
    /// Files and devices on which runs may be started from the page; these only read
    #[arg(long, value_name = "TARGET", num_args = 1..)]
    pub allow_runs: Vec<PathBuf>,
    /// Start these runs even if others use the disk
    #[arg(long, requires = "allow_runs")]
    pub busy_ok: bool,
}

/// Follow the run in progress in the terminal.
///
/// One line per interval until it ends.
///
/// It may have been started elsewhere: in another terminal, by cron, through the SQLIO
/// drop-in, from a page.
#[derive(Debug, Args)]
pub struct Watch {
    /// Then wait for the next run, until Ctrl-C
    #[arg(long)]
    pub follow: bool,
}
