//! The JSON Schemas of use cases' results and front ends' output, from the types.

use crate::qualify::ProductLine;
use crate::steps::answer::ExperimentDocument;
use crate::steps::layouts::stored_layouts::AdviceDocument;
use crate::steps::measured::Measurement;
use crate::steps::observation::ObservationDocument;
use crate::steps::provision::ProvisionDocument;
use crate::steps::surface;
use crate::steps::verification::document::VerifyDocument;
use crate::verify::VerifyPlan;
use crate::{
    baseline, check, clean, compare, convert, disks, doctor, headroom, history, import, lab, live,
    observe, prepare, probe, profile, sim, study, witness,
};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use stripewise_disk_provision::{FormatPlan, FormatReport, TablePlan, TableReport};
use stripewise_results::schema::{generator, of, published};
use stripewise_results::{Document, RunRecord};
use stripewise_studies::headroom::HeadroomDocument;
use stripewise_studies::qualify::QualifyDocument;

const HOME: &str = "https://github.com/stripewise/stripewise/blob/main/docs/schema";
const NEW_FIELDS: &str =
    "Absent fields are unknown or do not apply. New fields may be added without a new version.";

/// A document of a command: its name among the definitions, a one-line description, and its
/// type's schema.
pub type Described = (
    &'static str,
    &'static str,
    fn(&mut SchemaGenerator) -> Schema,
);

/// Rows of `schema::Described`: `name: description, schema;`.
#[macro_export]
macro_rules! described {
    ($($name:literal: $description:literal, $schema:expr;)+) => {
        [$(($name, $description, $schema),)+]
    };
}

/// The documents of use cases.
const DOCUMENTS: &[Described] = &described! {
    "compare-observations": "`compare` of two observations", of::<observe::ObservationComparison>;
    "compare-headrooms": "`compare` of two headrooms", of::<headroom::HeadroomComparison>;
    "compare-answers": "`compare` of two answers of `limits`, or of two qualifications",
        of::<compare::AnswerComparison>;
    "observe": "`observe`: what a server does to its disks", of::<ObservationDocument>;
    "observe-clean": "`observe --clean`: recordings that were left behind",
        of::<observe::CleanedDocument>;
    "advise": "`advise`, and `lab` with several factors: which layouts are the best",
        of::<AdviceDocument>;
    "align": "`align`, `lab run`, `lab resume`: the experiment, what it found, and its runs",
        of::<ExperimentDocument>;
    "limits": "`limits`: caps, which limit applies, and the burst",
        of::<stripewise_studies::limits::LimitsDocument>;
    "lab-plan": "`lab plan`: what a plan would do", of::<lab::Forecast>;
    "lab-plans": "`lab plans`: what is kept of experiments", of::<lab::PlansDocument>;
    "lab-study": "`lab run` of a published study: what was found beside what was published",
        of::<study::StudyDocument>;
    "lab-clean": "`lab clean`: kept test files and experiments that are, or would be, removed",
        of::<clean::Cleaned>;
    "compare": "`compare`: a table for each pair", of::<compare::CompareDocument>;
    "check": "`check`: what became of the baseline and of the requirements",
        of::<check::AnswerDocument>;
    "baseline": "`baseline`: those that are kept", of::<baseline::BaselineDocument>;
    "baseline-remove": "`baseline remove`: the one that was removed",
        of::<baseline::RemovedDocument>;
    "headroom": "`headroom`: how much more of a load the target carries", of::<HeadroomDocument>;
    "history": "`history`: stored runs, the newest first", of::<history::HistoryDocument>;
    "history-delete": "`history delete`: what was deleted", of::<history::DeletedDocument>;
    "history-salvage": "`history salvage`: what was saved of a damaged store",
        of::<history::SalvagedDocument>;
    "prepare": "`prepare`: the test file that stays", of::<prepare::PrepareDocument>;
    "doctor": "`doctor`: what this machine offers, and whether one block can be read",
        of::<doctor::DoctorDocument>;
    "sim-list": "`sim list`: simulated arrays", of::<sim::SimListDocument>;
    "sim-show": "`sim show`: one of them in full", of::<sim::SimShowDocument>;
    "import": "`import`: what was read and kept", of::<import::ImportDocument>;
    "convert": "`convert`: another tool's workload as a plan file", of::<convert::ConvertDocument>;
    "sqlio": "`sqlio`: the same document as `run`", of::<Document>;
    "partition": "`partition`: the plan, and what was done",
        of::<ProvisionDocument<TablePlan, TableReport>>;
    "format": "`format`: the plan, and what was done",
        of::<ProvisionDocument<FormatPlan, FormatReport>>;
    "verify": "`verify`: what was verified, how fast, and each fault", of::<VerifyDocument>;
    "verify-plan": "`verify --plan`: memory and passes of a burn-in of a target that need not be there",
        of::<VerifyPlan>;
    "witness": "`witness`: what another machine reported, and how it ended",
        of::<witness::WitnessDocument>;
    "probe-stripe": "`probe stripe`: the pattern of an array, or why there is no answer",
        of::<probe::StripeDocument>;
    "probe-flash": "`probe flash`: page, parallelism and pauses of flash, each with an interval or a reason",
        of::<probe::FlashDocument>;
    "qualify": "`qualify`: each requirement of a product with its verdict", of::<QualifyDocument>;
    "qualify-list": "`qualify --list`: the products and what they require", of::<Vec<ProductLine>>;
    "profile": "`profile`: the surface of a disk", of::<surface::ProfileDocument>;
    "profile-fill": "`profile --fill`: the rate against what was written, and what came back",
        of::<surface::FillDocument>;
    "compare-profiles": "`compare` of two profiles: rate and access time, and the change of each spot",
        of::<profile::ProfileComparison>;
    "watch": "`watch`: what runs now", of::<live::Now>;
};

