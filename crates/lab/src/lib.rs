//! Series and experiments: ladders to saturation and the answers read off them.
#![forbid(unsafe_code)]
