//! The limit that control groups set for this process on a target's devices.

use stripewise_conductor::targets::OpenTarget;
use stripewise_disk_inspect::Inspect;
use stripewise_machine::{System, Throttle};
use stripewise_studies::limits::ControlGroupLimit;
use stripewise_units::{distinct, path_of};

/// The limits that bind, if any.
pub(super) fn of(target: &OpenTarget) -> Option<ControlGroupLimit> {
    let real = target.real()?;
    let system = System::live();
    let storage = system.storage_of_path(&path_of(&real.facts().name)).ok()?;
    let layers = storage.layers();
    let numbers: Vec<_> = layers.iter().map(|device| device.number).collect();
    lowest(&system.throttles(&numbers))
}

/// The lowest of each, with the groups that set them: that of a parent may lie below this group's
/// own.
fn lowest(throttles: &[Throttle]) -> Option<ControlGroupLimit> {
    let limits: [fn(&Throttle) -> Option<u64>; 4] = [
        |one| one.read_iops,
        |one| one.write_iops,
        |one| one.read_bytes_per_s,
        |one| one.write_bytes_per_s,
    ];
    let least = limits.map(|of| throttles.iter().filter_map(of).min());
    let binds = |&one: &&Throttle| {
        let mut each = limits.iter().zip(least);
        each.any(|(of, least)| least.is_some() && of(one) == least)
    };
    let binding: Vec<&Throttle> = throttles.iter().filter(binds).collect();
    let groups = distinct(binding.iter().map(|one| one.cgroup.as_str()));
    let devices = distinct(binding.iter().map(|one| match one.device.is_empty() {
        true => one.number.to_string(),
        false => one.device.clone(),
    }));
    let [read_iops, write_iops, read_bytes_per_s, write_bytes_per_s] = least;
    (!groups.is_empty()).then(|| ControlGroupLimit {
        cgroup: groups.join(" and "),
        device: devices.join(" and "),
        read_iops,
        write_iops,
        read_bytes_per_s,
        write_bytes_per_s,
        reached: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_limit_of_a_parent_is_the_one_that_binds() {
        let throttle = |cgroup: &str, read_iops, read_bytes_per_s| Throttle {
            cgroup: cgroup.to_owned(),
            device: "sda".to_owned(),
            read_iops,
            read_bytes_per_s,
            ..Throttle::default()
        };
        let own = throttle("/slice/service", Some(10_000), None);
        let found = lowest(&[own.clone(), throttle("/slice", Some(500), None)]);
        let found = found.expect("a limit");
        assert_eq!(
            (found.cgroup.as_str(), found.read_iops),
            ("/slice", Some(500))
        );
        let found = lowest(&[own.clone(), throttle("/slice", None, Some(50 << 20))]);
        let found = found.expect("two limits");
        assert_eq!(found.cgroup, "/slice/service and /slice");
        assert_eq!(found.device, "sda");
        assert_eq!(found.read_iops, Some(10_000));
        assert_eq!(found.read_bytes_per_s, Some(50 << 20));
        assert_eq!(lowest(&[throttle("/slice", None, None)]), None);
        assert_eq!(lowest(&[]), None);
    }
}
