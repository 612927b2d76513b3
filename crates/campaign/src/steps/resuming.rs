//! Resuming an interrupted measurement: all options are stored, and those given again must be
//! the same.

use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_store::Store;

/// Options by their names, as they are printed; `None`: not given.
pub type OptionTexts = Vec<(&'static str, Option<String>)>;

/// Refuses options that differ from the stored ones; each is named with both values.
///
/// # Errors
/// If one differs.
pub fn refuse_differing(before: OptionTexts, now: OptionTexts) -> Outcome<()> {
    let pairs = before.into_iter().zip(now);
    let differing = pairs.filter(|(before, now)| before != now);
    let text = |text: Option<String>| text.unwrap_or_else(|| "not given".to_owned());
    let differing: Vec<String> = differing
        .map(|((name, was), (_, is))| format!("{name} was {} and is {}", text(was), text(is)))
        .collect();
    match differing.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(
            format!(
                "it cannot go on with different options: {}",
                differing.join("; ")
            ),
            "use --resume alone; the other options are stored",
        )),
    }
}

/// Refuses a series that another process is measuring: both would store it.
///
/// # Errors
/// If there is such a process, or the store cannot be read.
pub fn refuse_measured_elsewhere(store: &Store, id: &str) -> Outcome<()> {
    match store.is_measured_elsewhere(id)? {
        false => Ok(()),
        true => Err(Failure::usage(
            format!("{id} is still being measured by another process"),
            "let that one end, or stop it with Ctrl-C; what it measured is kept",
        )),
    }
}

/// Nothing of this kind and name can go on.
pub fn nothing_to_resume(kind: &str, name: &str) -> Failure {
    match name {
        "last" => Failure::usage(
            format!("there is no `{kind}` that can go on"),
            "`stripewise history` lists what was measured",
        ),
        _ => Failure::usage(
            format!("there is no `{kind}` of id {name} that can go on"),
            format!("give the id that `{kind}` printed, or last; `stripewise history` lists them"),
        ),
    }
}

/// Nothing is left to measure.
pub fn finished(id: &str) -> Failure {
    Failure::usage(
        format!("{id} is finished"),
        format!("`stripewise history show {id}` prints it"),
    )
}

/// It was stopped where it cannot go on.
pub fn cannot_go_on(id: &str, why: &str) -> Failure {
    Failure::usage(format!("{id} cannot go on: {why}"), "measure again")
}

/// It was stored without its options, or counts what is no longer judged.
pub fn begun_by_an_earlier_version(id: &str) -> Failure {
    Failure::usage(
        format!("{id} was begun by an earlier version, and cannot be continued by this one"),
        "measure again",
    )
}
