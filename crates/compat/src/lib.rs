//! Other tools' languages, in and out: results and workloads of SQLIO, DiskSpd
//! and fio are read, SQLIO's output is printed. Runs no I/O.
#![forbid(unsafe_code)]

pub mod dataset;
