//! What texts and pictures of profiles, fills and probes share.

use stripewise_units::format_duration;

/// How long something took: virtual time of a simulated target is named as such.
pub fn took(target: &str, duration_ns: u64) -> String {
    let virtual_time = match target.starts_with("sim:") {
        true => " of virtual time",
        false => "",
    };
    format!("{}{virtual_time}", format_duration(duration_ns))
}

/// A whole number in groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A line where a measurement did not come to its end; nothing where it did.
pub fn cut_short(why: Option<&String>) -> String {
    why.map_or(String::new(), |why| {
        format!("Cut short: {why}. This is what was measured until then.\n")
    })
}

/// The foot of a picture: by what it was made, where, and under which id it is kept.
pub fn foot(host: &str, id: &str) -> String {
    let version = crate::show::context::VERSION;
    format!("Stripewise {version}, host {host}, {id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_that_was_cut_short_says_so() {
        assert_eq!(cut_short(None), "");
        assert_eq!(
            cut_short(Some(&"interrupted".to_owned())),
            "Cut short: interrupted. This is what was measured until then.\n"
        );
    }

    #[test]
    fn digits_stand_in_groups() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
    }

    #[test]
    fn virtual_time_is_named() {
        assert_eq!(took("/dev/sda", 2_000_000_000), "2 s");
        assert_eq!(took("sim:disk-7k2", 2_000_000_000), "2 s of virtual time");
    }
}