/// A run, measured or imported, by its place among the definitions.
fn run(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<RunRecord>()
}

/// A server's requests and responses, line by line.
const LINES: [Described; 16] = described! {
    "now": "`GET /api/now`: what runs now", of::<live::Now>;
    "runs": "`GET /api/runs`: a line for each stored run", of::<live::Entry>;
    "measurements": "`GET /api/measurements`: a line for each profile, fill and verification",
        of::<Measurement>;
    "records": "`GET /api/records`: a line for each run in full", run;
    "trends": "`GET /api/trends`: results of the same load over time", of::<live::Trends>;
    "compare": "`GET /api/compare` of runs or series", of::<compare::CompareDocument>;
    "compare-profiles": "`GET /api/compare` of two profiles", of::<profile::ProfileComparison>;
    "disks": "`GET /api/disks`: what is here", of::<disks::DisksDocument>;
    "doctor": "`GET /api/doctor`: what this machine offers", of::<doctor::DoctorDocument>;
    "arrays": "`GET /api/arrays`: a line for each simulated array", of::<live::ArrayEntry>;
    "try": "`GET /api/try`: what a simulated array gives", of::<live::Tried>;
    "started": "`GET /api/started`: what may be started, and what was started last",
        of::<live::StartedHere>;
    "wish": "The body of `POST /api/runs`: what is to be started", of::<live::Wish>;
    "done": "`POST /api/runs`, `POST /api/stop`: whether something was done", of::<live::Done>;
    "login": "`POST /api/login`: where another browser may sign in, once", of::<live::LoginPath>;
    "error": "Any address, with a status of 400 or more", of::<live::Refused>;
};

/// All schemas: the names of their files in `docs/schema`, and their contents. `others` are
/// additional documents of a front end.
pub fn schemas(others: &[Described]) -> [(&'static str, Value); 4] {
    let documents = (
        "document-1.schema.json",
        whole(
            "document-1.schema.json",
            "Stripewise: documents of runs, schema version 1",
            "What `run`, `bench`, `merge`, `sqlio`, `history show`, `report --format json` and `export --json` print.",
            of::<Document>,
        ),
    );
    let disks = (
        "disks-1.schema.json",
        whole(
            "disks-1.schema.json",
            "Stripewise: the document of disks, schema version 1",
            "What `disks --json` prints.",
            of::<disks::DisksDocument>,
        ),
    );
    [
        documents,
        ("commands-1.schema.json", of_commands(others)),
        disks,
        ("api-1.schema.json", of_server()),
    ]
}

fn head(file: &str, title: &str, description: &str) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("{HOME}/{file}"),
        "title": title,
        "description": format!("{description} {NEW_FIELDS}"),
    })
}

fn whole(
    file: &str,
    title: &str,
    description: &str,
    of: fn(&mut SchemaGenerator) -> Schema,
) -> Value {
    let mut generator = generator();
    let mut body = Value::from(of(&mut generator));
    if let Some(body) = body.as_object_mut() {
        body.remove("description");
        body.remove("title");
    }
    published(generator, head(file, title, description), body)
}

fn of_commands(others: &[Described]) -> Value {
    let head = head(
        "commands-1.schema.json",
        "Stripewise: documents of the other commands, schema version 1",
        "What --json prints, a definition for each command.",
    );
    definitions(head, DOCUMENTS.iter().chain(others))
}

fn of_server() -> Value {
    let head = head(
        "api-1.schema.json",
        "Stripewise: lines of /api/..., schema version 1",
        "What `serve` answers there, a definition for each address: of a line, where the answer has several.",
    );
    definitions(head, LINES.iter())
}

fn definitions<'a>(head: Value, all: impl Iterator<Item = &'a Described>) -> Value {
    let mut generator = generator();
    let mut described = Map::new();
    for (name, description, of) in all {
        let mut schema = of(&mut generator);
        schema.insert("description".to_owned(), (*description).into());
        described.insert((*name).to_owned(), schema.into());
    }
    published(generator, head, json!({ "$defs": described }))
}
