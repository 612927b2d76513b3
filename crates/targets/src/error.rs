//! Errors of a target, with hints on how to resolve them.

pub use stripewise_device_guard::{Error, ErrorKind, Result};

/// Refusal to replace an existing name.
pub(crate) fn exists(path: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Refused,
        path,
        "already exists and is not replaced",
    )
    .with_hint("Choose another name, or remove it yourself.")
}
