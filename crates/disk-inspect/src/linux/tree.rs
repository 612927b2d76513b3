//! The files of a machine, and the devices read from them.
//!
//! A survey of a whole machine encounters the same device below many others: with [`TreeCache`] each
//! file is read once, and each device is built once.

use crate::storage::BlockDevice;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::path::PathBuf;
use stripewise_machine::System;
use stripewise_machine::linux::tree as files;
use stripewise_units::DeviceNumber;

/// A single device: devices below it are only named.
#[derive(Clone, Debug)]
pub struct DeviceWithoutChildren {
    pub device: BlockDevice,
    pub directory: PathBuf,
    pub below: Vec<DeviceNumber>,
}

/// Cache of single devices.
pub type Devices = RefCell<HashMap<DeviceNumber, Option<DeviceWithoutChildren>>>;

/// Cache of one survey of a machine. Never reused for another.
#[derive(Debug, Default)]
pub struct TreeCache {
    files: files::TreeCache,
    devices: Devices,
}

/// The files below one root.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    files: files::Tree<'a>,
    devices: Option<&'a Devices>,
}

impl<'a> Tree<'a> {
    /// The files of a machine.
    pub fn of(system: &'a System) -> Self {
        Tree {
            files: files::Tree::of(system),
            devices: None,
        }
    }

    /// The same, reading each file, directory and device once.
    pub fn remembering(self, cache: &'a TreeCache) -> Self {
        Tree {
            files: self.files.remembering(&cache.files),
            devices: Some(&cache.devices),
        }
    }

    /// The cache of devices, if there is one.
    pub fn devices(self) -> Option<&'a Devices> {
        self.devices
    }
}

impl<'a> Deref for Tree<'a> {
    type Target = files::Tree<'a>;

    fn deref(&self) -> &Self::Target {
        &self.files
    }
}
