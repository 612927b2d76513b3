//! The table of profiles. `Basis::Source`: a source states the share; `Basis::Ours`:
//! no public figure was found, so it is assumed.

/// Where a share comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    Source,
    Ours,
}

/// One cell.
pub(super) struct Row {
    pub name: &'static str,
    pub share_percent: f64,
    pub basis: Basis,
    /// Options of a workload; `C` is the number of processors.
    pub options: &'static str,
    /// Maximum p99 latency in milliseconds.
    pub limit_ms: Option<u64>,
}

/// One profile.
pub(super) struct ProfileEntry {
    pub name: &'static str,
    pub title: &'static str,
    pub rows: &'static [Row],
    pub sources: &'static [&'static str],
    pub notes: &'static [&'static str],
}

/// Rows of a profile: name, share, basis and options, and `within` so many milliseconds where its
/// latency has a limit. A share of 0: a limit only, not part of the mix.
macro_rules! rows {
    ($($name:literal $share:literal $basis:ident: $options:literal $(, within $ms:literal)?;)+) => {
        &[$(Row {
            name: $name,
            share_percent: $share,
            basis: Basis::$basis,
            options: $options,
            limit_ms: limit!($($ms)?),
        }),+]
    };
}

macro_rules! limit {
    () => {
        None
    };
    ($ms:literal) => {
        Some($ms)
    };
}

