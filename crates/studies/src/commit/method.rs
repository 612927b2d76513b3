//! Methods of making a commit durable, and what databases call them.

use serde::{Deserialize, Serialize};
use stripewise_workload::{CacheMode, SyncCall, SyncPolicy, Workload};

// As the kernel names them.
stripewise_units::named! {
    /// A way of making a commit durable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum CommitMethod {
        /// A write into the page cache, then `fsync`.
        Fsync = "fsync",
        /// A write into the page cache, then `fdatasync`.
        Fdatasync = "fdatasync",
        /// A write with `O_DSYNC`.
        Dsync = "O_DSYNC",
        /// A write into the page cache, made durable by the flag `RWF_DSYNC`.
        RwfDsync = "RWF_DSYNC",
        /// A write past the page cache, then `fdatasync`.
        DirectFdatasync = "O_DIRECT+fdatasync",
        /// A write past the page cache with `O_DSYNC`: forced unit access, if the device supports it.
        DirectDsync = "O_DIRECT|O_DSYNC",
    }
}

impl CommitMethod {
    /// The names used by databases.
    pub(super) const fn in_databases(self) -> &'static str {
        match self {
            CommitMethod::Fsync => {
                "PostgreSQL wal_sync_method=fsync; InnoDB innodb_flush_method=fsync, its default \
                 before 8.4; SQLite built without HAVE_FDATASYNC"
            }
            CommitMethod::Fdatasync => {
                "PostgreSQL wal_sync_method=fdatasync, its default on Linux; SQLite \
                 synchronous=FULL; InnoDB's log with innodb_use_fdatasync=ON"
            }
            CommitMethod::Dsync => {
                "PostgreSQL wal_sync_method=open_datasync; near InnoDB \
                 innodb_flush_method=O_DSYNC, which opens its log with O_SYNC"
            }
            CommitMethod::RwfDsync => {
                "a flag of each write (pwritev2, io_uring); none of the three"
            }
            CommitMethod::DirectFdatasync => {
                "InnoDB's data files with innodb_flush_method=O_DIRECT and innodb_use_fdatasync=ON"
            }
            CommitMethod::DirectDsync => {
                "PostgreSQL wal_sync_method=open_datasync with debug_io_direct=wal; SQL Server's \
                 write-through"
            }
        }
    }

    /// It needs a page cache.
    pub(super) const fn is_buffered(self) -> bool {
        !matches!(
            self,
            CommitMethod::DirectFdatasync | CommitMethod::DirectDsync
        )
    }

    /// Only Linux has it, or distinguishes it from another.
    pub(super) const fn is_of_linux(self) -> bool {
        matches!(self, CommitMethod::Fsync | CommitMethod::RwfDsync)
    }

    /// What of a workload makes it this method.
    pub(crate) fn workload(self) -> Workload {
        let sync = |call| Some(SyncPolicy { every: 1, call });
        let (cache, sync) = match self {
            CommitMethod::Fsync => (CacheMode::Buffered, sync(SyncCall::Fsync)),
            CommitMethod::Fdatasync => (CacheMode::Buffered, sync(SyncCall::Fdatasync)),
            CommitMethod::Dsync => (CacheMode::BufferedSync, None),
            CommitMethod::RwfDsync => (CacheMode::Buffered, None),
            CommitMethod::DirectFdatasync => (CacheMode::Direct, sync(SyncCall::Fdatasync)),
            CommitMethod::DirectDsync => (CacheMode::DirectSync, None),
        };
        Workload {
            cache,
            sync,
            dsync: self == CommitMethod::RwfDsync,
            ..Workload::default()
        }
    }
}
