//! Statistics of drives and volumes: NVMe log pages, read from the device.
//!
//! | device | page | says |
//! | --- | --- | --- |
//! | Amazon EBS, instance store | 0xD0 | how long the volume's and the instance's limits held it back, latencies at the volume |
//! | every other NVMe drive | 0x02 and its power state | whether it slowed itself for heat |
//!
//! Only devices with an NVMe driver are queried, and page 0xD0 only on Amazon's models: other
//! vendors may use it for something else.

pub use stripewise_disk_formats::health_log::HealthLog;
pub use stripewise_disk_formats::volume_log::{LatencyBin, ReadWrite as VolumePair, VolumeLog};

/// One device's log at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLog {
    /// Kernel name.
    pub device: String,
    /// Its content.
    pub content: LogContent,
}

/// Content of a device log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogContent {
    /// A cloud volume: which page, and its content or why it was not read.
    Volume(&'static str, Box<Result<VolumeLog, String>>),
    /// A drive: its thermal state, and its power state if reported.
    Drive(HealthLog, Option<u8>),
}
