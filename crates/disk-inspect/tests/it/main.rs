//! Facts read from captured trees, from made-up Windows machines, from images, and
//! from the machine that runs the test.

mod answers;
mod anything;
mod images;
#[path = "../../../../tests/support/answers.rs"]
mod made_up;
#[path = "../../../../tests/support/mutate.rs"]
mod mutate;
#[path = "../../../../tests/support/pictures.rs"]
mod pictures;
mod verdicts;

#[cfg(target_os = "linux")]
mod agreement;
#[cfg(target_os = "linux")]
mod agreement_trees;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/support/machine.rs"]
mod borrowed;
#[cfg(target_os = "linux")]
mod golden;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod loops;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/support/scratch.rs"]
mod scratch;
#[cfg(target_os = "linux")]
mod trees;
