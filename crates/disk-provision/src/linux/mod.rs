//! Linux: claims on devices, the kernel's view, programs. Unsafe code only in `ioctl`.

mod array;
mod device;
mod format;
#[allow(unsafe_code)]
mod ioctl;
mod keep;
mod kernel;
mod marks;
mod mount;
mod partition;
mod tools;

pub use array::{array_with, execute as execute_array, plan_array, resync_of, stop as stop_array};
pub use format::{can_format, execute as execute_format, plan_format};
pub use marks::{has_mark, identify};
pub use mount::{PrivateMount, forget_mount_point, mount_privately};
pub use partition::{
    execute as execute_table, plan_division, plan_erase, plan_partition, plan_restore,
};
