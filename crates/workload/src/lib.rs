//! The requested workload, and the seeded streams of offsets, kinds, arrival times and data that it
//! generates. Accesses no file and no clock.
//!
//! The same [`Workload`], span and seed give the same stream on every machine:
//! integers throughout, `ln` and `pow` from the pure `libm` crate only.
#![forbid(unsafe_code)]

mod arrivals;
mod covering;
mod cursor;
mod data;
mod mixed;
mod one_pass;
mod option_table;
mod options;
mod own_data;
pub mod plan;
mod plan_text;
mod random;
mod recorded;
mod request;
mod scatter;
mod sizes;
mod spec;
mod stream;
mod validate;
mod words;
mod zipf;

pub use arrivals::ArrivalSchedule;
pub use cursor::SharedCursor;
pub use data::DataSource;
pub use one_pass::one_pass_writes;
pub use option_table::{OPTIONS, OptionSubject, WorkloadOption, WorkloadOptions, parse_rate};
pub use own_data::foreign_block;
pub use plan::{ENGINE_NAMES, Plan, PlanJob, PlanOrder};
pub use plan_text::{PlanError, PlanOptions, PlanReader, PlanValue};
pub use random::derived_seed;
pub use recorded::{
    AFTER_NONE, LASTED_UNKNOWN, RECORDED_OPERATIONS_MAX, Recorded, RecordedLoad, RecordedOperation,
};
pub use request::{
    INTERVAL_NS, REQUEST_VERSION, Request, RequestJob, RequestPart, SIMULATED_OPERATIONS_MIN,
    Steady, check_interval,
};
pub use sizes::{BlockShare, BlockSizes, alignment_bytes};
pub use spec::{
    Arrivals, CacheMode, CursorKind, DataPattern, Distribution, Pattern, Rate, SyncCall,
    SyncPolicy, ThinkTime, Workload, operation_name, operation_shares,
};
pub use stream::{Span, Stream, Streams};
pub use stripewise_units::Kind;
pub use validate::{TIME_NS_MAX, TargetLimits, WorkloadError, check, validate};
