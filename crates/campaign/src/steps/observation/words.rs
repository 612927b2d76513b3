//! Text about causes and structures.

use super::document::{BlameShare, BlameVerdict, ObservationDocument};
use stripewise_report::Judgement;
use stripewise_trace::blame::{CALM_SHARE_MIN, SLOW_MIN, SLOW_SHARE_MIN};
use stripewise_trace::closedness::{LOST_SHARE_MAX, share_of_lost};
use stripewise_trace::observation::Moment;
use stripewise_units::{
    counted, format_count, format_duration, format_iops, format_mib_per_s, format_share,
};

/// Flushes longer than this are mentioned.
const LONG_FLUSH_NS: u64 = 100_000_000;

/// From this elasticity on, a load of one operation at a time does nothing but wait.
const WAITS_ALWAYS: f64 = 0.8;

/// The verdict on the device that is shown first, as a word and a sentence.
pub fn verdict(document: &ObservationDocument) -> Option<(Judgement, String)> {
    let verdict = first(document)?;
    let (judged, word) = match verdict.cause.as_str() {
        "not-slow" | "one-at-a-time" => (Judgement::Good, "Reads and writes were not slow"),
        "unknown" if verdict.slow == 0 => (Judgement::Open, "No verdict"),
        "unknown" => (Judgement::Open, "Slow, and the cause is not known"),
        "lost-events" => (Judgement::Open, "No verdict"),
        _ => (Judgement::Bad, "Slow"),
    };
    Some((judged, word.to_owned()))
}

/// The effect of lost events on the numbers, and the remedy; `None` if the effect is negligible.
pub fn of_loss(lost: u64, lost_share: f64, remedy: &str) -> Option<String> {
    (lost_share > LOST_SHARE_MAX).then(|| {
        format!(
            "{} events were lost ({} of all): counts and rates are too small, and what depends \
             on order is left out; {remedy}",
            format_count(lost),
            format_share(lost_share)
        )
    })
}

/// Whether counts and rates are lower bounds: more was lost than they tolerate.
pub fn is_least(document: &ObservationDocument) -> bool {
    let source = &document.source;
    let seen = source.events.or(source.rows).unwrap_or(0);
    share_of_lost(document.lost_events.unwrap_or(0), seen) > LOST_SHARE_MAX
}

/// The verdict that is shown: that of the busiest device with one.
pub fn first(document: &ObservationDocument) -> Option<&BlameVerdict> {
    let of = |name: &String| document.verdicts.iter().find(|one| one.device == *name);
    document.devices.iter().find_map(|device| of(&device.name))
}

/// The identified cause, in one or two sentences.
pub fn answer(document: &ObservationDocument) -> String {
    let Some(verdict) = first(document) else {
        return match document.devices.is_empty() {
            true if document.source.kind == "file" => "no operation was seen.".to_owned(),
            true => format!(
                "no I/O was seen on {} in {}.",
                document.target.name,
                format_duration((document.observed_s * 1e9) as u64)
            ),
            false if document.source.kind == "counters" => {
                "only totals are known, so nothing is said of slow operations.".to_owned()
            }
            false => {
                "when operations completed is not known, so nothing is said of latency.".to_owned()
            }
        };
    };
    let load = verdict.load.as_deref().unwrap_or("the load");
    match verdict.cause.as_str() {
        "lost-events" => {
            return "more than 0.1 % of the events were lost, so that causes cannot be told apart."
                .to_owned();
        }
        "one-at-a-time" if knows_structure(document) => {
            // For a load of one operation at a time, that is the share of time spent waiting.
            let waits = document.closedness.elasticity.unwrap_or(1.0);
            let meaning = match waits >= WAITS_ALWAYS {
                true => "its rate is one over the latency, whatever the device could do beside"
                    .to_owned(),
                false => format!(
                    "it waits for them {} of the time, and the rest of its time goes elsewhere",
                    format_share(waits)
                ),
            };
            // It begins a sentence here; the name of a process stays as it is.
            let load = verdict.load.as_deref().unwrap_or("The load");
            return format!(
                "latency of reads and writes did not rise. {load} issues one operation at a time: {meaning}.{}",
                long_flushes(document, verdict)
            );
        }
        "not-slow" | "one-at-a-time" => {
            return not_slow(verdict) + &long_flushes(document, verdict);
        }
        _ => {}
    }
    let slow_ns = verdict.slow_ns.unwrap_or(0);
    let mut text = match verdict.slow {
        // A control group's throttle shows by which tasks queue, not by latency.
        0 => String::new(),
        slow => format!(
            "{} of {} of {load} outside calm moments took longer than {}{}. ",
            format_count(slow),
            counted(verdict.operations as usize, "operation", "operations"),
            format_duration(slow_ns),
            top_share(document, verdict)
        ),
    };
    text.push_str(&sentence(verdict, &document.source.kind));
    if !verdict.also.is_empty() {
        let also: Vec<&str> = verdict.also.iter().map(|cause| noun(cause)).collect();
        text.push_str(&format!(" Also: {}.", also.join(", ")));
    }
    text
}

