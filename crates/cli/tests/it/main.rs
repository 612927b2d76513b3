//! The command line as a function, and the documents that it prints.

mod run;
mod schemas;
