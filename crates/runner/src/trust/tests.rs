//! Each warning both ways.