/// Whether it is known how the load issues its operations: a few of them may be apart by chance.
fn knows_structure(document: &ObservationDocument) -> bool {
    let closedness = &document.closedness;
    let is_open = |name: &str| {
        matches!(
            name,
            "too-few" | "undecided" | "one-at-a-time-cause-unknown"
        )
    };
    let busiest = closedness.tasks.first();
    closedness.elasticity.is_some() && busiest.is_none_or(|one| !is_open(one.structure.as_str()))
}

fn not_slow(verdict: &BlameVerdict) -> String {
    if let (Some(slow_ns), 0) = (verdict.slow_ns, verdict.slow) {
        let slow = format_duration(slow_ns);
        return format!("no operation outside calm moments took longer than {slow}.");
    }
    let Some(slow_ns) = verdict.slow_ns else {
        return "the median latency stayed within 1.5 times that of the quickest moments."
            .to_owned();
    };
    let share = verdict.slow as f64 / verdict.operations.max(1) as f64;
    let fewer = match share < SLOW_SHARE_MIN {
        // Truncated, not rounded, to stay below the value it is compared with.
        true => format!(
            "{:.1} %, fewer than the {:.0} %",
            (1_000.0 * share).floor() / 10.0,
            100.0 * SLOW_SHARE_MIN
        ),
        false => format!("fewer than the {SLOW_MIN}"),
    };
    format!(
        "{} of {} outside calm moments took longer than {}: {fewer} from which on a cause is \
         named.",
        format_count(verdict.slow),
        counted(verdict.operations as usize, "operation", "operations"),
        format_duration(slow_ns),
    )
}

/// Flushes are not judged, but long ones are mentioned.
fn long_flushes(document: &ObservationDocument, verdict: &BlameVerdict) -> String {
    let mut devices = document.devices.iter();
    let device = devices.find(|device| device.name == verdict.device);
    let least_ns = LONG_FLUSH_NS.max(verdict.slow_ns.unwrap_or(0));
    let longest = device.and_then(|device| Some((device.flushes, device.latency_ns.flush?.max)));
    match longest {
        Some((flushes, max_ns)) if max_ns > least_ns => format!(
            " {} took up to {}.",
            counted(flushes as usize, "flush", "flushes"),
            format_duration(max_ns)
        ),
        _ => String::new(),
    }
}

/// For the stage with the largest share: `; 93 % of them (90-96 %) waited at the device`.
fn top_share(document: &ObservationDocument, verdict: &BlameVerdict) -> String {
    let shares = document
        .blame
        .iter()
        .filter(|one| one.device == verdict.device);
    let Some(top) = shares.max_by_key(|one| one.operations) else {
        return String::new();
    };
    format!(
        "; {} of them lost most of their time {}",
        share(top),
        place(&top.cause)
    )
}

