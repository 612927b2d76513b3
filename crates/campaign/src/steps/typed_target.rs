//! The location of a typed target, so that a study is not resumed on another one.

use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_targets::whole_path;
use stripewise_units::is_sim_target;

/// The full path of a target that was typed without one.
pub fn whole_target(typed: &str) -> Option<String> {
    match is_sim_target(typed) {
        true => None,
        false => whole_path(typed),
    }
}

/// Refuses to resume if the typed target now resolves to another one than `before`.
///
/// # Errors
/// If it does.
pub fn refuse_other_directory(typed: &str, before: Option<&str>) -> Outcome<()> {
    match (before, whole_target(typed)) {
        (Some(before), Some(now)) if before != now => Err(Failure::usage(
            format!("it measured {before}; from here, `{typed}` is {now}"),
            "go on in the directory where it was begun",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_directory_is_another_target() {
        let here = whole_target("data").expect("a relative path");
        assert!(refuse_other_directory("data", Some(&here)).is_ok());
        let other_directory = refuse_other_directory("data", Some("/elsewhere/data"));
        let message = other_directory.expect_err("another file").error.to_string();
        assert_eq!(
            message,
            format!("it measured /elsewhere/data; from here, `data` is {here}")
        );
        for (typed, before) in [
            ("sim:nvme", Some("x")),
            ("/data", Some("x")),
            ("data", None),
        ] {
            assert!(refuse_other_directory(typed, before).is_ok(), "{typed}");
        }
    }
}
