//! Bytes, sectors, nanoseconds and rates: parsed as people type them, printed
//! as the field writes them.
//!
//! Everything inside Stripewise is an integer of bytes or nanoseconds with the
//! unit in its name. This crate is the boundary where text becomes such an
//! integer and back. K, M, G and T are 1024-based on input, as in every storage
//! tool's switches; output says KiB and MiB/s.
#![forbid(unsafe_code)]

mod kind;

pub use kind::Kind;