/// `93 % (90-96 %)`.
pub fn share(one: &BlameShare) -> String {
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    match (one.share, one.low, one.high) {
        (Some(share), Some(low), Some(high)) => {
            format!(
                "{} % ({}-{} %)",
                percent(share),
                percent(low),
                percent(high)
            )
        }
        _ => format_count(one.operations),
    }
}

/// Where time is lost due to a cause.
pub fn place(cause: &str) -> &'static str {
    match cause {
        // "unknown" is used only for operations that waited there.
        "control-group" | "unknown" => "above the block layer",
        "host-queue" => "in the host's queue",
        "processor" => "waiting for a processor",
        _ => "at the device",
    }
}

fn sentence(verdict: &BlameVerdict, kind: &str) -> String {
    let process = verdict.process.as_deref().unwrap_or("one without a name");
    match verdict.cause.as_str() {
        "control-group" => "The limit of a control group holds operations back: see io.max and \
                            its ancestors'."
            .to_owned(),
        "host-queue" => {
            "They waited in the host, for a tag or in the scheduler's queue.".to_owned()
        }
        "processor" => "They had completed, and no processor was free to go on.".to_owned(),
        "flush-storm" => format!("Flushes of the device's cache, most of them by {process}."),
        "other-process" => format!(
            "Another process, {process}, loaded the device. The device itself cannot be \
             assessed meanwhile."
        ),
        "other-process-flushes" => {
            format!("Another process, {process}, flushed the device's cache all the time.")
        }
        "volume-cap" => format!(
            "The volume lets a constant {} IOPS through: a cap.",
            format_iops(verdict.cap_iops.unwrap_or(0.0))
        ),
        "own-saturation" => "This load was more than the device carries.".to_owned(),
        "device" => "The device, or what is under it, was slower at the same load.".to_owned(),
        "device-intermittent" => {
            "The device was slow now and then; most operations were as quick as \
                                  before."
                .to_owned()
        }
        "device-or-processor" => {
            "The device, or a processor that was short while completions were \
                                  handled."
                .to_owned()
        }
        _ if verdict.calm_s > 0.0 && verdict.calm_s < CALM_SHARE_MIN * verdict.judged_s => {
            let seconds = |s: f64| format_duration((s * 1e9) as u64);
            format!(
                "Of {} only {} were calm, too little to compare with.",
                seconds(verdict.judged_s),
                seconds(verdict.calm_s)
            )
        }
        _ if kind == "file" => "The rules name no cause. A trace holds neither the limits of \
                                control groups nor how busy processors were, so neither is \
                                blamed."
            .to_owned(),
        _ => "The rules name no cause.".to_owned(),
    }
}

/// A cause as a noun.
pub fn noun(cause: &str) -> &'static str {
    match cause {
        "not-slow" => "reads and writes were not slow",
        "one-at-a-time" => "one operation at a time",
        "control-group" => "limit of a control group",
        "host-queue" => "queue in the host",
        "processor" => "no processor free",
        "flush-storm" => "flushes",
        "other-process" => "another process",
        "other-process-flushes" => "flushes of another process",
        "volume-cap" => "cap of the volume",
        "own-saturation" => "more load than the device carries",
        "device" => "device",
        "device-intermittent" => "device, now and then",
        "device-or-processor" => "device or processor",
        "lost-events" => "events were lost",
        _ => "unknown",
    }
}

/// How a task issues operations, as text.
pub fn structure(name: &str) -> &'static str {
    match name {
        "one-at-a-time" => "one at a time: it waits",
        "one-at-a-time-cause-unknown" => "one at a time: waits, or is fed",
        "paced" => "by a timer or a queue: it does not wait",
        "closed" => "it waits, with several in flight",
        "open-bursty" => "in bursts: it does not wait",
        "open" => "it does not wait",
        "too-few" => "too few operations to say",
        _ => "undecided",
    }
}

