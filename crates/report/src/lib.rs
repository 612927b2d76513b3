//! Records in; tables and text out.
#![forbid(unsafe_code)]
