//! The driver suite: both drivers against arrays whose truth is known.

mod common;
mod virtual_time;
