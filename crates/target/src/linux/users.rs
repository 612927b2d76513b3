//! Who uses a file or device right now: `disk-inspect` looks, the rules judge.

pub(super) use stripewise_disk_inspect::users::{
    Openers, Wanted, loop_devices, open_twice_here, openers, patiently, swap_areas, unescape,
};

use super::identity::Identity;

/// A file as others may have it open.
pub(super) fn wanted_file(identity: &Identity) -> Wanted {
    Wanted::File {
        device: identity.device,
        inode: identity.inode,
    }
}

#[cfg(test)]
mod tests {
    use super::super::identity::Status;
    use super::*;
    use std::fs::File;

    #[test]
    fn another_process_with_the_file_open_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let wanted = wanted_file(&Status::of(file.as_file()).expect("its status").identity);
        assert_eq!(openers(&wanted).others, Vec::<String>::new());
        let input = File::open(file.path()).expect("opens");
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .stdin(input)
            .spawn()
            .expect("sleep starts");
        let others = openers(&wanted).others;
        child.kill().expect("it ends");
        child.wait().expect("it is gone");
        assert_eq!(others.len(), 1, "{others:?}");
        assert!(
            others[0].contains(&format!("pid {}", child.id())),
            "{others:?}"
        );
    }
}
