//! Read-only facts about disks, partitions, volumes and the host.
#![deny(unsafe_code)]
