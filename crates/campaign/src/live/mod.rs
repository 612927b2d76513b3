//! Looking on: what runs now, what is stored, how a target changed. Reads the store again
//! each time it is asked, so that one that was replaced, locked or damaged is noticed, and
//! nothing is held that a measurement would wait for.

mod cursor;
mod history;
mod messages;
mod now;
mod serving;
mod sim_preview;
mod trend;

pub use cursor::Cursor;
pub use history::{Entry, EntryJob, Query, history, measurements};
pub use messages::{AllowedTarget, Done, LoginPath, Refused, Started, StartedHere, Wish};
pub use now::{
    HostNow, IntervalNow, JobNow, KindNow, Now, PartNow, RunBefore, RunNow, StepNow, WarningNow,
    now,
};
pub use serving::{Announced, Serve, Serving, forget_token, keep_token};
pub use sim_preview::{ArrayEntry, Tried, TriedPoint, Wished, arrays, try_array};
pub use trend::{ChangeOf, KeptBaseline, Trend, TrendPoint, Trends, trends};

use std::path::PathBuf;
use std::sync::Arc;
use stripewise_conductor::context::{Clock, store_failure};
use stripewise_conductor::failure::Outcome;
use stripewise_store::{ErrorKind, Store};

/// What somebody who looks on has at hand.
#[derive(Clone)]
pub struct View {
    /// The file that results are kept in.
    pub store: PathBuf,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The name of this machine.
    pub host: String,
}

/// The store as it is now; none where nothing was kept yet.
fn store(view: &View) -> Outcome<Option<Store>> {
    match Store::open_read_only(&view.store) {
        Ok(store) => Ok(Some(store)),
        Err(error) if matches!(error.kind(), ErrorKind::Missing) => Ok(None),
        Err(error) => Err(store_failure(error)),
    }
}
