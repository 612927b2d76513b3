//! The meaning of factors on a simulated array: its keys, and options of workloads.

use super::stored_layouts::LayoutPlace;
use stripewise_array_sim::ArraySpec;
use stripewise_array_sim::layout::Level;
use stripewise_array_sim::spec::keys;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::simulated::spec;
use stripewise_lab::layouts::Factor;
use stripewise_results::LayoutLevels;
use stripewise_units::{nearest, sim_array};
use stripewise_workload::WorkloadOptions;

/// Factors with names of their own.
pub const NAMES: [&str; 5] = [
    "offset",
    "stripe-unit",
    "raid",
    "allocation-unit",
    "file-system",
];
/// Options of workloads that cannot be factors: levels must not differ by chance or length.
const NO_FACTORS: [&str; 4] = ["seed", "duration", "ramp", "size"];

/// The setting behind a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorSetting<'a> {
    /// A key of the array.
    Key(&'a str),
    /// Level and number of disks.
    Raid,
    /// An option of the workload.
    Option(&'a str),
}

/// The setting behind this factor on a simulated array.
///
/// # Errors
/// If there is no such factor, or simulated arrays lack it; the hint names the closest match.
pub fn sets(name: &str) -> Outcome<FactorSetting<'_>> {
    match name {
        "offset" => return Ok(FactorSetting::Key("offset")),
        "stripe-unit" => return Ok(FactorSetting::Key("stripe_unit")),
        "allocation-unit" => return Ok(FactorSetting::Key("allocation_unit")),
        "raid" => return Ok(FactorSetting::Raid),
        "file-system" => {
            return Err(Failure::usage(
                "file-system is not a factor on a simulated array: no file system is simulated",
                "leave it out, or use a disk: it takes --destroy",
            ));
        }
        _ => {}
    }
    if WorkloadOptions::NAMES.contains(&name) && !NO_FACTORS.contains(&name) {
        return Ok(FactorSetting::Option(name));
    }
    if ArraySpec::default().value(name).is_some() {
        return Ok(FactorSetting::Key(name));
    }
    let mut known: Vec<&str> = NAMES.to_vec();
    known.extend(
        WorkloadOptions::NAMES
            .iter()
            .filter(|name| !NO_FACTORS.contains(name)),
    );
    known.extend(keys().iter().map(|key| key.path));
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "give one of {}, an option of a workload or a key of the array (`stripewise sim show` lists them)",
            NAMES.join(", ")
        ),
    };
    Err(Failure::usage(format!("`{name}` is not a factor"), hint))
}

/// The levels of a raid level as keys: `raid10`, `10`, `raid5:6`, `single`.
fn raid(text: &str) -> Outcome<String> {
    let (level, disks) = match text.split_once(':') {
        Some((level, disks)) => (level, Some(disks)),
        None => (text, None),
    };
    let level = level.trim();
    let number = level.strip_prefix("raid").unwrap_or(level);
    if !Level::ALL.iter().any(|(_, name)| *name == number) {
        let names: Vec<String> = Level::ALL
            .iter()
            .map(|(_, name)| match name.parse::<u8>() {
                Ok(_) => format!("raid{name}"),
                Err(_) => (*name).to_owned(),
            })
            .collect();
        return Err(Failure::usage(
            format!("`{text}` is not a RAID level"),
            format!("give one of {}; with its disks: raid10:4", names.join(", ")),
        ));
    }
    Ok(match disks {
        Some(disks) => format!("level={number}&disks={}", disks.trim()),
        None if number == "single" => "level=single&disks=1".to_owned(),
        None => format!("level={number}"),
    })
}

/// The array of a layout as a target, and the workload options that it sets.
///
/// # Errors
/// If a factor or level is not valid by itself.
pub fn place(target: &str, levels: &LayoutLevels) -> Outcome<LayoutPlace> {
    let mut overrides: Vec<String> = Vec::new();
    let mut options = Vec::new();
    for (factor, level) in levels {
        match sets(factor)? {
            FactorSetting::Key(key) => overrides.push(format!("{key}={level}")),
            FactorSetting::Raid => overrides.push(raid(level)?),
            FactorSetting::Option(option) => {
                WorkloadOptions::default()
                    .set(option, level)
                    .map_err(|error| {
                        Failure::usage(format!("factor {factor}: {error}"), error.hint())
                    })?;
                options.push((option.to_owned(), level.clone()));
            }
        }
    }
    Ok(LayoutPlace {
        target: overridden(target, &overrides),
        options,
        base_offset_bytes: None,
    })
}