/// The current activity, in one line.
pub fn now(second: &Moment, ns: u64) -> String {
    let per_s = |count: u64| count as f64 * 1e9 / ns.max(1) as f64;
    let rate = format_iops(per_s(second.operations));
    let mut words = format!(
        "{rate} IOPS, {}",
        format_mib_per_s(per_s(second.bytes) / f64::from(1 << 20))
    );
    if let Some(mean_ns) = second.latency_ns_mean() {
        let max_ns = second.latency_ns_max;
        words += &format!(
            ", mean {}, max {}",
            format_duration(mean_ns as u64),
            format_duration(max_ns)
        );
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::document::{KindLatencies, ObservedDevice, TaskStructure};
    use super::*;
    use stripewise_results::LatencySummary;

    fn document(verdict: BlameVerdict, flush_ns: u64) -> ObservationDocument {
        ObservationDocument {
            devices: vec![ObservedDevice {
                flushes: 12,
                latency_ns: KindLatencies {
                    flush: Some(LatencySummary {
                        max: flush_ns,
                        ..LatencySummary::default()
                    }),
                    ..KindLatencies::default()
                },
                ..ObservedDevice::default()
            }],
            verdicts: vec![verdict],
            ..ObservationDocument::default()
        }
    }

    #[test]
    fn what_was_not_slow_is_said_of_reads_and_writes_and_why() {
        let of = |slow: u64, operations: u64, flush_ns: u64| {
            let verdict = BlameVerdict {
                cause: "not-slow".to_owned(),
                slow_ns: Some(2_000_000),
                slow,
                operations,
                ..BlameVerdict::default()
            };
            answer(&document(verdict, flush_ns))
        };
        let few = of(138, 6_200, 4_500_000_000);
        assert!(few.contains(": 2.2 %, fewer than the 3 % from"), "{few}");
        assert!(few.ends_with(" 12 flushes took up to 4.50 s."), "{few}");
        let few = of(29, 100, 5_000_000);
        assert!(few.contains(": fewer than the 30 from"), "{few}");
        assert!(!few.contains("flush"), "{few}");
    }

    #[test]
    fn of_an_idle_machine_is_said_where_and_how_long_nothing_was_done() {
        let mut idle = ObservationDocument {
            observed_s: 10.0,
            ..ObservationDocument::default()
        };
        idle.target.name = "all devices".to_owned();
        idle.source.kind = "kernel".to_owned();
        assert_eq!(answer(&idle), "no I/O was seen on all devices in 10 s.");
        let sheet = idle.sheet();
        assert!(!sheet.subtitle.contains("0 devices"), "{}", sheet.subtitle);
    }

    #[test]
    fn unknown_says_what_was_missing() {
        let of = |kind: &str, calm_s: f64| {
            let verdict = BlameVerdict {
                cause: "unknown".to_owned(),
                judged_s: 5.2,
                calm_s,
                ..BlameVerdict::default()
            };
            let mut document = document(verdict, 0);
            document.source.kind = kind.to_owned();
            answer(&document)
        };
        assert!(of("file", 2.0).contains("neither the limits of control groups"));
        assert_eq!(of("events", 2.0), "The rules name no cause.");
        let little = of("events", 0.1);
        assert!(little.contains("were calm, too little"), "{little}");
    }

    #[test]
    fn one_at_a_time_is_not_blamed_on_latency_where_the_load_is_elsewhere() {
        for (elasticity, expected) in [
            (None, "the median latency stayed"),
            (Some(0.97), "its rate is one over the latency"),
            (Some(0.11), "it waits for them 11 % of the time"),
            (Some(0.001), "it waits for them 0.1 % of the time"),
        ] {
            let verdict = BlameVerdict {
                cause: "one-at-a-time".to_owned(),
                ..BlameVerdict::default()
            };
            let mut document = document(verdict, 0);
            document.closedness.elasticity = elasticity;
            let answer = answer(&document);
            assert!(answer.contains(expected), "{elasticity:?}: {answer}");
            document.closedness.tasks = vec![TaskStructure {
                structure: "too-few".to_owned(),
                ..TaskStructure::default()
            }];
            let answer = super::answer(&document);
            assert!(answer.contains("the median latency stayed"), "{answer}");
        }
    }
}
