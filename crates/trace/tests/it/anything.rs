//! Any bytes as a file of a trace, as pages of the kernel and as counters of a database,
//! and what must hold of whatever comes out. The fuzz target has it, too.

use std::io::Read;
use stripewise_trace::blame::{Scene, blame, calm_periods};
use stripewise_trace::closedness::TaskSpans;
use stripewise_trace::files::{Columns, FileError, JoinedParts, open, totals};
use stripewise_trace::kernel::{EventFormat, PageFormat, Recording};
use stripewise_trace::model::{self, Request};
use stripewise_trace::observation::Statistics;
use stripewise_trace::replay::{ExtentUse, Mapping};
use stripewise_trace::{Operation, Pairer};

const COLUMNS: &str = "time=us,op=R/W/D/F,offset=bytes,size=sectors,latency=us,device";

/// Events of two kinds, where kernels have their fields.
fn formats() -> Vec<EventFormat> {
    let text = |name: &str, id: u16| {
        let fields = [
            ("unsigned short common_type", 0, 2),
            ("int common_pid", 4, 4),
            ("dev_t dev", 8, 4),
            ("sector_t sector", 16, 8),
            ("unsigned int nr_sector", 24, 4),
            ("char rwbs[10]", 34, 10),
            ("char comm[16]", 44, 16),
        ];
        let lines = fields.map(|(field, offset, size)| {
            format!("\tfield:{field};\toffset:{offset};\tsize:{size};\tsigned:0;\n")
        });
        format!("name: {name}\nID: {id}\nformat:\n{}", lines.concat())
    };
    let both = [text("block_rq_issue", 1), text("block_rq_complete", 2)];
    both.iter()
        .filter_map(|text| EventFormat::parse(text))
        .collect()
}

fn check(operation: &Operation) {
    let stages = operation.stages();
    let whole = operation.whole_ns();
    assert_eq!(stages.device.is_some(), operation.completed_ns.is_some());
    assert!(whole.is_none() || operation.completed_ns.or(operation.returned_ns).is_some());
    assert!(operation.end_bytes() >= operation.offset_bytes);
}

/// All folds over whatever came.
fn fold(operations: &[Operation]) {
    let mut statistics = Statistics::default();
    let mut spans = TaskSpans::default();
    let mut extents = ExtentUse::default();
    for operation in operations {
        statistics.add(operation);
        spans.add(operation);
        let _ = extents.add(&request(operation));
    }
    let observation = statistics.finish(None);
    let counted = observation.devices.iter().map(|device| device.operations());
    assert_eq!(counted.sum::<u64>(), operations.len() as u64);
    let load = spans.judge(0.0);
    assert!(load.elasticity.is_none_or(|e| (0.0..=1.0).contains(&e)));
    if let Ok(mapping) = Mapping::new(&extents, 64 << 20) {
        assert!((0.0..=0.05).contains(&mapping.collision_share));
    }
    let calm = calm_periods(operations, 1_000_000_000);
    let scene = Scene {
        is_own: &|one| one.task.index() % 2 == 0,
        is_calm: &|at| {
            calm.binary_search(&(at / 1_000_000_000 * 1_000_000_000))
                .is_ok()
        },
        calm_ns: calm.len() as u64 * 1_000_000_000,
        other_ns: observation.observed_ns,
        slow_ns: None,
        lost_share: 0.0,
        processor_pressure: None,
        calm_pressure: None,
        configured_limit: None,
    };
    let message = blame(operations, &scene);
    assert!(message.slow <= message.operations && message.operations <= operations.len());
    if let Ok(model) = model::extract(operations.iter().map(request)) {
        assert_eq!(model.operations(), operations.len() as u64);
        assert_eq!(model.requests(1).count(), operations.len());
    }
}

fn request(operation: &Operation) -> Request {
    Request {
        at_ns: operation.arrived_ns,
        kind: operation.kind,
        offset_bytes: operation.offset_bytes,
        size_bytes: operation.size_bytes,
    }
}

/// A model that is read is written and read as the same.
fn check_model(bytes: &[u8]) {
    let Ok(model) = model::read(bytes) else {
        return;
    };
    let mut written = Vec::new();
    model::write(&model, &mut written).expect("memory takes it");
    assert_eq!(model::read(&written[..]).ok(), Some(model.clone()));
    assert!(model.requests(1).take(1_000).count() <= 1_000);
    let _ = model.span_bytes();
}

fn check_file(bytes: &[u8], columns: Option<&Columns>) {
    let mut file = match open(bytes, columns) {
        Ok(file) => file,
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.hint().is_empty());
            assert!(!matches!(error, FileError::MissingColumn(_)));
            return;
        }
    };
    let operations: Vec<Operation> = file.by_ref().collect();
    operations.iter().for_each(check);
    fold(&operations);
    let count = operations.len() as u64;
    let report = file.report();
    assert!(count <= report.rows, "{count} of {}", report.rows);
    assert!(report.skipped <= report.rows);
    assert_eq!(report.skipped == 0, report.first_skipped.is_none());
    assert!(!file.format().name().is_empty());
}

/// Joined parts have all bytes, or end where one of them is damaged.
fn check_parts(bytes: &[u8]) {
    let Ok(mut parts) = JoinedParts::new(vec![bytes, bytes]) else {
        return;
    };
    let mut joined = Vec::new();
    let is_whole = parts.read_to_end(&mut joined).is_ok();
    let all = 2 * bytes.len();
    assert!(joined.len() <= all && (!is_whole || joined.len() == all));
}

/// Any bytes through all readers.
///
/// # Panics
/// When something that must hold does not.
pub fn trace_anything(bytes: &[u8]) {
    check_file(bytes, None);
    check_parts(bytes);
    check_file(bytes, COLUMNS.parse().ok().as_ref());
    check_model(bytes);
    let mut recording = Recording::new(PageFormat::default(), &formats(), 1_000);
    let mut pairer = Pairer::default();
    for page in bytes.chunks(4_096) {
        if recording.page(page) == Ok(true) {
            pairer.lose();
        }
        while let Some(event) = recording.next_event() {
            pairer.event(&event);
        }
    }
    while let Some(event) = recording.last_event() {
        pairer.event(&event);
    }
    pairer.finish();
    let mut count = 0;
    while let Some(operation) = pairer.next_operation() {
        check(&operation);
        count += 1;
    }
    let report = pairer.report();
    assert_eq!(count, report.paired + report.in_flight);
    let text = String::from_utf8_lossy(bytes);
    if let Ok(all) = totals(&text) {
        // No time passes between a snapshot and itself.
        assert!(all.since(&all).is_err());
    }
    let _ = EventFormat::parse(&text);
    let _ = PageFormat::parse(&text);
    let _ = text.parse::<Columns>();
}