/// A target with these overrides, replacing its own values of the same keys.
pub fn overridden(target: &str, overrides: &[String]) -> String {
    let new: Vec<&str> = (overrides.iter())
        .flat_map(|text| text.split('&'))
        .collect();
    let key = |pair: &str| {
        let name = pair.split('=').next().unwrap_or(pair).trim();
        ArraySpec::key_path(name).map_or_else(|| name.to_owned(), str::to_owned)
    };
    let (name, old) = target.split_once('?').unwrap_or((target, ""));
    let is_new = |pair: &&str| new.iter().any(|other| key(other) == key(pair));
    let stored = old
        .split('&')
        .filter(|pair| !pair.is_empty() && !is_new(pair));
    let all: Vec<&str> = stored.chain(new.iter().copied()).collect();
    match all.is_empty() {
        true => name.to_owned(),
        false => format!("{name}?{}", all.join("&")),
    }
}

/// Why a layout cannot exist on this array; `None` if it can.
///
/// # Errors
/// If a level is invalid regardless of the others.
pub fn cannot(context: &Context, target: &str, levels: &LayoutLevels) -> Outcome<Option<String>> {
    let place = place(target, levels)?;
    let name = sim_array(&place.target).unwrap_or(&place.target);
    let spec = match spec(context, name) {
        Ok(spec) => spec,
        Err(failure) => return Ok(Some(failure.error.to_string())),
    };
    let unstriped = matches!(spec.level, Level::Single | Level::Linear | Level::Raid1);
    if unstriped && levels.contains_key("stripe-unit") {
        let first = "nothing is striped: there is no stripe unit to set";
        return Ok(Some(first.to_owned()));
    }
    if !spec.offset_bytes.is_multiple_of(spec.sector_bytes.max(1)) {
        return Ok(Some(format!(
            "sectors of {} bytes do not allow this offset",
            spec.sector_bytes
        )));
    }
    Ok(None)
}

/// Refuses a factor with two levels that give the same array and the same workload: the
/// level makes no difference.
///
/// # Errors
/// If there is such a level, or one that is not valid by itself.
pub fn check_levels(context: &Context, target: &str, factor: &Factor) -> Outcome<()> {
    let mut seen: Vec<(String, &String)> = Vec::new();
    let mut first_failure = None;
    for level in &factor.levels {
        let levels = LayoutLevels::from([(factor.name.clone(), level.clone())]);
        let place = place(target, &levels)?;
        let name = sim_array(&place.target).unwrap_or(&place.target);
        let described = match spec(context, name) {
            Ok(spec) => spec.describe(),
            Err(failure) => {
                // Another factor may make it possible: more disks for another level.
                first_failure.get_or_insert(failure);
                continue;
            }
        };
        let mut workload = WorkloadOptions::default();
        for (option, text) in &place.options {
            // It was validated above.
            let _ = workload.set(option, text);
        }
        let meaning = format!("{described}{workload:?}");
        if let Some((_, other)) = seen.iter().find(|(known, _)| *known == meaning) {
            return Err(Failure::usage(
                format!(
                    "the levels {other} and {level} of {} make no difference here",
                    factor.name
                ),
                "leave one of them out",
            ));
        }
        seen.push((meaning, level));
    }
    match first_failure {
        Some(failure) if seen.is_empty() => Err(failure),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_takes_the_place_of_what_the_target_says_itself() {
        let levels = |pairs: &[(&str, &str)]| -> LayoutLevels {
            let owned = pairs
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
            owned.collect()
        };
        for (target, pairs, expected) in [
            ("sim:nvme", &[][..], "sim:nvme"),
            ("sim:nvme", &[("offset", "1M")], "sim:nvme?offset=1M"),
            (
                "sim:raid10-10k?offset=63s&rpm=15000",
                &[("disk.rpm", "10000"), ("offset", "1M")],
                "sim:raid10-10k?disk.rpm=10000&offset=1M",
            ),
            (
                "sim:raid10-10k?disks=8",
                &[("raid", "raid5:6")],
                "sim:raid10-10k?level=5&disks=6",
            ),
            (
                "sim:raid10-10k?disks=8",
                &[("raid", "single")],
                "sim:raid10-10k?level=single&disks=1",
            ),
        ] {
            let place = place(target, &levels(pairs)).unwrap();
            assert_eq!(place.target, expected);
        }
        let place = place("sim:nvme", &levels(&[("threads", "4")])).unwrap();
        assert_eq!(place.options, [("threads".to_owned(), "4".to_owned())]);
    }
}