pub(super) const PROFILES: &[ProfileEntry] = &[
    ProfileEntry {
        name: "sqlserver-oltp",
        title: "SQL Server, many small transactions",
        rows: rows! {
            "random read" 79.0 Ours: "read block=8K threads=C outstanding=8", within 20;
            "lazy write" 12.0 Ours: "write block=8K threads=1 outstanding=32 cache=direct-sync";
            "checkpoint" 6.0 Ours:
                "write block=16K:20,32K:20,64K:20,128K:20,256K:20 threads=1 outstanding=32 cache=direct-sync";
            "read-ahead" 3.0 Ours:
                "read sequential block=64K:25,128K:25,256K:25,512K:25 threads=2 outstanding=4";
            "log" 0.0 Source:
                "write sequential block=512:20,4K:40,16K:20,60K:20 threads=1 outstanding=4 cache=direct-sync", within 5;
        },
        sources: &[
            "reads and writes 80 to 20: Van Dyke 2009; I/O reference list at fiftynine.io",
            "sizes: TechEd 2006 DAT334; prodata.ie, SQL IO Characteristics (2010)",
            "write-through: SQL Server I/O Basics, chapter 1",
            "limits: Diagnosing Transaction Log Performance Issues (SQLCAT)",
        ],
        notes: &[
            "the log is a limit beside the mix, at most 32 in flight to 2008 R2 and 112 since 2012",
        ],
    },
    ProfileEntry {
        name: "sqlserver-warehouse",
        title: "SQL Server, large scans",
        rows: rows! {
            "scan" 90.0 Ours:
                "read sequential block=64K:10,128K:10,256K:20,512K:60 threads=4 outstanding=4", within 30;
            "bulk load" 5.0 Ours:
                "write sequential block=64K:50,128K:50 threads=1 outstanding=4 cache=direct-sync";
            "random read" 5.0 Ours: "read block=8K threads=C outstanding=2";
        },
        sources: &[
            "sizes: TechEd 2006 DAT334; prodata.ie, SQL IO Characteristics (2010)",
            "limits: Diagnosing Transaction Log Performance Issues (SQLCAT)",
        ],
        notes: &["read-ahead of 1M exists in the Enterprise edition only and is left out"],
    },
    ProfileEntry {
        name: "sqlserver-log",
        title: "SQL Server, a volume for transaction logs",
        rows: rows! {
            "log writes" 80.0 Ours:
                "write sequential block=512:30,4K:40,16K:15,60K:15 threads=1 outstanding=32 cache=direct-sync";
            "log reads" 20.0 Ours: "read sequential block=60K:50,120K:50 threads=1 outstanding=4";
            "commit" 0.0 Source:
                "write sequential block=512:30,4K:40,16K:15,60K:15 threads=1 outstanding=1 cache=direct-sync", within 5;
        },
        sources: &[
            "sizes 512 to 60K, 32 and 112 in flight: Transaction Log Monitoring, sqlperformance.com (2013)",
            "limit: Diagnosing Transaction Log Performance Issues (SQLCAT)",
        ],
        notes: &["log reads stand for backup of the log and replication"],
    },
    ProfileEntry {
        name: "sqlserver-tempdb",
        title: "SQL Server, tempdb",
        rows: rows! {
            "random read" 50.0 Source: "read block=8K:60,64K:40 threads=C outstanding=4";
            "random write" 50.0 Source: "write block=8K:60,64K:40 threads=C outstanding=4";
        },
        sources: &[
            "half reads, half writes: I/O reference list at fiftynine.io",
            "not durable: KB 917047",
        ],
        notes: &["how often 64K comes is assumed; writes need not survive a power cut"],
    },
    ProfileEntry {
        name: "sqlserver-backup",
        title: "SQL Server, backup and restore",
        rows: rows! {
            "backup read" 50.0 Source: "read sequential block=1M threads=1 outstanding=6";
            "backup write" 50.0 Source: "write sequential block=1M threads=1 outstanding=6";
        },
        sources: &[
            "1,024 KB and six buffers: psssql, 6 February 2008; up to 4 MB: prodata.ie (2010)",
        ],
        notes: &["what counts is MiB a second; latency has no limit"],
    },
    ProfileEntry {
        name: "postgresql",
        title: "PostgreSQL",
        rows: rows! {
            "random read" 70.0 Ours: "read block=8K threads=C outstanding=16";
            "scan" 5.0 Ours: "read sequential block=128K threads=2 outstanding=4";
            "checkpoint" 25.0 Ours: "write block=8K threads=1 outstanding=32 sync=fdatasync:32";
            "wal" 0.0 Source:
                "write sequential block=8K:60,16K:20,32K:10,64K:10 threads=1 outstanding=1 sync=fdatasync", within 5;
        },
        sources: &[
            "effective_io_concurrency 16, io_combine_limit 128K, checkpoint_flush_after 256K: postgresql.org, runtime-config-resource and runtime-config-wal",
        ],
        notes: &[
            "PostgreSQL reads and writes through the page cache; this is a variant past it, so that the disk is measured",
        ],
    },
    ProfileEntry {
        name: "mysql-innodb",
        title: "MySQL with InnoDB",
        rows: rows! {
            "random read" 72.0 Ours: "read block=16K threads=C outstanding=2";
            "read-ahead" 5.0 Ours: "read sequential block=16K threads=1 outstanding=64";
            "page flush" 16.0 Ours: "write block=16K threads=4 outstanding=16 sync=fdatasync:64";
            "doublewrite" 7.0 Ours:
                "write sequential block=128K:25,256K:25,512K:25,1M:25 threads=1 outstanding=2 sync=fdatasync";
            "redo" 0.0 Source:
                "write sequential block=512:40,4K:40,16K:20 threads=1 outstanding=1 sync=fdatasync", within 5;
            "binlog" 0.0 Source:
                "write sequential block=4K threads=1 outstanding=1 sync=fdatasync", within 5;
        },
        sources: &[
            "dev.mysql.com: InnoDB Disk I/O, Doublewrite Buffer, Optimizing InnoDB Redo Logging",
        ],
        notes: &[],
    },
    ProfileEntry {
        name: "oracle",
        title: "Oracle",
        rows: rows! {
            "random read" 70.0 Ours: "read block=8K threads=C outstanding=8";
            "database writer" 20.0 Ours: "write block=8K threads=1 outstanding=64";
            "scan" 7.0 Ours: "read sequential block=1M threads=4 outstanding=4";
            "direct path write" 3.0 Ours: "write sequential block=1M threads=1 outstanding=4";
            "redo" 0.0 Source:
                "write sequential block=512:20,4K:50,64K:20,1M:10 threads=1 outstanding=1 cache=direct-sync", within 5;
        },
        sources: &[
            "small 8K random and large 1M: Orion, Oracle Performance Tuning Guide, chapter 8",
        ],
        notes: &[],
    },
    ProfileEntry {
        name: "virtual-machines",
        title: "Virtual machines",
        rows: rows! {
            "random read" 70.0 Source:
                "read block=4K:45,8K:20,16K:10,32K:10,64K:15 threads=8 outstanding=4", within 30;
            "random write" 30.0 Source:
                "write block=4K:45,8K:20,16K:10,32K:10,64K:15 threads=8 outstanding=4";
        },
        sources: &["70 % reads, broadly 32K: Dell VxRail, vdbench profiles"],
        notes: &["how often each size comes is assumed"],
    },
    ProfileEntry {
        name: "spc1-like",
        title: "A business application as Gill and Modha describe one",
        rows: rows! {
            "random read" 29.0 Source: "read block=8K threads=8 outstanding=4";
            "sequential read" 11.0 Source: "read sequential block=64K threads=2 outstanding=4";
            "random write" 32.0 Source: "write block=8K threads=8 outstanding=4";
            "sequential write" 28.0 Source: "write sequential block=64K threads=2 outstanding=4";
        },
        sources: &["shares: Gill and Modha, FAST 2005, section on SPC-1"],
        notes: &["block sizes are assumed; this is not an SPC-1 result"],
    },
    ProfileEntry {
        name: "file-server",
        title: "File server (the access pattern that came with Iometer)",
        rows: rows! {
            "reads" 80.0 Source:
                "read block=512:10,1K:5,2K:5,4K:60,8K:2,16K:4,32K:4,64K:10 threads=1 outstanding=64";
            "writes" 20.0 Source:
                "write block=512:10,1K:5,2K:5,4K:60,8K:2,16K:4,32K:4,64K:10 threads=1 outstanding=64";
        },
        sources: &["sizes and shares: Intel Iometer File Server Access Pattern, in fio's examples"],
        notes: &["judged at 64 outstanding, Iometer's heavy load"],
    },
    ProfileEntry {
        name: "stream",
        title: "Few or many sequential readers",
        rows: rows! {
            "one stream" 34.0 Ours: "read sequential block=1M threads=1 outstanding=2";
            "four streams" 33.0 Ours: "read sequential block=1M threads=4 outstanding=2";
            "sixteen streams" 33.0 Ours: "read sequential block=1M threads=16 outstanding=2";
        },
        sources: &["classes of I/O: datacadamia.com"],
        notes: &[],
    },
];
