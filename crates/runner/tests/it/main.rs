//! The driver suite: both drivers against arrays and engines whose truth is
//! known by pencil and paper. Virtual time is exact; where real threads run,
//! only what does not depend on the machine's speed is asserted.

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod arrays;
mod common;
mod engines;
mod faults;
mod files;
mod memory;
mod one_pass;
mod open_loop;
mod real_time;
#[path = "../../../../tests/support/skips.rs"]
mod skips;
mod streams;
mod virtual_time;
#[path = "../../../../tests/support/wait.rs"]
mod wait;
mod window;
