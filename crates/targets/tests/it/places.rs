//! Places that others depend on: live databases need `--busy-ok`.

use crate::support::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use stripewise_targets::ErrorKind::NeedsBusyOk;
use stripewise_targets::Intent;

/// An intent without `--busy-ok`.
fn careful(intent: Intent) -> Intent {
    Intent {
        busy_ok: false,
        ..intent
    }
}

#[test]
fn directories_of_live_databases_need_leave() {
    own_process!();
    let cases = [
        ("tempdb.mdf", "SQL Server"),
        ("templog.ldf", "SQL Server"),
        ("16/main/PG_VERSION", "PostgreSQL"),
        ("mysql/ibdata1", "MySQL"),
        ("db/WiredTiger", "MongoDB"),
    ];
    for (name, database) in cases {
        let top = directory();
        let path = top.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        users_file(path.parent().expect("a parent"), "backup.bak", 4096);
        std::fs::write(&path, vec![1; 8192]).expect("a file");
        let backup = path.with_file_name("backup.bak");
        for (path, intent) in [
            (top.path(), filling(1)),
            (&path as &Path, reading()),
            (&backup, reading()),
        ] {
            let error = refused(plan(path, &careful(intent.clone())), NeedsBusyOk, database);
            assert!(error.hint.contains("--busy-ok"), "{}", error.hint);
            plan(path, &intent).expect("with leave");
        }
    }
}

#[test]
fn a_volume_with_a_live_database_needs_leave_from_any_directory_and_for_its_device() {
    own_process!();
    const TEST: &str =
        "a_volume_with_a_live_database_needs_leave_from_any_directory_and_for_its_device";
    if !can_run(TEST, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(2400 * MIB);
    run("mkfs.ext4", &["-q", &device.device]);
    let mount = Mount::new(&[&device.device]);
    let other_place = mount.path.join("a/b/c/d");
    std::fs::create_dir_all(&other_place).expect("directories");
    std::fs::create_dir(mount.path.join("data")).expect("a directory");
    std::fs::write(mount.path.join("data/users.mdf"), "x").expect("a file");
    // The volume as a whole is the target: the file alone is enough.
    refused(
        plan(&device.device, &careful(reading())),
        NeedsBusyOk,
        "users.mdf",
    );
    plan(&device.device, &reading()).expect("with leave");
    // Elsewhere on the volume it counts as well, here with a server called so.
    let program = mount.path.join("sqlservr");
    std::fs::copy("/bin/sleep", &program).expect("a copy");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("executable");
    let mut command = Command::new(&program);
    command.arg("3600");
    let server = Holder::running(command);
    let error = plan(&other_place, &careful(filling(1)));
    refused(error, NeedsBusyOk, "users.mdf");
    plan(&other_place, &filling(1)).expect("with leave");
    drop(server);
}

#[test]
fn a_database_on_a_volume_of_its_own_counts_without_a_running_server() {
    own_process!();
    const TEST: &str = "a_database_on_a_volume_of_its_own_counts_without_a_running_server";
    if !can_run(TEST, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(2400 * MIB);
    run("mkfs.ext4", &["-q", &device.device]);
    let mount = Mount::new(&[&device.device]);
    let other_place = mount.path.join("here");
    std::fs::create_dir(&other_place).expect("a directory");
    if let Err(error) = plan(&other_place, &careful(filling(1))) {
        // The loop device may be busy, as the disk below it is.
        assert!(error.what.contains("busy with other work"), "{error}");
    }
    // Nothing that runs on a test machine is called `db2sysc`.
    std::fs::write(mount.path.join("SQLSPCS.1"), "x").expect("a file");
    for place in [&other_place, &mount.path] {
        refused(plan(place, &careful(filling(1))), NeedsBusyOk, "Db2");
    }
}
