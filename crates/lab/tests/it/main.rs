//! What an experiment says, beside what other commands say of the same layout.

mod layouts;
