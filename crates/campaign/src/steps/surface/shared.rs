//! Shared by texts and pictures of profiles, fills and probes.

use crate::steps::medium::void_codes;
use stripewise_results::{TargetFacts, Warning};
use stripewise_units::{format_bytes, format_count, format_duration, is_sim_target};

pub const MIB: f64 = 1_048_576.0;

/// A rate in MiB/s.
pub fn mib(rate: f64) -> String {
    match rate / MIB {
        many if many >= 999.95 => format!("{} MiB/s", format_count(many.round() as u64)),
        few => format!("{few:.1} MiB/s"),
    }
}

pub fn ms(ns: f64) -> String {
    format!("{:.2} ms", ns / 1e6)
}

/// Model, or the target's name.
pub fn title_of(target: &TargetFacts) -> String {
    let device = target.device.as_ref();
    let model = device.and_then(|device| device.model.clone());
    model.unwrap_or_else(|| target.name.clone())
}

/// Size, firmware, device, name and day.
pub fn subtitle(target: &TargetFacts, measured_at: &str) -> String {
    let device = target.device.as_ref();
    let firmware = device.and_then(|device| device.firmware.clone());
    let words = [
        Some(format_bytes(target.size_bytes)),
        firmware.map(|firmware| format!("firmware {firmware}")),
        device.map(|device| device.name.clone()),
        Some(target.name.clone()).filter(|name| *name != title_of(target)),
        Some(measured_at.get(..10).unwrap_or_default().to_owned()),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    words.join(" \u{b7} ")
}

/// The duration; virtual time of a simulated target is labelled as such.
pub fn took(target: &str, duration_ns: u64) -> String {
    let virtual_time = match is_sim_target(target) {
        true => " of virtual time",
        false => "",
    };
    format!("{}{virtual_time}", format_duration(duration_ns))
}

/// The footer of a picture: program, host, and the id under which it is stored.
pub fn foot(host: &str, id: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("Stripewise {version}, host {host}, {id}")
}

/// The warnings as a line among the findings, so that every picture shows them. Those
/// that void the values come first: see [`void`].
pub fn warned(warnings: &[Warning]) -> Option<(String, String)> {
    let void = void_codes(warnings);
    let codes = warnings.iter().map(|one| one.code.as_str());
    let codes: Vec<&str> = codes.filter(|code| !void.contains(code)).collect();
    (!codes.is_empty()).then(|| ("warnings".to_owned(), codes.join(", ")))
}

/// The line before all values if they are not the disk's.
pub fn void(warnings: &[Warning]) -> Option<(String, String)> {
    let codes = void_codes(warnings);
    let words = || format!("{}: no number below is the disk's", codes.join(", "));
    (!codes.is_empty()).then(|| ("VOID".to_owned(), words()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::Severity;

    #[test]
    fn what_voids_numbers_is_said_before_them_and_not_behind() {
        let warning = |code: &str, severity| Warning {
            code: code.to_owned(),
            severity,
            message: String::new(),
            short: String::new(),
            hint: String::new().into(),
        };
        let both = [
            warning("loop-cached", Severity::Warning),
            warning("zero-data", Severity::Void),
        ];
        let line = void(&both).expect("a line");
        assert_eq!(line.0, "VOID");
        assert!(line.1.starts_with("zero-data: "), "{line:?}");
        let behind = warned(&both).expect("a line");
        assert_eq!(behind.1, "loop-cached");
        assert_eq!((void(&both[..1]), warned(&both[1..])), (None, None));
    }

    #[test]
    fn virtual_time_is_named() {
        assert_eq!(took("/dev/sda", 2_000_000_000), "2 s");
        assert_eq!(took("sim:disk-7k2", 2_000_000_000), "2 s of virtual time");
    }
}
