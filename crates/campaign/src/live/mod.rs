//! Live views: the run in progress, stored results, trends of a target. Reads the store again
//! for each request, so that a replaced, locked or damaged store is noticed, and
//! holds nothing that a measurement would wait for.

mod cursor;
mod history;
mod messages;
mod now;
mod serving;
mod sim_preview;
mod trend;

pub use cursor::Cursor;
pub use history::{Entry, EntryJob, Query, history, last_runs, measurements};
pub use messages::{AllowedTarget, Done, LoginPath, Refused, Started, StartedHere, Wish};
pub use now::{
    HostNow, IntervalNow, JobNow, KindNow, Now, PartNow, RunBefore, RunNow, StepNow, WarningNow,
    now,
};
pub use serving::{Announced, Serve, Serving, forget_token, keep_token};
pub use sim_preview::{ArrayEntry, PreviewRequest, Tried, TriedPoint, arrays, try_array};
pub use trend::{ChangeOf, KeptBaseline, Trend, TrendPoint, Trends, trends};

use std::path::PathBuf;
use std::sync::Arc;
use stripewise_conductor::context::Clock;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_store::{ErrorKind, Store};

/// The context of a viewer.
#[derive(Clone)]
pub struct View {
    /// The result store's file.
    pub store: PathBuf,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The name of this machine.
    pub host: String,
}

/// Opens the store; `None` if nothing was stored yet.
fn store(view: &View) -> Outcome<Option<Store>> {
    match Store::open_read_only(&view.store) {
        Ok(store) => Ok(Some(store)),
        Err(error) if matches!(error.kind(), ErrorKind::Missing) => Ok(None),
        Err(error) => Err(Failure::from(error)),
    }
}
