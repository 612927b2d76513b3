//! Warnings about clocks, suspend, heat and power.

use super::code::Code;
use super::evidence::Evidence;
use stripewise_machine::observe::Observed;
use stripewise_results::{Severity, Warning};
use stripewise_units::format_duration;

/// Clock discipline slews by less than this in any run; a step is more.
const JUMP_MIN_NS: u64 = 500_000_000;
/// The two monotonic clocks are read one after the other.
const SUSPENDED_MIN_NS: u64 = 10_000_000;

fn observed(evidence: &Evidence) -> Option<&Observed> {
    evidence.observed.as_ref().filter(|_| evidence.is_real())
}

/// The wall clock was set.
pub fn clock_jump(evidence: &Evidence) -> Option<Warning> {
    let jump = observed(evidence)?.wall_clock_jump_ns;
    // NTP slews by at most 500 ppm: allow it over long runs.
    let slewed = observed(evidence)?.elapsed_ns / 2_000;
    if jump.unsigned_abs() < JUMP_MIN_NS.saturating_add(slewed) {
        return None;
    }
    let message = format!(
        "the wall clock was set {} by {} during the run; latencies come from another clock and are not affected",
        if jump > 0 { "forward" } else { "back" },
        format_duration(jump.unsigned_abs())
    );
    let hint =
        "the time of this run in the history is off; let the clock settle (chronyc tracking)";
    Some(Code::ClockJump.warning(Severity::Note, message, hint))
}

/// The machine was suspended.
pub fn suspended(evidence: &Evidence) -> Option<Warning> {
    let asleep = observed(evidence)?.suspended_ns;
    if asleep < SUSPENDED_MIN_NS {
        return None;
    }
    let message = format!(
        "the machine slept for {} during the run",
        format_duration(asleep)
    );
    let hint = "run it again with sleep inhibited: systemd-inhibit stripewise ...";
    Some(Code::Suspended.warning(Severity::Void, message, hint))
}

/// Heat, of the processor or of NVMe drives.
pub fn thermal_throttling(evidence: &Evidence) -> Option<Warning> {
    let events = observed(evidence)?.thermal_throttles.unwrap_or(0);
    let processor = (events > 0).then(|| {
        format!("the processor was slowed down for heat during the run ({events} events)")
    });
    let drives = evidence.outcome.drives.iter();
    let slowed = drives.filter(|drive| drive.slowed_s > 0 || drive.slowdowns > 0);
    let drives = slowed.map(|drive| {
        let degrees = drive
            .temperature_celsius
            .map_or_else(String::new, |degrees| {
                format!(", {degrees} degrees Celsius at its end")
            });
        format!(
            "drive {} slowed itself for heat for {} s of the run{degrees}",
            drive.device, drive.slowed_s
        )
    });
    let all: Vec<String> = processor.into_iter().chain(drives).collect();
    if all.is_empty() {
        return None;
    }
    let message = all.join("; ");
    let hint = "let it cool, look at its fans, and run again";
    Some(Code::ThermalThrottling.warning(Severity::Warning, message, hint))
}

/// Battery, a change of power supply, a governor that saves power.
pub fn power_saving(evidence: &Evidence) -> Option<Warning> {
    let observed = observed(evidence)?;
    let governor = observed.governor_after.as_deref();
    let (severity, message) = match (observed.on_mains_before, observed.on_mains_after) {
        (Some(before), Some(after)) if before != after => {
            let now = if after {
                "from battery to mains"
            } else {
                "from mains to battery"
            };
            (
                Severity::Warning,
                format!("the power supply changed {now} during the run"),
            )
        }
        (_, Some(false)) => (Severity::Warning, "the machine runs on battery".to_owned()),
        _ if observed.governor_before != observed.governor_after => (
            Severity::Warning,
            format!(
                "the frequency governor changed from {} to {} during the run",
                observed.governor_before.as_deref().unwrap_or("none"),
                governor.unwrap_or("none")
            ),
        ),
        _ => match governor {
            Some(name @ ("powersave" | "conservative" | "ondemand")) => (
                Severity::Note,
                format!(
                    "the frequency governor is {name}: short operations also pay for waking the processor up"
                ),
            ),
            _ => return None,
        },
    };
    let hint = if severity == Severity::Note {
        "cpupower frequency-set -g performance, if the server will run like that"
    } else {
        "run again on mains power with a fixed governor (cpupower frequency-set -g performance)"
    };
    Some(Code::PowerSaving.warning(severity, message, hint))
}
