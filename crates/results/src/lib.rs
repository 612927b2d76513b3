//! The record of a run: plain, versioned types, and their JSON document. No clock, no file, no SQL.
//! Units are in the names.
#![forbid(unsafe_code)]

mod advice;
mod answered;
mod build;
mod comparison;
mod consistency;
mod counting;
mod device_report;
mod document;
mod facts;
pub mod faults;
mod given;
mod hosts;
mod id;
mod imported;
mod intervals;
mod load;
mod outcome;
mod record;
mod replay;
mod requested;
mod row;
pub mod schema;
mod series;
mod sustained;
mod validity;
mod warning;

pub use advice::{
    AdviceCell, AdviceRecord, CommandRecord, EffectRecord, FactorRecord, LayoutLevels,
    LayoutRecord, LimitRecord, MeasuredLayout, RecommendationRecord, VariationRecord,
};
pub use answered::{AnswerReason, HighestRate, SeriesAnswer};
pub use build::{DURABLE_NS_MIN, KindParts, OutcomeParts, P999_OPERATIONS_MIN};
pub use comparison::{
    ComparedAnswer, ComparisonGroup, ComparisonRecord, ComparisonRow, DriftRecord,
    RequirementRecord, RequirementVerdict, SeriesVerdict, SideRecord, Verdict,
};
pub use counting::{CountedOperations, Counting};
pub use device_report::{
    DriveReport, ExceededLimit, VolumeLatencyBin, VolumeOperations, VolumeReport,
    where_latency_arises,
};
pub use document::DocumentError;
pub use facts::{
    AtomicWriteFacts, CpuFacts, DeviceFacts, FileSystemFacts, HostFacts, ProcessorUse, TargetFacts,
    TargetKind,
};
pub use hosts::{
    GroupRecord, HostPoint, HostRecord, HostsLimit, HostsLimitKind, MergedRecord, StartRecord,
};
pub use id::run_id;
pub use imported::Imported;
pub use intervals::{INTERVALS_MAX, IntervalSeries, coarsen, joined_group_size};
pub use load::{Load, LoadKey, RequestedJob, starts_at};
pub use outcome::{
    Drain, DueRecord, DueSecondRecord, EngineFacts, Errors, InitiationLatency, Interval,
    JobOutcome, KindOutcome, LatencySummary, OpenLoop, Pause, ThreadOutcome,
};
pub use record::{
    AT_RATE, Document, ExperimentPlace, JobRecord, PILOT, RunRecord, SCHEMA_VERSION, Status,
};
pub use replay::{FeatureRecord, FidelityRecord, LatenessRecord, PunctualityRecord, ReplayRecord};
pub use row::{JobRow, OperationKind};
pub use series::{
    AnswerBound, AnswerPlace, AnswerRecord, InFullRecord, KneeRecord, SeriesRecord, StepRecord,
    rate_unit,
};
pub use sustained::{SustainedClaim, SustainedRecord};
pub use validity::warnings_by_code;
pub use warning::{Severity, Warning};
