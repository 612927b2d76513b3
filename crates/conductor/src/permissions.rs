//! What a command may write to.

use crate::failure::{Failure, Outcome};
use stripewise_units::{NameText, is_sim_target, path_of};

/// Given by the user each time: never stored, never part of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Test files that are made are kept.
    pub keep: bool,
    /// Allows writes to files that this program did not make.
    pub overwrite: bool,
    /// Allows writes to the block devices of these names.
    pub destroy: Vec<String>,
    /// Allows use of what looks like a live database, and of busy devices.
    pub busy_ok: bool,
}

impl Permissions {
    /// Refuses `--destroy` if no target is a device: it would permit nothing, so a target or
    /// a name is a mistake.
    ///
    /// # Errors
    /// If that is so.
    pub fn refuse_idle(&self, targets: &[&str]) -> Outcome<()> {
        let is_device = |target: &&str| {
            let facts = std::fs::metadata(path_of(target));
            // Opening a missing target fails later with a better reason.
            facts.map_or(!is_sim_target(target), |facts| {
                !facts.is_file() && !facts.is_dir()
            })
        };
        match self.destroy.first() {
            Some(name) if !targets.iter().any(is_device) => Err(Failure::usage(
                format!("--destroy {name} names a device, and no target is one"),
                "leave it out, or name the device as the target: /dev/sdb --destroy sdb",
            )),
            _ => Ok(()),
        }
    }

    /// The device that a target of this name may destroy: the one given for it, or
    /// the only one given. Opening the target checks that it is that device.
    pub fn destroy_of(&self, target: &str) -> Option<String> {
        let path = path_of(target);
        // A link below /dev/disk resolves to the kernel's name.
        let real = path.canonicalize().unwrap_or(path);
        let kernel = real.file_name().map(|name| name.as_text());
        let is_named =
            |name: &&str| kernel.as_deref() == Some(name.strip_prefix("/dev/").unwrap_or(name));
        let names = || self.destroy.iter().flat_map(|text| text.split(','));
        let named = names().find(is_named).or(names().next());
        named.map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_for_no_target_is_refused() {
        let permissions = Permissions {
            destroy: vec!["sdw".to_owned()],
            ..Permissions::default()
        };
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path().to_str().expect("text");
        for (targets, fits) in [
            (&[directory][..], false),
            (&["sim:raid10-10k"], false),
            (&["/dev/null"], true),
            (&[directory, "/dev/null"], true),
            (&["/dev/nosuch"], true),
        ] {
            assert_eq!(
                permissions.refuse_idle(targets).is_ok(),
                fits,
                "{targets:?}"
            );
            assert!(Permissions::default().refuse_idle(targets).is_ok());
        }
    }

    #[test]
    fn each_target_has_the_device_that_is_named_for_it() {
        let permissions = Permissions {
            destroy: vec!["sdw,sdy".to_owned(), "/dev/sdz".to_owned()],
            ..Permissions::default()
        };
        let of = |target: &str| permissions.destroy_of(target);
        assert_eq!(of("/dev/sdz").as_deref(), Some("/dev/sdz"));
        assert_eq!(of("/dev/sdy").as_deref(), Some("sdy"));
        // Opening refuses it: that is another device.
        assert_eq!(of("/dev/sdx").as_deref(), Some("sdw"));
        assert_eq!(Permissions::default().destroy_of("/dev/sdx"), None);
    }
}
