//! Finds the current users of a file or device; the rules judge them.

pub(super) use stripewise_device_guard::users::{
    FileOrDevices, Openers, loop_devices, open_twice_here, openers, retry_briefly, swap_areas,
};

use super::identity::{Identity, Status};
use super::overlay;
use std::fs::File;

/// The file to look for among others' open files.
pub(super) fn wanted_file(identity: &Identity) -> FileOrDevices {
    FileOrDevices::File {
        device: identity.device,
        inode: identity.inode,
    }
}

/// Processes that have any of these open.
pub(super) fn openers_of_any(wanted: &[FileOrDevices]) -> Openers {
    let mut all = Openers::default();
    for one in wanted {
        all.add(openers(one));
    }
    all
}

/// As [`wanted_file`], plus its inode in the upper directory if it is on an overlay: a loop device
/// or a program may have that one open.
pub(super) fn wanted_file_and_upper(file: &File, status: &Status) -> Vec<FileOrDevices> {
    let upper = overlay::upper_identity(file, status);
    let mut all = vec![wanted_file(&status.identity)];
    all.extend(upper.map(|identity| wanted_file(&identity)));
    all
}

#[cfg(test)]
mod tests {
    use super::super::holder::Holder;
    use super::*;

    #[test]
    fn another_process_with_the_file_open_is_named() {
        own_process!();
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let wanted = wanted_file(&Status::of(file.as_file()).expect("its status").identity);
        assert_eq!(openers(&wanted).others, Vec::<String>::new());
        let holder = Holder::of(file.path());
        let others = openers(&wanted).others;
        assert_eq!(others.len(), 1, "{others:?}");
        assert!(
            others[0].contains(&format!("pid {}", holder.pid())),
            "{others:?}"
        );
    }
}
