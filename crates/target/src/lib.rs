//! Parses and opens targets, judges safety, makes, fills and removes test files.
#![deny(unsafe_code)]
