//! Linux: claims on devices, what the kernel shows, programs. Unsafe code only in
//! `ioctl`.

mod device;
mod format;
#[allow(unsafe_code)]
mod ioctl;
mod keep;
mod kernel;
mod partition;

pub use format::{carry_out as carry_out_format, plan_format};
pub use partition::{carry_out as carry_out_table, plan_partition, plan_restore};
